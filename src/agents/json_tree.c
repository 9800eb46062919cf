/*
 * A strict parser that keeps positions instead of values, and the two edits on top of it. See
 * json_tree.h.
 */

#include "agents/json_tree.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"

struct reader {
	struct arena *a;
	struct str text;
	size_t at;
	int depth;
	const char *problem;
};

static int peek(const struct reader *r)
{
	return r->at < r->text.n ? (unsigned char)r->text.p[r->at] : -1;
}

static bool at_text(const struct reader *r, const char *s)
{
	size_t n = strlen(s);
	return r->text.n - r->at >= n && !memcmp(r->text.p + r->at, s, n);
}

static int fail(struct reader *r, const char *problem)
{
	if (!r->problem)
		r->problem = problem;
	return -1;
}

/* White space and comments. */
static int skip(struct reader *r)
{
	for (;;) {
		int c = peek(r);
		if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
			r->at++;
		} else if (at_text(r, "//")) {
			while (peek(r) >= 0 && peek(r) != '\n')
				r->at++;
		} else if (at_text(r, "/*")) {
			struct str rest = { r->text.p + r->at + 2, r->text.n - r->at - 2 };
			const char *end = str_find(rest, STR("*/"));
			if (!end)
				return fail(r, "a comment without an end");
			r->at = (size_t)(end + 2 - r->text.p);
		} else {
			return 0;
		}
	}
}

static int read_string(struct reader *r, const char **ret)
{
	size_t from = r->at++;
	while (peek(r) >= 0 && peek(r) != '"') {
		if (peek(r) < 0x20)
			return fail(r, "a string that runs over the end of its line");
		r->at += peek(r) == '\\' ? 2 : 1;
	}
	if (peek(r) != '"')
		return fail(r, "a string without an end");
	r->at++;
	json *j = NULL;
	if (json_parse(r->text.p + from, r->at - from, &j, NULL)) {
		r->at = from;
		return fail(r, "a bad escape in a string");
	}
	*ret = arena_str(r->a, json_value_str(j) ? json_value_str(j) : "");
	json_free(j);
	return 0;
}

static void add_child(struct jnode *parent, struct jnode *child)
{
	child->prev = parent->last;
	if (parent->last)
		parent->last->next = child;
	else
		parent->first = child;
	parent->last = child;
	parent->n++;
}

static struct jnode *read_value(struct reader *r);

static int read_member(struct reader *r, struct jnode *parent)
{
	size_t key_start = r->at;
	const char *key = NULL;
	if (parent->type == JNODE_OBJECT) {
		if (peek(r) != '"')
			return fail(r, "a member without a key in quotes");
		if (read_string(r, &key) || skip(r))
			return -1;
		if (peek(r) != ':')
			return fail(r, "a key without ':'");
		r->at++;
		if (skip(r))
			return -1;
	}
	struct jnode *child = read_value(r);
	if (!child)
		return -1;
	child->key = key;
	child->key_start = key ? key_start : child->start;
	add_child(parent, child);
	return skip(r);
}

static int read_children(struct reader *r, struct jnode *parent)
{
	int close = parent->type == JNODE_OBJECT ? '}' : ']';
	if (++r->depth > JSON_TREE_DEPTH)
		return fail(r, "too many levels");
	r->at++;
	if (skip(r))
		return -1;
	while (peek(r) != close) {
		if (read_member(r, parent))
			return -1;
		if (peek(r) == close)
			break;
		if (peek(r) != ',')
			return fail(r, "a ',' or the end of a list is missing");
		r->at++;
		if (skip(r))
			return -1;
		if (peek(r) == close)
			return fail(r, "a ',' with nothing behind it");
	}
	r->at++;
	r->depth--;
	return 0;
}

static int read_word(struct reader *r)
{
	static const char *const words[] = { "true", "false", "null" };
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (at_text(r, words[i])) {
			r->at += strlen(words[i]);
			return 0;
		}
	size_t from = r->at;
	while (peek(r) >= 0 && strchr("+-.0123456789eE", peek(r)))
		r->at++;
	return r->at > from ? 0 : fail(r, "something that is no value");
}

