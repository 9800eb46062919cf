#include "observe/reply_items.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "observe/title.h"

#define DEPTH_MAX 16
#define LIST_ITEM_MAX 1000 /* bytes of one fact, concept or file */

/* ---- what members are called ---- */

enum field {
	FIELD_TITLE,
	FIELD_SUBTITLE,
	FIELD_BODY,
	FIELD_TYPE,
	FIELD_CATEGORY,
	FIELD_STATEMENT,
	FIELD_SUBJECT,
	FIELD_VALUE,
	FIELD_QUOTE,
	FIELD_REQUEST,
	FIELD_INVESTIGATED,
	FIELD_LEARNED,
	FIELD_COMPLETED,
	FIELD_NEXT_STEPS,
	FIELD_NOTES,
	FIELD_CONFIDENCE,
	FIELD_FACTS,
	FIELD_CONCEPTS,
	FIELD_FILES,
	FIELD_READ,
	FIELD_MODIFIED,
	FIELD_COUNT
};

/* Each field's names, the usual one first. */
static const char *const names[FIELD_COUNT][9] = {
	[FIELD_TITLE] = { "title", "name", "headline", "heading" },
	[FIELD_SUBTITLE] = { "subtitle", "sub_title", "tagline" },
	[FIELD_BODY] = { "narrative", "body", "content", "description", "text", "details",
		"explanation", "summary" },
	[FIELD_TYPE] = { "type", "observation_type", "memory_type" },
	[FIELD_CATEGORY] = { "category", "fact_type" },
	[FIELD_STATEMENT] = { "statement", "fact", "sentence", "claim" },
	[FIELD_SUBJECT] = { "subject", "topic" },
	[FIELD_VALUE] = { "value", "object" },
	[FIELD_QUOTE] = { "quote", "evidence", "source" },
	[FIELD_REQUEST] = { "request", "asked", "goal" },
	[FIELD_INVESTIGATED] = { "investigated", "explored" },
	[FIELD_LEARNED] = { "learned", "learnings", "learnt" },
	[FIELD_COMPLETED] = { "completed", "done", "accomplished" },
	[FIELD_NEXT_STEPS] = { "next_steps", "next", "remaining", "todos" },
	[FIELD_NOTES] = { "notes", "note" },
	[FIELD_CONFIDENCE] = { "confidence", "certainty" },
	[FIELD_FACTS] = { "facts", "fact", "key_facts", "key_points", "points" },
	[FIELD_CONCEPTS] = { "concepts", "concept", "tags", "keywords" },
	[FIELD_FILES] = { "files", "file", "files_touched", "paths", "file_paths" },
	[FIELD_READ] = { "files_read", "read_files", "filesread" },
	[FIELD_MODIFIED] = { "files_modified", "modified_files", "files_changed", "files_edited",
		"files_written" },
};

static bool is_called(const struct node *n, enum field f)
{
	for (size_t i = 0; n->key && i < ARRAY_LEN(names[f]) && names[f][i]; i++)
		if (strcmp(n->key, names[f][i]) == 0)
			return true;
	return false;
}

/* By the order of the names, not of the members. */
static const struct node *member(const struct node *object, enum field f)
{
	for (size_t i = 0; i < ARRAY_LEN(names[f]) && names[f][i]; i++) {
		const struct node *n = node_get(object, names[f][i]);

		if (n)
			return n;
	}
	return NULL;
}

/* ---- values ---- */

static bool says_nothing(struct str s)
{
	static const char *const words[] = { "", "...", "…", "-", "null", "none", "n/a", "na",
		"undefined", "nan", "string", "None", "N/A", "NaN", "None.", "Null" };

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (str_is(s, words[i]))
			return true;
	/* A place holder of the prompt given back. */
	return s.n > 4 && memcmp(s.p, "[**", 3) == 0;
}

static const char *text_kept(struct arena *a, struct str s, size_t max)
{
	s = str_trim(s);
	if (says_nothing(s))
		return NULL;
	return arena_dup(a, s.p, utf8_cut(s.p, s.n, max));
}

