/* facts: sentences by category, each with how often and when it was said. */
#include "client/render.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"

#define REF_COLUMNS 6
#define INDENT (REF_COLUMNS + 2)
#define FILES_SHOWN 4

static const struct {
	const char *category, *heading;
	const char *past; /* how it came about: "said", "used", … */
} headings[] = {
	{ "preference", "Preferences", "said" },
	{ "convention", "Conventions", "told" },
	{ "decision", "Decisions", "decided" },
	{ "tool_pattern", "Commands", "used" },
	{ "error_fix", "Errors that were solved", "solved" },
	{ "architecture", "Architecture", "told" },
	{ "dead_end", "Dead ends", "met" },
	{ "todo", "Left open", "told" },
};

static size_t heading_of(const char *category)
{
	for (size_t i = 0; category && i < ARRAY_LEN(headings); i++)
		if (strcmp(headings[i].category, category) == 0)
			return i;
	return 0;
}

/* "said 3 times in 2 sessions, last on 12 Nov" */
static char *history(struct client *c, const json *fact)
{
	struct arena *a = &c->term.arena;
	int64_t times = json_int(fact, "times", 0), sessions = json_int(fact, "sessions", 1);
	size_t row = heading_of(json_str(fact, "category"));
	const char *past = headings[row].past;

	if (times > 1)
		return arena_printf(a, "%s %lld times%s, last %s", past, (long long)times,
			sessions > 1 ? arena_printf(a, " in %lld sessions", (long long)sessions)
				     : "",
			render_ago(c, json_int(fact, "at", 0)));
	return arena_printf(a, "%s %s", past, render_ago(c, json_int(fact, "at", 0)));
}

static void put_marks(struct term *t, const json *fact)
{
	const char *status = json_str(fact, "status"), *suspect = json_str(fact, "suspect_reason"),
		   *by = json_str(fact, "superseded_by"), *branch = json_str(fact, "branch");

	if (json_str(fact, "author"))
		term_printf(t, NAME, "  by %s", json_str(fact, "author"));
	else if (json_str(fact, "visibility"))
		term_put(t, DIM, "  shared");
	if (json_bool(fact, "pinned", false))
		term_put(t, GOOD, "  pinned");
	if (status && strcmp(status, "active") != 0)
		term_printf(t, WARN, "  %s", status);
	if (by)
		term_printf(t, WARN, " by %s", by);
	if (branch)
		term_printf(t, json_bool(fact, "other_branch", false) ? WARN : DIM,
			"  on branch %s", branch);
	if (json_bool(fact, "revised", false))
		term_put(t, WARN, "  revised since on a branch");
	if (suspect)
		term_printf(t, WARN, "  suspect: %s", suspect);
}

static void put_fact(struct client *c, const json *fact)
{
	struct term *t = &c->term;
	const char *text = json_str(fact, "text"), *project = json_str(fact, "project");
	const char *files = render_join(c, json_get(fact, "files"), NULL, FILES_SHOWN);

	term_cell(t, REF, json_str(fact, "ref"), REF_COLUMNS, true);
	term_indent(t, 2);
	term_put(t, PLAIN, text ? text : json_str(fact, "title"));
	term_newline(t);
	term_indent(t, INDENT);
	term_printf(t, DIM, "%s, %.0f %% sure%s%s%s%s", history(c, fact),
		100 * json_real(fact, "confidence", 0), project ? ", " : "", project ? project : "",
		*files ? " · " : "", files);
	put_marks(t, fact);
	term_newline(t);
}

void render_facts(struct client *c, const json *reply)
{
	const json *facts = json_get(reply, "facts");
	size_t n = json_len(facts);
	int64_t total = json_int(reply, "total", 0);
	const char *before = "";

	if (!n) {
		render_nothing(c, "No facts are known here yet.",
			"They come from what you ask for and what works; `remanence facts "
			"--project "
			"all` shows those of all projects.");
		return;
	}
	for (size_t i = 0; i < n; i++) {
		const json *fact = json_at(facts, i);
		const char *category = json_str(fact, "category");

		if (category && strcmp(category, before) != 0)
			render_title(c, headings[heading_of(category)].heading);
		before = category ? category : "";
		put_fact(c, fact);
	}
	if (total > (int64_t)n)
		render_footer(c, arena_printf(&c->term.arena, "%zu of %lld", n,
					 (long long)total));
}
