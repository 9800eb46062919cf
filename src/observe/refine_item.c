/*
 * Observations and summaries. One about the same work as a rule's memory begins as that memory and
 * takes from the model what is better; so the worst that a model can do is nothing.
 */

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "observe/fact_table.h"
#include "observe/refine_work.h"
#include "observe/sentence.h"
#include "observe/title.h"

#define SAME_WORK .45 /* of the telling words of a title in the other's text */
#define ONLY_ONE .2   /* the same when there is one of each */
#define FACTS_MAX 10
#define CONCEPTS_MAX 5
#define BODY_SHORT 120 /* bytes; a shorter body must not replace a longer one */
#define BODY_MIN 40
#define CONFIDENCE_ALONE .5 /* of what no rule saw */
#define TITLE_MIN 12
#define KEPT_TITLE_MAX 160
#define SUMMARY_PARTS 6
#define TELLING_MIN 3 /* words of a title that tell what it is about */

static void drop(struct refine_work *w, size_t *reason)
{
	(*reason)++;
	w->out->dropped++;
}

/* ---- titles ---- */

static bool is_generic(struct refine_work *w, const char *title)
{
	struct sentence s = sentence_judge(sentence_strip_reply(str_of(title)));

	return !sentence_is_specific(&s) || strlen(title) < TITLE_MIN;
}

/* A title with all that it names in the evidence, not about nothing in particular; NULL. */
static const char *good_title(struct refine_work *w, const char *raw, size_t *removed)
{
	const char *title;

	if (!raw)
		return NULL;
	raw = text_attribute(&w->g, one_line(w->a, str_of(raw), KEPT_TITLE_MAX));
	title = title_finish(w->a, str_of(raw));
	if (!*title)
		return NULL;
	if (is_generic(w, title)) {
		w->out->counts.generic++;
		return NULL;
	}
	if (!text_is_supported(&w->g, str_of(title))) {
		(*removed)++;
		return NULL;
	}
	return title;
}

/* ---- which rule's memory it is about ---- */

static const char *text_of(struct arena *a, const char *title, const char *body)
{
	return text_lower(
		a, str_of(arena_printf(a, "%s %s", title ? title : "", body ? body : "")));
}

static size_t words_in(const char *subject)
{
	struct str rest = str_of(subject), w;
	size_t n = 0;

	while (str_split(&rest, ' ', &w))
		n++;
	return n;
}

static double likeness(
	struct refine_work *w, const struct memory *rule, const char *title, const char *body)
{
	const char *mine = text_of(w->a, title, body);
	const char *subject = subject_of(w->a, str_of(title));
	double back = subject_within(subject_of(w->a, str_of(rule->title)), mine);

	/* "Bug fixed" is like everything: the body tells what it is about. */
	if (words_in(subject) < TELLING_MIN)
		subject = subject_of(w->a, str_of(mine));
	return MAX(back, subject_within(subject, text_of(w->a, rule->title, rule->body)));
}

static size_t count_kind(const struct rules_output *made, enum memory_kind kind)
{
	size_t n = 0;

	for (size_t i = 0; made && i < made->n; i++)
		n += made->memories[i].kind == kind;
	return n;
}

static size_t count_items(const struct refine_work *w, enum memory_kind kind)
{
	size_t n = 0;

	for (size_t i = 0; i < w->in->reply->n; i++)
		n += w->in->reply->items[i].kind == kind;
	return n;
}

/* The rule's memory that is most like it, not refined yet; -1. */
static int same_work(struct refine_work *w, const char *title, const char *body)
{
	const struct rules_output *made = w->in->made;
	bool is_only = w->in->digest->parts <= 1 && count_kind(made, KIND_OBSERVATION) == 1 &&
		       count_items(w, KIND_OBSERVATION) == 1;
	double best = is_only ? ONLY_ONE : SAME_WORK;
	int found = -1;

	for (size_t i = 0; made && i < made->n; i++) {
		double like;

		if (made->memories[i].kind != KIND_OBSERVATION || w->is_refined[i])
			continue;
		like = likeness(w, &made->memories[i], title ? title : "", body);
		if (found < 0 ? like >= best : like > best) {
			best = like;
			found = (int)i;
		}
	}
	return found;
}

/* ---- lists ---- */

static const char *facts_of(struct refine_work *w, const struct reply_item *item, size_t *removed)
{
	const char *kept[FACTS_MAX];
	size_t n = 0;

	for (size_t i = 0; i < item->nfacts && n < FACTS_MAX; i++) {
		const char *fact = text_attribute(
			&w->g, one_line(w->a, str_of(item->facts[i]), FACT_TITLE_MAX));
		bool is_there = false;

		for (size_t k = 0; k < n && !is_there; k++)
			is_there = text_is_same(kept[k], fact);
		if (is_there || text_is_about_us(&w->g, fact))
			continue;
		if (text_is_supported(&w->g, str_of(fact)))
			kept[n++] = fact;
		else
			(*removed)++;
	}
	return json_list(w->a, kept, n);
}

