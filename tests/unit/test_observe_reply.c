#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "observe/reply.h"

/*
 * tests/data/replies: answers of models, each behind the lines that say how it must be read:
 *
 *   class NAME          cut: the server told the token limit      thinking: some was taken away
 *   repeat N            the text N times      dropped N           why TEXT
 *   item UNIT KIND TYPE TITLE ("-": none)     has TEXT, lacks TEXT: in any field
 *   ---
 */
#define FOLDER "tests/data/replies"
#define FILE_MAX (1u << 20)
#define LINES_MAX 32

struct reply_case {
	const char *name, *class, *why;
	bool is_cut, has_thinking;
	size_t repeat;
	int dropped; /* -1: not said */
	struct str items[LINES_MAX], has[LINES_MAX], lacks[LINES_MAX];
	size_t nitems, nhas, nlacks;
	struct str text;
};

static bool is_word(struct str line, const char *word, struct str *ret_rest)
{
	size_t n = strlen(word);

	if (line.n < n || memcmp(line.p, word, n) != 0 || (line.n > n && line.p[n] != ' '))
		return false;
	*ret_rest = str_trim((struct str){ line.p + n, line.n - n });
	return true;
}

static void case_line(struct arena *a, struct reply_case *c, struct str line)
{
	struct str rest;

	if (is_word(line, "class", &rest))
		c->class = arena_dup(a, rest.p, rest.n);
	else if (is_word(line, "why", &rest))
		c->why = arena_dup(a, rest.p, rest.n);
	else if (is_word(line, "cut", &rest))
		c->is_cut = true;
	else if (is_word(line, "thinking", &rest))
		c->has_thinking = true;
	else if (is_word(line, "repeat", &rest))
		c->repeat = (size_t)atol(rest.p);
	else if (is_word(line, "dropped", &rest))
		c->dropped = atoi(rest.p);
	else if (is_word(line, "item", &rest))
		c->items[c->nitems++] = rest;
	else if (is_word(line, "has", &rest))
		c->has[c->nhas++] = rest;
	else if (is_word(line, "lacks", &rest))
		c->lacks[c->nlacks++] = rest;
	else
		fail_msg("%s: what is '%.*s'?", c->name, (int)line.n, line.p);
}

static void case_load(struct arena *a, const char *name, struct reply_case *ret)
{
	struct buf file = { 0 };
	struct str rest, line;

	*ret = (struct reply_case){ .name = name, .repeat = 1, .dropped = -1 };
	assert_int_equal(file_read(path_join(a, FOLDER, name), FILE_MAX, &file, NULL), 0);
	rest = (struct str){ arena_dup(a, file.data, file.len), file.len };
	buf_done(&file);
	while (str_line(&rest, &line) && !str_is(line, "---"))
		case_line(a, ret, line);
	ret->text = rest;
	if (ret->repeat > 1) {
		char *many = arena_alloc(a, rest.n * ret->repeat + 1);

		for (size_t i = 0; i < ret->repeat; i++)
			memcpy(many + i * rest.n, rest.p, rest.n);
		ret->text = (struct str){ many, rest.n * ret->repeat };
	}
}

static const char *item_line(struct arena *a, const struct reply_item *i)
{
	return arena_printf(a, "%d %s %s %s", i->unit, memory_kind_names[i->kind],
		memory_type_names[i->type], i->title ? i->title : "-");
}

static void put_list(struct buf *out, const char **list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_printf(out, "%s\n", list[i]);
}

static const char *all_fields(struct arena *a, const struct reply *r)
{
	AUTO(buf_done) struct buf out = { 0 };

	for (size_t k = 0; k < r->n; k++) {
		const struct reply_item *i = &r->items[k];
		const char *texts[] = { i->said_type, i->title, i->subtitle, i->body, i->request,
			i->investigated, i->learned, i->completed, i->next_steps, i->notes,
			i->subject, i->value, i->quote };

		for (size_t t = 0; t < ARRAY_LEN(texts); t++)
			if (texts[t])
				buf_printf(&out, "%s\n", texts[t]);
		put_list(&out, i->facts, i->nfacts);
		put_list(&out, i->concepts, i->nconcepts);
		put_list(&out, i->files_read, i->nread);
		put_list(&out, i->files_modified, i->nmodified);
		put_list(&out, i->files, i->nfiles);
		buf_printf(&out, "confidence %.2f\n", i->confidence);
	}
	return arena_dup(a, buf_cstr(&out), out.len);
}

static unsigned complain(const struct reply_case *c, const char *what, const char *got)
{
	fprintf(stderr, "%s: %s, got '%s'\n", c->name, what, got);
	return 1;
}

static unsigned check_items(struct arena *a, const struct reply_case *c, const struct reply *r)
{
	unsigned wrong = 0;

	for (size_t i = 0; i < MAX(r->n, c->nitems); i++) {
		const char *got = i < r->n ? item_line(a, &r->items[i]) : "nothing";

		if (i >= c->nitems || !str_is(c->items[i], got))
			wrong += complain(c, "another item", got);
	}
	return wrong;
}

