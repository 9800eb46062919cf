/* sync: each file as it is done, what came of it, and the folders that are followed. */
#include "client/render.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"

#define NAMESPACE_WIDTH 28
#define COUNT_WIDTH 9
#define FAILED_SHOWN 10

static const struct {
	const char *what, *label;
	enum style style;
} labels[] = {
	{ "skip", "[SKIP]", DIM },
	{ "sync", "[SYNC]", GOOD },
	{ "move", "[MOVE]", GOOD },
	{ "gone", "[GONE]", WARN },
	{ "fail", "[FAIL]", BAD },
};

/* A line at once: "[SYNC] ci-cd.md → 4 chunks". */
void render_sync_progress(struct client *c, const char *line, size_t len)
{
	AUTO(json_free_ptr) json *parsed = NULL;
	struct term *t = &c->term;

	if (json_parse(line, len, &parsed, NULL) < 0)
		return;
	const json *p = json_get(parsed, "progress");
	const char *what = json_str(p, "what"), *path = json_str(p, "path"),
		   *from = json_str(p, "from"), *reason = json_str(p, "reason");
	for (size_t i = 0; what && i < ARRAY_LEN(labels); i++)
		if (!strcmp(labels[i].what, what)) {
			term_put(t, labels[i].style, labels[i].label);
			term_put(t, PLAIN, " ");
		}
	term_put(t, PLAIN, path && *path ? path : ".");
	if (json_get(p, "chunks"))
		term_printf(t, DIM, " → %s",
			render_plural(c, json_int(p, "chunks", 0), "chunk", "chunks"));
	if (from)
		term_printf(t, DIM, " ← %s", from);
	if (reason)
		term_printf(t, DIM, ": %s", reason);
	term_newline(t);
	term_flush(t);
}

static void failed_list(struct client *c, const json *failed, int64_t all)
{
	size_t n = json_len(failed);

	for (size_t i = 0; i < n && i < FAILED_SHOWN; i++) {
		const char *path = json_str(json_at(failed, i), "path"),
			   *reason = json_str(json_at(failed, i), "reason");
		term_put(&c->term, WARN, "  left out ");
		term_put(&c->term, PLAIN, path && *path ? path : ".");
		term_printf(&c->term, DIM, ": %s", reason ? reason : "");
		term_newline(&c->term);
	}
	if (all > (int64_t)MIN(n, (size_t)FAILED_SHOWN)) {
		term_printf(&c->term, DIM, "  and %s more",
			term_count(&c->term.arena, all - (int64_t)MIN(n, (size_t)FAILED_SHOWN)));
		term_newline(&c->term);
	}
}

static void folder_show(struct client *c, const json *f)
{
	struct term *t = &c->term;
	const char *error = json_str(f, "error");
	int64_t last = json_int(f, "last_sync", 0), errors = json_int(f, "errors", 0);

	term_cell(t, BOLD, json_str(f, "namespace"), NAMESPACE_WIDTH, false);
	term_cell(t, PLAIN, term_count(&t->arena, json_int(f, "files", 0)), COUNT_WIDTH, true);
	term_cell(t, PLAIN, term_count(&t->arena, json_int(f, "chunks", 0)), COUNT_WIDTH, true);
	term_printf(t, DIM, "  %s", last ? render_ago(c, last) : "never");
	if (errors)
		term_printf(t, WARN, "  %s", render_plural(c, errors, "error", "errors"));
	term_newline(t);
	term_printf(t, DIM, "  %s", json_str(f, "root"));
	for (size_t i = 0; i < json_len(json_get(f, "globs")); i++)
		term_printf(t, DIM, " %s", json_value_str(json_at(json_get(f, "globs"), i)));
	if (json_str(f, "visibility") && !strcmp(json_str(f, "visibility"), "team"))
		term_put(t, DIM, "  shared with the team");
	if (json_str(f, "project"))
		term_printf(t, DIM, "  (project %s)", json_str(f, "project"));
	term_newline(t);
	if (error) {
		term_printf(t, WARN, "  %s", error);
		term_newline(t);
	}
	failed_list(c, json_get(f, "failed"), errors - (error != NULL));
}

static void list_show(struct client *c, const json *folders)
{
	struct term *t = &c->term;

	if (!json_len(folders)) {
		render_nothing(c, "No markdown folder is followed yet.",
			"`remanence sync add DIR --namespace NS` follows one.");
		return;
	}
	term_cell(t, DIM, "namespace", NAMESPACE_WIDTH, false);
	term_cell(t, DIM, "files", COUNT_WIDTH, true);
	term_cell(t, DIM, "chunks", COUNT_WIDTH, true);
	term_put(t, DIM, "  last sync");
	term_newline(t);
	for (size_t i = 0; i < json_len(folders); i++)
		folder_show(c, json_at(folders, i));
}

/* "3 of 15 files read anew, 1 moved, 2 gone: 150 chunks (0.2 s)" */
static void result_show(struct client *c, const json *r)
{
	struct term *t = &c->term;
	int64_t failures = json_int(r, "failures", 0), added = json_int(r, "added", -1);

	if (added == 0) {
		term_put(t, PLAIN, "No further CLAUDE.md, AGENTS.md or memory folder was found; those that come are followed.");
		term_newline(t);
	} else if (added > 0) {
		term_printf(t, PLAIN, "%s now.",
			render_plural(c, added, "further folder is followed", "further folders are followed"));
		term_newline(t);
	}
	term_printf(t, PLAIN, "%s of %s synced, %s skipped",
		term_count(&t->arena, json_int(r, "synced", 0)),
		render_plural(c, json_int(r, "files", 0), "file", "files"),
		term_count(&t->arena, json_int(r, "skipped", 0)));
	if (json_int(r, "renamed", 0))
		term_printf(
			t, PLAIN, ", %s moved", term_count(&t->arena, json_int(r, "renamed", 0)));
	if (json_int(r, "removed", 0))
		term_printf(
			t, PLAIN, ", %s removed", term_count(&t->arena, json_int(r, "removed", 0)));
	term_printf(
		t, PLAIN, "; %s", render_plural(c, json_int(r, "chunks", 0), "chunk", "chunks"));
	term_printf(t, DIM, " (%s)", term_span(&t->arena, (int64_t)json_real(r, "took_ms", 0)));
	term_newline(t);
	if (failures)
		failed_list(c, json_get(r, "failed"), failures);
}

void render_sync(struct client *c, const json *reply)
{
	if (c->is_quiet && !json_get(reply, "folders"))
		return;
	if (json_get(reply, "folders"))
		list_show(c, json_get(reply, "folders"));
	else if (json_get(reply, "files"))
		result_show(c, reply);
	else {
		term_printf(&c->term, PLAIN, "'%s' is no longer followed; %s of %s removed.",
			json_str(reply, "namespace"),
			render_plural(c, json_int(reply, "chunks", 0), "chunk", "chunks"),
			render_plural(c, json_int(reply, "removed", 0), "file was", "files were"));
		term_newline(&c->term);
	}
}
