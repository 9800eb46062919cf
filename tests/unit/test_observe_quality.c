#include "unit.h"

#include <string.h>

#include "base/mem.h"
#include "observe/quality.h"

static void read_and_count(struct arena *a, struct quality *q, const char *text, const char *prompt)
{
	struct reply r;

	reply_read(a, str_of(text), false, &r);
	quality_reply(q, &r, prompt);
}

static void replies_are_counted_by_what_is_wrong_with_them(void **state)
{
	AUTO(arena_done) struct arena a = { 0 };
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
	assert_int_equal(q.observations, 3);
	assert_int_equal(q.summaries, 1);
	assert_int_equal(q.off_list, 1);
	assert_int_equal(q.attribution, 2);
	assert_int_equal(q.user_first, 2);
	assert_int_equal(q.duplicate_titles, 1);
	assert_int_equal(q.generic_titles, 1);
	assert_int_equal(q.without_files, 1);
	assert_int_equal(q.classes[REPLY_NOTHING], 1);
	assert_int_equal(q.classes[REPLY_EMPTY], 1);
	assert_int_equal(q.classes[REPLY_THOUGHT], 1);
	assert_int_equal(q.classes[REPLY_REFUSAL], 1);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(replies_are_counted_by_what_is_wrong_with_them),
		cmocka_unit_test(what_the_person_says_of_themselves_is_no_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
