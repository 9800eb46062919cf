/*
 * A search: the lists of each word, near pairs, sessions' scores, then every document that holds a
 * word; what passes the filter goes into a heap. All of it on one snapshot, with memory of its own
 * that ends with the search.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "index/complete.h"
#include "index/dates.h"
#include "index/filter.h"
#include "index/fuse.h"
#include "index/pairs.h"
#include "index/prior.h"
#include "index/rank.h"
#include "index/score.h"
#include "index/sessions.h"
#include "index/spell.h"

#define RESULTS_MAX 101000u /* offset + limit */
#define SESSION_CHANGES 64

const char *const match_names[] = {
	[MATCH_NONE] = "none",
	[MATCH_EXACT] = "exact",
	[MATCH_STEM] = "stem",
	[MATCH_SPELLING] = "spelling",
	[MATCH_MEANING] = "meaning",
	[MATCH_NEAREST] = "nearest",
};

struct collect {
	struct run *r;
	const struct search *in;
	size_t view; /* whose checks are ready */
	struct filter_check filter;
	struct phrase_check *phrases;
	struct rank rank;
	struct ranked *best; /* per session slot; id 0: none */
	double *keys;        /* of those, for sorting */
	size_t changes;      /* among them since they were sorted */
	uint64_t total;
	enum match_rung match;
	double most_prior;
};

static void collect_view(struct collect *c, size_t view)
{
	const struct segment *seg = c->r->snap->views[view].seg;
	c->view = view;
	filter_start(&c->filter, &c->in->filter, seg);
	c->phrases =
		c->in->query->nphrases ? phrase_check_new(c->r->scratch, c->in->query, seg) : NULL;
}

/* A little, since sums are rounded. */
static float lowered(double key)
{
	return (float)(key * 0.9999);
}

/* The base score that a key needs at least. */
static float without_prior(const struct collect *c, double key)
{
	return lowered(key / (1 + c->most_prior));
}

static int compare_keys(const void *x, const void *y)
{
	const double *a = x, *b = y;
	return (*a < *b) - (*a > *b);
}

/* A session that ranks must reach what the last of the best so far has reached. */
static void raise_session_least(struct collect *c)
{
	size_t n = 0;
	c->changes = 0;
	for (uint32_t s = 1; s < c->r->snap->nslots && !c->in->wants_total; s++)
		if (c->best[s].id)
			c->keys[n++] = c->best[s].key;
	if (n < c->rank.max || c->rank.max == 0)
		return;
	qsort(c->keys, n, sizeof(*c->keys), compare_keys);
	c->r->least = lowered(c->keys[c->rank.max - 1]);
}

static void keep(struct collect *c, const struct scored *s, struct ranked *item)
{
	const struct segment *seg = c->r->snap->views[s->view].seg;
	uint32_t slot = seg->slots[s->doc];
	double base = (double)item->own + item->session + item->pairs;
	if (c->r->ngroups) {
		item->prior = (float)(base * prior_of(c->in, seg, s->doc));
		item->key = base + item->prior;
	} else {
		item->key = (double)segment_column(seg, COLUMN_AT, s->doc);
	}
	item->id = segment_id(seg, s->doc);
	if (!c->in->by_session) {
		rank_offer(&c->rank, item);
		return;
	}
	if (c->best[slot].id && !ranked_is_better(item, &c->best[slot]))
		return;
	c->best[slot] = *item;
	c->r->floors[slot] = without_prior(c, item->key);
	if (++c->changes > c->r->snap->nslots / 4 + SESSION_CHANGES)
		raise_session_least(c);
}

static struct ranked item_of(const struct run *r, const struct scored *s)
{
	return (struct ranked){ .view = s->view,
		.doc = s->doc,
		.own = r->own_weight * s->own,
		.pairs = r->pair_weight * s->pairs,
		.session = r->session_weight * s->session };
}

