/* stats, status, doctor. */
#include "client/render.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"

static const char *count(struct client *c, const json *o, const char *key)
{
	return term_count(&c->term.arena, json_int(o, key, 0));
}

/* "300 observations, 2 summaries" of {"observation": 300, "summary": 2} */
static char *memories_of(struct client *c, const json *object)
{
	AUTO(buf_done) struct buf out = { 0 };

	for (struct json_iter it = json_iter(object); json_next(&it);) {
		int64_t n = json_value_int(it.value, 0);
		size_t len = strlen(it.key);
		bool ends_in_y = len && it.key[len - 1] == 'y';
		if (n)
			buf_printf(&out, "%s%s %.*s%s", out.len ? ", " : "",
				term_count(&c->term.arena, n),
				(int)(n != 1 && ends_in_y ? len - 1 : len), it.key,
				n == 1      ? ""
				: ends_in_y ? "ies"
					    : "s");
	}
	return arena_str(&c->term.arena, out.len ? out.data : "none");
}

void render_stats(struct client *c, const json *reply)
{
	struct arena *a = &c->term.arena;
	int64_t bad = json_int(reply, "spool_bad", 0), waiting = json_int(reply, "spool_files", 0);

	render_field(c, "projects", count(c, reply, "projects"));
	render_field(c, "sessions", count(c, reply, "sessions"));
	render_field(c, "events", count(c, reply, "events"));
	render_field(c, "memories", memories_of(c, json_get(reply, "memories")));
	render_field(c, "store", term_bytes(a, json_int(reply, "store_bytes", 0)));
	render_field(c, "index", term_bytes(a, json_int(reply, "index_bytes", 0)));
	render_field(c, "redactions", count(c, reply, "redactions"));
	if (waiting)
		render_field(c, "spool", arena_printf(a, "%s waiting", term_count(a, waiting)));
	if (bad)
		render_field(c, "unreadable",
			arena_printf(a, "%s in spool/bad",
				render_plural(c, bad, "hook input", "hook inputs")));
	render_field(c, "last event", render_ago(c, json_int(reply, "last_event_at", 0)));
}

/* Only what is not at rest: {"hooks": 3, "stuck": false} gives "hooks 3". */
static char *queue_of(struct client *c, const json *queue)
{
	AUTO(buf_done) struct buf out = { 0 };

	for (struct json_iter it = json_iter(queue); json_next(&it);)
		if (json_type(it.value) == JSON_INT && json_value_int(it.value, 0))
			buf_printf(&out, "%s%s %s", out.len ? ", " : "", it.key,
				term_count(&c->term.arena, json_value_int(it.value, 0)));
	return arena_str(&c->term.arena, out.len ? out.data : "empty");
}

/* What other programs may call in the database, or why they cannot. */
static const char *sql_of(struct client *c, const json *sql)
{
	struct arena *a = &c->term.arena;

	if (json_type(sql) != JSON_OBJECT)
		return NULL;
	if (json_bool(sql, "on", false))
		return arena_printf(a, "search() and stats() in schema claude_memory, for vectors of %lld numbers",
			(long long)json_int(sql, "dimension", 0));
	return json_str(sql, "why") ? arena_printf(a, "functions are off: %s; %s", json_str(sql, "why"),
					      json_str(sql, "hint") ? json_str(sql, "hint") : "")
				    : NULL;
}

/* "spool_bad" as "spool bad". */
static const char *words_of(struct client *c, const char *name)
{
	char *words = arena_str(&c->term.arena, name ? name : "");

	for (char *p = words; *p; p++)
		*p = (char)(*p == '_' ? ' ' : *p);
	return words;
}

static void trouble(struct client *c, const char *what, const json *part)
{
	if (!json_str(part, "trouble"))
		return;
	term_printf(&c->term, BAD, "%s: %s", what, json_str(part, "trouble"));
	term_newline(&c->term);
}

static void pauses(struct client *c, const json *list)
{
	struct arena *a = &c->term.arena;

	for (size_t i = 0; i < json_len(list); i++) {
		const json *p = json_at(list, i);
		const char *what =
			json_str(p, "session") ? json_str(p, "session") : json_str(p, "project");
		int64_t until = json_int(p, "until", 0);
		term_printf(&c->term, WARN, "Capture is paused%s%s%s", what ? " for " : "",
			what ? what : "",
			until > c->term.now ? arena_printf(a, ", for another %s",
						      term_span(a, until - c->term.now))
					    : "");
		term_newline(&c->term);
	}
}