static const char *node_text(struct arena *a, const struct node *n, unsigned depth);

/* Several texts as one: the points of a list. */
static const char *joined(struct arena *a, const struct node *n, unsigned depth)
{
	AUTO(buf_done) struct buf out = { 0 };

	for (const struct node *c = n->first; c && out.len < REPLY_FIELD_MAX; c = c->next) {
		const char *text = node_text(a, c, depth + 1);

		if (text)
			buf_printf(&out, "%s- %s", out.len ? "\n" : "", text);
	}
	return text_kept(a, (struct str){ buf_cstr(&out), out.len }, REPLY_FIELD_MAX);
}

static const char *node_text(struct arena *a, const struct node *n, unsigned depth)
{
	static const enum field inner[] = { FIELD_STATEMENT, FIELD_BODY, FIELD_TITLE, FIELD_VALUE };

	if (!n || depth > 4)
		return NULL;
	if (n->kind == NODE_LIST)
		return n->first && !n->first->next ? node_text(a, n->first, depth + 1)
						   : joined(a, n, depth);
	if (n->kind == NODE_OBJECT && !n->text.n) {
		for (size_t i = 0; i < ARRAY_LEN(inner); i++)
			if (member(n, inner[i]))
				return node_text(a, member(n, inner[i]), depth + 1);
		return joined(a, n, depth);
	}
	return text_kept(a, n->text, REPLY_FIELD_MAX);
}

static const char *field_text(struct arena *a, const struct node *object, enum field f)
{
	return node_text(a, member(object, f), 0);
}

/* ---- lists ---- */

struct list {
	const char **items;
	size_t n, cap;
};

static struct str without_bullet(struct str s)
{
	size_t digits = 0;

	s = str_trim(s);
	while (digits < s.n && s.p[digits] >= '0' && s.p[digits] <= '9')
		digits++;
	if (digits && digits < 3 && digits + 1 < s.n && strchr(".)", s.p[digits]) &&
		s.p[digits + 1] == ' ')
		s = (struct str){ s.p + digits + 1, s.n - digits - 1 };
	else if (s.n > 2 && strchr("-*+", s.p[0]) && s.p[1] == ' ')
		s = (struct str){ s.p + 2, s.n - 2 };
	else if (s.n > 4 && memcmp(s.p, "\xe2\x80\xa2", 3) == 0)
		s = (struct str){ s.p + 3, s.n - 3 };
	return str_trim(s);
}

static void list_add(struct arena *a, struct list *l, struct str raw)
{
	const char *text = text_kept(a, without_bullet(raw), LIST_ITEM_MAX);

	if (!text || l->n == REPLY_LIST_MAX)
		return;
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->items[i], text) == 0)
			return;
	ARENA_PUSH(a, l->items, l->n, l->cap, text);
}

/* A text that holds a list: by lines, or by commas where an item holds none. */
static void list_split(struct arena *a, struct list *l, struct str text, bool by_commas)
{
	char sep = memchr(text.p, '\n', text.n) ? '\n' : by_commas ? ',' : '\n';
	struct str part;

	while (str_split(&text, sep, &part))
		list_add(a, l, part);
}

static void list_from(struct arena *a, struct list *l, const struct node *n, bool by_commas)
{
	if (n->kind != NODE_LIST && n->kind != NODE_OBJECT) {
		list_split(a, l, n->text, by_commas);
		return;
	}
	for (const struct node *c = n->first; c; c = c->next) {
		const char *text = node_text(a, c, 0);

		if (text)
			list_add(a, l, str_of(text));
	}
	if (n->kind == NODE_OBJECT && n->text.n)
		list_split(a, l, n->text, by_commas);
}

static size_t field_list(
	struct arena *a, const struct node *object, enum field f, const char ***ret)
{
	struct list l = { 0 };

