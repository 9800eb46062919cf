/* str.c, str_glob.c and utf8.c. */
#include "unit.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"

static void strings_compare_without_regard_to_ascii_case(void **state)
{
	assert_true(str_ieq("Content-Type", "content-TYPE"));
	assert_false(str_ieq("abc", "abcd"));
	assert_false(str_ieq("é", "É"));
	assert_true(str_istarts("Bearer x", "bearer "));
	assert_true(str_starts("", ""));
	assert_true(str_ends("a.md", ".md"));
	assert_false(str_ends("d", ".md"));
	assert_true(str_is(str_trim(STR(" \t a b\r\n")), "a b"));
	assert_true(str_is(str_trim(STR("  ")), ""));
	assert_true(str_eq(str_of(NULL), STR("")));
}

static void a_text_splits_into_one_part_more_than_it_has_separators(void **state)
{
	struct str rest = STR("a,,b,"), part;

	assert_true(str_split(&rest, ',', &part) && str_is(part, "a"));
	assert_true(str_split(&rest, ',', &part) && str_is(part, ""));
	assert_true(str_split(&rest, ',', &part) && str_is(part, "b"));
	assert_true(str_split(&rest, ',', &part) && str_is(part, ""));
	assert_false(str_split(&rest, ',', &part));
	rest = (struct str){ 0 };
	assert_false(str_split(&rest, ',', &part));
}

static void lines_end_with_either_kind_of_newline(void **state)
{
	struct str rest = STR("a\r\n\nb\rc"), line;

	assert_true(str_line(&rest, &line) && str_is(line, "a"));
	assert_true(str_line(&rest, &line) && str_is(line, ""));
	assert_true(str_line(&rest, &line) && str_is(line, "b\rc"));
	assert_false(str_line(&rest, &line));
}

static void a_needle_is_found_where_it_is(void **state)
{
	struct str hay = STR("Hello World");

	assert_ptr_equal(str_find(hay, STR("World")), hay.p + 6);
	assert_null(str_find(hay, STR("world")));
	assert_ptr_equal(str_ifind(hay, "wORLD"), hay.p + 6);
	assert_null(str_ifind(hay, "worlds"));
	assert_null(str_find((struct str){ 0 }, STR("x")));
}

static void numbers_are_read_whole_or_not(void **state)
{
	static const struct {
		const char *text;
		bool is_good;
		int64_t value;
	} rows[] = { { "0", true, 0 }, { "-5", true, -5 }, { "+5", true, 5 },
		{ "9223372036854775807", true, INT64_MAX },
		{ "-9223372036854775808", true, INT64_MIN }, { "9223372036854775808", false, 0 },
		{ "-9223372036854775809", false, 0 }, { "", false, 0 }, { "-", false, 0 },
		{ " 5", false, 0 }, { "5x", false, 0 }, { NULL, false, 0 } };
	int64_t value;
	double real;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(str_to_i64(rows[i].text, &value), rows[i].is_good);
		if (rows[i].is_good)
			assert_true(value == rows[i].value);
	}
	assert_true(str_to_double("-1.5e2", &real) && real == -150.0);
	assert_false(str_to_double("nan", &real));
	assert_false(str_to_double("0x10", &real));
	assert_false(str_to_double("1e999", &real));
	assert_false(str_to_double(" 1", &real));
	assert_false(str_to_double("", &real));
}

