/*
 * XML as models write it: elements that are ours in any case, wherever they stand. What is opened
 * closes what cannot hold it, so that missing ends do no harm; what is not ours ("Vec<T>") is text.
 */

#include <ctype.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "observe/reply_node.h"

#define STACK_MAX 10
#define TAG_MAX 2048 /* bytes of one tag with its attributes */
#define ATTRIBUTES_MAX 16

/* What may stand in what: an element closes all open ones of its own level and above. */
enum level { LEVEL_WRAPPER, LEVEL_UNIT, LEVEL_ITEM, LEVEL_FIELD, LEVEL_ELEMENT };

static const struct {
	const char *name;
	enum level level;
} elements[] = {
	{ "units", LEVEL_WRAPPER },
	{ "observations", LEVEL_WRAPPER },
	{ "memories", LEVEL_WRAPPER },
	{ "summaries", LEVEL_WRAPPER },
	{ "response", LEVEL_WRAPPER },
	{ "answer", LEVEL_WRAPPER },
	{ "output", LEVEL_WRAPPER },
	{ "unit", LEVEL_UNIT },
	{ "observation", LEVEL_ITEM },
	{ "memory", LEVEL_ITEM },
	{ "summary", LEVEL_ITEM },
	{ "session_summary", LEVEL_ITEM },
	{ "skip_summary", LEVEL_ITEM },
	{ "skip_observation", LEVEL_ITEM },
	{ "skip", LEVEL_ITEM },
	{ "nothing", LEVEL_ITEM },
	{ "type", LEVEL_FIELD },
	{ "title", LEVEL_FIELD },
	{ "subtitle", LEVEL_FIELD },
	{ "narrative", LEVEL_FIELD },
	{ "body", LEVEL_FIELD },
	{ "content", LEVEL_FIELD },
	{ "description", LEVEL_FIELD },
	{ "text", LEVEL_FIELD },
	{ "facts", LEVEL_FIELD },
	{ "concepts", LEVEL_FIELD },
	{ "files", LEVEL_FIELD },
	{ "files_read", LEVEL_FIELD },
	{ "files_modified", LEVEL_FIELD },
	{ "request", LEVEL_FIELD },
	{ "investigated", LEVEL_FIELD },
	{ "learned", LEVEL_FIELD },
	{ "completed", LEVEL_FIELD },
	{ "next_steps", LEVEL_FIELD },
	{ "notes", LEVEL_FIELD },
	{ "category", LEVEL_FIELD },
	{ "subject", LEVEL_FIELD },
	{ "statement", LEVEL_FIELD },
	{ "value", LEVEL_FIELD },
	{ "quote", LEVEL_FIELD },
	{ "confidence", LEVEL_FIELD },
	{ "fact", LEVEL_ELEMENT },
	{ "concept", LEVEL_ELEMENT },
	{ "file", LEVEL_ELEMENT },
	{ "item", LEVEL_ELEMENT },
	{ "path", LEVEL_ELEMENT },
	{ "li", LEVEL_ELEMENT },
};

struct open_element {
	struct node *node;
	enum level level;
	struct buf text;
};

struct xml {
	struct node_reader *r;
	struct node *root;
	struct open_element stack[STACK_MAX];
	size_t n;
	size_t found; /* elements of ours */
};

struct tag {
	const char *name; /* as in the table */
	enum level level;
	bool is_end, is_empty;
	struct node *attributes; /* an object; NULL */
	const char *after;
};

/* ---- texts ---- */

static const struct {
	const char *name, *text;
} entities[] = { { "amp", "&" }, { "lt", "<" }, { "gt", ">" }, { "quot", "\"" }, { "apos", "'" },
	{ "nbsp", " " } };

static void add_code_point(struct buf *out, unsigned long cp)
{
	char utf8[4];

	if (cp == 0 || cp > 0x10FFFF || (cp >= 0xD800 && cp < 0xE000))
		cp = 0xFFFD;
	buf_add(out, utf8, utf8_encode((uint32_t)cp, utf8));
}

/* The text for the entity at p; returns behind it, or p when it is none. */
static const char *add_entity(struct buf *out, const char *p, const char *end)
{
	struct str look = { p, MIN((size_t)(end - p), 12u) };
	const char *close = memchr(look.p, ';', look.n);
	char name[12] = "";

	if (!close || close == p + 1)
		return p;
	memcpy(name, p + 1, (size_t)(close - p) - 1);
	if (name[0] == '#') {
		bool is_hex = tolower((unsigned char)name[1]) == 'x';
		char *rest;
		unsigned long cp = strtoul(name + (is_hex ? 2 : 1), &rest, is_hex ? 16 : 10);

		if (*rest)
			return p;
		add_code_point(out, cp);
		return close + 1;
	}
	for (size_t i = 0; i < ARRAY_LEN(entities); i++)
		if (strcmp(entities[i].name, name) == 0) {
			buf_str(out, entities[i].text);
			return close + 1;
		}
	return p;
}

