/* search, timeline, recall, context. */
#include "client/render.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"

/* "12 of 340 · 0.42 ms" */
static void search_footer(struct client *c, const json *reply, size_t shown)
{
	struct arena *a = &c->term.arena;
	int64_t total = json_int(reply, "total", (int64_t)shown);
	const char *match = json_str(reply, "match"),
		   *more = json_bool(reply, "total_exact", false) ? "" : "at least ";
	const char *hint = json_value_str(json_at(json_get(reply, "next"), 0));
	bool is_guess = match && (strcmp(match, "spelling") == 0 || strcmp(match, "nearest") == 0);

	render_footer(
		c, arena_printf(a, "%zu of %s%s%s%s · %.1f ms%s%s", shown,
			   total > (int64_t)shown ? more : "", term_count(a, total),
			   is_guess ? " · no exact match, by " : "", is_guess ? match : "",
			   json_real(reply, "took_ms", 0), hint ? " · " : "", hint ? hint : ""));
}

void render_search(struct client *c, const json *reply)
{
	const json *hits = json_get(reply, "hits");
	const char *query = json_str(reply, "query"), *note = json_str(reply, "note");
	size_t n = json_len(hits);

	if (note && !c->is_quiet)
		render_nothing(c, note, "");
	if (!n) {
		render_nothing(c,
			arena_printf(
				&c->term.arena, "Nothing was found for '%s'.", query ? query : ""),
			json_str(c->given, "project")
				? "Other words may find it; `remanence sessions` shows what is "
				  "known."
				: "Other words or `--project all` may find it; `remanence "
				  "sessions` shows what is known, `remanence import` reads "
				  "earlier sessions.");
		return;
	}
	for (size_t i = 0; i < n; i++)
		render_hit(c, json_at(hits, i), true);
	search_footer(c, reply, n);
}

static void day_heading(struct client *c, int64_t at, const char **last)
{
	const char *day = clock_day(&c->term.arena, at);

	if (*last && strcmp(*last, day) == 0)
		return;
	if (*last)
		term_newline(&c->term);
	*last = day;
	render_title(c, day);
}

#define CLOCK_WIDTH 6
#define TIMELINE_REF_WIDTH 8
#define TIMELINE_TYPE_WIDTH 12

static void timeline_item(struct client *c, const json *item, const char *anchor)
{
	struct term *t = &c->term;
	const char *ref = json_str(item, "ref"), *type = json_str(item, "type"),
		   *kind = json_str(item, "kind");
	bool is_anchor = anchor && ref && strcmp(ref, anchor) == 0;
	bool is_event = ref && *ref == 'e';
	const char *minute = clock_minute(&t->arena, json_int(item, "at", 0)),
		   *space = strchr(minute, ' ');
	const char *label = is_event || !type || !*type ? kind : type;
	int room = t->width - 2 - CLOCK_WIDTH - TIMELINE_REF_WIDTH - TIMELINE_TYPE_WIDTH - 2;
	bool is_memory = !is_event && ref && *ref != 's';

	term_put(t, MARK, is_anchor ? "> " : "  ");
	term_cell(t, DIM, space ? space + 1 : minute, CLOCK_WIDTH, false);
	term_cell(t, REF, ref, TIMELINE_REF_WIDTH, false);
	term_cell(t, render_type_style(label), label, TIMELINE_TYPE_WIDTH, false);
	term_cell(t, is_memory || is_anchor ? BOLD : PLAIN, json_str(item, "title"), room, false);
	if (json_str(item, "author"))
		term_printf(t, NAME, " by %s", json_str(item, "author"));
	if (json_str(item, "status") && strcmp(json_str(item, "status"), "failed") == 0)
		term_put(t, BAD, " failed");
	term_newline(t);
}

void render_timeline(struct client *c, const json *reply)
{
	const json *items = json_get(reply, "items");
	const char *day = NULL, *anchor = json_str(reply, "anchor");
	size_t n = json_len(items);
	int64_t total = json_int(reply, "total", (int64_t)n);

	if (!n) {
		render_nothing(
			c, "Nothing happened there.", "`remanence sessions` lists what is known.");
		return;
	}
	for (size_t i = 0; i < n; i++) {
		day_heading(c, json_int(json_at(items, i), "at", 0), &day);
		timeline_item(c, json_at(items, i), anchor);
	}
	if (total > (int64_t)n)
		render_footer(c, arena_printf(&c->term.arena, "%zu of %s%s", n,
					 term_count(&c->term.arena, total),
					 json_str(reply, "next_cursor") ? "" : " · --limit shows more"));
}

void render_recall(struct client *c, const json *reply)
{
	const char *text = json_str(reply, "text");
	size_t n = json_len(json_get(reply, "memories"));

	if (!n || !text || !*text) {
		render_nothing(c, "No memory answers that.",
			"Name a file with --file, or look with `remanence search --scope all` and "
			"`--project all`.");
		return;
	}
	term_wrap(&c->term, PLAIN, text, 0);
	render_footer(
		c, arena_printf(&c->term.arena, "%s · %s",
			   render_plural(c, (int64_t)n, "memory", "memories"),
			   render_plural(c, json_int(reply, "tokens", 0), "token", "tokens")));
}

void render_context(struct client *c, const json *reply)
{
	const char *text = json_str(reply, "text");

	if (!text || !*text) {
		render_nothing(c, "A session started here would be given nothing yet.",
			"Memories come with the first sessions; `remanence import` reads earlier "
			"ones.");
		return;
	}
	/* Exactly what an agent gets: not wrapped. Control characters are dropped there already. */
	buf_str(&c->term.out, text);
	if (text[strlen(text) - 1] != '\n')
		term_newline(&c->term);
	render_footer(
		c, arena_printf(&c->term.arena, "%s · %s · %s",
			   render_plural(c, json_int(reply, "chars", 0), "character", "characters"),
			   render_plural(c, json_int(reply, "tokens", 0), "token", "tokens"),
			   render_plural(c, (int64_t)json_len(json_get(reply, "memories")),
				   "memory", "memories")));
}
