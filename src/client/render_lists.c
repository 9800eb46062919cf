/* sessions, projects, files, why. */
#include "client/render.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"

enum cell { CELL_TEXT, CELL_COUNT, CELL_AGO };

struct column {
	const char *key, *heading;
	enum cell cell;
	enum style style;
	int width; /* 0: what is left of the line, at least MIN_FLEXIBLE */
	bool to_right;
};
#define MIN_FLEXIBLE 16
#define GAP 2

static const char *cell_text(struct client *c, const struct column *col, const json *row)
{
	int64_t n = json_int(row, col->key, 0);

	if (col->cell == CELL_COUNT)
		return n ? term_count(&c->term.arena, n) : "-";
	if (col->cell == CELL_AGO)
		return render_age(c, n);
	return json_str(row, col->key);
}

/*
 * Columns are as narrow as their widest cell, up to their width; the flexible one takes the rest.
 */
static void fit(
	struct client *c, const struct column *cols, size_t n, const json *rows, int *widths)
{
	int used = 0;
	size_t flexible = n;

	for (size_t i = 0; i < n; i++) {
		widths[i] = term_columns(str_of(cols[i].heading));
		for (size_t r = 0; r < json_len(rows); r++)
			widths[i] = MAX(widths[i],
				term_columns(str_of(cell_text(c, &cols[i], json_at(rows, r)))));
		if (cols[i].width)
			widths[i] = MIN(widths[i], cols[i].width);
		else
			flexible = i;
		used += cols[i].width ? widths[i] : 0;
	}
	used += (int)(n - 1) * GAP;
	if (flexible < n)
		widths[flexible] = MAX(MIN(widths[flexible], c->term.width - used), MIN_FLEXIBLE);
}

#define COLUMNS_MAX 10

static void table(struct client *c, const struct column *cols, size_t n, const json *rows)
{
	struct term *t = &c->term;
	int widths[COLUMNS_MAX];

	fit(c, cols, n, rows, widths);
	for (size_t i = 0; i < n && !c->is_quiet; i++) {
		term_indent(t, i ? GAP : 0);
		term_cell(t, DIM, cols[i].heading, widths[i], cols[i].to_right);
	}
	if (!c->is_quiet)
		term_newline(t);
	for (size_t r = 0; r < json_len(rows); r++) {
		for (size_t i = 0; i < n; i++) {
			term_indent(t, i ? GAP : 0);
			term_cell(t, cols[i].style, cell_text(c, &cols[i], json_at(rows, r)),
				widths[i], cols[i].to_right);
		}
		term_newline(t);
	}
}

void render_sessions(struct client *c, const json *reply)
{
	static const struct column cols[] = {
		{ "ref", "", CELL_TEXT, REF, 8, true },
		{ "agent", "agent", CELL_TEXT, NAME, 8, false },
		{ "title", "title", CELL_TEXT, BOLD, 0, false },
		{ "project", "project", CELL_TEXT, PLAIN, 18, false },
		{ "events", "events", CELL_COUNT, DIM, 8, true },
		{ "memories", "memories", CELL_COUNT, DIM, 8, true },
		{ "last_event_at", "last", CELL_AGO, DIM, 5, true },
	};
	const json *rows = json_get(reply, "sessions");

	if (!json_len(rows)) {
		render_nothing(c, "No session is known yet.",
			"`remanence install` wires the agents, so that their next session is "
			"captured; `remanence import` reads "
			"the sessions that are already on disk.");
		return;
	}
	table(c, cols, ARRAY_LEN(cols), rows);
}

void render_projects(struct client *c, const json *reply)
{
	static const struct column cols[] = {
		{ "name", "project", CELL_TEXT, BOLD, 32, false },
		{ "sessions", "sessions", CELL_COUNT, PLAIN, 8, true },
		{ "memories", "memories", CELL_COUNT, PLAIN, 8, true },
		{ "visibility", "new are", CELL_TEXT, DIM, 7, false },
		{ "last_event_at", "last", CELL_AGO, DIM, 5, true },
		{ "root", "folder", CELL_TEXT, DIM, 0, false },
	};
	const json *rows = json_get(reply, "projects");

	if (!json_len(rows))
		render_nothing(c, "No project is known yet.",
			"Projects come with the first sessions: see `remanence install` and "
			"`remanence import`.");
	else
		table(c, cols, ARRAY_LEN(cols), rows);
}

static const json *first_array(const json *reply, const char *const *keys)
{
	for (; *keys; keys++)
		if (json_type(json_get(reply, *keys)) == JSON_ARRAY)
			return json_get(reply, *keys);
	return NULL;
}

