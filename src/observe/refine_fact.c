/*
 * Facts of a model become candidates as those of rules do: what decides is who said it, which is
 * found by looking for the quote in the events.
 */

#include <string.h>

#include "base/mem.h"
#include "observe/fact_table.h"
#include "observe/refine_work.h"

#define QUOTE_MIN 8
#define SAID_SHARE .7 /* of a statement's telling words in one event, when there is no quote */
#define SAME_SHARE .8

static void drop(struct refine_work *w, size_t *reason)
{
	(*reason)++;
	w->out->dropped++;
}

static enum memory_type category_of(const struct reply_item *item)
{
	char *said;

	if (item->type >= FACT_PREFERENCE)
		return item->type;
	for (int i = FACT_PREFERENCE; item->said_type && i < MEMORY_TYPE_COUNT; i++)
		if (str_ieq(memory_type_names[i], item->said_type))
			return (enum memory_type)i;
	said = item->said_type ? strstr(item->said_type, "fix") : NULL;
	return said ? FACT_ERROR_FIX : TYPE_NONE;
}

static enum trust trust_of(const struct event *e)
{
	if (e->kind == EVENT_PROMPT)
		return e->is_meta || e->subagent ? TRUST_TOOL : TRUST_PROMPT;
	if (e->kind == EVENT_REPLY)
		return e->subagent ? TRUST_TOOL : TRUST_REPLY;
	return e->tool && (str_starts(e->tool, "Web") || str_starts(e->tool, "mcp__"))
		       ? TRUST_OUTSIDE
		       : TRUST_TOOL;
}

/* White space apart, ASCII case ignored. */
static bool has_words(struct refine_work *w, struct str text, const char *quote)
{
	const char *flat = text_lower(w->a, str_of(one_line(w->a, text, text.n + 8)));
	const char *want =
		text_lower(w->a, str_of(one_line(w->a, str_of(quote), strlen(quote) + 8)));

	return strstr(flat, want) != NULL;
}

/* The event with most weight that says it; NULL. */
static const struct event *who_said(struct refine_work *w, const struct reply_item *item,
	const char *subject, bool *ret_is_quoted)
{
	const struct digest *d = w->in->digest;
	const struct event *best = NULL;
	bool has_quote = item->quote && strlen(item->quote) >= QUOTE_MIN;

	*ret_is_quoted = false;
	for (size_t i = 0; i < d->nevidence; i++) {
		const struct event *e = d->events[i] ? refine_event(w, d->events[i]) : NULL;
		bool is_quoted;

		if (!e)
			continue;
		is_quoted = has_quote && has_words(w, d->evidence[i], item->quote);
		if (!is_quoted &&
			(*ret_is_quoted || subject_within(subject,
						   text_lower(w->a, d->evidence[i])) < SAID_SHARE))
			continue;
		/* A quote counts more than like words. */
		if (!best || (is_quoted && !*ret_is_quoted) || trust_of(e) > trust_of(best))
			best = e;
		*ret_is_quoted |= is_quoted;
	}
	return best;
}

static bool is_said_by_rules(struct refine_work *w, enum memory_type category, const char *subject)
{
	const struct rules_output *made = w->in->made;

	for (size_t i = 0; made && i < made->ncandidates; i++) {
		const struct fact_candidate *c = &made->candidates[i];

		if (c->category == category && c->part == PART_WHOLE && c->title &&
			subject_share(subject_of(w->a, str_of(c->title)), subject) >= SAME_SHARE)
			return true;
	}
	for (size_t i = 0; i < w->out->ncandidates; i++)
		if (strcmp(w->out->candidates[i].subject, subject) == 0)
			return true;
	return false;
}

static void add_candidate(struct refine_work *w, const struct reply_item *item,
	struct fact_candidate *c, const struct event *e)
{
	struct rules_output list;

	c->rule = REFINE_RULE;
	c->slot = arena_printf(w->a, "%d.%zu", w->in->part, w->ordinal++);
	c->part = PART_WHOLE;
	c->value = "";
	/* Open ends of a project are one topic, so that later work can close them. */
	c->topic = c->category == FACT_TODO ? fact_topic_of("todo", "")
					    : fact_topic_of(arena_printf(w->a, "%s %s", REFINE_RULE,
								    memory_type_names[c->category]),
						      c->subject);
	c->times = 1;
	c->at = e->at;
	c->key = e->key;
	candidate_evidence(&w->v, c, e, "said", str_of(item->quote ? item->quote : item->title));
	candidate_files_named(&w->v, c, c->title);
	list = (struct rules_output){ .candidates = w->out->candidates,
		.ncandidates = w->out->ncandidates,
		.candidates_cap = w->out->candidates_cap };
	candidate_add(&w->v, &list, c);
	w->out->candidates = list.candidates;
	w->out->ncandidates = list.ncandidates;
	w->out->candidates_cap = list.candidates_cap;
}

void refine_fact(struct refine_work *w, const struct reply_item *item)
{
	struct fact_candidate c = { .category = category_of(item) };
	const struct event *e;
	bool is_quoted;

	if (c.category == TYPE_NONE) {
		drop(w, &w->out->counts.off_list);
		return;
	}
	if (text_is_about_us(&w->g, item->title)) {
		drop(w, &w->out->counts.about_us);
		return;
	}
	c.title = fact_title(w->a, str_of(text_attribute(&w->g, item->title)));
	c.subject = subject_of(w->a, str_of(c.title));
	if (!*c.subject || !text_is_supported(&w->g, str_of(c.title))) {
		drop(w, &w->out->counts.unfounded);
		return;
	}
	e = who_said(w, item, c.subject, &is_quoted);
	/* What the person wants is what the person said. */
	if (!e || (c.category == FACT_PREFERENCE && trust_of(e) < TRUST_PROMPT)) {
		drop(w, &w->out->counts.unfounded);
		return;
	}
	if (is_said_by_rules(w, c.category, c.subject)) {
		drop(w, &w->out->counts.duplicates);
		return;
	}
	c.trust = trust_of(e);
	c.strength = is_quoted ? 1 : 0;
	if (is_quoted)
		c.body = one_line(w->a, str_of(item->quote), CANDIDATE_EXCERPT_MAX);
	add_candidate(w, item, &c, e);
}