	for (const struct node *n = object->first; n; n = n->next)
		if (is_called(n, f))
			list_from(a, &l, n, f != FIELD_FACTS);
	*ret = l.items;
	return l.n;
}

/* ---- items ---- */

static bool is_list_of_objects(const struct node *n)
{
	return n && n->kind == NODE_LIST && n->first && n->first->kind == NODE_OBJECT;
}

static size_t summary_parts(const struct node *object)
{
	size_t n = 0;

	for (int f = FIELD_REQUEST; f <= FIELD_NOTES; f++)
		n += member(object, (enum field)f) != NULL;
	return n;
}

static enum memory_kind kind_said(const struct node *object)
{
	const struct node *kind = node_get(object, "kind");

	if (!kind)
		kind = node_get(object, "type");
	for (int i = KIND_OBSERVATION; kind && i <= KIND_FACT; i++)
		if (str_is(kind->text, memory_kind_names[i]))
			return (enum memory_kind)i;
	return KIND_NONE;
}

/* Holds memories and is none: by its own name, or by what it has. */
static bool is_container(const struct node *object)
{
	static const char *const plural[] = { "units", "observations", "memories", "summaries",
		"facts", "items" };
	static const char *const held[] = { "units", "observations", "memories", "role" };
	const struct node *summary = node_get(object, "summary");

	for (size_t i = 0; object->key && i < ARRAY_LEN(plural); i++)
		if (strcmp(object->key, plural[i]) == 0)
			return true;
	for (size_t i = 0; i < ARRAY_LEN(held); i++)
		if (node_get(object, held[i]))
			return true;
	return (summary && summary->kind == NODE_OBJECT) ||
	       (is_list_of_objects(node_get(object, "facts")) && !member(object, FIELD_TITLE));
}

/* The text of an envelope, not of a memory. */
static bool is_inner(struct str s)
{
	s = str_trim(s);
	return s.n && (strchr("{[<`", s.p[0]) || str_find(s, STR("{\"")));
}

/* Is this object a memory, and of which kind? `hint`: what its surroundings say. */
static enum memory_kind kind_of(const struct node *object, enum memory_kind hint)
{
	enum memory_kind said = kind_said(object);
	const struct node *body = member(object, FIELD_BODY),
			  *statement = member(object, FIELD_STATEMENT);
	bool has_title = member(object, FIELD_TITLE) != NULL;
	bool has_body = body && !(body == node_get(object, "summary") && !has_title) &&
			!(!has_title && is_inner(body->text));

	if (is_container(object))
		return KIND_NONE;
	if (summary_parts(object) >= 2 || (hint == KIND_SUMMARY && summary_parts(object)))
		return KIND_SUMMARY;
	if (statement && statement->kind == NODE_TEXT && !has_body)
		return KIND_FACT;
	if (hint == KIND_FACT && (has_title || has_body || object->text.n))
		return KIND_FACT;
	if (has_title || has_body || (hint != KIND_NONE && object->text.n))
		return said != KIND_NONE ? said : hint != KIND_NONE ? hint : KIND_OBSERVATION;
	return KIND_NONE;
}

static double confidence_said(const struct node *object)
{
	static const struct {
		const char *word;
		double value;
	} words[] = { { "high", .9 }, { "medium", .6 }, { "low", .3 } };
	const struct node *n = member(object, FIELD_CONFIDENCE);
	double value;
	char *end;

	if (!n || !n->text.n)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (str_ifind(n->text, words[i].word) == n->text.p)
			return words[i].value;
	value = strtod(n->text.p, &end);
	if (end == n->text.p || !(value >= 0) || value > 100)
		return -1;
	return value > 1 || *end == '%' ? value / 100 : value;
}

static enum memory_type type_named(const char *said, enum memory_kind kind)
{
	int from = kind == KIND_FACT ? FACT_PREFERENCE : TYPE_BUGFIX,
	    to = kind == KIND_FACT ? MEMORY_TYPE_COUNT : FACT_PREFERENCE;

