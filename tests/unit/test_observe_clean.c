#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "observe/clean.h"

#define FILE_MAX (1u << 20)

enum field { FIELD_TEXT, FIELD_INPUT, FIELD_OUTPUT, FIELD_DIFF, FIELD_COUNT };
static const char *const field_names[FIELD_COUNT] = { "text", "input", "output", "diff" };

struct clean_case {
	char *title;
	enum event_kind kind;
	struct str in[FIELD_COUNT], want[FIELD_COUNT];
	bool is_meta;
};

static struct str unescape(struct arena *a, struct str s)
{
	static const char from[] = "nerbat\\0", to[] = "\n\033\r\b\a\t\\";
	char *out = arena_alloc(a, s.n + 1);
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++) {
		const char *at = s.p[i] == '\\' && i + 1 < s.n ? strchr(from, s.p[i + 1]) : NULL;

		if (at && *at) {
			out[n++] = to[at - from];
			i++;
		} else {
			out[n++] = s.p[i];
		}
	}
	return (struct str){ out, n };
}

static bool field_line(struct arena *a, struct str line, struct str fields[FIELD_COUNT])
{
	for (size_t i = 0; i < FIELD_COUNT; i++) {
		size_t n = strlen(field_names[i]);

		if (line.n >= n && memcmp(line.p, field_names[i], n) == 0 &&
			(line.n == n || line.p[n] == ' ')) {
			fields[i] = line.n > n ? unescape(a, (struct str){ line.p + n + 1,
								     line.n - n - 1 })
					       : (struct str){ 0 };
			return true;
		}
	}
	return false;
}

static struct captured_event event_of(const struct clean_case *c)
{
	return (struct captured_event){ .kind = c->kind,
		.text = c->in[FIELD_TEXT],
		.input = c->in[FIELD_INPUT],
		.output = c->in[FIELD_OUTPUT],
		.diff = c->in[FIELD_DIFF] };
}

static unsigned check(const struct clean_case *c, const struct redactor *r)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct captured_event e = event_of(c);
	uint64_t redactions = 0;
	unsigned wrong = 0;

	clean_event(&a, r, &e, &redactions);
	const struct str got[FIELD_COUNT] = { e.text, e.input, e.output, e.diff };
	for (size_t i = 0; i < FIELD_COUNT; i++)
		if (!str_eq(got[i], c->want[i])) {
			fprintf(stderr, "%s: %s is '%.*s', not '%.*s'\n", c->title, field_names[i],
				(int)got[i].n, got[i].p, (int)c->want[i].n, c->want[i].p);
			wrong++;
		}
	if (e.is_meta != c->is_meta) {
		fprintf(stderr, "%s: meta is %d\n", c->title, e.is_meta);
		wrong++;
	}
	return wrong;
}

static void read_line(struct arena *a, struct clean_case *c, struct str line)
{
	if (line.n > 5 && memcmp(line.p, "kind ", 5) == 0)
		c->kind = (enum event_kind)name_find(
			event_kind_names, EVENT_KIND_COUNT, arena_dup(a, line.p + 5, line.n - 5));
	else if (str_is(line, "want meta"))
		c->is_meta = true;
	else if (line.n > 5 && memcmp(line.p, "want ", 5) == 0)
		assert_true(field_line(a, (struct str){ line.p + 5, line.n - 5 }, c->want));
	else if (line.n && line.p[0] != '#') {
		assert_true(field_line(a, line, c->in));
		memcpy(c->want, c->in, sizeof(c->want));
	}
}

static void every_case_of_the_file_is_cleaned_as_it_says(void **state)
{
	AUTO(arena_done) struct arena a = { 0 };
	AUTO(buf_done) struct buf file = { 0 };
	struct clean_case c = { 0 };
	struct str rest, line;
	struct redactor *r;
	unsigned cases = 0, wrong = 0;

	assert_int_equal(redactor_new(NULL, &r, NULL), 0);
	assert_int_equal(file_read("tests/data/clean.cases", FILE_MAX, &file, NULL), 0);
	rest = (struct str){ file.data, file.len };
	while (str_line(&rest, &line)) {
		if (line.n > 5 && memcmp(line.p, "case ", 5) == 0) {
			if (c.title)
				wrong += check(&c, r);
			c = (struct clean_case){ .title = arena_dup(&a, line.p + 5, line.n - 5) };
			cases++;
			continue;
		}
		read_line(&a, &c, line);
	}
	wrong += check(&c, r);
	redactor_free(r);
	assert_int_equal(wrong, 0);
	assert_true(cases > 25);
}

static void clean_text_that_holds_nothing_is_given_back(void **state)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct redactor *r;
	uint64_t redactions = 0;
	struct str text = STR("for (i = 0; i < n; i++) /* a & b */ x = y->z;");

	assert_int_equal(redactor_new(NULL, &r, NULL), 0);
	assert_ptr_equal(clean_text(&a, r, text, &redactions).p, text.p);
	assert_int_equal(redactions, 0);
	redactor_free(r);
}

static void many_unclosed_tags_take_linear_time(void **state)
{
	AUTO(arena_done) struct arena a = { 0 };
	AUTO(buf_done) struct buf b = { 0 };
	struct redactor *r;
	uint64_t redactions = 0;

	assert_int_equal(redactor_new(NULL, &r, NULL), 0);
	for (int i = 0; i < 100000; i++)
		buf_str(&b, "<system-reminder> x ");
	assert_int_equal(clean_text(&a, r, (struct str){ b.data, b.len }, &redactions).n, b.len);
	redactor_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_case_of_the_file_is_cleaned_as_it_says),
		cmocka_unit_test(clean_text_that_holds_nothing_is_given_back),
		cmocka_unit_test(many_unclosed_tags_take_linear_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
