/*
 * Replies as text for a model: every word costs, so there are no columns, no repeated labels, no
 * empty fields.
 */
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "client/mcp.h"

#define FILES_MAX 8

static void put_list(struct buf *out, const char *label, const json *array, const char *key)
{
	size_t n = json_len(array);

	if (!n)
		return;
	buf_str(out, label);
	for (size_t i = 0; i < n && i < FILES_MAX; i++) {
		const json *item = json_at(array, i);
		const char *text =
			json_type(item) == JSON_OBJECT ? json_str(item, key) : json_value_str(item);
		buf_printf(out, "%s%s", i ? ", " : "", text ? text : "");
	}
	if (n > FILES_MAX)
		buf_printf(out, " and %zu more", n - FILES_MAX);
}

static const char *kind_of(const json *hit)
{
	const char *type = json_str(hit, "type"), *kind = json_str(hit, "kind"),
		   *ref = json_str(hit, "ref");

	return type && *type && ref && *ref != 'e' ? type : kind ? kind : "";
}

/* Why it may no longer hold; nothing when it does. */
static void put_suspect(struct buf *out, const json *r, const char *before, const char *after)
{
	const char *reason = json_str(r, "suspect_reason");

	if (json_bool(r, "suspect", false))
		buf_printf(out, "%ssuspect: %s%s", before, reason ? reason : "its files changed since", after);
}

/* "[12] bugfix 2026-11-29 Parser test was flaky" and what belongs to it. */
static void put_hit(struct buf *out, const json *hit, bool has_snippet)
{
	AUTO(arena_done) struct arena a = { 0 };
	const char *title = json_str(hit, "title"), *snippet = json_str(hit, "snippet"),
		   *status = json_str(hit, "status");

	buf_printf(out, "[%s] %s %s %s", json_str(hit, "ref"), kind_of(hit),
		clock_minute(&a, json_int(hit, "at", 0)), title ? title : "");
	if (json_str(hit, "author"))
		buf_printf(out, " (by %s)", json_str(hit, "author"));
	put_suspect(out, hit, " (", ")");
	if (status && (strcmp(status, "failed") == 0 || strcmp(status, "pending") == 0 ||
			      strcmp(status, "superseded") == 0))
		buf_printf(out, " (%s)", status);
	buf_char(out, '\n');
	if (!has_snippet)
		return;
	if (snippet && *snippet && !(title && strcmp(snippet, title) == 0))
		buf_printf(out, "  %s\n", snippet);
	size_t before = out->len;
	put_list(out, "  files: ", json_get(hit, "files"), "path");
	if (json_str(hit, "session"))
		buf_printf(out, "%s%s", out->len > before ? "; " : "  ", json_str(hit, "session"));
	if (json_str(hit, "project"))
		buf_printf(out, " of %s", json_str(hit, "project"));
	if (out->len > before)
		buf_char(out, '\n');
}

static void text_search(const json *reply, struct buf *out)
{
	const json *hits = json_get(reply, "hits");
	size_t n = json_len(hits);
	const char *match = json_str(reply, "match");

	if (!n) {
		buf_str(out,
			"Nothing was found. Try other words, project=\"all\", or scope=\"all\".");
		return;
	}
	for (size_t i = 0; i < n; i++)
		put_hit(out, json_at(hits, i), true);
	buf_printf(out, "%zu of %lld", n, (long long)json_int(reply, "total", (int64_t)n));
	if (match && (strcmp(match, "spelling") == 0 || strcmp(match, "nearest") == 0))
		buf_printf(out, ", none matches exactly (by %s)", match);
	buf_str(out, ". Next: get_observations with refs, or timeline with one ref.");
}

static void text_timeline(const json *reply, struct buf *out)
{
	const json *items = json_get(reply, "items");
	const char *anchor = json_str(reply, "anchor");

	for (size_t i = 0; i < json_len(items); i++) {
		const char *ref = json_str(json_at(items, i), "ref");
		if (anchor && ref && strcmp(anchor, ref) == 0)
			buf_str(out, "> ");
		put_hit(out, json_at(items, i), false);
	}
	if (!json_len(items))
		buf_str(out, "Nothing happened there.");
}

