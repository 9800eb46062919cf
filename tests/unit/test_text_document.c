/* Markdown into chunks: a file of cases, and what holds for any document. */
#include "unit.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "text/document.h"

#define CASES "tests/data/document.cases"
#define CASES_MAX (1u << 20)

/* "Section#0 3-5 the text\nof it": a line for each chunk. */
static void show(struct buf *out, const struct document *d)
{
	for (size_t i = 0; i < d->n; i++) {
		const struct document_chunk *c = &d->chunks[i];
		buf_printf(out, "%s#%zu %zu-%zu ", c->path, c->index, c->first_line, c->last_line);
		for (size_t k = 0; k < c->text.n; k++)
			if (c->text.p[k] == '\n')
				buf_str(out, "\\n");
			else if (c->text.p[k] == '\r')
				buf_str(out, "\\r");
			else
				buf_char(out, c->text.p[k]);
		buf_char(out, '\n');
	}
}

/* A case: "@@ name [chars]", the document, "@=", the expected lines. "\r" and "\e" (nothing) at an end of a line can be written. */
static void run_case(const char *name, size_t chars, struct buf *in, const struct buf *wanted)
{
	AUTO(arena_done) struct arena a = { 0 };
	AUTO(buf_done) struct buf got = { 0 };
	struct document d;

	document_parse(&a, (struct str){ buf_cstr(in), in->len }, chars, &d);
	show(&got, &d);
	if (strcmp(buf_cstr(&got), buf_cstr(wanted)))
		fail_msg("%s:\nexpected\n%s\ngot\n%s", name, buf_cstr(wanted), buf_cstr(&got));
}

static void every_case_gives_the_expected_chunks(void **state)
{
	AUTO(buf_done) struct buf file = { .max = CASES_MAX };
	AUTO(buf_done) struct buf in = { 0 };
	AUTO(buf_done) struct buf wanted = { 0 };
	char name[200] = "";
	size_t chars = 500, ncases = 0;
	bool is_wanted = false;
	struct str rest, line;

	assert_int_equal(file_read(CASES, CASES_MAX, &file, NULL), 0);
	rest = (struct str){ file.data, file.len };
	while (str_line(&rest, &line)) {
		if (line.n > 3 && !memcmp(line.p, "@@ ", 3)) {
			if (*name)
				run_case(name, chars, &in, &wanted);
			ncases += *name != '\0';
			snprintf(name, sizeof(name), "%.*s", (int)(line.n - 3), line.p + 3);
			chars = strchr(name, '[') ? strtoul(strchr(name, '[') + 1, NULL, 10) : 500;
			buf_cut(&in, 0);
			buf_cut(&wanted, 0);
			is_wanted = false;
		} else if (str_is(line, "@=")) {
			is_wanted = true;
		} else if (*name) {
			bool has_return =
				!is_wanted && line.n > 1 && !memcmp(line.p + line.n - 2, "\\r", 2);
			buf_add(is_wanted ? &wanted : &in, line.p, line.n - (has_return ? 2 : 0));
			buf_str(is_wanted ? &wanted : &in, has_return ? "\r\n" : "\n");
		}
	}
	run_case(name, chars, &in, &wanted);
	assert_true(ncases > 40);
}

/* --- What holds for any document. --- */

static bool is_white(const char *from, const char *to)
{
	for (; from < to; from++)
		if (!isspace((unsigned char)*from))
			return false;
	return true;
}

/* Where text starts that must be in a chunk. */
static const char *body_of(struct str text)
{
	struct str inside;
	struct front_matter f;
	AUTO(arena_done) struct arena a = { 0 };

	if (text.n >= 3 && !memcmp(text.p, "\xef\xbb\xbf", 3))
		text = (struct str){ text.p + 3, text.n - 3 };
	size_t front = front_matter_find(text, &inside);
	if (front && !front_matter_read(&a, inside, &f))
		front = 0;
	return is_white(text.p + front, text.p + text.n) && front ? inside.p : text.p + front;
}