static unsigned check(struct arena *a, const struct reply_case *c)
{
	struct reply r;
	const char *fields;
	unsigned wrong;

	reply_read(a, c->text, c->is_cut, &r);
	wrong = check_items(a, c, &r);
	if (strcmp(reply_class_names[r.class], c->class) != 0)
		wrong += complain(c, c->class, reply_class_names[r.class]);
	if (c->dropped >= 0 && (int)r.dropped != c->dropped)
		wrong += complain(c, "dropped", arena_printf(a, "%zu", r.dropped));
	if (r.has_thinking != c->has_thinking)
		wrong += complain(c, "thinking", r.has_thinking ? "some" : "none");
	/* "why" alone: for no reason. */
	if (c->why && strcmp(r.why ? r.why : "", c->why) != 0)
		wrong += complain(c, c->why, r.why ? r.why : "nothing");
	fields = all_fields(a, &r);
	for (size_t i = 0; i < c->nhas; i++)
		if (!str_find(str_of(fields), c->has[i]))
			wrong += complain(c, arena_dup(a, c->has[i].p, c->has[i].n), fields);
	for (size_t i = 0; i < c->nlacks; i++)
		if (str_find(str_of(fields), c->lacks[i]))
			wrong += complain(c, "what it must lack", fields);
	if (!utf8_is_valid(fields, strlen(fields)))
		wrong += complain(c, "UTF-8", "other bytes");
	return wrong;
}

static void every_reply_of_the_corpus_is_read_as_its_file_says(void **state)
{
	AUTO(arena_done) struct arena names_arena = { 0 };
	char **names;
	unsigned wrong = 0;
	size_t n;

	assert_int_equal(file_list(&names_arena, FOLDER, &names, &n, NULL), 0);
	assert_true(n >= 80);
	for (size_t i = 0; i < n; i++) {
		AUTO(arena_done) struct arena a = { 0 };
		struct reply_case c;

		case_load(&a, names[i], &c);
		wrong += check(&a, &c);
		/* What is read costs a bounded multiple of its length. */
		assert_true(a.used < (64u << 20));
	}
	assert_int_equal(wrong, 0);
}

/* Wherever a reply is cut: no half item, and never fewer whole ones than before the cut. */
static void a_cut_at_any_place_keeps_whole_items_only(void **state)
{
	static const char *const files[] = { "json-pretty.reply", "xml-two.reply",
		"several-objects.reply", "fence-json.reply" };

	for (size_t f = 0; f < ARRAY_LEN(files); f++) {
		AUTO(arena_done) struct arena top = { 0 };
		struct reply_case c;
		struct reply whole;
		size_t before = 0;

		case_load(&top, files[f], &c);
		reply_read(&top, c.text, false, &whole);
		for (size_t cut = 0; cut <= c.text.n; cut++) {
			AUTO(arena_done) struct arena a = { 0 };
			struct reply r;

			reply_read(&a, (struct str){ c.text.p, cut }, true, &r);
			assert_true(r.n >= before && r.n <= whole.n);
			for (size_t i = 0; i < r.n; i++) {
				assert_string_equal(
					item_line(&a, &r.items[i]), item_line(&a, &whole.items[i]));
				if (whole.items[i].body)
					assert_string_equal(r.items[i].body, whole.items[i].body);
			}
			before = r.n;
		}
		assert_int_equal(before, whole.n);
	}
}

static void a_reply_with_more_than_its_ceilings_keeps_what_they_allow(void **state)
{
	AUTO(arena_done) struct arena a = { 0 };
	AUTO(buf_done) struct buf text = { 0 };
	struct reply r;

	buf_str(&text, "{\"observations\":[");
	for (int i = 0; i < REPLY_ITEMS_MAX + 5; i++) {
		buf_printf(&text, "%s{\"title\":\"Item %d\",\"narrative\":\"", i ? "," : "", i);
		for (int k = 0; i == 0 && k < 2 * REPLY_FIELD_MAX; k++)
			buf_str(&text, "é");
		buf_str(&text, "Kept.\",\"facts\":[");
		for (int k = 0; i == 0 && k < REPLY_LIST_MAX + 5; k++)
			buf_printf(&text, "%s\"fact number %d\"", k ? "," : "", k);
		buf_str(&text, "]}");
	}
	buf_str(&text, "]}");
	reply_read(&a, (struct str){ text.data, text.len }, false, &r);
	assert_int_equal(r.n, REPLY_ITEMS_MAX);
	assert_int_equal(r.dropped, 5);
	assert_int_equal(r.items[0].nfacts, REPLY_LIST_MAX);
	assert_int_equal(strlen(r.items[0].body), REPLY_FIELD_MAX);
	assert_true(utf8_is_valid(r.items[0].body, REPLY_FIELD_MAX));
}

/* Each of these once took time with the square of its length: minutes for what a server may send. */
static void a_reply_of_the_same_again_and_again_is_read_in_no_time(void **state)
{
	static const char *const pieces[] = { "{}", "[]", "[", "{\"a\":", "<a>", "</a>",
		"<think>a</think>", "<think>", "</think>", "{\"title\":\"a b c\"}", "{\"units\":[",
		"<observation><title>a", "<a b=\"", "<![CDATA[", "```json\n", "I cannot help. " };

	for (size_t i = 0; i < ARRAY_LEN(pieces); i++) {
		AUTO(arena_done) struct arena a = { 0 };
		AUTO(buf_done) struct buf text = { 0 };
		struct reply r;

		while (text.len < REPLY_MAX)
			buf_str(&text, pieces[i]);
		reply_read(&a, (struct str){ text.data, text.len }, false, &r);
		assert_in_range(r.n, 0, REPLY_ITEMS_MAX);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_reply_of_the_corpus_is_read_as_its_file_says),
		cmocka_unit_test(a_cut_at_any_place_keeps_whole_items_only),
		cmocka_unit_test(a_reply_of_the_same_again_and_again_is_read_in_no_time),
		cmocka_unit_test(a_reply_with_more_than_its_ceilings_keeps_what_they_allow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