static struct jnode *read_value(struct reader *r)
{
	struct jnode *node = ARENA_NEW(r->a, struct jnode);
	node->start = node->key_start = r->at;
	int rc;
	if (peek(r) == '{' || peek(r) == '[') {
		node->type = peek(r) == '{' ? JNODE_OBJECT : JNODE_ARRAY;
		rc = read_children(r, node);
	} else if (peek(r) == '"') {
		node->type = JNODE_STRING;
		rc = read_string(r, &node->value);
	} else {
		node->type = JNODE_OTHER;
		rc = read_word(r);
	}
	node->end = r->at;
	return rc ? NULL : node;
}

static size_t line_of(const struct reader *r)
{
	size_t n = 1;
	for (size_t i = 0; i < r->at && i < r->text.n; i++)
		n += r->text.p[i] == '\n';
	return n;
}

int jnode_parse(struct arena *a, struct str text, struct jnode **ret, struct err *err)
{
	struct reader r = { .a = a, .text = text };
	struct jnode *root = NULL;
	if (at_text(&r, "\xEF\xBB\xBF"))
		r.at = 3;
	if (!skip(&r) && (root = read_value(&r)) && !skip(&r) && r.at < text.n)
		fail(&r, "something behind the end");
	if (r.problem)
		return err_set(err, ERR_USAGE, "line %zu: %s", line_of(&r), r.problem);
	*ret = root;
	return 0;
}

struct jnode *jnode_get(const struct jnode *object, const char *key)
{
	if (!object || object->type != JNODE_OBJECT)
		return NULL;
	for (struct jnode *c = object->last; c; c = c->prev)
		if (!strcmp(c->key, key))
			return c;
	return NULL;
}

/*
 * White space between the beginning of the line and this place; false when something else stands
 * there.
 */
static bool indent_at(struct str text, size_t at, struct str *ret)
{
	size_t from = at;
	while (from > 0 && (text.p[from - 1] == ' ' || text.p[from - 1] == '\t'))
		from--;
	*ret = (struct str){ text.p + from, at - from };
	return from == 0 || text.p[from - 1] == '\n';
}

/* The indentation of the line that holds this place. */
static struct str indent_of_line(struct str text, size_t at)
{
	size_t from = at, to;
	while (from > 0 && text.p[from - 1] != '\n')
		from--;
	for (to = from; to < at && (text.p[to] == ' ' || text.p[to] == '\t'); to++)
		;
	return (struct str){ text.p + from, to - from };
}

/* One level: what a child's line is indented more than its parent's. */
static const char *find_unit(struct arena *a, struct str text, const struct jnode *node)
{
	for (const struct jnode *c = node->first; c; c = c->next) {
		struct str outer = indent_of_line(text, node->start), inner;
		if (indent_at(text, c->key_start, &inner) && inner.n > outer.n)
			return arena_dup(a, inner.p + outer.n, inner.n - outer.n);
		const char *unit = find_unit(a, text, c);
		if (unit)
			return unit;
	}
	return NULL;
}

struct json_style json_style_of(struct arena *a, struct str text, const struct jnode *root)
{
	const char *unit = find_unit(a, text, root);
	const char *line = text.n ? memchr(text.p, '\n', text.n) : NULL;
	struct json_style style = { .newline = "\n", .unit = unit ? unit : "  " };
	if (line && line > text.p && line[-1] == '\r')
		style.newline = "\r\n";
	/* Everything on one line stays so; an empty object has no style yet. */
	if (root->first && !memchr(text.p + root->start, '\n', root->end - root->start))
		style.newline = "";
	return style;
}

static void lay_break(struct buf *out, const struct json_style *s, const char *indent, int level)
{
	if (!*s->newline)
		return;
	buf_str(out, s->newline);
	buf_str(out, indent);
	for (int i = 0; i < level; i++)
		buf_str(out, s->unit);
}

