#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "conf/settings.h"
#include "daemon/transcript.h"
#include "observe/intake.h"

/* A store, a writer and a folder for transcripts; what the daemon has, without its doors. */

static char folder[64], url[96], path[128];
static struct settings *settings;
static struct redactor *redactor;
static struct writer *writer;
static struct readers *readers;
static struct observer *observer;
static struct transcripts *transcripts;

static struct intake *intake_make(void *ctx)
{
	return intake_new(settings, redactor);
}

static void committed(void *ctx, int64_t seq)
{
}

static int set_up(void **state)
{
	struct err err = { 0 };
	strcpy(folder, "/tmp/remanence-transcript-XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(url, sizeof(url), "sqlite:%s/store.db", folder);
	snprintf(path, sizeof(path), "%s/0b0e9d36-6a3f-4c4f-9f0e-0a8a5e1c2d3e.jsonl", folder);
	assert_int_equal(settings_load("/nonexistent/settings.json", &settings, NULL, &err), 0);
	assert_int_equal(redactor_new(NULL, &redactor, &err), 0);
	struct writer_setup setup = {
		.url = url, .backup = folder, .intake_make = intake_make, .committed = committed
	};
	assert_int_equal(writer_open(&setup, &writer, &err), 0);
	readers = readers_new(url, NULL);
	observer = observer_new(readers, writer, NULL);
	transcripts = transcripts_new(writer, readers, observer, NULL);
	return 0;
}

static int tear_down(void **state)
{
	transcripts_free(transcripts);
	observer_free(observer);
	readers_free(readers);
	writer_close(writer);
	redactor_free(redactor);
	settings_free(settings);
	return file_remove_tree(folder, NULL);
}

/* The n-th prompt of a Claude Code session, as a line. */
static void prompt_line(struct buf *b, int n)
{
	buf_printf(b,
		"{\"type\":\"user\",\"uuid\":\"00000000-0000-4000-8000-%012d\",\"parentUuid\":null,"
		"\"isSidechain\":false,"
		"\"sessionId\":\"0b0e9d36-6a3f-4c4f-9f0e-0a8a5e1c2d3e\",\"cwd\":\"/"
		"w\",\"version\":\"2.1.0\","
		"\"timestamp\":\"2026-11-29T10:%02d:00.000Z\",\"promptId\":\"p%d\","
		"\"message\":{\"role\":\"user\",\"content\":\"repair the importer, part %d\"}}\n",
		n, n % 60, n, n);
}

static void write_file(const struct buf *b, size_t len)
{
	struct err err = { 0 };
	assert_int_equal(file_write(path, b->data, len, 0600, &err), 0);
}

static struct transcript_result read_file(int expected)
{
	struct transcript_call call = { .path = path };
	struct transcript_result result;
	struct err err = { 0 };
	int outcome = transcript_read(transcripts, &call, &result, &err);
	if (outcome != expected)
		print_error("%s\n", err.text);
	assert_int_equal(outcome, expected);
	return result;
}

static void a_transcript_is_read_once_and_then_its_tail(void **state)
{
	AUTO(buf_done) struct buf b = { 0 };
	for (int i = 1; i <= 3; i++)
		prompt_line(&b, i);
	write_file(&b, b.len);
	assert_int_equal(read_file(0).new_events, 3);
	struct transcript_result again = read_file(0);
	assert_true(again.was_complete);
	assert_int_equal(again.new_events, 0);
	prompt_line(&b, 4);
	write_file(&b, b.len);
	assert_int_equal(read_file(0).new_events, 1);
}

static void a_torn_line_waits_for_its_rest(void **state)
{
	AUTO(buf_done) struct buf b = { 0 };
	prompt_line(&b, 1);
	prompt_line(&b, 2);
	write_file(&b, b.len - 30);
	assert_int_equal(read_file(0).new_events, 1);
	assert_int_equal(read_file(0).new_events, 0);
	write_file(&b, b.len);
	assert_int_equal(read_file(0).new_events, 1);
}

static void a_last_line_without_its_line_end_counts_once(void **state)
{
	AUTO(buf_done) struct buf b = { 0 };
	prompt_line(&b, 1);
	prompt_line(&b, 2);
	write_file(&b, b.len - 1);
	assert_int_equal(read_file(0).new_events, 2);
	prompt_line(&b, 3);
	write_file(&b, b.len);
	struct transcript_result result = read_file(0);
	assert_int_equal(result.new_events, 1);
	assert_int_equal(result.bad_lines, 0);
}

static void a_file_that_was_rewritten_is_read_from_its_start(void **state)
{
	AUTO(buf_done) struct buf b = { 0 };
	for (int i = 1; i <= 3; i++)
		prompt_line(&b, i);
	write_file(&b, b.len);
	assert_int_equal(read_file(0).new_events, 3);
	buf_cut(&b, 0);
	prompt_line(&b, 3);
	prompt_line(&b, 4);
	write_file(&b, b.len);
	assert_int_equal(read_file(0).new_events, 1);
}

static void a_bad_line_is_passed_over_and_the_rest_is_read(void **state)
{
	AUTO(buf_done) struct buf b = { 0 };
	prompt_line(&b, 1);
	buf_str(&b, "{not json}\n[]\n\n\"text\"\n");
	prompt_line(&b, 2);
	write_file(&b, b.len);
	struct transcript_result result = read_file(0);
	assert_int_equal(result.new_events, 2);
	assert_true(result.bad_lines >= 1);
}

static void a_dry_reading_stores_nothing(void **state)
{
	AUTO(buf_done) struct buf b = { 0 };
	struct transcript_call call = { .path = path, .is_dry = true };
	struct transcript_result result;
	struct err err = { 0 };
	prompt_line(&b, 1);
	write_file(&b, b.len);
	assert_int_equal(transcript_read(transcripts, &call, &result, &err), 0);
	assert_int_equal(result.events, 1);
	assert_int_equal(read_file(0).new_events, 1);
}

static void what_is_no_transcript_is_refused(void **state)
{
	struct buf b = { 0 };
	buf_str(&b, "hello\nworld\n");
	write_file(&b, b.len);
	assert_false(read_file(-1).is_read);
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_false(read_file(-1).is_read);
	unlink(path);
	assert_false(read_file(-1).is_read);
	buf_cut(&b, 0);
	buf_str(&b, "");
	write_file(&b, 0);
	assert_false(read_file(0).is_read);
	buf_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_transcript_is_read_once_and_then_its_tail, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_torn_line_waits_for_its_rest, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_last_line_without_its_line_end_counts_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_file_that_was_rewritten_is_read_from_its_start, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_bad_line_is_passed_over_and_the_rest_is_read, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_dry_reading_stores_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			what_is_no_transcript_is_refused, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
