/* One pass over the statements of a TOML text; see toml_scan.h. */

#include "agents/toml_scan.h"

#include <ctype.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

struct scan {
	struct arena *a;
	struct str text;
	size_t at;
	const char *problem;
	const char *table[TOML_PATH_MAX];
	size_t ntable;
};

static int peek(const struct scan *s)
{
	return s->at < s->text.n ? (unsigned char)s->text.p[s->at] : -1;
}

static bool at_text(const struct scan *s, const char *t)
{
	size_t n = strlen(t);
	return s->text.n - s->at >= n && !memcmp(s->text.p + s->at, t, n);
}

static int fail(struct scan *s, const char *problem)
{
	if (!s->problem)
		s->problem = problem;
	return -1;
}

static void skip_blank(struct scan *s)
{
	while (peek(s) == ' ' || peek(s) == '\t')
		s->at++;
}

static void skip_comment(struct scan *s)
{
	if (peek(s) == '#')
		while (peek(s) >= 0 && peek(s) != '\n')
			s->at++;
}

/* Blanks, line ends and comments, as stand between statements and inside arrays. */
static void skip_lines(struct scan *s)
{
	for (;;) {
		skip_blank(s);
		skip_comment(s);
		if (peek(s) != '\n' && peek(s) != '\r')
			return;
		s->at++;
	}
}

/* A string of any of the four kinds. */
static int skip_string(struct scan *s)
{
	static const char *const marks[] = { "\"\"\"", "'''", "\"", "'" };
	const char *mark = NULL;
	for (size_t i = 0; i < ARRAY_LEN(marks) && !mark; i++)
		if (at_text(s, marks[i]))
			mark = marks[i];
	size_t n = strlen(mark);
	s->at += n;
	while (peek(s) >= 0 && !at_text(s, mark)) {
		if (n == 1 && peek(s) == '\n')
			return fail(s, "a string without an end");
		s->at += *mark == '"' && peek(s) == '\\' ? 2 : 1;
	}
	if (peek(s) < 0)
		return fail(s, "a string without an end");
	s->at += n;
	/* Up to two quotes may stand before the closing three. */
	while (n == 3 && peek(s) == *mark)
		s->at++;
	return 0;
}

static int skip_value(struct scan *s)
{
	int depth = 0;
	for (;;) {
		int c = peek(s);
		if (c == '"' || c == '\'') {
			if (skip_string(s))
				return -1;
			continue;
		}
		if (c < 0)
			return depth ? fail(s, "a value without an end") : 0;
		if (depth == 0 && (c == '\n' || c == '\r' || c == '#'))
			return 0;
		if (c == '#') {
			skip_comment(s);
			continue;
		}
		if (c == '[' || c == '{')
			depth++;
		if ((c == ']' || c == '}') && depth-- == 0)
			return fail(s, "a bracket too many");
		s->at++;
	}
}

/*
 * The escapes that occur in keys; others are kept as they are, which only makes the key unlike
 * ours.
 */
static const char *unquote(struct arena *a, struct str raw, bool is_literal)
{
	AUTO(buf_done) struct buf b = { 0 };
	for (size_t i = 0; i < raw.n; i++) {
		bool is_escape = !is_literal && raw.p[i] == '\\' && i + 1 < raw.n &&
				 (raw.p[i + 1] == '"' || raw.p[i + 1] == '\\');
		buf_char(&b, raw.p[is_escape ? ++i : i]);
	}
	return arena_dup(a, buf_cstr(&b), b.len);
}

static int read_part(struct scan *s, const char **ret)
{
	size_t from = s->at;
	if (peek(s) == '"' || peek(s) == '\'') {
		bool is_literal = peek(s) == '\'';
		if (skip_string(s))
			return -1;
		*ret = unquote(
			s->a, (struct str){ s->text.p + from + 1, s->at - from - 2 }, is_literal);
		return 0;
	}
	while (isalnum(peek(s)) || peek(s) == '_' || peek(s) == '-' || peek(s) >= 0x80)
		s->at++;
	if (s->at == from)
		return fail(s, "a key is missing");
	*ret = arena_dup(s->a, s->text.p + from, s->at - from);
	return 0;
}

static int read_path(struct scan *s, const char **path, size_t *n)
{
	for (;;) {
		skip_blank(s);
		if (*n == TOML_PATH_MAX)
			return fail(s, "a key of too many parts");
		if (read_part(s, &path[(*n)++]))
			return -1;
		skip_blank(s);
		if (peek(s) != '.')
			return 0;
		s->at++;
	}
}

static int line_end(struct scan *s)
{
	skip_blank(s);
	skip_comment(s);
	if (peek(s) == '\r')
		s->at++;
	if (peek(s) >= 0 && peek(s) != '\n')
		return fail(s, "something behind the end of a statement");
	s->at += peek(s) == '\n';
	return 0;
}

static int read_header(struct scan *s, struct toml_item *item)
{
	item->is_table = true;
	item->is_list = at_text(s, "[[");
	s->at += item->is_list ? 2 : 1;
	if (read_path(s, item->path, &item->npath))
		return -1;
	if (!at_text(s, item->is_list ? "]]" : "]"))
		return fail(s, "a table's header without ']'");
	s->at += item->is_list ? 2 : 1;
	memcpy(s->table, item->path, sizeof(s->table));
	s->ntable = item->npath;
	return line_end(s);
}

static int read_key(struct scan *s, struct toml_item *item)
{
	memcpy(item->path, s->table, sizeof(s->table));
	item->npath = s->ntable;
	if (read_path(s, item->path, &item->npath))
		return -1;
	if (peek(s) != '=')
		return fail(s, "a key without '='");
	s->at++;
	skip_blank(s);
	size_t from = s->at;
	if (skip_value(s))
		return -1;
	item->value = str_trim((struct str){ s->text.p + from, s->at - from });
	return item->value.n ? line_end(s) : fail(s, "a key without a value");
}

static size_t line_of(const struct scan *s)
{
	size_t n = 1;
	for (size_t i = 0; i < s->at && i < s->text.n; i++)
		n += s->text.p[i] == '\n';
	return n;
}

int toml_scan(struct arena *a, struct str text, struct toml_doc *ret, struct err *err)
{
	struct scan s = { .a = a, .text = text };
	struct toml_doc doc = { 0 };
	if (at_text(&s, "\xEF\xBB\xBF"))
		s.at = 3;
	for (;;) {
		skip_lines(&s);
		if (peek(&s) < 0)
			break;
		struct toml_item item = { .start = s.at };
		while (item.start > 0 &&
			(text.p[item.start - 1] == ' ' || text.p[item.start - 1] == '\t'))
			item.start--;
		if (peek(&s) == '[' ? read_header(&s, &item) : read_key(&s, &item))
			return err_set(err, ERR_USAGE, "line %zu: %s", line_of(&s), s.problem);
		item.end = s.at;
		ARENA_PUSH(a, doc.items, doc.n, doc.cap, item);
	}
	*ret = doc;
	return 0;
}

bool toml_item_is_below(const struct toml_item *item, const char *const *parts)
{
	size_t i = 0;
	for (; parts[i]; i++)
		if (i >= item->npath || strcmp(item->path[i], parts[i]))
			return false;
	return true;
}

size_t toml_table_end(const struct toml_doc *doc, size_t i)
{
	size_t last = doc->items[i].end;
	for (size_t k = i + 1; k < doc->n && !doc->items[k].is_table; k++)
		last = doc->items[k].end;
	return last;
}
