#include "analyser_fixture.h"

#include <string.h>

#include "text/snippet.h"

static char *snippet(const char *text, const char *w1, const char *w2, size_t width)
{
	struct str terms[2] = { str_of(w1), str_of(w2) };
	struct snippet_terms wanted = { terms, w2 ? 2 : w1 ? 1 : 0 };
	return snippet_make(&a, an, str_of(text), &wanted, width);
}

static void matched_words_are_marked(void **state)
{
	assert_string_equal(snippet("Fixed the flaky parser test.", "parser", "test", 80),
		"Fixed the flaky \2parser\3 \2test\3.");
}

static void a_word_is_marked_by_its_stem(void **state)
{
	assert_string_equal(snippet("All connections dropped", "connect", NULL, 80),
		"All \2connections\3 dropped");
}

static void an_identifier_is_marked_whole_when_it_was_asked_for(void **state)
{
	assert_string_equal(snippet("call getUserName() now", "getusername", NULL, 80),
		"call \2getUserName\3() now");
}

static void markdown_signs_and_line_breaks_go(void **state)
{
	assert_string_equal(
		snippet("## Cause\n\n- **The `parser`** lost\n> a token\n---\n2 * 3 snake_case",
			"parser", NULL, 200),
		"Cause The \2parser\3 lost a token 2 3 snake_case");
}

static void the_window_holds_most_of_the_wanted_words(void **state)
{
	char text[4000] = "";
	for (int i = 0; i < 60; i++)
		strcat(text, "nothing of interest here. ");
	strcat(text, "The cache was stale because the key had no version. ");
	for (int i = 0; i < 60; i++)
		strcat(text, "again nothing to see. ");
	strcat(text, "cache ");
	char *s = snippet(text, "cache", "version", 90);
	assert_non_null(strstr(s, "\2cache\3 was stale because the key had no \2version\3"));
	assert_true(str_starts(s, "…") && str_ends(s, "…"));
	assert_true(text_columns(str_of(s)) <= 90 + 2);
}

static void without_a_match_it_is_the_beginning(void **state)
{
	assert_string_equal(snippet("one two three four", NULL, NULL, 12), "one two…");
	assert_string_equal(snippet("", "x", NULL, 12), "");
}

static void a_cut_never_splits_a_cluster(void **state)
{
	char *s = snippet(
		"👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦", NULL,
		NULL, 2);
	assert_string_equal(s, "👩‍👩‍👧‍👦👩‍👩‍👧‍👦…");
	assert_int_equal(grapheme_cut(str_of("e\xcc\x81"
					     "a"),
				 1),
		3);
	assert_int_equal(grapheme_cut(str_of("abc"), 10), 3);
}

static void a_line_is_cut_to_columns(void **state)
{
	assert_string_equal(text_one_line(&a, str_of(" a\n\t b  c "), 10), "a b c");
	assert_string_equal(text_one_line(&a, str_of("abcdefgh"), 5), "abcd…");
	assert_string_equal(text_one_line(&a, str_of("abcde"), 5), "abcde");
	assert_string_equal(text_one_line(&a, str_of("数据库迁移"), 6), "数据…");
	assert_string_equal(text_one_line(&a, str_of("数据库"), 6), "数据库");
	assert_string_equal(text_one_line(&a, str_of("abc"), 0), "");
}

static void columns_are_those_of_a_terminal(void **state)
{
	assert_int_equal(text_columns(str_of("abc")), 3);
	assert_int_equal(text_columns(str_of("数据")), 4);
	assert_int_equal(text_columns(str_of("e\xcc\x81")), 1);
	assert_int_equal(text_columns(str_of("👩‍👩‍👧‍👦")), 2);
}

static void tokens_grow_with_the_text(void **state)
{
	assert_int_equal(text_tokens(str_of("")), 0);
	assert_int_equal(text_tokens(str_of("abcdefgh")), 2);
	assert_int_equal(text_tokens(str_of("数据库")), 3);
}

static void any_bytes_are_survived(void **state)
{
	uint32_t seed = 7;
	char text[300];
	for (int round = 0; round < 2000; round++) {
		size_t n = round % sizeof(text);
		for (size_t i = 0; i < n; i++) {
			seed = seed * 1664525 + 1013904223;
			text[i] = (char)(seed >> 24);
		}
		struct str terms[] = { STR("a"), STR("b") };
		struct snippet_terms wanted = { terms, 2 };
		assert_non_null(snippet_make(&a, an, (struct str){ text, n }, &wanted, round % 50));
		assert_non_null(text_one_line(&a, (struct str){ text, n }, round % 50));
		arena_reset(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(matched_words_are_marked),
		cmocka_unit_test(a_word_is_marked_by_its_stem),
		cmocka_unit_test(an_identifier_is_marked_whole_when_it_was_asked_for),
		cmocka_unit_test(markdown_signs_and_line_breaks_go),
		cmocka_unit_test(the_window_holds_most_of_the_wanted_words),
		cmocka_unit_test(without_a_match_it_is_the_beginning),
		cmocka_unit_test(a_cut_never_splits_a_cluster),
		cmocka_unit_test(a_line_is_cut_to_columns),
		cmocka_unit_test(columns_are_those_of_a_terminal),
		cmocka_unit_test(tokens_grow_with_the_text),
		cmocka_unit_test(any_bytes_are_survived),
	};
	return cmocka_run_group_tests(tests, analyser_open, analyser_close);
}