static const char *concepts_of(struct refine_work *w, const struct reply_item *item)
{
	const char *kept[CONCEPTS_MAX];
	size_t n = 0;

	for (size_t i = 0; i < item->nconcepts && n < CONCEPTS_MAX; i++) {
		const char *concept = mode_concept_of(w->in->mode, item->concepts[i]);
		bool is_there = false;

		w->out->counts.off_list += !concept;
		for (size_t k = 0; concept && k < n && !is_there; k++)
			is_there = strcmp(kept[k], concept) == 0;
		if (concept && !is_there)
		kept[n++] = concept;
	}
	return json_list(w->a, kept, n);
}

/* ---- observations ---- */

static bool is_work(enum memory_type t)
{
	return t == TYPE_BUGFIX || t == TYPE_FEATURE || t == TYPE_REFACTOR || t == TYPE_CHANGE;
}

static enum memory_type type_of(
	struct refine_work *w, const struct reply_item *item, const struct memory *rule)
{
	bool is_listed;
	enum memory_type said = mode_type_of(w->in->mode, item->said_type, &is_listed);

	w->out->counts.off_list += !is_listed;
	if (rule && (said == TYPE_NONE || (!is_listed && rule->type != TYPE_NONE)))
		return rule->type;
	/* Files were changed: whatever else it is, it is no mere finding. */
	if (rule && is_work(rule->type) && said == TYPE_DISCOVERY)
		return rule->type;
	return said == TYPE_NONE ? TYPE_DISCOVERY : said;
}

static bool is_told_here(struct refine_work *w, const char *title)
{
	for (size_t i = 0; i < w->out->n; i++)
		if (w->out->items[i].m.kind == KIND_OBSERVATION &&
			text_is_same(w->out->items[i].m.title, title))
			return true;
	return false;
}

static bool is_of_rules(const struct refine_work *w, const char *title)
{
	for (size_t i = 0; w->in->made && i < w->in->made->n; i++)
		if (str_ieq(w->in->made->memories[i].title, title))
			return true;
	return false;
}

/* Known before, from other work: what the rules made of this unit is no other. */
static bool is_known(struct refine_work *w, const char *title)
{
	for (size_t i = 0; i < w->in->nsimilar; i++)
		if (!is_of_rules(w, w->in->similar[i]) && text_is_same(w->in->similar[i], title))
			return true;
	return false;
}

static bool body_is_better(const char *body, const char *old)
{
	if (!body || strlen(body) < BODY_MIN)
		return false;
	return !old || strlen(body) >= MIN(strlen(old) / 2, BODY_SHORT);
}

static struct memory new_memory(const struct refine_work *w, enum memory_kind kind)
{
	const struct rules_input *u = w->in->unit;
	struct memory m = { .kind = kind, .trust = TRUST_REPLY };

	m.project = u->project ? u->project->id : 0;
	m.session = u->session ? u->session->id : 0;
	m.turn = u->turn ? u->turn->id : 0;
	m.branch = u->session ? u->session->branch : NULL;
	for (size_t i = u->n; i-- > 0;)
		if (u->events[i].branch) {
			m.branch = u->events[i].branch;
			break;
		}
	return m;
}

static void keep(struct refine_work *w, struct memory *m, int rule, size_t removed)
{
	const struct memory *r = rule >= 0 ? &w->in->made->memories[rule] : NULL;
	struct refined out = { .removed = removed };

	refine_finish(w, m, r ? r->confidence : CONFIDENCE_ALONE, removed);
	/* What waits for a person must not stand for what a rule saw. */
	if (r && m->status == MEMORY_ACTIVE) {
		out.refines = arena_printf(w->a, "%s/%s", r->rule, r->slot);
		w->is_refined[rule] = true;
	}
	m->refines = out.refines;
	out.m = *m;
	ARENA_PUSH(w->a, w->out->items, w->out->n, w->out->cap, out);
}

struct offer {
	const char *title, *body, *facts, *concepts;
	size_t removed;
};

/* Takes into the rule's memory what is better; false when nothing is. */
static bool take_better(struct memory *m, const struct offer *t)
{
	bool is_better = false;

	if (t->title) {
		is_better |= strcmp(t->title, m->title) != 0;
		m->title = t->title;
	}
	if (body_is_better(t->body, m->body)) {
		is_better = true;
		m->body = t->body;
	}
	if (t->facts) {
		is_better |= !m->facts;
		m->facts = t->facts;
	}
	m->concepts = t->concepts ? t->concepts : m->concepts;
	return is_better;
}