/* Lays out compact JSON: a line per member, or all on one line with a space behind ':' and ','. */
static void lay_out(
	struct buf *out, const char *value, const struct json_style *s, const char *indent)
{
	int level = 0;
	bool in_string = false;
	for (const char *p = value; *p; p++) {
		bool is_empty = (p[0] == '{' && p[1] == '}') || (p[0] == '[' && p[1] == ']');
		if (in_string || *p == '"') {
			buf_char(out, *p);
			if (*p == '\\')
				buf_char(out, *++p);
			else if (*p == '"')
				in_string = !in_string;
		} else if (is_empty) {
			buf_add(out, p++, 2);
		} else if (*p == '{' || *p == '[') {
			buf_char(out, *p);
			lay_break(out, s, indent, ++level);
		} else if (*p == '}' || *p == ']') {
			lay_break(out, s, indent, --level);
			buf_char(out, *p);
		} else if (*p == ',') {
			buf_str(out, *s->newline ? "," : ", ");
			lay_break(out, s, indent, level);
		} else {
			buf_char(out, *p);
			if (*p == ':')
				buf_char(out, ' ');
		}
	}
}

const char *json_literal(struct arena *a, const char *s)
{
	AUTO(buf_done) struct buf b = { 0 };
	struct jw w = { .out = &b };
	jw_str(&w, NULL, s);
	return arena_dup(a, b.data, b.len);
}

static struct str replaced(
	struct arena *a, struct str text, size_t from, size_t to, const struct buf *with)
{
	struct buf b = { 0 };
	buf_add(&b, text.p, from);
	buf_add(&b, buf_cstr(with), with->len);
	buf_add(&b, text.p + to, text.n - to);
	struct str ret = { arena_dup(a, buf_cstr(&b), b.len), b.len };
	buf_done(&b);
	return ret;
}

static void put_item(struct arena *a, struct buf *out, const char *key, const char *value,
	const struct json_style *s, const char *indent)
{
	if (key)
		buf_printf(out, "%s: ", json_literal(a, key));
	lay_out(out, value, s, indent);
}

struct str jnode_insert(struct arena *a, struct str text, const struct jnode *root,
	const struct jnode *parent, const char *key, const char *value)
{
	struct json_style s = json_style_of(a, text, root);
	struct str indent;
	AUTO(buf_done) struct buf b = { 0 };
	if (parent->last) {
		bool is_own_line = indent_at(text, parent->last->key_start, &indent);
		const char *in = is_own_line ? arena_dup(a, indent.p, indent.n) : "";
		if (!is_own_line)
			s.newline = "";
		buf_char(&b, ',');
		if (is_own_line)
			lay_break(&b, &s, in, 0);
		else
			buf_char(&b, ' ');
		put_item(a, &b, key, value, &s, in);
		return replaced(a, text, parent->last->end, parent->last->end, &b);
	}
	struct str outer = indent_of_line(text, parent->start);
	const char *out = arena_dup(a, outer.p, outer.n);
	const char *in = arena_printf(a, "%s%s", out, s.unit);
	buf_char(&b, text.p[parent->start]);
	lay_break(&b, &s, in, 0);
	put_item(a, &b, key, value, &s, in);
	lay_break(&b, &s, out, 0);
	buf_char(&b, text.p[parent->end - 1]);
	return replaced(a, text, parent->start, parent->end, &b);
}

struct str jnode_remove(
	struct arena *a, struct str text, const struct jnode *parent, const struct jnode *child)
{
	struct buf nothing = { 0 };
	size_t from = parent->start + 1, to = parent->end - 1;
	if (child->prev) {
		from = child->prev->end;
		to = child->end;
	} else if (child->next) {
		from = child->key_start;
		to = child->next->key_start;
	}
	return replaced(a, text, from, to, &nothing);
}