static void check(struct str text, size_t chars)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct document d;

	document_parse(&a, text, chars, &d);
	const char *at = body_of(text), *end = text.p + text.n;
	for (size_t i = 0; i < d.n; i++) {
		const struct document_chunk *c = &d.chunks[i];
		assert_true(c->text.n > 0);
		if (c->heading.n) {
			assert_true(is_white(at, c->heading.p));
			at = c->heading.p + c->heading.n;
		}
		assert_true(c->text.p >= at);
		assert_true(is_white(at, c->text.p));
		at = c->text.p + c->text.n;
		assert_true(at <= end);
		assert_true(utf8_is_valid(c->text.p, c->text.n) || memchr(c->text.p, 0, c->text.n));
		assert_true(c->first_line >= 1 && c->first_line <= c->last_line);
		assert_true(c->index == 0 || (i && c->index == d.chunks[i - 1].index + 1));
		assert_true(strlen(c->section) <= DOCUMENT_SECTION_MAX);
	}
	struct str inside;
	bool is_bare = at != end && front_matter_find(text, &inside) && inside.p <= at &&
		       at <= inside.p + inside.n;
	assert_true(is_white(at, is_bare ? inside.p + inside.n : end));
}

static const char *const pieces[] = { "## ", "# ", "### ", "#### x\n", "\n", "\n\n", "word ",
	"Une phrase. ", "mot\n", "```\n", "~~~\n", "```sh\n", "| a | b |\n|---|---|\n| 1 | 2 |\n",
	"| x | y |\n", "- item\n", "  - deeper\n", "1. one\n", "> quote\n", "    code\n",
	"\tcode\n", "---\n", "===\n", "<div>\n", "</div>\n", "<!--\n", "-->\n",
	"[x]: http://e.org\n", "\r\n", "\r", "日本語 ", "é", "`", "*", "**", "\\", "***\n",
	"* * *\n",
	"a very long line that goes on and on without any end to it, so that it has to be cut "
	"somewhere in the middle of what it says. ",
	"averyveryveryveryverylongwordthatcannotbecutatanyspacesinceithasnoneofthematallsoitgoesona"
	"ndonandon",
	"\f", "\v", "<script>\n", "&amp;", "[^1]: note\n", "title: x\n", "tags: [a, b]\n",
	"- [ ] task\n", "![i](u)\n", "  ", "\t" };

static void nothing_is_lost_doubled_or_moved(void **state)
{
	uint64_t seed = 11;

	for (int round = 0; round < 3000; round++) {
		AUTO(buf_done) struct buf b = { 0 };
		size_t n = unit_below(&seed, 60);
		if (unit_below(&seed, 4) == 0)
			buf_str(&b, "---\ntitle: A\ntags: [x, y]\n---\n");
		for (size_t i = 0; i < n; i++)
			buf_str(&b, pieces[unit_below(&seed, ARRAY_LEN(pieces))]);
		check((struct str){ buf_cstr(&b), b.len }, 20 + unit_below(&seed, 200));
	}
}

static void every_case_holds_too_however_small_the_chunks(void **state)
{
	AUTO(buf_done) struct buf file = { .max = CASES_MAX };

	assert_int_equal(file_read(CASES, CASES_MAX, &file, NULL), 0);
	for (size_t chars = 0; chars < 700; chars += 37)
		check((struct str){ file.data, file.len }, chars);
}

static void chunks_are_about_as_long_as_wished(void **state)
{
	AUTO(arena_done) struct arena a = { 0 };
	AUTO(buf_done) struct buf b = { 0 };
	struct document d;

	for (int i = 0; i < 400; i++)
		buf_printf(&b, "Sentence number %d says something. %s", i, i % 7 ? "" : "\n\n");
	document_parse(&a, (struct str){ b.data, b.len }, 500, &d);
	assert_true(d.n > b.len / 500 && d.n < b.len / 200);
	for (size_t i = 0; i < d.n; i++)
		assert_true(d.chunks[i].text.n <= 500);
}

