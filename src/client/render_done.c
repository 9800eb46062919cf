/* What was done, in a line or two; and the progress of what takes long. */
#include "client/render.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"

#define BAR_WIDTH 24
#define PERCENT 100

static bool has_progress; /* a progress line stands on the terminal */

static void said(struct client *c, const char *text)
{
	if (c->is_quiet)
		return;
	term_put(&c->term, PLAIN, text);
	term_newline(&c->term);
}

#define SAY(c, ...) said((c), arena_printf(&(c)->term.arena, __VA_ARGS__))

/* "██████░░░░░░ 41 %  1,203 of 2,950 files, 2 min left" */
void render_progress(struct client *c, const char *line, size_t len)
{
	AUTO(json_free_ptr) json *parsed = NULL;
	AUTO(arena_done) struct arena a = { 0 };
	AUTO(buf_done) struct buf out = { 0 };

	if (!isatty(STDERR_FILENO) || json_parse(line, len, &parsed, NULL) < 0)
		return;
	const json *p = json_get(parsed, "progress");
	int64_t done = json_int(p, "bytes_done", 0), total = json_int(p, "bytes_total", 0),
		eta = json_int(p, "eta_ms", 0);
	if (!total) {
		done = json_int(p, "files_done", json_int(p, "units_done", json_int(p, "done", 0)));
		total = json_int(p, "files_total", json_int(p, "units_total", json_int(p, "total", 0)));
	}
	int filled = total > 0 ? (int)(MIN(done, total) * BAR_WIDTH / total) : 0;
	buf_str(&out, "\r\033[K");
	for (int i = 0; i < BAR_WIDTH; i++)
		buf_str(&out, i < filled ? "█" : "░");
	buf_printf(&out, " %3d %%", total > 0 ? (int)(MIN(done, total) * PERCENT / total) : 0);
	if (json_int(p, "files_total", 0))
		buf_printf(&out, "  %s of %s files", term_count(&a, json_int(p, "files_done", 0)),
			term_count(&a, json_int(p, "files_total", 0)));
	if (eta >= 1000)
		buf_printf(&out, ", %s left", term_span(&a, eta));
	if (write(STDERR_FILENO, out.data, out.len) > 0)
		has_progress = true;
}

void render_progress_end(void)
{
	if (has_progress && write(STDERR_FILENO, "\r\033[K", 4) > 0)
		has_progress = false;
}

void render_import(struct client *c, const json *r)
{
	struct arena *a = &c->term.arena;
	const json *skipped = json_get(r, "skipped"), *agents = json_get(r, "agents");
	int64_t files = json_int(r, "files", 0), took = (int64_t)json_real(r, "took_ms", 0),
		bytes = json_int(r, "bytes", 0);

	if (!files && !json_len(skipped)) {
		render_nothing(c, "No transcripts were found.",
			"Give files or folders: `remanence import PATH`; agents keep theirs in "
			"~/.claude/projects and ~/.codex/sessions.");
		return;
	}
	SAY(c, "%s, %s: %s new of %s, %s.", render_plural(c, files, "file", "files"),
		render_plural(c, json_int(r, "sessions", 0), "session", "sessions"),
		term_count(a, json_int(r, "new_events", 0)),
		render_plural(c, json_int(r, "events", 0), "event", "events"),
		render_plural(c, json_int(r, "memories", 0), "memory", "memories"));
	for (struct json_iter it = json_iter(agents); json_next(&it);)
		render_field(c, it.key,
			render_plural(c, json_value_int(it.value, 0), "session", "sessions"));
	if (took && !c->is_quiet) {
		term_printf(&c->term, DIM, "%s in %s", term_bytes(a, bytes), term_span(a, took));
		term_newline(&c->term);
	}
	if (json_int(r, "files_left", 0))
		SAY(c, "%s more are read in the background.", render_plural(c, json_int(r, "files_left", 0), "file", "files"));
	for (size_t i = 0; i < json_len(skipped) && !c->is_quiet; i++) {
		const json *s = json_at(skipped, i);
		term_put(&c->term, WARN, "skipped ");
		term_put(&c->term, PLAIN, json_str(s, "path"));
		term_printf(
			&c->term, DIM, ": %s", json_str(s, "reason") ? json_str(s, "reason") : "");
		term_newline(&c->term);
	}
}

static void said_redacted(struct client *c, const json *r)
{
	int64_t n = json_int(r, "redacted", 0);

	if (n)
		SAY(c, "%s redacted.", render_plural(c, n, "secret was", "secrets were"));
}

void render_remember(struct client *c, const json *r)
{
	SAY(c, json_bool(r, "exists", false) ? "Known already as %s." : "Remembered as %s.",
		json_str(r, "ref"));
	said_redacted(c, r);
}

void render_edit(struct client *c, const json *r)
{
	SAY(c, "Changed %s: %s", json_str(r, "ref"),
		json_str(r, "title") ? json_str(r, "title") : "");
	said_redacted(c, r);
}

void render_pin(struct client *c, const json *r)
{
	static const char *const lists[][2] = { { "pinned", "Pinned" },
		{ "unpinned", "No longer pinned:" } };
	bool is_off = json_bool(c->given, "off", false);

	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		if (json_len(json_get(r, lists[i][0]))) {
			SAY(c, "%s %s.", lists[i][1],
				render_join(c, json_get(r, lists[i][0]), "ref", 20));
			return;
		}
	SAY(c, "%s %s.", is_off ? "No longer pinned:" : "Pinned",
		render_join(c, json_get(c->given, "refs"), NULL, 20));
}