/* "off (no model file) — how to get it", or how many there are. */
static char *vectors_of(struct client *c, const json *embedder)
{
	struct arena *a = &c->term.arena;
	int64_t waiting = json_int(embedder, "waiting", 0);
	const char *why = json_str(embedder, "why"), *hint = json_str(embedder, "hint");

	if (!json_bool(embedder, "on", false)) {
		why = why && str_starts(why, "vectors: ") ? why + strlen("vectors: ") : why;
		return arena_printf(a, "%s%s%s", why ? why : "off", hint ? " — " : "",
			hint ? hint : "");
	}
	/* The builtin model needs no name; a server's is worth one. */
	const char *model = json_str(embedder, "kernel") ? NULL : json_str(embedder, "model");
	return arena_printf(a, "%s of %s%s%s%s%s",
		render_plural(c, json_int(embedder, "vectors", 0), "vector", "vectors"),
		render_plural(c, json_int(embedder, "documents", 0), "text", "texts"),
		model ? " by " : "", model ? model : "",
		!waiting			     ? "" :
			json_str(embedder, "trouble") ? ", more cannot be made now" :
						       ", more are being made",
		json_bool(embedder, "old_answers", false) ?
			"; those of the model before answer meanwhile" :
			"");
}

void render_model(struct client *c, const json *reply)
{
	render_field(c, "vectors", vectors_of(c, reply));
	render_field(c, "model", json_str(reply, "model"));
	render_field(c, "file", json_str(reply, "file"));
	if (json_int(reply, "bytes", 0))
		render_field(c, "on disk",
			arena_printf(&c->term.arena, "%s of vectors",
				term_bytes(&c->term.arena, json_int(reply, "bytes", 0))));
	if (json_str(reply, "trouble"))
		render_field(c, "trouble", json_str(reply, "trouble"));
}

/* "ollama qwen3:8b, 1 request under way, 12 units wait" */
static char *observer_of(struct client *c, const json *o, const json *jobs)
{
	AUTO(buf_done) struct buf out = { 0 };
	struct arena *a = &c->term.arena;
	const char *model = json_str(o, "model"), *state = json_str(o, "state");
	int64_t running = json_int(o, "running", 0), waiting = json_int(jobs, "waiting", 0),
		dead = json_int(jobs, "dead", 0);

	if (!state)
		return arena_str(a, "rules alone; `remanence config set observer.provider` adds a model");
	buf_printf(&out, "%s%s%s", json_str(o, "provider"), model ? " " : "", model ? model : "");
	if (strcmp(state, "closed") != 0)
		buf_printf(&out, ", %s", strcmp(state, "paused") == 0 ? "paused" : "not answering");
	if (json_int(o, "until", 0) > c->term.now)
		buf_printf(&out, ", asked again in %s", term_span(a, json_int(o, "until", 0) - c->term.now));
	if (running)
		buf_printf(&out, ", %s under way", render_plural(c, running, "request", "requests"));
	if (waiting)
		buf_printf(&out, ", %s", render_plural(c, waiting, "job waits", "jobs wait"));
	if (dead)
		buf_printf(&out, ", %s given up (`remanence jobs --dead`)", term_count(a, dead));
	return arena_dup(a, buf_cstr(&out), out.len);
}

static void live_sessions(struct client *c, const json *sessions)
{
	struct term *t = &c->term;

	if (json_len(sessions))
		term_newline(t);
	for (size_t i = 0; i < json_len(sessions); i++) {
		const json *s = json_at(sessions, i);
		term_indent(t, 2);
		term_cell(t, REF, json_str(s, "ref"), 7, false);
		term_cell(t, NAME, json_str(s, "agent"), 8, false);
		term_cell(t, PLAIN,
			json_str(s, "title") ? json_str(s, "title") : json_str(s, "project"),
			t->width - 34, false);
		term_cell(t, DIM, render_ago(c, json_int(s, "last_event_at", 0)), 16, true);
		term_newline(t);
	}
}