static void globs_match_as_in_gitignore(void **state)
{
	static const struct {
		const char *pattern, *text;
		bool is_match;
	} rows[] = {
		{ "*.c", "a.c", true },
		{ "*.c", "b/a.c", false },
		{ "**/*.c", "a.c", true },
		{ "**/*.c", "x/y/a.c", true },
		{ "**/b", "xb", false },
		{ "**/b", "x/b", true },
		{ "a/**/b", "a/b", true },
		{ "a/**/b", "a/x/y/b", true },
		{ "a/**/b", "ab", false },
		{ "a/**/b", "a/xb", false },
		{ "a/**", "a/x/y", true },
		{ "a/**", "a", false },
		{ "a**z", "a/b/z", true },
		{ "***", "a/b", true },
		{ "", "", true },
		{ "", "a", false },
		{ "*", "", true },
		{ "?", "é", true },
		{ "??", "é", false },
		{ "?", "/", false },
		{ "[a-c]x", "bx", true },
		{ "[!a-c]x", "bx", false },
		{ "[^a-c]x", "dx", true },
		{ "[!a]", "/", false },
		{ "[]a]", "]", true },
		{ "[é]", "é", true },
		{ "[a", "[a", true },
		{ "[a", "a", false },
		{ "\\*", "*", true },
		{ "\\*", "a", false },
		{ "\\**", "*a", true },
		{ "\\**", "*a/b", false },
		{ "[a-]", "-", true },
		{ "a\\", "a\\", true },
		{ "/home/*/x", "/home/me/x", true },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (str_glob(rows[i].pattern, rows[i].text) != rows[i].is_match)
			fail_msg("'%s' and '%s'", rows[i].pattern, rows[i].text);
	}
}

/* The textbook definition for letters, ? and *, as an oracle. */
static bool simple_glob(const char *p, const char *s)
{
	if (!*p)
		return !*s;
	if (*p == '*')
		return simple_glob(p + 1, s) || (*s && *s != '/' && simple_glob(p, s + 1));
	return *s && (*p == *s || (*p == '?' && *s != '/')) && simple_glob(p + 1, s + 1);
}

static void globs_agree_with_the_textbook_definition(void **state)
{
	uint64_t random = 1;
	char pattern[8], text[10];

	for (int i = 0; i < 200000; i++) {
		size_t n = unit_below(&random, sizeof(pattern)),
		       m = unit_below(&random, sizeof(text));

		for (size_t j = 0; j < n; j++)
			pattern[j] = "ab?*/"[unit_below(&random, 5)];
		pattern[n] = '\0';
		for (size_t j = 0; j < m; j++)
			text[j] = "ab/"[unit_below(&random, 3)];
		text[m] = '\0';
		if (!strstr(pattern, "**") && str_glob(pattern, text) != simple_glob(pattern, text))
			fail_msg("'%s' and '%s'", pattern, text);
	}
}

static void a_glob_of_many_stars_takes_no_longer_for_it(void **state)
{
	char pattern[1001] = "", text[2001];

	for (int i = 0; i < 250; i++)
		strcat(pattern, "**a*");
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_true(str_glob(pattern, text));
	text[100] = '\0';
	assert_false(str_glob(pattern, text));
}

static void the_distance_counts_edits(void **state)
{
	assert_int_equal(str_distance("search", "search"), 0);
	assert_int_equal(str_distance("serach", "search"), 1);
	assert_int_equal(str_distance("", "abc"), 3);
	assert_int_equal(str_distance("kitten", "sitting"), 3);
	assert_int_equal(str_distance("ab", "ba"), 1);
}

