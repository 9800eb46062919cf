#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "observe/sentence.h"
#include "observe/title.h"
#include "text/snippet.h"

#define FILE_MAX (1u << 20)

static char *unfold(struct arena *a, struct str s)
{
	char *out = arena_alloc(a, s.n + 1);
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '\\' && i + 1 < s.n && s.p[i + 1] == 'n') {
			out[n++] = '\n';
			i++;
		} else {
			out[n++] = s.p[i];
		}
	}
	return out;
}

static bool begins(struct str line, const char *word, struct str *ret_rest)
{
	size_t n = strlen(word);

	if (line.n < n || memcmp(line.p, word, n) != 0)
		return false;
	*ret_rest = (struct str){ line.p + n, line.n - n };
	return true;
}

static void every_case_of_the_file_gets_the_title_it_says(void **state)
{
	AUTO(arena_done) struct arena a = { 0 };
	AUTO(buf_done) struct buf file = { 0 };
	struct str rest, line, arg;
	const char *got = NULL;
	unsigned n = 0, wrong = 0, cases = 0;

	assert_int_equal(file_read("tests/data/title.cases", FILE_MAX, &file, NULL), 0);
	rest = (struct str){ file.data, file.len };
	while (str_line(&rest, &line)) {
		n++;
		if (begins(line, "reply ", &arg)) {
			got = title_from_reply(&a, str_of(unfold(&a, arg)));
		} else if (begins(line, "prompt ", &arg)) {
			got = title_from_prompt(&a, str_of(unfold(&a, arg)));
		} else if (begins(line, "title ", &arg)) {
			cases++;
			if (!str_is(arg, got ? got : "-")) {
				fprintf(stderr, "title.cases:%u: '%s', not '%.*s'\n", n,
					got ? got : "-", (int)arg.n, arg.p);
				wrong++;
			}
		}
	}
	assert_int_equal(wrong, 0);
	assert_true(cases > 35);
}

static void a_title_is_one_short_line_of_valid_text(void **state)
{
	static const char *const texts[] = {
		"Added 👩‍👩‍👧‍👦 family emoji support to the truncation of very long titles "
		"that go on and on and on and on and on and on",
		"Fixed `naïve` cutting of e\xcc\x81\xcc\x81\xcc\x81 combining marks "
		"in\nthe\tmiddle of words that are long enough to be cut somewhere around here "
		"okay",
		"Updated the slow token reader of "
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa parser",
		"Changed the reader (which was slow (very slow, in fact) for the files that people "
		"have in their homes) and the writer of it",
	};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		AUTO(arena_done) struct arena a = { 0 };
		char *title = title_from_reply(&a, str_of(texts[i]));

		assert_non_null(title);
		assert_true(utf8_is_valid(title, strlen(title)));
		assert_null(strpbrk(title, "\n\t`"));
		assert_int_equal(grapheme_cut(str_of(title), TITLE_MAX), strlen(title));
	}
}

static void markdown_becomes_plain_text(void **state)
{
	AUTO(arena_done) struct arena a = { 0 };
	static const char in[] =
		"# Head\n\nSome **bold**, *thin* and `code_x`, 2 * 3 * 4, snake_case_name and *.c "
		"files.\n\n- one\n  - [two](http://x)\n\n```c\nint *p;\n```\n";

	assert_string_equal(plain_from_markdown(&a, str_of(in)),
		"Head\nSome bold, thin and code_x, 2 * 3 * 4, snake_case_name and *.c files.\n- "
		"one\n  - two\nint *p;\n");
}

static void bytes_of_any_kind_are_survived(void **state)
{
	unsigned seed = 7;

	for (int round = 0; round < 300; round++) {
		AUTO(arena_done) struct arena a = { 0 };
		static const char letters[] =
			"`*_[](){}<>#-1. \n\t\\~|:!?\"'aZ\xc3\xa9\xe2\x80\x94\xf0\x9f\x98\x80";
		char text[400];
		size_t n = (size_t)(round + 1);

		for (size_t i = 0; i < n; i++) {
			seed = seed * 1103515245u + 12345u;
			text[i] = letters[(seed >> 16) % (sizeof(letters) - 1)];
		}
		title_from_reply(&a, (struct str){ text, n });
		title_from_prompt(&a, (struct str){ text, n });
		plain_from_markdown(&a, (struct str){ text, n });
	}
}

static void nested_links_need_little_stack(void **state)
{
	AUTO(arena_done) struct arena a = { 0 };
	AUTO(buf_done) struct buf b = { 0 };

	for (int i = 0; i < 50000; i++)
		buf_char(&b, '[');
	buf_str(&b, "deep");
	for (int i = 0; i < 50000; i++)
		buf_str(&b, "](x)");
	title_from_reply(&a, (struct str){ b.data, b.len });
	plain_from_markdown(&a, (struct str){ b.data, b.len });
}

static void the_tables_of_words_are_in_order(void **state)
{
	/* Their first and last words are only found when halving works all the way. */
	assert_true(word_is_generic(STR("done")));
	assert_true(word_is_generic(STR("The")));
	assert_true(word_is_generic(STR("a")));
	assert_true(word_is_generic(STR("été")));
	assert_true(word_is_generic(STR("ÉTÉ")));
	assert_true(word_is_generic(STR("yourself")) || word_is_generic(STR("your")));
	assert_true(word_is_deed(STR("Fixed")));
	assert_true(word_is_deed(STR("écrit")));
	assert_true(word_is_pointer(STR("This")));
	assert_false(word_is_generic(STR("parser")));
	assert_false(word_is_generic(STR("")));
}

static void titles_that_say_the_same_are_known(void **state)
{
	assert_true(title_is_like("Fixed the race in the spool drain", "Fix race in spool drain"));
	assert_false(
		title_is_like("Fixed the race in the spool drain", "Added a flag to print paths"));
	assert_true(title_is_like("Done", "done"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_case_of_the_file_gets_the_title_it_says),
		cmocka_unit_test(a_title_is_one_short_line_of_valid_text),
		cmocka_unit_test(markdown_becomes_plain_text),
		cmocka_unit_test(bytes_of_any_kind_are_survived),
		cmocka_unit_test(nested_links_need_little_stack),
		cmocka_unit_test(the_tables_of_words_are_in_order),
		cmocka_unit_test(titles_that_say_the_same_are_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
