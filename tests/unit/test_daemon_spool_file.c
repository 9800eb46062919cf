#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "daemon/spool_file.h"

static char path[64];

/* A spool file of this agent with this payload, of which the file holds `kept` bytes. */
static void spool(const char *agent, const char *payload, size_t len, size_t kept)
{
	struct spool_header h = {
		.event = "PostToolUse", .at = 1764436500123, .payload_len = len, .cwd = "/w"
	};
	char head[SPOOL_HEADER_MAX];
	struct err err = { 0 };
	AUTO(buf_done) struct buf b = { 0 };
	snprintf(h.agent, sizeof(h.agent), "%s", agent);
	buf_add(&b, head, spool_header_print(&h, head));
	buf_add(&b, payload, kept);
	strcpy(path, "/tmp/remanence-spool-XXXXXX");
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(file_write(path, b.data, b.len, 0600, &err), 0);
}

static enum spool_verdict read_it(struct arena *a, struct capture *c, struct err *err)
{
	*err = (struct err){ 0 };
	enum spool_verdict verdict = spool_file_read(path, a, c, err);
	unlink(path);
	return verdict;
}

static const char tool_call[] =
	"{\"session_id\":\"s\",\"cwd\":\"/"
	"w\",\"hook_event_name\":\"PostToolUse\",\"tool_name\":\"Bash\",\"tool_use_id\":\"t1\","
	"\"tool_input\":{\"command\":\"make\"},\"tool_response\":{\"stdout\":\"ok\"}}";

static void a_whole_file_becomes_a_capture(void **state)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct capture c;
	struct err err;
	spool("claude", tool_call, strlen(tool_call), strlen(tool_call));
	assert_int_equal(read_it(&a, &c, &err), SPOOL_TAKEN);
	assert_int_equal(c.nevents, 1);
	assert_string_equal(c.session.agent_session, "s");
	assert_string_equal(c.events[0].tool_use_id, "t1");
	assert_int_equal(c.events[0].true_size, 0);
}

static void what_cannot_be_read_is_bad_and_says_why(void **state)
{
	static const struct {
		const char *agent, *payload;
		size_t cut;
		const char *reason;
	} rows[] = {
		{ "claude", "{\"session_id\":\"s\"}", 3, "shorter" },
		{ "claude", "not JSON", 0, "payload" },
		{ "claude", "", 0, "payload" },
		{ "nobody", "{}", 0, "nobody" },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(arena_done) struct arena a = { 0 };
		struct capture c;
		struct err err;
		size_t len = strlen(rows[i].payload);
		spool(rows[i].agent, rows[i].payload, len, len - rows[i].cut);
		assert_int_equal(read_it(&a, &c, &err), SPOOL_BAD);
		assert_non_null(strstr(err.text, rows[i].reason));
	}
}

static void a_file_without_a_header_a_folder_and_nothing_are_told_apart(void **state)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct capture c;
	struct err err = { 0 };
	strcpy(path, "/tmp/remanence-spool-XXXXXX");
	close(mkstemp(path));
	assert_int_equal(file_write(path, "hello\n", 6, 0600, &err), 0);
	assert_int_equal(read_it(&a, &c, &err), SPOOL_BAD);
	assert_int_equal(read_it(&a, &c, &err), SPOOL_GONE);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(spool_file_read(path, &a, &c, &err), SPOOL_BAD);
	rmdir(path);
}

static void a_huge_output_keeps_head_tail_and_its_true_size(void **state)
{
	static const size_t letters = 3u << 20;
	AUTO(arena_done) struct arena a = { 0 };
	AUTO(buf_done) struct buf b = { 0 };
	struct capture c;
	struct err err;
	buf_str(&b, "{\"session_id\":\"s\",\"cwd\":\"/"
		    "w\",\"hook_event_name\":\"PostToolUse\",\"tool_name\":\"Bash\",\"tool_use_"
		    "id\":\"t1\","
		    "\"tool_input\":{\"command\":\"cat\"},\"tool_response\":{\"stdout\":\"HEAD ");
	for (size_t i = 0; i < letters; i++)
		buf_char(&b, i % 9 ? 'z' : ' ');
	buf_str(&b, " TAIL\"}}");
	spool("claude", b.data, b.len, b.len);
	assert_int_equal(read_it(&a, &c, &err), SPOOL_TAKEN);
	assert_int_equal(c.nevents, 1);
	assert_true(c.events[0].true_size >= letters);
	assert_true(c.events[0].output.n < letters / 8);
	assert_memory_equal(c.events[0].output.p, "HEAD", 4);
	assert_memory_equal(c.events[0].output.p + c.events[0].output.n - 4, "TAIL", 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_file_becomes_a_capture),
		cmocka_unit_test(what_cannot_be_read_is_bad_and_says_why),
		cmocka_unit_test(a_file_without_a_header_a_folder_and_nothing_are_told_apart),
		cmocka_unit_test(a_huge_output_keeps_head_tail_and_its_true_size),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
