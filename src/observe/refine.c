#include "observe/refine.h"

#include <string.h>

#include "base/mem.h"
#include "observe/fact_table.h"
#include "observe/refine_work.h"
#include "observe/sentence.h"
#include "observe/title.h"

#define SESSION_CONFIDENCE .6
#define SESSION_EVIDENCE_MAX 12

static char *prompt_lower(struct arena *a, const struct rules_input *unit)
{
	AUTO(buf_done) struct buf out = { 0 };

	for (size_t i = 0; i < unit->n; i++) {
		const struct event *e = &unit->events[i];

		if (e->kind == EVENT_PROMPT && !e->is_meta && !e->subagent && e->text)
			buf_printf(&out, "%s\n", e->text);
	}
	return text_lower(a, (struct str){ buf_cstr(&out), out.len });
}

static bool is_of_unit(const struct refine_input *in, const struct reply_item *item)
{
	return item->unit ? item->unit == in->number : in->is_only_unit;
}

/* Observations have the first choice of the rules' memories, longest first would be no fairer. */
static const struct {
	enum memory_kind kind;
	void (*run)(struct refine_work *w, const struct reply_item *item);
} ways[] = {
	{ KIND_OBSERVATION, refine_observation },
	{ KIND_SUMMARY, refine_summary },
	{ KIND_FACT, refine_fact },
};

void refine_run(struct arena *a, const struct refine_input *in, struct refine_output *ret)
{
	struct refine_work w = { .a = a, .in = in, .out = ret };

	*ret = (struct refine_output){ 0 };
	turn_view_make(&w.v, a, in->unit);
	w.g = (struct grounds){ .a = a,
		.evidence = in->digest->evidence,
		.events = in->digest->events,
		.n = in->digest->nevidence,
		.prompt = prompt_lower(a, in->unit),
		.counts = &ret->counts };
	w.is_refined = ARENA_ARRAY(a, bool, (in->made ? in->made->n : 0) + 1);
	for (size_t k = 0; k < ARRAY_LEN(ways); k++)
		for (size_t i = 0; i < in->reply->n; i++) {
			const struct reply_item *item = &in->reply->items[i];

			if (item->kind != ways[k].kind || !is_of_unit(in, item))
				continue;
			ret->counts.items++;
			w.claims = ret->counts.claims;
			w.unsupported = ret->counts.unsupported;
			ways[k].run(&w, item);
		}
	ret->claims = ret->counts.claims;
	ret->unsupported = ret->counts.unsupported;
}

/* ---- sessions ---- */

static const struct reply_item *session_item(const struct reply *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->items[i].kind == KIND_SUMMARY)
			return &r->items[i];
	return NULL;
}

static size_t session_parts(
	struct grounds *g, const struct reply_item *item, struct memory *m, size_t *removed)
{
	const struct {
		const char **mine;
		const char *said;
	} parts[] = { { &m->request, item->request }, { &m->investigated, item->investigated },
		{ &m->learned, item->learned }, { &m->completed, item->completed },
		{ &m->next_steps, item->next_steps }, { &m->notes, item->notes } };
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		const char *text = text_supported(g, text_attribute(g, parts[i].said), removed);

		if (!text || text_is_about_us(g, text))
			continue;
		*parts[i].mine = text;
		n++;
	}
	return n;
}

static const char *session_title(
	struct grounds *g, const struct reply_item *item, const struct memory *m)
{
	const char *texts[] = { item->title, m->completed, m->request };

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		const char *title = !texts[i] ? NULL
				    : i       ? title_from_reply(g->a, str_of(texts[i]))
					      : title_finish(g->a, str_of(texts[i]));
		struct sentence s;

		if (!title || !*title)
			continue;
		s = sentence_judge(str_of(title));
		if (sentence_is_specific(&s) && text_is_supported(g, str_of(title)))
			return title;
	}
	return NULL;
}

static void session_evidence(
	struct arena *a, const struct refine_session_input *in, struct memory *m)
{
	size_t cap = 0;

	for (size_t i = in->n; i-- > 0 && m->nevidence < SESSION_EVIDENCE_MAX;) {
		const struct memory *s = &in->summaries[i];

		if (s->nevidence)
			ARENA_PUSH(a, m->evidence, m->nevidence, cap, s->evidence[0]);
		m->at = MAX(m->at, s->at);
	}
}

bool refine_session(struct arena *a, const struct refine_session_input *in, struct memory *ret)
{
	const struct reply_item *item = session_item(in->reply);
	struct refine_counts counts = { 0 };
	struct grounds g = { .a = a,
		.evidence = in->digest->evidence,
		.n = in->digest->nevidence,
		.counts = &counts };
	struct memory m = { .kind = KIND_SUMMARY,
		.rule = REFINE_RULE,
		.slot = REFINE_SESSION_SLOT,
		.origin = ORIGIN_MODEL,
		.trust = TRUST_REPLY,
		.model = in->model };
	size_t removed = 0;

	if (!item || session_parts(&g, item, &m, &removed) < 2)
		return false;
	m.title = session_title(&g, item, &m);
	if (!m.title)
		return false;
	m.project = in->session ? in->session->project : 0;
	m.session = in->session ? in->session->id : 0;
	m.branch = in->session ? in->session->branch : NULL;
	session_evidence(a, in, &m);
	m.valid_from = m.at;
	m.confidence = MAX(0, SESSION_CONFIDENCE - MIN(.4, .1 * (double)counts.unsupported));
	m.status = m.confidence < in->threshold ? MEMORY_PENDING : MEMORY_ACTIVE;
	m.tally = refine_tally(a, in->version, counts.claims, counts.unsupported, removed);
	*ret = m;
	return true;
}