void render_share(struct client *c, const json *r)
{
	const char *project = json_str(r, "project"), *visibility = json_str(r, "visibility");
	int64_t changed = json_int(r, "changed", 0);
	bool is_team = visibility && strcmp(visibility, "team") == 0;

	if (changed || !project)
		SAY(c, "%s %s now.", render_plural(c, changed, "memory is", "memories are"),
			is_team ? "the team's" : "private");
	if (project)
		SAY(c, "What comes in %s %s.", project,
			is_team ? "is shared when it is made" : "stays private unless you share it");
	if (is_team && !json_bool(r, "shared_store", true))
		SAY(c, "The store is one file, which nobody else reads; colleagues share a PostgreSQL store.");
}

static char *things(struct client *c, const json *o)
{
	static const char *const kinds[][3] = { { "memories", "memory", "memories" },
		{ "events", "event", "events" }, { "sessions", "session", "sessions" } };
	AUTO(buf_done) struct buf out = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		int64_t n = json_int(o, kinds[i][0], 0);
		if (n)
			buf_printf(&out, "%s%s", out.len ? ", " : "",
				render_plural(c, n, kinds[i][1], kinds[i][2]));
	}
	return arena_str(&c->term.arena, out.len ? out.data : "nothing");
}

void render_forget(struct client *c, const json *r)
{
	const json *plan = json_get(r, "plan"), *backups = json_get(r, "backups"),
		   *items = json_get(plan, "items");

	if (plan) {
		SAY(c, "This would erase %s for good.", things(c, plan));
		for (size_t i = 0; i < json_len(items); i++)
			SAY(c, "  %-7s %s", json_str(json_at(items, i), "ref"),
				json_str(json_at(items, i), "title"));
		return;
	}
	SAY(c, "Forgotten: %s.", things(c, r));
	if (json_len(backups))
		SAY(c, "Backups that still hold it: %s", render_join(c, backups, "file", 20));
}

/* "until 2026-11-29 19:15" or "until `remanence resume`" */
static const char *until(struct client *c, const json *r)
{
	int64_t at = json_int(r, "until", 0);

	return at ? clock_minute(&c->term.arena, at) : "`remanence resume`";
}

void render_pause(struct client *c, const json *r)
{
	const char *what = json_str(c->given, "session") ? json_str(c->given, "session")
							 : json_str(c->given, "project");

	SAY(c, "Nothing is captured%s%s until %s.", what ? " of " : "", what ? what : "",
		until(c, r));
}

void render_resume(struct client *c, const json *r)
{
	SAY(c, json_int(r, "ended", 0) == 0 ? "Nothing was paused; sessions are captured."
					    : "Sessions are captured again.");
}

static void setting(struct client *c, const json *s)
{
	struct term *t = &c->term;
	AUTO(buf_done) struct buf value = { 0 };
	const char *origin = json_str(s, "origin");
	bool is_default = !origin || strcmp(origin, "default") == 0;

	if (json_value_str(json_get(s, "value")))
		buf_str(&value, json_str(s, "value"));
	else
		json_print(json_get(s, "value"), &value);
	term_cell(t, is_default ? PLAIN : BOLD, json_str(s, "key"), 24, false);
	term_put(t, is_default ? PLAIN : GOOD, value.len ? value.data : "-");
	if (!is_default)
		term_printf(t, DIM, "  %s", origin);
	term_newline(t);
	term_wrap(t, DIM, json_str(s, "help"), 2);
}

void render_config(struct client *c, const json *r)
{
	const json *list = json_get(r, "settings");
	const char *action = json_str(c->given, "action"), *key = json_str(r, "key");

	if (list) {
		for (size_t i = 0; i < json_len(list); i++)
			setting(c, json_at(list, i));
		return;
	}
	AUTO(buf_done) struct buf value = { 0 };
	if (json_value_str(json_get(r, "value")))
		buf_str(&value, json_str(r, "value"));
	else
		json_print(json_get(r, "value"), &value);
	if (action && strcmp(action, "get") == 0) {
		term_put(&c->term, PLAIN, buf_cstr(&value));
		term_newline(&c->term);
		return;
	}
	SAY(c, "%s is %s.", key ? key : json_str(c->given, "key"),
		value.len ? value.data : "empty");
	if (json_str(r, "note"))
		said(c, json_str(r, "note"));
}

void render_backup(struct client *c, const json *r)
{
	SAY(c, "Backed up into %s (%s).", json_str(r, "file"),
		term_bytes(&c->term.arena, json_int(r, "bytes", 0)));
}

void render_store(struct client *c, const json *r)
{
	SAY(c, "Copied %s into %s: %s.", json_str(r, "from"), json_str(r, "to"), things(c, r));
	SAY(c, "It is used once the setting says so: `remanence config set store %s`, then `remanence stop`.", json_str(r, "to"));
}

void render_restore(struct client *c, const json *r)
{
	const json *gone = json_get(r, "forgotten");

	SAY(c, "Restored %s: %s.", json_str(r, "restored"), things(c, r));
	if (json_int(gone, "memories", 0) + json_int(gone, "events", 0) > 0)
		SAY(c, "What was forgotten since stays forgotten: %s.", things(c, gone));
}

void render_reindex(struct client *c, const json *r)
{
	SAY(c, "The index was built anew: %s.",
		render_plural(c, json_int(r, "documents", 0), "document", "documents"));
}

/* Records were printed as they came; markdown comes in one piece. */
void render_export(struct client *c, const json *r)
{
	const char *text = json_str(r, "text");

	if (text)
		buf_str(&c->term.out, text);
}

void render_stop(struct client *c, const json *r)
{
	SAY(c, json_bool(r, "stopped", true) ? "The daemon has left." : "The daemon does not run.");
}
