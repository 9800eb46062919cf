/*
 * JSON as models write it. Nothing is an error: what cannot be is skipped to the next comma or end.
 * Each byte is passed once, so that a megabyte of brackets costs no more than a megabyte of text.
 */

#include <ctype.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "observe/reply_node.h"

static struct node *read_value(struct node_reader *r);

static bool at(const struct node_reader *r, const char *what)
{
	size_t n = strlen(what);

	return (size_t)(r->end - r->p) >= n && memcmp(r->p, what, n) == 0;
}

/* Behind the end of a comment, from its start. */
static void skip_comment(struct node_reader *r)
{
	bool is_block = r->p[0] == '/' && r->p[1] == '*';
	struct str rest = { r->p, (size_t)(r->end - r->p) };
	const char *close = is_block ? str_find(rest, STR("*/")) : memchr(rest.p, '\n', rest.n);

	r->is_loose = true;
	r->p = !close ? r->end : close + (is_block ? 2 : 1);
}

static void skip_space(struct node_reader *r)
{
	while (r->p < r->end) {
		if ((unsigned char)*r->p <= ' ')
			r->p++;
		else if (at(r, "\xc2\xa0"))
			r->p += 2;
		else if (at(r, "\xef\xbb\xbf") || at(r, "\xe2\x80\x8b"))
			r->p += 3;
		else if (at(r, "//") || at(r, "/*") || *r->p == '#')
			skip_comment(r);
		else
			return;
	}
}

/* ---- quoted texts ---- */

static const struct quote {
	const char *open, *close, *close_also;
} quotes[] = {
	{ "\"\"\"", "\"\"\"", NULL }, { "\"", "\"", NULL }, { "'", "'", NULL }, { "`", "`", NULL },
	{ "\xe2\x80\x9c", "\xe2\x80\x9d", "\"" }, /* “ ” */
	{ "\xe2\x80\x9e", "\xe2\x80\x9c", "\"" }, /* „ “ */
	{ "\xe2\x80\x98", "\xe2\x80\x99", "'" },  /* ‘ ’ */
	{ "\xc2\xab", "\xc2\xbb", NULL },         /* « » */
};

static const struct quote *quote_at(const struct node_reader *r)
{
	for (size_t i = 0; i < ARRAY_LEN(quotes); i++)
		if (at(r, quotes[i].open) &&
			!(i == 0 && r->end - r->p > 3 && strchr(",]}:", r->p[3])))
			return &quotes[i];
	return NULL;
}

#define NOT_HEX 0x110000u

static uint32_t hex4(const struct node_reader *r)
{
	uint32_t value = 0;

	for (int i = 0; i < 4; i++) {
		unsigned char c = r->p + i < r->end ? (unsigned char)r->p[i] : 0;

		if (!isxdigit(c))
			return NOT_HEX;
		value = value * 16 + (uint32_t)(isdigit(c) ? c - '0' : tolower(c) - 'a' + 10);
	}
	return value;
}

/* "\u00e9", in pairs where one is not enough; r->p behind the "u". */
static void add_unicode(struct node_reader *r, struct buf *out)
{
	char utf8[4];
	uint32_t cp = hex4(r), low;

	if (cp == NOT_HEX) {
		r->is_loose = true;
		buf_str(out, "\\u");
		return;
	}
	r->p += 4;
	if (cp >= 0xD800 && cp < 0xDC00 && at(r, "\\u")) {
		r->p += 2;
		low = hex4(r);
		if (low >= 0xDC00 && low < 0xE000) {
			r->p += 4;
			cp = 0x10000 + ((cp - 0xD800) << 10) + (low - 0xDC00);
		} else {
			r->p -= 2;
		}
	}
	if (cp == 0 || (cp >= 0xD800 && cp < 0xE000))
		cp = 0xFFFD;
	buf_add(out, utf8, utf8_encode(cp, utf8));
}

static void add_escape(struct node_reader *r, struct buf *out)
{
	static const char from[] = "nrtbf", to[] = "\n\r\t\b\f";
	const char *known;
	char c;

	r->p++;
	if (r->p == r->end)
		return;
	c = *r->p++;
	known = strchr(from, c);
	if (c == 'u')
		add_unicode(r, out);
	else if (c && known)
		buf_char(out, to[known - from]);
	else if (c != '\n') {
		/* "\d" of a path or pattern that was not escaped means itself. */
		if (!strchr("\"\\/'`", c)) {
			r->is_loose = true;
			buf_char(out, '\\');
		}
		buf_char(out, c);
	}
}

/* A quote inside of a text that forgot to escape it is followed by more text, an end by a sign. */
static bool is_end_of_text(const struct node_reader *r, const char *after)
{
	const char *p = after;

	while (p < r->end && (unsigned char)*p <= ' ')
		p++;
	if (p == r->end || strchr(",]}:=", *p))
		return true;
	/* A missing comma: the next member begins on another line. */
	return memchr(after, '\n', (size_t)(p - after)) != NULL || *p == '/' || *p == '#';
}

static const char *closing(const struct node_reader *r, const struct quote *q, size_t *ret_n)
{
	const char *marks[] = { q->close, q->close_also };

	for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
		if (!marks[i] || !at(r, marks[i]))
			continue;
		*ret_n = strlen(marks[i]);
		if (is_end_of_text(r, r->p + *ret_n))
			return r->p;
	}
	return NULL;
}