static void put_part(struct buf *out, const char *label, const char *text)
{
	AUTO(arena_done) struct arena a = { 0 };

	if (!text || !*text)
		return;
	struct str cut = utf8_head_tail(&a, str_of(text), MCP_STRING_MAX);
	buf_printf(out, "%s%s%.*s\n", label, *label ? ": " : "", (int)cut.n, cut.p);
}

static void put_commands(struct buf *out, const json *commands)
{
	for (size_t i = 0; i < json_len(commands); i++) {
		const json *one = json_at(commands, i);
		const char *command = json_str(one, "command"), *status = json_str(one, "status");
		buf_printf(out, "$ %s%s%s%s\n", command ? command : "", status ? " (" : "",
			status ? status : "", status ? ")" : "");
	}
}

static void put_record(struct buf *out, const json *r)
{
	static const struct {
		const char *key, *label;
	} parts[] = { { "subtitle", "" }, { "body", "" }, { "text", "" }, { "request", "Request" },
		{ "investigated", "Investigated" }, { "learned", "Learned" },
		{ "completed", "Completed" }, { "next_steps", "Next steps" }, { "notes", "Notes" },
		{ "input", "Input" }, { "diff", "Diff" }, { "output", "Output" } };
	AUTO(arena_done) struct arena a = { 0 };
	const json *facts = json_get(r, "facts"), *evidence = json_get(r, "evidence"),
		   *summaries = json_get(r, "summaries");
	const char *session = json_str(r, "session"), *branch = json_str(r, "branch"),
		   *project = json_str(r, "project");
	int64_t at = json_int(r, "at", json_int(r, "started_at", 0));

	buf_printf(out, "[%s] %s: %s\n%s", json_str(r, "ref"), kind_of(r),
		json_str(r, "title") ? json_str(r, "title") : "", at ? clock_minute(&a, at) : "");
	buf_printf(out, "%s%s%s%s%s%s", project ? ", " : "", project ? project : "",
		branch ? ", branch " : "", branch ? branch : "", session ? ", session " : "",
		session ? session : "");
	if (!json_bool(r, "own", true))
		buf_printf(out, ", by %s", json_str(r, "author"));
	put_suspect(out, r, ", ", "");
	buf_char(out, '\n');
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		put_part(out, parts[i].label, json_str(r, parts[i].key));
	for (size_t i = 0; i < json_len(facts); i++)
		put_part(out, "Fact", json_value_str(json_at(facts, i)));
	put_commands(out, json_get(r, "commands"));
	size_t before = out->len;
	put_list(out, "Files: ", json_get(r, "files"), "path");
	if (out->len > before)
		buf_char(out, '\n');
	for (size_t i = 0; i < json_len(evidence); i++) {
		const json *e = json_at(evidence, i);
		buf_printf(out, "Evidence %s %s: %s\n",
			json_str(e, "ref") ? json_str(e, "ref") : "-",
			json_str(e, "role") ? json_str(e, "role") : "",
			json_str(e, "excerpt") ? json_str(e, "excerpt") : "");
	}
	for (size_t i = 0; i < json_len(summaries); i++)
		buf_printf(out, "[%s] %s\n", json_str(json_at(summaries, i), "ref"),
			json_str(json_at(summaries, i), "title"));
}

static void text_get(const json *reply, struct buf *out)
{
	const json *records = json_get(reply, "records"), *missing = json_get(reply, "missing");

	for (size_t i = 0; i < json_len(records); i++) {
		if (i)
			buf_char(out, '\n');
		put_record(out, json_at(records, i));
	}
	put_list(out, "Not there: ", missing, "ref");
}

