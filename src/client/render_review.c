/* review: what waits for a person, each with what it rests on. */
#include "client/render.h"

#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/str.h"

#define CARD_INDENT 2
#define EVIDENCE_SHOWN 3
#define FACT_SHOWN_MAX 240 /* bytes of a sentence that stands for itself */
#define EVIDENCE_REF_WIDTH 8
#define EVIDENCE_ROLE_WIDTH 9
#define FILES_SHOWN 5

static void card_head(struct client *c, const json *item, const char *progress)
{
	struct term *t = &c->term;
	const char *category = json_str(item, "category"), *project = json_str(item, "project"),
		   *label = category ? category : json_str(item, "kind");

	term_put(t, REF, json_str(item, "ref"));
	term_indent(t, 2);
	term_put(t, render_type_style(label), label);
	term_printf(t, DIM, "  %s%s%.0f %% sure, by %s, %s", project ? project : "",
		project ? ", " : "", 100 * json_real(item, "confidence", 0),
		json_str(item, "trust") ? json_str(item, "trust") : "?",
		render_ago(c, json_int(item, "at", 0)));
	if (progress)
		term_printf(t, DIM, "  (%s)", progress);
	term_newline(t);
}

static void card_evidence(struct client *c, const json *evidence)
{
	struct term *t = &c->term;
	int indent = CARD_INDENT + EVIDENCE_REF_WIDTH + EVIDENCE_ROLE_WIDTH;
	size_t n = json_len(evidence);

	for (size_t i = 0; i < n && i < EVIDENCE_SHOWN; i++) {
		const json *one = json_at(evidence, i);
		term_indent(t, CARD_INDENT);
		term_cell(t, REF, json_str(one, "ref"), EVIDENCE_REF_WIDTH, false);
		term_cell(t, DIM, json_str(one, "role"), EVIDENCE_ROLE_WIDTH, false);
		term_cell(t, PLAIN, json_str(one, "excerpt"), t->width - indent, false);
		term_newline(t);
	}
	if (n > EVIDENCE_SHOWN) {
		term_indent(t, CARD_INDENT);
		term_printf(t, DIM, "and %zu more", n - EVIDENCE_SHOWN);
		term_newline(t);
	}
}

/* A title is often the beginning of its text; then the text says it all. */
static bool begins_alike(const char *text, const char *title)
{
	size_t n = title ? strlen(title) : 0;

	if (n > 3 && strcmp(title + n - 3, "…") == 0)
		n -= 3;
	return n && text && strncasecmp(text, title, n) == 0;
}

void render_review_card(struct client *c, const json *item, const char *progress)
{
	struct term *t = &c->term;
	const char *title = json_str(item, "title"), *text = json_str(item, "text"),
		   *suspect = json_str(item, "suspect_reason");
	const char *files = render_join(c, json_get(item, "files"), NULL, FILES_SHOWN);

	card_head(c, item, progress);
	bool is_whole = begins_alike(text, title) && strlen(text) < 2 * FACT_SHOWN_MAX;
	term_wrap(
		t, BOLD, is_whole && strlen(text) > strlen(title) + 1 ? text : title, CARD_INDENT);
	if (text && *text && !is_whole)
		term_wrap(t, PLAIN, text, CARD_INDENT);
	if (*files)
		term_wrap(t, DIM, files, CARD_INDENT);
	term_wrap(t, WARN, suspect && *suspect ? suspect : json_str(item, "reason"), CARD_INDENT);
	card_evidence(c, json_get(item, "evidence"));
}

static void decided(struct client *c, const json *reply)
{
	if (c->is_quiet)
		return;
	const char *action = json_str(reply, "action");
	term_printf(&c->term, PLAIN, "%s %s: %s",
		strcmp(action, "approved") == 0   ? "Approved"
		: strcmp(action, "rejected") == 0 ? "Rejected"
						  : "Changed and approved",
		json_str(reply, "ref"), json_str(reply, "title") ? json_str(reply, "title") : "");
	term_newline(&c->term);
}

void render_review(struct client *c, const json *reply)
{
	const json *list = json_get(reply, "review");
	size_t n = json_len(list);
	bool is_rejected = json_bool(c->given, "rejected", false);

	if (json_str(reply, "action")) {
		decided(c, reply);
		return;
	}
	if (!n) {
		render_nothing(c, is_rejected ? "Nothing was rejected." : "Nothing waits for you.",
			is_rejected ? "" : "Memories that are unsure come here first.");
		return;
	}
	for (size_t i = 0; i < n; i++) {
		if (i)
			term_newline(&c->term);
		render_review_card(c, json_at(list, i), NULL);
	}
	render_footer(c, arena_printf(&c->term.arena,
				 "%zu of %s · remanence review REF approve|reject|edit TEXT", n,
				 term_count(&c->term.arena, json_int(reply, "total", (int64_t)n))));
}
