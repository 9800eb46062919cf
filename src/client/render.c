/* What the groups of renderers share: one hit, one field, one empty state. */
#include "client/render.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"

#define REF_WIDTH 6
#define TYPE_WIDTH 11
#define DETAIL_INDENT (REF_WIDTH + 2)
#define AGE_WIDTH 5
#define FIELD_WIDTH 14
#define FILES_SHOWN 3

static const struct {
	const char *op;
	render_fn *render;
} renderers[] = {
	{ "search", render_search },
	{ "timeline", render_timeline },
	{ "recall", render_recall },
	{ "context", render_context },
	{ "get", render_get },
	{ "sessions", render_sessions },
	{ "projects", render_projects },
	{ "blame", render_blame },
	{ "files", render_files },
	{ "why", render_why },
	{ "stats", render_stats },
	{ "status", render_status },
	{ "doctor", render_doctor },
	{ "import", render_import },
	{ "remember", render_remember },
	{ "edit", render_edit },
	{ "pin", render_pin },
	{ "share", render_share },
	{ "forget", render_forget },
	{ "model", render_model },
	{ "jobs", render_jobs },
	{ "cost", render_cost },
	{ "observer", render_observer },
	{ "pause", render_pause },
	{ "resume", render_resume },
	{ "config", render_config },
	{ "backup", render_backup },
	{ "store", render_store },
	{ "restore", render_restore },
	{ "facts", render_facts },
	{ "review", render_review },
	{ "reindex", render_reindex },
	{ "entities", render_entities },
	{ "export", render_export },
	{ "stop", render_stop },
	{ "sync", render_sync },
};

render_fn *render_find(const char *op)
{
	for (size_t i = 0; i < ARRAY_LEN(renderers); i++)
		if (strcmp(renderers[i].op, op) == 0)
			return renderers[i].render;
	return NULL;
}

static const struct {
	const char *type;
	enum style style;
} type_styles[] = {
	{ "bugfix", BAD },
	{ "error_fix", BAD },
	{ "security_alert", BAD },
	{ "security_note", WARN },
	{ "sensitive", WARN },
	{ "dead_end", WARN },
	{ "todo", WARN },
	{ "feature", GOOD },
	{ "decision", GOOD },
	{ "preference", GOOD },
	{ "note", GOOD },
	{ "prompt", BOLD },
	{ "reply", DIM },
	{ "tool", DIM },
	{ "start", DIM },
	{ "end", DIM },
	{ "compaction", DIM },
};

enum style render_type_style(const char *type)
{
	for (size_t i = 0; type && i < ARRAY_LEN(type_styles); i++)
		if (strcmp(type_styles[i].type, type) == 0)
			return type_styles[i].style;
	return NAME;
}

const char *render_ago(struct client *c, int64_t at)
{
	return at > 0 ? clock_ago(&c->term.arena, at, c->term.now) : "";
}

const char *render_age(struct client *c, int64_t at)
{
	return at > 0 ? clock_age(&c->term.arena, at, c->term.now) : "";
}

void render_field(struct client *c, const char *name, const char *value)
{
	struct term *t = &c->term;

	if (!value || !*value)
		return;
	term_cell(t, DIM, name, FIELD_WIDTH, false);
	if (term_columns(str_of(value)) + FIELD_WIDTH <= t->width && !strchr(value, '\n')) {
		term_put(t, PLAIN, value);
		term_newline(t);
		return;
	}
	/* Longer values are wrapped beside their name. */
	size_t start = t->out.len;
	term_wrap(t, PLAIN, value, FIELD_WIDTH);
	memmove(t->out.data + start, t->out.data + start + FIELD_WIDTH,
		t->out.len - start - FIELD_WIDTH);
	buf_cut(&t->out, t->out.len - FIELD_WIDTH);
}

void render_title(struct client *c, const char *title)
{
	term_put(&c->term, BOLD, title);
	term_newline(&c->term);
}

void render_nothing(struct client *c, const char *what, const char *advice)
{
	if (c->is_quiet)
		return;
	term_put(&c->term, PLAIN, what);
	term_newline(&c->term);
	term_wrap(&c->term, DIM, advice, 0);
}

void render_footer(struct client *c, const char *text)
{
	if (c->is_quiet)
		return;
	term_newline(&c->term);
	term_put(&c->term, DIM, text);
	term_newline(&c->term);
}

const char *render_plural(struct client *c, int64_t n, const char *one, const char *many)
{
	return arena_printf(
		&c->term.arena, "%s %s", term_count(&c->term.arena, n), n == 1 ? one : many);
}

char *render_join(struct client *c, const json *array, const char *key, size_t max)
{
	AUTO(buf_done) struct buf out = { 0 };
	size_t n = json_len(array);

	for (size_t i = 0; i < n && i < max; i++) {
		const json *item = json_at(array, i);
		const char *text = key && json_type(item) == JSON_OBJECT ? json_str(item, key)
									 : json_value_str(item);
		buf_printf(&out, "%s%s", i ? ", " : "", text ? text : "?");
	}
	if (n > max)
		buf_printf(&out, " and %zu more", n - max);
	return arena_str(&c->term.arena, buf_cstr(&out));
}