/* Once enough is kept, what cannot enter even with the best prior need not be looked at. */
static void raise_least(struct collect *c)
{
	if (c->in->wants_total || c->in->by_session || !rank_is_full(&c->rank))
		return;
	c->r->least = c->rank.max ? lowered(c->rank.items[0].key) : INFINITY;
}

static bool is_wanted(void *ctx, size_t view, uint32_t doc)
{
	struct collect *c = ctx;
	if (view != c->view)
		collect_view(c, view);
	if (c->in->by_session && c->r->snap->views[view].seg->slots[doc] == 0)
		return false;
	return filter_passes(&c->filter, doc) &&
	       (!c->phrases || phrase_check_passes(c->phrases, doc));
}

static void take_scored(void *ctx, const struct scored *s)
{
	struct collect *c = ctx;
	if (!is_wanted(c, s->view, s->doc))
		return;
	struct ranked item = item_of(c->r, s);
	c->total++;
	keep(c, s, &item);
	raise_least(c);
}

static void start_sessions(struct collect *c)
{
	c->best = ARENA_ARRAY(c->r->scratch, struct ranked, c->r->snap->nslots);
	c->keys = ARENA_ARRAY(c->r->scratch, double, c->r->snap->nslots);
}

static void rank_sessions(struct collect *c)
{
	c->total = 0;
	for (uint32_t s = 1; s < c->r->snap->nslots; s++) {
		if (c->best[s].id == 0)
			continue;
		c->total++;
		rank_offer(&c->rank, &c->best[s]);
	}
}

static void give_hits(const struct collect *c, struct arena *a, struct search_result *ret)
{
	size_t first = MIN(c->in->offset, c->rank.n);
	ret->n = MIN(c->in->limit, c->rank.n - first);
	ret->hits = ARENA_ARRAY(a, struct hit, ret->n + 1);
	for (size_t i = 0; i < ret->n; i++) {
		const struct ranked *r = &c->rank.items[first + i];
		ret->hits[i] = (struct hit){ .id = r->id,
			.score = c->r->ngroups ? r->key : 0,
			.own = r->own,
			.session = r->session,
			.prior = r->prior,
			.pairs = r->pairs };
		segment_columns(c->r->snap->views[r->view].seg, r->doc, &ret->hits[i].columns);
	}
	ret->total = c->total;
	ret->total_is_exact = !c->r->has_skipped;
	ret->match = c->match;
	for (size_t g = 0; g < c->r->ngroups; g++)
		ret->full += c->in->by_session ? c->r->groups[g].session_idf + c->r->groups[g].idf
					       : c->r->groups[g].idf;
}

/*
 * When sessions are ranked, theirs is the main score, which counts near pairs already, and the best
 * document's own is added to it.
 */
static void set_weights(struct run *r, const struct search *in)
{
	const struct weights *w = &index_weights;
	r->least = -INFINITY;
	r->own_weight = in->by_session ? (float)w->best : 1;
	r->pair_weight = in->by_session ? 0 : 1; /* the pairs' own weight is in their scores */
	r->session_weight = in->by_session ? 1 : (float)w->session;
	if (!in->by_session)
		return;
	r->floors = ARENA_ARRAY(r->scratch, float, r->snap->nslots);
	for (uint32_t s = 0; s < r->snap->nslots; s++)
		r->floors[s] = s ? -INFINITY : INFINITY;
}

/* Whether only the number is wanted: then no score matters. */
static bool is_count(const struct search *in)
{
	return in->limit == 0 && !in->by_session;
}