static struct str decoded(struct arena *a, struct str raw)
{
	AUTO(buf_done) struct buf out = { 0 };
	const char *p = raw.p, *end = raw.p + raw.n;

	while (p < end) {
		const char *after = *p == '&' ? add_entity(&out, p, end) : p;

		if (after == p)
			buf_char(&out, *p++);
		else
			p = after;
	}
	return (struct str){ arena_dup(a, buf_cstr(&out), out.len), out.len };
}

/* ---- tags ---- */

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-' || c == ':';
}

static bool is_called(struct str raw, const char *name)
{
	for (size_t i = 0; i < raw.n; i++) {
		char c = raw.p[i] == '-' ? '_' : (char)tolower((unsigned char)raw.p[i]);

		/* "nextSteps" */
		if (c != *name && *name == '_' && i && isupper((unsigned char)raw.p[i]))
			name++;
		if (c != *name++)
			return false;
	}
	return *name == '\0';
}

static bool element_find(struct str raw, struct tag *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(elements); i++)
		if (is_called(raw, elements[i].name)) {
			ret->level = elements[i].level;
			ret->name = elements[i].name;
			return true;
		}
	return false;
}

static struct str attribute_value(const char **p, const char *end)
{
	char quote = *p < end && (**p == '"' || **p == '\'') ? *(*p)++ : '\0';
	const char *start = *p;
	struct str ret;

	while (*p < end && (quote ? **p != quote : !isspace((unsigned char)**p)))
		(*p)++;
	ret = (struct str){ start, (size_t)(*p - start) };
	if (quote && *p < end)
		(*p)++;
	return ret;
}

static struct node *read_attributes(struct xml *x, const char *p, const char *end)
{
	struct node *all = node_new(x->r, NODE_OBJECT);

	for (unsigned i = 0; all && i < ATTRIBUTES_MAX; i++) {
		struct node *one;
		const char *start;

		while (p < end && !is_name_char(*p))
			p++;
		for (start = p; p < end && is_name_char(*p);)
			p++;
		if (p >= end || *p != '=')
			break;
		one = node_new(x->r, NODE_TEXT);
		if (!one)
			break;
		one->key = node_key(x->r->a, (struct str){ start, (size_t)(p - start) });
		p++;
		one->text = decoded(x->r->a, attribute_value(&p, end));
		node_add(all, one);
	}
	return all;
}

/* Where the tag ends: a ">" that stands in no quoted value; NULL. */
static const char *tag_end(const char *p, const char *end)
{
	char quote = '\0';

	for (end = MIN(end, p + TAG_MAX); p < end; p++) {
		if (quote)
			quote = *p == quote ? '\0' : quote;
		else if (*p == '>' || *p == '<')
			return *p == '>' ? p : NULL;
		else if ((*p == '"' || *p == '\'') && p[-1] == '=')
			quote = *p;
	}
	return NULL;
}

static bool read_tag(struct xml *x, struct tag *ret)
{
	const char *p = x->r->p + 1, *end = x->r->end, *start, *close;
	struct str name;

	*ret = (struct tag){ .is_end = p < end && *p == '/' };
	p += ret->is_end;
	for (start = p; p < end && is_name_char(*p) && p - start < NODE_KEY_MAX;)
		p++;
	name = (struct str){ start, (size_t)(p - start) };
	/* "mem:title" */
	close = name.n ? memchr(name.p, ':', name.n) : NULL;
	if (close)
		name = (struct str){ close + 1, (size_t)(p - close) - 1 };
	if (!name.n || !isalpha((unsigned char)name.p[0]))
		return false;
	if (!element_find(name, ret))
		return false;
	close = tag_end(p, end);
	if (!close)
		return false;
	ret->is_empty = close[-1] == '/';
	if (!ret->is_end && close > p)
		ret->attributes = read_attributes(x, p, close - ret->is_empty);
	ret->after = close + 1;
	return true;
}

/* ---- the tree ---- */

