#include "unit.h"

#include "text/ignore.h"

struct expected {
	const char *path;
	bool is_folder, is_out;
};

static void expect(const struct ignore *ig, const struct expected *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (ignore_holds(ig, list[i].path, list[i].is_folder) != list[i].is_out)
			fail_msg("%s should%s be left out", list[i].path,
				list[i].is_out ? "" : " not");
}

static void patterns_mean_what_git_says(void **state)
{
	struct arena a = { 0 };
	struct ignore ig = { .arena = &a };
	static const struct expected list[] = {
		{ "/r/drafts", true, true },
		{ "/r/a/drafts", true, true },
		{ "/r/drafts", false, false }, /* a file of that name */
		{ "/r/x.tmp.md", false, true },
		{ "/r/a/x.tmp.md", false, true },
		{ "/r/keep.tmp.md", false, false },
		{ "/r/build", true, true },
		{ "/r/a/build", true, false }, /* tied to the folder */
		{ "/r/doc/x/private.md", false, true },
		{ "/r/doc/private.md", false, true },
		{ "/r/logs/a/b.md", false, true },
		{ "/r/#note.md", false, true },
		{ "/r/note.md", false, false },
		{ "/elsewhere/x.tmp.md", false, false },
	};

	ignore_add(&ig, "/r",
		STR("# a comment\n\ndrafts/\n*.tmp.md  "
		    "\n!keep.tmp.md\n/build\r\ndoc/**/private.md\nlogs/**\n\\#note.md\n"));
	expect(&ig, list, sizeof(list) / sizeof(list[0]));
	arena_done(&a);
}

static void a_deeper_folder_wins_and_can_be_left_again(void **state)
{
	struct arena a = { 0 };
	struct ignore ig = { .arena = &a };
	static const struct expected inside[] = { { "/r/a/x.md", false, false },
		{ "/r/y.md", false, true } };
	static const struct expected after[] = { { "/r/a/x.md", false, true } };

	ignore_add(&ig, "/r", STR("*.md"));
	size_t n = ig.n;
	ignore_add(&ig, "/r/a", STR("!x.md"));
	expect(&ig, inside, 2);
	ig.n = n;
	expect(&ig, after, 1);
	arena_done(&a);
}

static void rules_have_a_ceiling(void **state)
{
	struct arena a = { 0 };
	struct ignore ig = { .arena = &a };

	for (int i = 0; i < 40; i++) {
		char text[4096];
		for (size_t k = 0; k < sizeof(text); k += 2) {
			text[k] = 'a';
			text[k + 1] = '\n';
		}
		ignore_add(&ig, "/r", (struct str){ text, sizeof(text) });
	}
	assert_int_equal(ig.n, IGNORE_RULES_MAX);
	arena_done(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns_mean_what_git_says),
		cmocka_unit_test(a_deeper_folder_wins_and_can_be_left_again),
		cmocka_unit_test(rules_have_a_ceiling),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