static void front_matter_becomes_title_tags_date_and_the_rest(void **state)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct document d;

	document_parse(&a,
		STR("---\ntitle: \"Split: DNS\"\ntags:\n  - réseau\n  - '#dns'\ndate: "
		    "2026-03-04\nmetadata:\n  type: reference\n"
		    "  deeper: {a: {b: c}}\nlist: [1, two]\nempty:\n---\n# Other\ntext\n"),
		500, &d);
	assert_string_equal(d.title, "Split: DNS");
	assert_int_equal(d.front.ntags, 2);
	assert_string_equal(d.front.tags[0], "réseau");
	assert_string_equal(d.front.tags[1], "dns");
	assert_string_equal(d.front.date, "2026-03-04");
	assert_string_equal(front_matter_json(&a, &d.front),
		"{\"title\":\"Split: "
		"DNS\",\"date\":\"2026-03-04\",\"metadata.type\":\"reference\",\"list\":\"1, "
		"two\",\"tags\":[\"réseau\",\"dns\"]}");
	assert_int_equal(d.n, 1);
	assert_int_equal(d.chunks[0].first_line, 13);
}

static void inline_tags_are_a_list_too(void **state)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct document d;

	document_parse(&a, STR("---\nname: notes\ntags: ci, deploy\n---\nx"), 500, &d);
	assert_string_equal(d.title, "notes");
	assert_int_equal(d.front.ntags, 2);
	assert_string_equal(d.front.tags[1], "deploy");
}

static void what_is_no_yaml_is_text(void **state)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct document d;

	document_parse(&a, STR("---\nthis: [is, not\n---\nx"), 500, &d);
	assert_int_equal(d.front.n, 0);
	assert_non_null(strstr(d.chunks[0].text.p, "this"));
	check(STR("---\nthis: [is, not\n---\nx"), 500);
	check(STR("---\njust words\n---\nx"), 500);
	check(STR("---\n"), 500);
	check(STR("---\n---\n"), 500);
	check(STR("---\n---\n---\n"), 500);
	check(STR("---\na: b\n---"), 500);
	check(STR(""), 500);
}

static void a_front_matter_beyond_its_ceiling_is_text(void **state)
{
	AUTO(arena_done) struct arena a = { 0 };
	AUTO(buf_done) struct buf b = { 0 };
	struct document d;

	buf_str(&b, "---\n");
	while (b.len <= FRONT_MATTER_MAX)
		buf_str(&b, "key: value that is long enough\n");
	buf_str(&b, "---\nx\n");
	document_parse(&a, (struct str){ b.data, b.len }, 500, &d);
	assert_int_equal(d.front.n, 0);
	check((struct str){ b.data, b.len }, 500);
}

static void private_parts_become_spaces_and_lines_stay(void **state)
{
	char text[] = "a\n<private>b\nc</private> d <PRIVATE>e\nf";

	assert_true(document_blank_private(text, strlen(text)));
	assert_string_equal(text, "a\n          \n            d           \n ");
	assert_false(document_blank_private(text, strlen(text)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_case_gives_the_expected_chunks),
		cmocka_unit_test(nothing_is_lost_doubled_or_moved),
		cmocka_unit_test(every_case_holds_too_however_small_the_chunks),
		cmocka_unit_test(chunks_are_about_as_long_as_wished),
		cmocka_unit_test(front_matter_becomes_title_tags_date_and_the_rest),
		cmocka_unit_test(inline_tags_are_a_list_too),
		cmocka_unit_test(what_is_no_yaml_is_text),
		cmocka_unit_test(a_front_matter_beyond_its_ceiling_is_text),
		cmocka_unit_test(private_parts_become_spaces_and_lines_stay),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