static void pop(struct xml *x, bool has_end)
{
	struct open_element *top = &x->stack[--x->n];
	struct str text = str_trim((struct str){ buf_cstr(&top->text), top->text.len });

	top->node->text = (struct str){ arena_dup(x->r->a, text.p, text.n), text.n };
	top->node->is_open = !has_end;
	if (!top->node->first)
		top->node->kind = NODE_TEXT;
	buf_done(&top->text);
}

static bool is_within(const struct xml *x, enum level level)
{
	for (size_t i = 0; i < x->n; i++)
		if (x->stack[i].level == level)
			return true;
	return false;
}

/* Some names stand for another level depending on where they are. */
static enum level level_here(const struct xml *x, const struct tag *t)
{
	bool in_item = is_within(x, LEVEL_ITEM);

	if (t->level == LEVEL_UNIT)
		return in_item ? LEVEL_FIELD : LEVEL_UNIT;
	if (strcmp(t->name, "facts") == 0 || strcmp(t->name, "files") == 0)
		return in_item ? LEVEL_FIELD : LEVEL_WRAPPER;
	if (strcmp(t->name, "fact") == 0)
		return in_item ? LEVEL_ELEMENT : LEVEL_ITEM;
	return t->level;
}

static void push(struct xml *x, const struct tag *t)
{
	enum level level = level_here(x, t);
	struct node *parent, *node;

	/* Wrappers hold wrappers: "<response><observations>". */
	while (x->n && x->stack[x->n - 1].level >= level && level != LEVEL_WRAPPER)
		pop(x, true);
	while (x->n && level == LEVEL_WRAPPER && x->stack[x->n - 1].level > LEVEL_UNIT)
		pop(x, true);
	node = x->n < STACK_MAX ? node_new(x->r, NODE_OBJECT) : NULL;
	if (!node)
		return;
	node->key = t->name;
	parent = x->n ? x->stack[x->n - 1].node : x->root;
	if (t->attributes && t->attributes->first) {
		node->first = t->attributes->first;
		node->last = t->attributes->last;
	}
	node_add(parent, node);
	x->found++;
	x->stack[x->n++] = (struct open_element){ .node = node, .level = level };
	if (t->is_empty)
		pop(x, true);
}

static void close_tag(struct xml *x, const struct tag *t)
{
	size_t i = x->n;

	while (i && strcmp(x->stack[i - 1].node->key, t->name) != 0)
		i--;
	while (i && x->n >= i)
		pop(x, true);
}

/* Behind a comment, a declaration or CDATA, whose text is added; NULL when it is none of them. */
static const char *special(struct xml *x)
{
	struct str rest = { x->r->p, (size_t)(x->r->end - x->r->p) };
	static const struct {
		const char *open, *close;
		bool is_text;
	} kinds[] = { { "<![CDATA[", "]]>", true }, { "<!--", "-->", false },
		{ "<?xml", "?>", false } };

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		size_t n = strlen(kinds[i].open);
		const char *close;

		if (rest.n < n || memcmp(rest.p, kinds[i].open, n) != 0)
			continue;
		close = str_find((struct str){ rest.p + n, rest.n - n }, str_of(kinds[i].close));
		if (kinds[i].is_text && x->n)
			buf_add(&x->stack[x->n - 1].text, rest.p + n,
				(size_t)((close ? close : x->r->end) - rest.p) - n);
		return close ? close + strlen(kinds[i].close) : x->r->end;
	}
	return NULL;
}

static void read_one(struct xml *x)
{
	struct buf *text = x->n ? &x->stack[x->n - 1].text : NULL;
	const char *after = *x->r->p == '<' ? special(x) : NULL;
	struct tag t;

	if (after) {
		x->r->p = after;
		return;
	}
	if (*x->r->p == '<' && read_tag(x, &t)) {
		if (t.is_end)
			close_tag(x, &t);
		else
			push(x, &t);
		x->r->p = t.after;
		return;
	}
	after = text && *x->r->p == '&' ? add_entity(text, x->r->p, x->r->end) : x->r->p;
	if (after == x->r->p) {
		if (text)
			buf_char(text, *x->r->p);
		x->r->p++;
	} else {
		x->r->p = after;
	}
}

struct node *node_read_xml(struct node_reader *r)
{
	struct xml x = { .r = r, .root = node_new(r, NODE_OBJECT) };

	while (x.root && r->p < r->end)
		read_one(&x);
	if (x.n && x.stack[x.n - 1].level >= LEVEL_FIELD)
		r->is_torn = true;
	while (x.n)
		pop(&x, false);
	return x.found ? x.root : NULL;
}