/* The snippet with its matched words marked; `marks` are pairs of character positions. */
static void put_marked(struct term *t, const char *snippet, const json *marks, int columns)
{
	bool is_cut = term_columns(str_of(snippet)) > columns;
	const char *p = snippet, *end = p + term_cut(str_of(snippet), columns - is_cut);
	int64_t at = 0;
	size_t mark = 0;

	while (p < end) {
		const json *pair = json_at(marks, mark);
		int64_t from = pair ? json_value_int(json_at(pair, 0), -1) : INT64_MAX;
		int64_t to = pair ? json_value_int(json_at(pair, 1), -1) : INT64_MAX;
		bool is_marked = at >= from && at < to;
		const char *start = p;
		while (p < end && at < (is_marked ? to : from)) {
			utf8_next(&p, end);
			at++;
		}
		term_slice(t, is_marked ? MARK : DIM, (struct str){ start, (size_t)(p - start) });
		if (at >= to)
			mark++;
		else if (p == start)
			break;
	}
	if (is_cut)
		term_put(t, DIM, "…");
}

/* "app · main · src/a.c": where a hit belongs, when that is worth a line. */
static char *hit_place(struct client *c, const json *hit)
{
	AUTO(buf_done) struct buf out = { 0 };
	const char *const names[] = { "project", "branch", "session", "namespace" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const char *text = json_str(hit, names[i]);
		if (text && *text)
			buf_printf(&out, "%s%s", out.len ? " · " : "", text);
	}
	const char *files = render_join(c, json_get(hit, "files"), "path", FILES_SHOWN);
	if (*files)
		buf_printf(&out, "%s%s", out.len ? " · " : "", files);
	if (*files && json_int(hit, "line", 0))
		buf_printf(&out, ":%lld", (long long)json_int(hit, "line", 0));
	return arena_str(&c->term.arena, buf_cstr(&out));
}

/* What to beware of. Returns its columns. */
static int hit_marks(struct term *t, const json *hit)
{
	static const char *const telling[] = { "pending", "superseded", "rejected", "failed",
		"denied" };
	const char *status = json_str(hit, "status");
	size_t start = t->out.len;
	bool had_color = t->has_color;

	t->has_color = false; /* measured plain, then written again */
	for (int pass = 0, columns = 0;; pass++) {
		if (json_bool(hit, "suspect", false))
			term_printf(t, WARN, "suspect: %s  ", json_str(hit, "suspect_reason")
				? json_str(hit, "suspect_reason") : "its files changed since");
		if (json_str(hit, "author"))
			term_printf(t, NAME, "by %s  ", json_str(hit, "author"));
		else if (json_str(hit, "visibility"))
			term_put(t, DIM, "shared  ");
		if (json_bool(hit, "pinned", false))
			term_put(t, GOOD, "pinned  ");
		for (size_t i = 0; status && i < ARRAY_LEN(telling); i++)
			if (strcmp(telling[i], status) == 0)
				term_printf(t, WARN, "%s  ", status);
		if (json_bool(hit, "other_branch", false))
			term_put(t, WARN, "on an unmerged branch  ");
		if (pass == 1)
			return columns;
		columns = term_columns((struct str){ t->out.data + start, t->out.len - start });
		buf_cut(&t->out, start);
		t->has_color = had_color;
	}
}

static void hit_details(struct client *c, const json *hit)
{
	struct term *t = &c->term;
	const char *snippet = json_str(hit, "snippet"), *title = json_str(hit, "title"),
		   *place = hit_place(c, hit);

	if (snippet && *snippet && !(title && strcmp(title, snippet) == 0)) {
		term_indent(t, DETAIL_INDENT);
		put_marked(t, snippet, json_get(hit, "marks"), t->width - DETAIL_INDENT);
		term_newline(t);
	}
	term_indent(t, DETAIL_INDENT);
	int room = t->width - DETAIL_INDENT - hit_marks(t, hit);
	term_slice(t, DIM, (struct str){ place, term_cut(str_of(place), MAX(room, 0)) });
	term_newline(t);
}

void render_hit(struct client *c, const json *hit, bool has_details)
{
	struct term *t = &c->term;
	const char *type = json_str(hit, "type"), *kind = json_str(hit, "kind"),
		   *title = json_str(hit, "title");
	const char *ref = json_str(hit, "ref"),
		   *label = type && *type && ref && *ref != 'e' ? type : kind;
	int room = t->width - DETAIL_INDENT - TYPE_WIDTH - 1 - AGE_WIDTH - 1;

	term_cell(t, REF, ref, REF_WIDTH, true);
	term_indent(t, 2);
	term_cell(t, render_type_style(label), label, TYPE_WIDTH, false);
	term_indent(t, 1);
	term_cell(t, has_details ? BOLD : PLAIN, title, room, false);
	term_indent(t, 1);
	term_cell(t, DIM, render_age(c, json_int(hit, "at", 0)), AGE_WIDTH, true);
	term_newline(t);
	if (has_details)
		hit_details(c, hit);
}
