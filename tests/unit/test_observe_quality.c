#include "unit.h"

#include <string.h>

#include "base/mem.h"
#include "observe/quality.h"

static const struct quality_row *row(const struct quality_row *rows, const char *name)
{
	for (size_t i = 0; i < QUALITY_ROWS; i++)
		if (strcmp(rows[i].name, name) == 0)
			return &rows[i];
	fail_msg("no row '%s'", name);
	return NULL;
}

static void read_and_count(struct arena *a, struct quality *q, const char *text, const char *prompt)
{
	struct reply r;

	reply_read(a, str_of(text), false, &r);
	quality_reply(q, &r, prompt);
}

static void replies_are_counted_by_what_is_wrong_with_them(void **state)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct quality_row rows[QUALITY_ROWS];
	struct quality q;

	quality_begin(&q, &a, NULL);
	read_and_count(&a, &q,
		"{\"observations\":["
		"{\"type\":\"bugfix\",\"title\":\"Retry client reads "
		"Retry-After\",\"narrative\":\"The user ran the tests. They "
		"pass.\",\"files\":[\"a.c\"]},"
		"{\"type\":\"party\",\"title\":\"Retry client reads "
		"Retry-After\",\"narrative\":\"It reads.\"},"
		"{\"type\":\"change\",\"title\":\"Bug fixed\",\"narrative\":\"The user asked for "
		"it.\",\"files\":[\"b.c\"]}],"
		"\"summary\":{\"request\":\"x\",\"completed\":\"The user committed it.\"}}",
		NULL);
	read_and_count(&a, &q, "{}", NULL);
	read_and_count(&a, &q, "", NULL);
	read_and_count(&a, &q, "<think>hm</think>", NULL);
	read_and_count(&a, &q, "I'm sorry, I can't help with that.", NULL);
	quality_rows(&q, rows);
	assert_int_equal(q.replies, 5);
	assert_int_equal(q.observations, 3);
	assert_int_equal(q.summaries, 1);
	assert_int_equal(q.off_list, 1);
	assert_int_equal(q.attribution, 2);
	assert_int_equal(q.user_first, 2);
	assert_int_equal(q.duplicate_titles, 1);
	assert_int_equal(q.generic_titles, 1);
	assert_int_equal(q.without_files, 1);
	assert_int_equal(q.classes[REPLY_NOTHING], 1);
	assert_int_equal(q.classes[REPLY_THOUGHT], 1);
	assert_float_equal(row(rows, "nothing durable")->value, .2, .001);
	assert_float_equal(row(rows, "empty")->value, .4, .001);
	assert_float_equal(row(rows, "unreadable")->value, .2, .001);
	assert_float_equal(row(rows, "type outside the list")->value, 1. / 3, .001);
	assert_int_equal(row(rows, "no file recorded")->of, 3);
}

static void what_the_person_says_of_themselves_is_no_error(void **state)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct quality q;

	quality_begin(&q, &a, NULL);
	read_and_count(&a, &q,
		"{\"type\":\"bugfix\",\"title\":\"Retry client reads the "
		"header\",\"narrative\":\"The user ran make.\"}",
		"i ran make and it failed");
	assert_int_equal(q.attribution, 0);
	assert_int_equal(q.user_first, 1);
}

static void stored_memories_are_counted_as_replies_are(void **state)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct memory_file file = { .path = "a.c" };
	struct memory memories[] = {
		{ .kind = KIND_OBSERVATION,
			.type = TYPE_BUGFIX,
			.title = "Server listens on port 8080",
			.body = "The user fixed it.",
			.files = &file,
			.nfiles = 1,
			.tally = "{\"prompt\":\"observe/1 "
				 "code\",\"claims\":4,\"unsupported\":1,\"removed\":1}" },
		{ .kind = KIND_OBSERVATION,
			.type = TYPE_CHANGE,
			.title = "Server listens on port 8081",
			.body = "Ports changed.",
			.tally = "not JSON" },
		{ .kind = KIND_FACT,
			.type = FACT_DECISION,
			.title = "Ports are fixed",
			.tally = "{\"claims\":9}" },
		{ .kind = KIND_SUMMARY, .title = "Ports", .completed = "The user tested it." },
	};
	struct quality q;

	quality_begin(&q, &a, NULL);
	for (size_t i = 0; i < ARRAY_LEN(memories); i++)
		quality_memory(&q, &memories[i]);
	assert_int_equal(q.observations, 2);
	assert_int_equal(q.facts, 1);
	assert_int_equal(q.summaries, 1);
	assert_int_equal(q.duplicate_titles, 0);
	assert_int_equal(q.attribution, 2);
	assert_int_equal(q.claims, 4);
	assert_int_equal(q.unsupported, 1);
	assert_int_equal(q.without_files, 1);
	assert_int_equal(q.off_list, 0);
}

static void nothing_counted_gives_rows_that_mean_nothing(void **state)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct quality_row rows[QUALITY_ROWS];
	struct quality q;

	quality_begin(&q, &a, NULL);
	quality_rows(&q, rows);
	for (size_t i = 0; i < QUALITY_ROWS; i++) {
		assert_non_null(rows[i].name);
		assert_int_equal(rows[i].of, 0);
		assert_true(rows[i].value == 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(replies_are_counted_by_what_is_wrong_with_them),
		cmocka_unit_test(what_the_person_says_of_themselves_is_no_error),
		cmocka_unit_test(stored_memories_are_counted_as_replies_are),
		cmocka_unit_test(nothing_counted_gives_rows_that_mean_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