static void utf8_is_judged_as_rfc_3629_says(void **state)
{
	static const struct {
		const char *text;
		bool is_valid;
		const char *repaired;
	} rows[] = {
		{ "plain text, long enough", true, NULL },
		{ "é€😀", true, NULL },
		{ "\xED\x9F\xBF\xEE\x80\x80", true, NULL },
		{ "\xF4\x8F\xBF\xBF", true, NULL },
		{ "\xF4\x90\x80\x80", false, "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD" },
		{ "\xC0\xAF", false, "\xEF\xBF\xBD\xEF\xBF\xBD" },
		{ "a\xE2\x82"
		  "b",
			false,
			"a\xEF\xBF\xBD"
			"b" },
		{ "\xED\xA0\x80x", false, "\xEF\xBF\xBDx" },
		{ "\xF0\x9F\x98", false, "\xEF\xBF\xBD" },
		{ "\x80\x80", false, "\xEF\xBF\xBD\xEF\xBF\xBD" },
		{ "\xFF", false, "\xEF\xBF\xBD" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(arena_done) struct arena a = { 0 };
		struct str s = str_of(rows[i].text), repaired = utf8_repair(&a, s);

		assert_int_equal(utf8_is_valid(s.p, s.n), rows[i].is_valid);
		assert_true(str_is(repaired, rows[i].repaired ? rows[i].repaired : rows[i].text));
	}
	assert_false(utf8_is_valid("12345678\0abcdefgh", 17));
}

static void repaired_random_bytes_are_valid_and_valid_text_is_untouched(void **state)
{
	uint64_t random = 7;
	char text[64];

	for (int i = 0; i < 200000; i++) {
		AUTO(arena_done) struct arena a = { 0 };
		size_t n = unit_below(&random, sizeof(text));
		struct str s = { text, n }, repaired;

		for (size_t j = 0; j < n; j++) {
			size_t kind = unit_below(&random, 4);
			text[j] = (char)(kind ? 0x80 + unit_below(&random, 128)
					      : unit_below(&random, 128));
		}
		repaired = utf8_repair(&a, s);
		assert_true(utf8_is_valid(repaired.p, repaired.n));
		assert_int_equal(repaired.p == s.p, utf8_is_valid(s.p, s.n));
	}
}

static void every_code_point_survives_encoding(void **state)
{
	for (uint32_t cp = 1; cp <= 0x10FFFF; cp++) {
		char text[4];
		const char *p = text;
		size_t n;

		if (cp >= 0xD800 && cp <= 0xDFFF)
			continue;
		n = utf8_encode(cp, text);
		assert_int_equal(utf8_next(&p, text + n), cp);
		assert_ptr_equal(p, text + n);
	}
}

static void a_cut_never_falls_into_a_code_point(void **state)
{
	AUTO(arena_done) struct arena a = { 0 };
	char text[4001] = "";
	struct str s;

	for (int i = 0; i < 1000; i++)
		strcat(text, "😀");
	s = str_of(text);
	assert_int_equal(utf8_cut("aé", 3, 2), 1);
	assert_int_equal(utf8_cut("aé", 3, 3), 3);
	assert_int_equal(utf8_cut("abc", 3, 9), 3);
	assert_int_equal(utf8_cut("\x80\x80\x80\x80\x80", 5, 4), 4);
	for (size_t max = 0; max < 400; max++) {
		struct str cut = utf8_head_tail(&a, s, max);

		assert_true(cut.n <= max);
		assert_true(utf8_is_valid(cut.p, cut.n));
	}
	assert_ptr_equal(utf8_head_tail(&a, s, s.n).p, s.p);
	assert_non_null(str_find(utf8_head_tail(&a, s, 400), STR("bytes cut]")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strings_compare_without_regard_to_ascii_case),
		cmocka_unit_test(a_text_splits_into_one_part_more_than_it_has_separators),
		cmocka_unit_test(lines_end_with_either_kind_of_newline),
		cmocka_unit_test(a_needle_is_found_where_it_is),
		cmocka_unit_test(numbers_are_read_whole_or_not),
		cmocka_unit_test(globs_match_as_in_gitignore),
		cmocka_unit_test(globs_agree_with_the_textbook_definition),
		cmocka_unit_test(a_glob_of_many_stars_takes_no_longer_for_it),
		cmocka_unit_test(the_distance_counts_edits),
		cmocka_unit_test(utf8_is_judged_as_rfc_3629_says),
		cmocka_unit_test(repaired_random_bytes_are_valid_and_valid_text_is_untouched),
		cmocka_unit_test(every_code_point_survives_encoding),
		cmocka_unit_test(a_cut_never_falls_into_a_code_point),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