	for (int i = from; said && i < to; i++)
		if (strcmp(memory_type_names[i], said) == 0)
			return (enum memory_type)i;
	return TYPE_NONE;
}

static void read_parts(struct arena *a, const struct node *o, struct reply_item *item)
{
	const char **parts[] = { &item->request, &item->investigated, &item->learned,
		&item->completed, &item->next_steps, &item->notes };

	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		*parts[i] = field_text(a, o, (enum field)(FIELD_REQUEST + (int)i));
}

static void read_lists(struct arena *a, const struct node *o, struct reply_item *item)
{
	item->nfacts = field_list(a, o, FIELD_FACTS, &item->facts);
	item->nconcepts = field_list(a, o, FIELD_CONCEPTS, &item->concepts);
	item->nread = field_list(a, o, FIELD_READ, &item->files_read);
	item->nmodified = field_list(a, o, FIELD_MODIFIED, &item->files_modified);
	item->nfiles = field_list(a, o, FIELD_FILES, &item->files);
}

static void read_fact(struct arena *a, const struct node *o, struct reply_item *item)
{
	const char *statement = field_text(a, o, FIELD_STATEMENT);

	item->subject = field_text(a, o, FIELD_SUBJECT);
	item->value = field_text(a, o, FIELD_VALUE);
	item->quote = field_text(a, o, FIELD_QUOTE);
	item->said_type = field_text(a, o, FIELD_CATEGORY);
	if (!item->said_type)
		item->said_type = field_text(a, o, FIELD_TYPE);
	if (statement)
		item->title = statement;
	else if (!item->title)
		item->title = item->body ? item->body : text_kept(a, o->text, REPLY_FIELD_MAX);
	if (item->body == item->title)
		item->body = NULL;
}

static bool is_empty(const struct reply_item *i)
{
	return !i->title && !i->body && !i->request && !i->investigated && !i->learned &&
	       !i->completed && !i->next_steps && !i->notes;
}

static bool is_there(const struct reply *r, const struct reply_item *item)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct reply_item *o = &r->items[i];

		if (o->kind == item->kind && o->unit == item->unit && o->title && item->title &&
			strcmp(o->title, item->title) == 0 &&
			strcmp(o->body ? o->body : "", item->body ? item->body : "") == 0)
			return true;
	}
	return false;
}

static void add_item(struct items_found *f, const struct node *o, enum memory_kind kind, int unit)
{
	struct reply_item item = { .unit = unit, .kind = kind, .confidence = confidence_said(o) };

	if (f->reply->n == REPLY_ITEMS_MAX || (o->is_open && f->drops_open)) {
		f->reply->dropped++;
		return;
	}
	item.title = field_text(f->a, o, FIELD_TITLE);
	item.subtitle = field_text(f->a, o, FIELD_SUBTITLE);
	item.body = field_text(f->a, o, FIELD_BODY);
	if (kind == KIND_FACT) {
		read_fact(f->a, o, &item);
	} else {
		item.said_type = field_text(f->a, o, FIELD_TYPE);
		if (!item.said_type)
			item.said_type = field_text(f->a, o, FIELD_CATEGORY);
		read_parts(f->a, o, &item);
		read_lists(f->a, o, &item);
		if (!item.body && !item.title)
			item.body = text_kept(f->a, o->text, REPLY_FIELD_MAX);
	}
	/* An empty summary is none, and says so; an empty observation is one that went wrong. */
	if (is_empty(&item)) {
		f->has_container |= kind == KIND_SUMMARY;
		f->reply->dropped += kind != KIND_SUMMARY && (o->first || o->text.n);
		return;
	}
	if (!item.title && item.body && kind == KIND_OBSERVATION)
		item.title = title_from_reply(f->a, str_of(item.body));
	item.type = type_named(item.said_type, kind);
	if (!is_there(f->reply, &item))
		ARENA_PUSH(f->a, f->reply->items, f->reply->n, f->reply->cap, item);
}

/* ---- the tree ---- */