static void search_once(
	struct run *r, struct arena *a, const struct search *in, struct search_result *ret)
{
	for (size_t i = 0; i < in->query->nwords; i++)
		if (in->query->words[i].is_scored)
			r->groups[r->ngroups++] = (struct group){ .word = &in->query->words[i] };
	for (int c = 0; c < CLASS_COUNT; c++)
		r->docs += r->snap->classes[c].docs;
	if (!is_count(in))
		r->sums = sessions_start(r);
	match_run(r);
	if (!is_count(in))
		pairs_run(r);
	set_weights(r, in);
	struct collect c = { .r = r, .in = in, .view = SIZE_MAX, .most_prior = prior_highest(in) };
	size_t offset = MIN(in->offset, RESULTS_MAX), limit = MIN(in->limit, RESULTS_MAX - offset);
	/* One more than is given: what is passed over must not hide that there is more. */
	rank_start(&c.rank, r->scratch, limit ? MIN(offset + limit + 1, r->docs) : 0);
	if (in->by_session)
		start_sessions(&c);
	const uint32_t classes = filter_classes(&in->filter);
	if (is_count(in) && r->ngroups) {
		score_count(r, classes, take_scored, &c);
	} else if (in->wants_total || !score_is_parted(r)) {
		score_docs(r, classes, SCORE_ALL, take_scored, &c);
	} else {
		score_docs(r, classes, SCORE_BEST, take_scored, &c);
		if (in->by_session)
			raise_session_least(&c);
		c.view = SIZE_MAX; /* phrases are checked in order of documents: start again */
		score_docs(r, classes, SCORE_REST, take_scored, &c);
	}
	if (in->by_session)
		rank_sessions(&c);
	c.view = SIZE_MAX;
	c.match = c.total == 0 ? MATCH_NONE : complete_match(r, classes, is_wanted, &c);
	rank_sort(&c.rank);
	give_hits(&c, a, ret);
}

static struct str copy(struct arena *a, struct str s)
{
	return (struct str){ arena_dup(a, s.p, s.n), s.n };
}

static void give_terms(const struct query *q, struct arena *a, struct search_result *ret)
{
	size_t most = 0;
	for (size_t i = 0; i < q->nwords; i++)
		most += 1 + q->words[i].nstems;
	ret->terms = ARENA_ARRAY(a, struct str, most + 1);
	for (size_t i = 0; i < q->nwords; i++) {
		const struct query_word *w = &q->words[i];
		if (w->is_excluded || !w->is_scored)
			continue;
		ret->terms[ret->nterms++] = copy(a, w->word);
		for (size_t k = 0; k < w->nstems && !w->is_whole; k++)
			if (!str_eq(w->stems[k], w->word))
				ret->terms[ret->nterms++] = copy(a, w->stems[k]);
	}
}

void search_words(struct snapshot *snap, struct room *room, struct arena *a, const struct search *q,
	struct search_result *ret)
{
	AUTO(arena_done) struct arena scratch = { 0 };
	struct run *r = ARENA_NEW(&scratch, struct run);
	*r = (struct run){ .snap = snap, .in = q, .scratch = &scratch, .room = room };
	*ret = (struct search_result){ 0 };
	search_once(r, a, q, ret);
	give_terms(q->query, a, ret);
	if (ret->total > 0 || r->ngroups == 0 || q->offset > 0)
		return;
	struct search again = *q;
	again.query = spell_correct(&scratch, snap, q->query);
	if (!again.query)
		return;
	struct run *second = ARENA_NEW(&scratch, struct run);
	*second = (struct run){ .snap = snap, .in = &again, .scratch = &scratch, .room = room };
	*ret = (struct search_result){ 0 };
	search_once(second, a, &again, ret);
	give_terms(again.query, a, ret);
	if (ret->total == 0)
		return;
	ret->match = MATCH_SPELLING;
	ret->did_you_mean = spell_said(a, q->query, again.query);
}

int index_search(struct index *ix, struct arena *a, const struct search *q,
	struct search_result *ret, struct err *err)
{
	if (!q->query)
		return err_set(err, ERR_INTERNAL, "a search came without a query");
	struct search in = *q;
	if (in.period_from == 0 && in.period_to == 0)
		period_times(q->query, q->now, &in.period_from, &in.period_to);
	struct snapshot *snap = snapshot_take(ix);
	struct room *room = room_take(ix);
	if (fuse_is_wanted(&in))
		fuse_search(snap, room, a, &in, ret);
	else
		search_words(snap, room, a, &in, ret);
	room_leave(ix, room);
	snapshot_leave(ix, snap);
	return 0;
}