static struct node *read_text(struct node_reader *r, const struct quote *q)
{
	struct node *n = node_new(r, NODE_TEXT);
	AUTO(buf_done) struct buf out = { 0 };
	size_t close_n;

	if (!n)
		return NULL;
	r->is_loose |= q != &quotes[1];
	r->p += strlen(q->open);
	while (r->p < r->end) {
		if (*r->p == '\\') {
			add_escape(r, &out);
			continue;
		}
		if (closing(r, q, &close_n)) {
			r->p += close_n;
			n->text = (struct str){ arena_dup(r->a, buf_cstr(&out), out.len), out.len };
			return n;
		}
		r->is_loose |= (unsigned char)*r->p < ' ' || *r->p == q->close[0];
		buf_char(&out, *r->p++);
	}
	n->is_open = r->is_torn = r->is_loose = true;
	n->text = (struct str){ arena_dup(r->a, buf_cstr(&out), out.len), out.len };
	return n;
}

/* Numbers, true, null, and what nobody quoted. */
static struct node *read_word(struct node_reader *r)
{
	const char *start = r->p;
	struct node *n = node_new(r, NODE_WORD);
	struct str word;

	while (r->p < r->end && !strchr(",]}{\n", *r->p) && !at(r, "//"))
		r->p++;
	word = str_trim((struct str){ start, (size_t)(r->p - start) });
	if (!n || !word.n)
		return NULL;
	if (isdigit((unsigned char)word.p[0]) || word.p[0] == '-')
		n->kind = NODE_NUMBER;
	else if (!str_is(word, "true") && !str_is(word, "false") && !str_is(word, "null"))
		r->is_loose = true;
	n->text = (struct str){ arena_dup(r->a, word.p, word.n), word.n };
	if (r->p == r->end)
		n->is_open = r->is_torn = true;
	return n;
}

/* ---- lists and objects ---- */

/* False at the end of the list or object, whose sign is passed. */
static bool next_member(struct node_reader *r, struct node *parent, char closer)
{
	bool had_comma = false;

	for (;;) {
		skip_space(r);
		if (r->p == r->end) {
			parent->is_open = r->is_loose = true;
			return false;
		}
		if (*r->p == closer) {
			r->p++;
			r->is_loose |= had_comma;
			return false;
		}
		/* The other closer: this one's was forgotten, and that one is the parent's. */
		if (strchr("]}", *r->p)) {
			r->is_loose = true;
			return false;
		}
		if (*r->p != ',' && *r->p != ';')
			break;
		r->is_loose |= had_comma || !parent->first;
		had_comma = true;
		r->p++;
	}
	r->is_loose |= parent->first && !had_comma;
	return true;
}

static struct node *read_list(struct node_reader *r)
{
	struct node *list = node_new(r, NODE_LIST), *item;

	if (!list)
		return NULL;
	r->p++;
	while (next_member(r, list, ']')) {
		const char *before = r->p;

		item = read_value(r);
		if (item)
			node_add(list, item);
		if (r->p == before)
			r->p++;
		if (item && item->is_open && r->p == r->end)
			list->is_open = true;
	}
	return list;
}

/* A key with or without quotes, and its colon or "="; NULL when there is none. */
static char *read_key(struct node_reader *r)
{
	const struct quote *q = quote_at(r);
	struct str raw;
	const char *start = r->p;

	if (q) {
		struct node *text = read_text(r, q);

		raw = text ? text->text : (struct str){ "", 0 };
	} else {
		while (r->p < r->end && r->p - start < NODE_KEY_MAX &&
			(isalnum((unsigned char)*r->p) || strchr("_-.$", *r->p)))
			r->p++;
		raw = (struct str){ start, (size_t)(r->p - start) };
		r->is_loose = true;
	}
	skip_space(r);
	if (r->p == r->end || !raw.n || (*r->p != ':' && *r->p != '='))
		return NULL;
	r->is_loose |= *r->p == '=';
	r->p++;
	if (r->p < r->end && *r->p == '>')
		r->p++;
	return node_key(r->a, raw);
}

static struct node *read_object(struct node_reader *r)
{
	struct node *object = node_new(r, NODE_OBJECT), *value;

	if (!object)
		return NULL;
	r->p++;
	while (next_member(r, object, '}')) {
		const char *before = r->p;
		char *key = read_key(r);

		skip_space(r);
		value = key ? read_value(r) : NULL;
		if (value) {
			value->key = key;
			node_add(object, value);
		} else {
			r->is_loose = true;
		}
		if (r->p == before)
			r->p++;
		if (value && value->is_open && r->p == r->end)
			object->is_open = true;
	}
	return object;
}

static struct node *read_value(struct node_reader *r)
{
	const struct quote *q;
	struct node *ret;

	skip_space(r);
	if (r->p == r->end || r->depth >= NODE_DEPTH_MAX)
		return NULL;
	q = quote_at(r);
	if (q)
		return read_text(r, q);
	if (*r->p != '{' && *r->p != '[')
		return read_word(r);
	r->depth++;
	ret = *r->p == '{' ? read_object(r) : read_list(r);
	r->depth--;
	return ret;
}

struct node *node_read_json(struct node_reader *r)
{
	if (r->p == r->end || (*r->p != '{' && *r->p != '['))
		return NULL;
	return read_value(r);
}