static bool fill_new(struct refine_work *w, struct memory *m, const struct offer *t)
{
	m->title = t->title;
	m->body = t->body;
	m->facts = t->facts;
	m->concepts = t->concepts;
	if (!m->title && m->body)
		m->title = title_from_reply(w->a, str_of(m->body));
	if (!m->body)
		m->body = m->title;
	return m->title && !is_generic(w, m->title);
}

void refine_observation(struct refine_work *w, const struct reply_item *item)
{
	struct offer t = { 0 };
	struct memory m;
	int rule;

	if (text_is_about_us(&w->g, item->title) || text_is_about_us(&w->g, item->body)) {
		drop(w, &w->out->counts.about_us);
		return;
	}
	t.title = good_title(w, item->title, &t.removed);
	t.body = text_supported(&w->g, text_attribute(&w->g, item->body), &t.removed);
	t.facts = facts_of(w, item, &t.removed);
	t.concepts = concepts_of(w, item);
	rule = same_work(w, item->title, item->body);
	/* The rule's title is another's at least. */
	if (rule >= 0 && t.title && is_known(w, t.title))
		t.title = NULL;
	m = rule >= 0 ? w->in->made->memories[rule] : new_memory(w, KIND_OBSERVATION);
	m.type = type_of(w, item, rule >= 0 ? &w->in->made->memories[rule] : NULL);
	if (!t.title && !t.body) {
		drop(w, &w->out->counts.unfounded);
		return;
	}
	if (rule >= 0 ? !take_better(&m, &t) : !fill_new(w, &m, &t)) {
		drop(w, rule >= 0 ? &w->out->counts.no_better : &w->out->counts.unfounded);
		return;
	}
	if (is_told_here(w, m.title) || is_known(w, m.title)) {
		drop(w, &w->out->counts.duplicates);
		return;
	}
	m.slot = arena_printf(w->a, "%d.%zu", w->in->part, w->ordinal++);
	refine_files(w, item, &m, &t.removed);
	if (item->subtitle && !m.subtitle && text_is_supported(&w->g, str_of(item->subtitle)))
		m.subtitle = one_line(w->a, str_of(item->subtitle), KEPT_TITLE_MAX);
	keep(w, &m, rule, t.removed);
}

/* ---- the summary of the unit ---- */

static int rule_summary_of(const struct refine_work *w)
{
	for (size_t i = 0; w->in->made && i < w->in->made->n; i++)
		if (w->in->made->memories[i].kind == KIND_SUMMARY && !w->is_refined[i])
			return (int)i;
	return -1;
}

static bool take_part(struct refine_work *w, const char **mine, const char *said, size_t *removed)
{
	const char *text = text_supported(&w->g, text_attribute(&w->g, said), removed);

	if (!text || text_is_about_us(&w->g, text))
		return false;
	/* A remnant of what lost its sentences says less than the rule's. */
	if (*mine && strlen(text) < MIN(strlen(*mine) / 3, BODY_MIN))
		return false;
	*mine = text;
	return true;
}

static size_t take_parts(
	struct refine_work *w, struct memory *m, const struct reply_item *item, size_t *removed)
{
	const struct {
		const char **mine;
		const char *said;
	} parts[SUMMARY_PARTS] = { { &m->request, item->request },
		{ &m->investigated, item->investigated }, { &m->learned, item->learned },
		{ &m->completed, item->completed }, { &m->next_steps, item->next_steps },
		{ &m->notes, item->notes } };
	size_t n = 0;

	for (size_t i = 0; i < SUMMARY_PARTS; i++)
		n += parts[i].said && take_part(w, parts[i].mine, parts[i].said, removed);
	return n;
}

void refine_summary(struct refine_work *w, const struct reply_item *item)
{
	int rule = rule_summary_of(w);
	bool is_last = w->in->part + 1 >= w->in->digest->parts;
	size_t removed = 0, taken;
	struct memory m;

	/* Earlier parts do not know how it ended. */
	if (!is_last) {
		drop(w, &w->out->counts.no_better);
		return;
	}
	m = rule >= 0 ? w->in->made->memories[rule] : new_memory(w, KIND_SUMMARY);
	taken = take_parts(w, &m, item, &removed);
	if (!taken || (rule < 0 && taken < 2)) {
		drop(w, rule >= 0 ? &w->out->counts.no_better : &w->out->counts.unfounded);
		return;
	}
	if (!m.title)
		m.title = good_title(w, item->title ? item->title : item->completed, &removed);
	if (!m.title && m.completed)
		m.title = title_from_reply(w->a, str_of(m.completed));
	if (!m.title) {
		drop(w, &w->out->counts.unfounded);
		return;
	}
	m.slot = arena_printf(w->a, "%d.summary", w->in->part);
	keep(w, &m, rule, removed);
}