static const struct {
	const char *key;
	enum memory_kind hint;
} containers[] = {
	{ "observations", KIND_OBSERVATION },
	{ "observation", KIND_OBSERVATION },
	{ "memories", KIND_OBSERVATION },
	{ "memory", KIND_OBSERVATION },
	{ "items", KIND_OBSERVATION },
	{ "facts", KIND_FACT },
	{ "fact", KIND_FACT },
	{ "summary", KIND_SUMMARY },
	{ "summaries", KIND_SUMMARY },
	{ "session_summary", KIND_SUMMARY },
	{ "units", KIND_NONE },
	{ "unit", KIND_NONE },
};

static const char *const nothing_keys[] = { "nothing", "skip", "skip_summary", "skip_observation",
	"skipped", "nothing_durable", "reason" };
static const char *const inner_keys[] = { "content", "response", "result", "output", "text",
	"message", "answer", "completion", "arguments", "parts" };
static const char *const memory_keys[] = { "observation", "memory", "summary" };

static enum memory_kind hint_of(struct items_found *f, const struct node *n, enum memory_kind hint)
{
	for (size_t i = 0; n->key && i < ARRAY_LEN(containers); i++)
		if (strcmp(n->key, containers[i].key) == 0) {
			f->has_container = true;
			return containers[i].hint;
		}
	return hint;
}

static int unit_of(const struct node *object, int unit)
{
	static const char *const keys[] = { "unit", "unit_number", "number" };

	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		const struct node *n = node_get(object, keys[i]);
		long value = n && n->text.n ? strtol(n->text.p + strcspn(n->text.p, "0123456789"),
						      NULL, 10)
					    : 0;

		if (value > 0 && value < 1000)
			return (int)value;
	}
	return unit;
}

static void note_nothing(struct items_found *f, const struct node *n)
{
	const char *text = n->kind == NODE_OBJECT ? NULL : node_text(f->a, n, 0);
	const struct node *reason = node_get(n, "reason");

	if (reason)
		text = node_text(f->a, reason, 0);
	/* "nothing": false says that there is something. */
	if (text && strcmp(text, "false") == 0)
		return;
	f->has_container = true;
	if (text && strcmp(text, "true") != 0 && !f->nothing)
		f->nothing = text;
}

static void note_inner(struct items_found *f, const struct node *n)
{
	struct str s = str_trim(n->text);

	if (n->kind != NODE_TEXT || f->inner.n || !s.n ||
		!name_is_any(n->key, inner_keys, ARRAY_LEN(inner_keys)))
		return;
	if (is_inner(s))
		f->inner = s;
}

static void walk(struct items_found *f, const struct node *n, enum memory_kind hint, int unit,
	unsigned depth)
{
	enum memory_kind kind;

	if (depth > DEPTH_MAX)
		return;
	if (name_is_any(n->key, nothing_keys, ARRAY_LEN(nothing_keys)))
		note_nothing(f, n);
	f->has_error |= n->key && strcmp(n->key, "error") == 0 && n->kind != NODE_WORD;
	note_inner(f, n);
	if (n->kind == NODE_TEXT && hint != KIND_NONE && n->text.n &&
		(hint == KIND_FACT ||
			name_is_any(n->key, memory_keys, ARRAY_LEN(memory_keys)))) {
		add_item(f, n, hint, unit);
		return;
	}
	if (n->kind != NODE_LIST && n->kind != NODE_OBJECT)
		return;
	unit = n->kind == NODE_OBJECT ? unit_of(n, unit) : unit;
	kind = n->kind == NODE_OBJECT ? kind_of(n, hint) : KIND_NONE;
	if (kind != KIND_NONE) {
		add_item(f, n, kind, unit);
		return;
	}
	for (const struct node *c = n->first; c; c = c->next)
		walk(f, c, hint_of(f, c, hint), unit, depth + 1);
}

void items_find(struct items_found *f, const struct node *root)
{
	walk(f, root, hint_of(f, root, KIND_NONE), 0, 0);
}