void render_status(struct client *c, const json *reply)
{
	struct term *t = &c->term;
	struct arena *a = &t->arena;
	const json *queue = json_get(reply, "queue");

	if (!json_bool(reply, "running", false)) {
		term_put(t, WARN, "○ ");
		term_put(t, PLAIN, "The daemon does not run; the next hook or command starts it.");
		term_newline(t);
		render_field(c, "data", json_str(reply, "home"));
		if (json_int(reply, "spool_files", 0))
			render_field(c, "spool",
				render_plural(c, json_int(reply, "spool_files", 0),
					"hook input waits", "hook inputs wait"));
		return;
	}
	term_put(t, GOOD, "● ");
	term_printf(t, BOLD, "remanenced %s",
		json_str(reply, "version") ? json_str(reply, "version") : "");
	term_printf(t, DIM, "  process %lld, up %s", (long long)json_int(reply, "pid", 0),
		term_span(a, json_int(reply, "uptime_ms", 0)));
	term_newline(t);
	render_field(c, "data", json_str(reply, "home"));
	if (json_str(reply, "store") && !str_starts(json_str(reply, "store"), "sqlite:"))
		render_field(c, "store", json_str(reply, "store"));
	if (json_int(reply, "authors", 1) > 1)
		render_field(c, "author", arena_printf(a, "%s, one of %lld", json_str(reply, "author") ? json_str(reply, "author") : "?",
			(long long)json_int(reply, "authors", 1)));
	if (json_len(json_get(reply, "shared_projects")))
		render_field(c, "shared", arena_printf(a, "what comes in %s", render_join(c, json_get(reply, "shared_projects"), NULL, 10)));
	render_field(c, "socket", json_str(reply, "socket"));
	render_field(c, "http", json_str(reply, "http"));
	render_field(c, "memory",
		arena_printf(a, "%s, %s of it anonymous",
			term_bytes(a, json_int(reply, "rss_bytes", 0)),
			term_bytes(a, json_int(reply, "rss_anon_bytes", 0))));
	if (json_type(queue) == JSON_OBJECT)
		render_field(c, "queue", queue_of(c, queue));
	render_field(c, "vectors", vectors_of(c, json_get(reply, "embedder")));
	render_field(c, "SQL", sql_of(c, json_get(reply, "sql")));
	render_field(c, "observer", observer_of(c, json_get(reply, "observer"), json_get(reply, "jobs")));
	render_field(c, "last event", render_ago(c, json_int(reply, "last_event_at", 0)));
	pauses(c, json_get(reply, "paused"));
	trouble(c, "The store", queue);
	trouble(c, "The index", json_get(reply, "index"));
	trouble(c, "The embedder", json_get(reply, "embedder"));
	trouble(c, "What fills the SQL functions' tables", json_get(reply, "sql"));
	trouble(c, "The model observer", json_get(reply, "observer"));
	if (json_str(json_get(reply, "observer"), "degraded")) {
		term_printf(t, WARN, "The model got worse: %s",
			json_str(json_get(reply, "observer"), "degraded"));
		term_newline(t);
	}
	live_sessions(c, json_get(reply, "sessions"));
}

void render_doctor(struct client *c, const json *reply)
{
	struct term *t = &c->term;
	const json *checks = json_get(reply, "checks");
	size_t bad = 0;

	for (size_t i = 0; i < json_len(checks); i++) {
		const json *check = json_at(checks, i);
		bool is_ok = json_bool(check, "ok", false);
		bad += !is_ok;
		term_put(t, is_ok ? GOOD : BAD, is_ok ? "✓ " : "✗ ");
		term_cell(t, is_ok ? PLAIN : BOLD, words_of(c, json_str(check, "name")), 22, false);
		const char *detail = json_str(check, "detail"), *advice = json_str(check, "advice");
		if (detail && term_columns(str_of(detail)) + 24 > t->width) {
			term_newline(t);
			term_wrap(t, DIM, detail, 4);
		} else {
			term_put(t, DIM, detail);
			term_newline(t);
		}
		if (!is_ok)
			term_wrap(t, PLAIN, advice, 4);
	}
	render_footer(c, bad == 0 ? "Everything is in order."
				  : arena_printf(&t->arena, "%zu of %zu checks need attention.",
					    bad, json_len(checks)));
}
