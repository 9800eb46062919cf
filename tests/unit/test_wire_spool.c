/* The spool's header line and names. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "wire/spool.h"

static void parse_again(const struct spool_header *h, struct spool_header *ret)
{
	char line[SPOOL_HEADER_MAX];
	size_t n = spool_header_print(h, line);

	assert_true(n < SPOOL_HEADER_MAX);
	assert_int_equal(line[n - 1], '\n');
	assert_int_equal(spool_header_parse(line, n, ret), n);
}

static void a_header_survives_being_printed_and_read(void **state)
{
	const struct spool_header h = { "claude", "PostToolUse", 1795970050777, 123456789012,
		"/home/me/a b\n\"é\xff%" };
	struct spool_header back;

	parse_again(&h, &back);
	assert_string_equal(back.agent, "claude");
	assert_string_equal(back.event, "PostToolUse");
	assert_int_equal(back.at, 1795970050777);
	assert_int_equal(back.payload_len, 123456789012);
	assert_string_equal(back.cwd, h.cwd);
}

static void a_header_with_another_length_has_the_same_size(void **state)
{
	struct spool_header h = { "codex", "Stop", 1795970050777, 0, "/tmp" };
	char line[SPOOL_HEADER_MAX];
	size_t n = spool_header_print(&h, line);

	h.payload_len = 999999999999;
	assert_int_equal(spool_header_print(&h, line), n);
}

static void an_empty_working_folder_is_allowed(void **state)
{
	const struct spool_header h = { "codex", "Stop", 1795970050777, 5, "" };
	struct spool_header back = { .cwd = "x" };

	parse_again(&h, &back);
	assert_string_equal(back.cwd, "");
}

static void words_hold_letters_and_digits_only(void **state)
{
	const struct spool_header h = { "a b\n", "", 1, 2, "/" };
	struct spool_header back;

	parse_again(&h, &back);
	assert_string_equal(back.agent, "a_b_");
	assert_string_equal(back.event, "_");
}

static void a_working_folder_that_is_too_long_is_cut(void **state)
{
	struct spool_header h = { "claude", "Stop", 1, 2, "" }, back;

	memset(h.cwd, '\xe9', sizeof h.cwd - 1);
	parse_again(&h, &back);
	assert_true(strlen(back.cwd) > 1500);
	assert_memory_equal(back.cwd, h.cwd, strlen(back.cwd));
}

static void what_is_no_header_is_refused(void **state)
{
	static const char *const bad[] = { "", "\n", "remanence-spool", "remanence-spool 1 \n",
		"remanence-spool 1 a b 1 2 /tmp", "remanence-spool 2 a b 1 2 /tmp\n",
		"remanence-spool 1 a b x 2 /\n", "remanence-spool 1 a b 1 -2 /\n",
		"remanence-spool 1 a b 1\n", "remanence-spool 1 a b 1 2 %zz\n",
		"remanence-spool 1 a b 1 2 %0\n", "remanence-spool 1 a b 1 2 %00\n",
		"remanence-spool 1 a/b c 1 2 /\n",
		"remanence-spool 1 a b 9999999999999999999 2 /\n" };
	struct spool_header h;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(spool_header_parse(bad[i], strlen(bad[i]), &h), 0);
}

static void names_are_unique_and_sort_by_time(void **state)
{
	char a[SPOOL_NAME_MAX], b[SPOOL_NAME_MAX], c[SPOOL_NAME_MAX];

	spool_name(1795970050777, a);
	spool_name(1795970050777, b);
	spool_name(1795970050778, c);
	assert_string_not_equal(a, b);
	assert_true(strcmp(a, c) < 0 && strcmp(b, c) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_header_survives_being_printed_and_read),
		cmocka_unit_test(a_header_with_another_length_has_the_same_size),
		cmocka_unit_test(an_empty_working_folder_is_allowed),
		cmocka_unit_test(words_hold_letters_and_digits_only),
		cmocka_unit_test(a_working_folder_that_is_too_long_is_cut),
		cmocka_unit_test(what_is_no_header_is_refused),
		cmocka_unit_test(names_are_unique_and_sort_by_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
