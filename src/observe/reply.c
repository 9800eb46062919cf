/*
 * Reading goes from the strict to the loose: JSON and XML give a tree, one walker finds the memories
 * in it; what holds none is judged by its words.
 */
#include "observe/reply.h"

#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "observe/reply_items.h"
#include "observe/reply_node.h"
#include "observe/reply_prose.h"

#define INNER_MAX 2 /* envelopes in envelopes */

const char *const reply_class_names[REPLY_CLASS_COUNT] = {
	[REPLY_NONE] = "none",
	[REPLY_JSON] = "json",
	[REPLY_JSON_LOOSE] = "json_loose",
	[REPLY_XML] = "xml",
	[REPLY_CUT] = "cut",
	[REPLY_NOTHING] = "nothing",
	[REPLY_EMPTY] = "empty",
	[REPLY_REFUSAL] = "refusal",
	[REPLY_QUOTA] = "quota",
	[REPLY_PAGE] = "page",
	[REPLY_PROSE] = "prose",
	[REPLY_THOUGHT] = "thought",
};

struct reading {
	struct arena *a;
	struct items_found found;
	bool is_cut; /* as the server says */
	bool is_loose, is_open, has_json, has_xml;
	bool is_empty_object; /* "{}" or "[]" and nothing else */
};

/* A sentence that ends was not cut off. */
static bool ends_sentence(struct str text)
{
	return text.n && strchr(".!?\"')`>", text.p[text.n - 1]);
}

static const char *next_json(struct str text)
{
	for (size_t i = 0; i < text.n; i++)
		if (text.p[i] == '{' || text.p[i] == '[')
			return text.p + i;
	return NULL;
}

static bool is_bare(struct str span)
{
	for (size_t i = 0; i < span.n; i++)
		if (!strchr("{}[] \t\r\n", span.p[i]))
			return false;
	return true;
}

/* All JSON values in the text, one after the other. */
static void read_json(struct reading *d, struct str text)
{
	struct node_reader r = { .a = d->a, .p = text.p, .end = text.p + text.n };
	const char *start;
	size_t values = 0;

	while ((start = next_json((struct str){ r.p, (size_t)(r.end - r.p) }))) {
		struct node *n;
		size_t before = d->found.reply->n;

		d->is_loose |= start > text.p && !values;
		r.p = start;
		n = node_read_json(&r);
		if (r.p == start)
			r.p++;
		if (!n)
			continue;
		if (n->is_open)
			d->is_open = true;
		d->found.drops_open = d->is_cut || r.is_torn;
		items_find(&d->found, n);
		if (!values++)
			d->is_empty_object = is_bare(text);
		d->has_json |= d->found.reply->n > before || d->found.has_container;
	}
	while (r.p < r.end && isspace((unsigned char)*r.p))
		r.p++;
	d->is_loose |= r.is_loose || values > 1 || r.p < r.end;
}

static void read_xml(struct reading *d, struct str text)
{
	struct node_reader r = { .a = d->a, .p = text.p, .end = text.p + text.n };
	struct node *n = node_read_xml(&r);

	if (!n)
		return;
	d->has_xml = true;
	d->is_open |= r.is_torn;
	d->found.drops_open = d->is_cut || (r.is_torn && !ends_sentence(text));
	items_find(&d->found, n);
}

/* Which of the two comes first in the text is tried first. */
static bool is_xml_first(struct str text)
{
	const char *json = next_json(text);

	for (const char *p = text.p, *end = json ? json : text.p + text.n; p < end; p++)
		if (*p == '<' && p + 1 < end && (isalpha((unsigned char)p[1]) || p[1] == '!'))
			return true;
	return false;
}

static void read_both(struct reading *d, struct str text)
{
	void (*const ways[])(struct reading *, struct str) = { read_json, read_xml };
	size_t first = is_xml_first(text) ? 1 : 0;

	ways[first](d, text);
	if (!d->found.reply->n)
		ways[1 - first](d, text);
}

static enum reply_class class_of(const struct reading *d, const struct reply *r, bool is_json)
{
	if (r->n) {
		if (d->is_open && r->dropped)
			return REPLY_CUT;
		if (d->is_cut && d->is_open)
			return REPLY_CUT;
		if (!is_json)
			return REPLY_XML;
		return d->is_loose ? REPLY_JSON_LOOSE : REPLY_JSON;
	}
	if (d->is_open && r->dropped)
		return REPLY_CUT;
	return REPLY_NONE;
}

/* What there is when there is no memory. */
static enum reply_class class_without(struct reading *d, struct str text, struct reply *r)
{
	enum reply_class prose;

	if (d->is_cut && d->is_open)
		return REPLY_CUT;
	prose = reply_prose_class(d->a, text);
	if (d->found.has_error)
		return prose == REPLY_QUOTA || prose == REPLY_REFUSAL ? prose : REPLY_PROSE;
	if ((d->found.has_container || d->is_empty_object) && !r->dropped && !d->is_open) {
		r->why = d->found.nothing;
		return REPLY_NOTHING;
	}
	if (d->is_open && (d->has_json || d->found.has_container))
		return REPLY_CUT;
	return prose;
}

static void read_text(
	struct arena *a, struct str text, bool is_cut, unsigned depth, struct reply *r)
{
	struct reading d = { .a = a, .is_cut = is_cut, .found = { .a = a, .reply = r } };
	bool is_json;

	read_both(&d, text);
	is_json = d.has_json && !(d.has_xml && !next_json(text));
	if (r->n && d.has_xml && !d.has_json)
		is_json = false;
	if (!r->n && d.found.inner.n && depth < INNER_MAX) {
		bool had;
		struct str inner =
			reply_unthink((struct str){ arena_dup(a, d.found.inner.p, d.found.inner.n),
					      d.found.inner.n },
				&had);

		r->has_thinking |= had;
		r->dropped = 0;
		read_text(a, inner, is_cut, depth + 1, r);
		if (r->class == REPLY_JSON)
			r->class = REPLY_JSON_LOOSE;
		return;
	}
	r->class = class_of(&d, r, is_json);
	if (r->class == REPLY_NONE)
		r->class = class_without(&d, text, r);
}

/* An empty form says nothing of why it is empty. */
static bool is_told_in_words(enum reply_class class, struct str text)
{
	return class == REPLY_REFUSAL || class == REPLY_QUOTA || class == REPLY_PROSE ||
	       (class == REPLY_NOTHING && !next_json(text));
}

void reply_read(struct arena *a, struct str text, bool is_cut, struct reply *ret)
{
	*ret = (struct reply){ 0 };
	text = reply_clean(a, text);
	if (reply_is_page(text)) {
		ret->class = REPLY_PAGE;
		return;
	}
	text = reply_unthink(text, &ret->has_thinking);
	if (!text.n) {
		ret->class = ret->has_thinking ? REPLY_THOUGHT : REPLY_EMPTY;
		return;
	}
	text = (struct str){ arena_dup(a, text.p, text.n), text.n };
	read_text(a, text, is_cut, 0, ret);
	if (ret->has_thinking && ret->class == REPLY_EMPTY)
		ret->class = REPLY_THOUGHT;
	if (!ret->why && is_told_in_words(ret->class, text))
		ret->why = reply_first_sentence(a, text);
}