void render_files(struct client *c, const json *reply)
{
	static const char *const hit_keys[] = { "memories", "hits", "items", NULL };
	static const struct column cols[] = {
		{ "path", "file", CELL_TEXT, BOLD, 0, false },
		{ "memories", "memories", CELL_COUNT, PLAIN, 8, true },
		{ "sessions", "sessions", CELL_COUNT, PLAIN, 8, true },
		{ "modified", "changed", CELL_COUNT, PLAIN, 8, true },
		{ "last_at", "last", CELL_AGO, DIM, 5, true },
	};
	const json *files = json_get(reply, "files"), *hits = first_array(reply, hit_keys);

	if (!json_len(files) && !json_len(hits)) {
		render_nothing(c, "Nothing is known about that file.",
			"Paths are taken from here, or from the project's root.");
		return;
	}
	if (json_len(files) && json_type(json_at(files, 0)) == JSON_OBJECT)
		table(c, cols, ARRAY_LEN(cols), files);
	if (json_len(files) && json_len(hits))
		term_newline(&c->term);
	for (size_t i = 0; i < json_len(hits); i++)
		render_hit(c, json_at(hits, i), true);
}

/* The commit, then each session with its prompt and what it said in the end. */
void render_blame(struct client *c, const json *reply)
{
	struct term *t = &c->term;
	struct arena *a = &t->arena;
	const json *commit = json_get(reply, "commit"), *sources = json_get(reply, "sources");

	render_field(c, "line", json_str(reply, "text"));
	if (json_type(commit) == JSON_OBJECT)
		render_field(c, "commit", arena_printf(a, "%.10s %s %s", json_str(commit, "hash"),
			clock_minute(a, json_int(commit, "at", 0)), json_str(commit, "subject")));
	if (!json_len(sources)) {
		render_nothing(c, "No session is known behind that.",
			"Only what was captured or imported can be traced: `remanence import`.");
		return;
	}
	for (size_t i = 0; i < json_len(sources); i++) {
		const json *s = json_at(sources, i), *prompt = json_get(s, "prompt"), *said = json_get(s, "reply");
		term_newline(t);
		render_title(c, arena_printf(a, "%s %s %s, %s", json_str(s, "session"), clock_minute(a, json_int(s, "at", 0)),
			json_str(s, "agent") ? json_str(s, "agent") : "", json_str(s, "ref")));
		render_field(c, "title", json_str(s, "session_title"));
		render_field(c, "prompt", json_str(prompt, "text"));
		render_field(c, "reply", json_str(said, "text"));
	}
	render_footer(c, "remanence get REF shows a message whole");
}

#define USED_WIDTH 28 /* "  used: file, command, words" */

static void injection(struct client *c, const json *one)
{
	struct term *t = &c->term;
	struct arena *a = &t->arena;
	const json *memories = json_get(one, "memories");
	int64_t used = json_int(one, "used", 0);
	const char *where = json_str(one, "where");

	term_cell(t, DIM, clock_minute(a, json_int(one, "at", 0)), 18, false);
	term_cell(t, NAME, where, 10, false);
	term_printf(t, PLAIN, "%s characters, %s tokens, %zu %s",
		term_count(a, json_int(one, "chars", 0)),
		term_count(a, json_int(one, "tokens", json_int(one, "chars", 0) / 4)),
		json_len(memories), json_len(memories) == 1 ? "memory" : "memories");
	if (used)
		term_printf(t, GOOD, ", %lld used", (long long)used);
	term_newline(t);
	for (size_t i = 0; i < json_len(memories); i++) {
		const json *m = json_at(memories, i);
		bool is_object = json_type(m) == JSON_OBJECT;
		if (!is_object)
			continue;
		term_indent(t, 2);
		term_cell(t, REF, json_str(m, "ref"), 8, true);
		term_indent(t, 2);
		term_cell(t, PLAIN, json_str(m, "title"), t->width - 12 - USED_WIDTH, false);
		if (json_bool(m, "used", false))
			term_printf(t, GOOD, "  used: %s",
				render_join(c, json_get(m, "how"), NULL, 3));
		else if (json_type(json_get(m, "used")) == JSON_NULL)
			term_put(t, DIM, "  not known yet");
		term_newline(t);
	}
	if (json_len(memories) && json_type(json_at(memories, 0)) != JSON_OBJECT) {
		term_indent(t, 2);
		term_put(t, REF, render_join(c, memories, NULL, 30));
		term_newline(t);
	}
}

void render_why(struct client *c, const json *reply)
{
	const json *list = json_get(reply, "injections");

	if (!json_len(list)) {
		render_nothing(c, "Nothing has been injected yet.",
			"`remanence context` shows what a session started here would be given.");
		return;
	}
	if (json_str(reply, "session")) {
		term_put(&c->term, REF, json_str(reply, "session"));
		term_printf(&c->term, NAME, "  %s",
			json_str(reply, "agent") ? json_str(reply, "agent") : "");
		term_newline(&c->term);
		term_wrap(&c->term, BOLD, json_str(reply, "title"), 0);
	}
	for (size_t i = 0; i < json_len(list); i++)
		injection(c, json_at(list, i));
	render_footer(c, arena_printf(&c->term.arena, "%s given, %s used · %s, about %s",
				 render_plural(c, json_int(reply, "given", 0), "memory", "memories"),
				 term_count(&c->term.arena, json_int(reply, "used", 0)),
				 render_plural(c, json_int(reply, "chars", 0), "character",
					 "characters"),
				 render_plural(c, json_int(reply, "tokens", 0), "token", "tokens")));
}