static void text_facts(const json *reply, struct buf *out)
{
	const json *facts = json_get(reply, "facts");
	AUTO(arena_done) struct arena a = { 0 };

	for (size_t i = 0; i < json_len(facts); i++) {
		const json *f = json_at(facts, i);
		const char *text = json_str(f, "text"), *reason = json_str(f, "suspect_reason"),
			   *status = json_str(f, "status");
		int64_t times = json_int(f, "times", 1);

		buf_printf(out, "[%s] %s: %s (%.2f, ", json_str(f, "ref"), json_str(f, "category"),
			text ? text : json_str(f, "title"), json_real(f, "confidence", 0));
		if (times > 1)
			buf_printf(out, "%lld times, last ", (long long)times);
		buf_printf(out, "%s)", clock_day(&a, json_int(f, "at", 0)));
		if (status && strcmp(status, "active") != 0)
			buf_printf(out, " (%s)", status);
		if (json_str(f, "author"))
			buf_printf(out, " (by %s)", json_str(f, "author"));
		if (json_bool(f, "other_branch", false))
			buf_printf(out, " (on the unmerged branch %s only)",
				json_str(f, "branch") ? json_str(f, "branch") : "?");
		if (json_bool(f, "revised", false))
			buf_str(out, " (revised since)");
		if (reason)
			buf_printf(out, " (suspect: %s)", reason);
		buf_char(out, '\n');
	}
	if (!json_len(facts))
		buf_str(out, "No fact is known about that.");
}

static void text_entities(const json *reply, struct buf *out)
{
	const json *list = json_get(reply, "entities"), *months = json_get(reply, "months"),
		   *others = json_get(reply, "neighbours"), *memories = json_get(reply, "memories");
	AUTO(arena_done) struct arena a = { 0 };

	for (size_t i = 0; i < json_len(list); i++) {
		const json *e = json_at(list, i);
		buf_printf(out, "%s (%s) %lld in %lld sessions, %s to %s\n", json_str(e, "name"),
			json_str(e, "kind"), (long long)json_int(e, "mentions", 0),
			(long long)json_int(e, "sessions", 0), clock_day(&a, json_int(e, "first_at", 0)),
			clock_day(&a, json_int(e, "last_at", 0)));
	}
	for (size_t i = 0; i < json_len(months); i++)
		buf_printf(out, "%s%s %lld", i ? ", " : "By month: ", json_str(json_at(months, i), "month"),
			(long long)json_int(json_at(months, i), "mentions", 0));
	for (size_t i = 0; i < json_len(others); i++)
		buf_printf(out, "%s%s %lld", i ? ", " : "\nWith: ", json_str(json_at(others, i), "name"),
			(long long)json_int(json_at(others, i), "together", 0));
	if (json_len(months))
		buf_char(out, '\n');
	for (size_t i = 0; i < json_len(memories); i++)
		put_hit(out, json_at(memories, i), true);
	if (!json_len(list))
		buf_str(out, "Nothing is mentioned here yet.");
}

static void text_files(const json *reply, struct buf *out)
{
	const json *memories = json_get(reply, "memories");

	for (size_t i = 0; i < json_len(memories); i++)
		put_hit(out, json_at(memories, i), true);
	if (!json_len(memories))
		buf_str(out, "Nothing is remembered of that file.");
}

static void text_recall(const json *reply, struct buf *out)
{
	const char *text = json_str(reply, "text");

	buf_str(out, text && *text ? text : "No memory answers that.");
}

static void text_remember(const json *reply, struct buf *out)
{
	buf_printf(out,
		json_bool(reply, "exists", false) ? "Known already as %s." : "Remembered as %s.",
		json_str(reply, "ref"));
}

static void text_forget(const json *reply, struct buf *out)
{
	put_list(out, "Forgotten: ", json_get(reply, "forgotten"), "ref");
	if (!out->len)
		buf_str(out, "Nothing was forgotten.");
}

static const struct {
	const char *op;
	void (*write)(const json *reply, struct buf *out);
} writers[] = { { "search", text_search }, { "timeline", text_timeline }, { "get", text_get },
	{ "facts", text_facts },
	{ "entities", text_entities },
	{ "files", text_files }, { "recall", text_recall }, { "remember", text_remember }, { "forget", text_forget } };

void mcp_text(const struct op_spec *op, const json *reply, struct buf *out)
{
	for (size_t i = 0; i < ARRAY_LEN(writers); i++)
		if (strcmp(writers[i].op, op->name) == 0) {
			writers[i].write(reply, out);
			return;
		}
	json_print(reply, out);
}
