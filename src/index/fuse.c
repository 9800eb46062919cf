#include "index/fuse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "index/filter.h"
#include "index/prior.h"
#include "index/query_parts.h"
#include "index/vectors.h"
#include "index/weights.h"

#define ALONE_SCALE 10.0  /* the best score where words have none at all */
#define UNKNOWN_SHARE 0.5 /* of the words' share, for what has no vector */

bool fuse_is_wanted(const struct search *q)
{
	return q->meaning && q->vectors && !query_is_empty(q->query) && q->offset + q->limit <= FUSE_DEPTH;
}

/* A question with exact phrases or words to leave out is about words; meaning only helps to order what they find. */
static bool is_exacting(const struct query *q)
{
	for (size_t i = 0; i < q->nwords; i++)
		if (q->words[i].is_excluded)
			return true;
	return q->nphrases > 0;
}

struct candidate {
	struct hit hit;
	uint64_t key;    /* document, or session */
	double words;    /* share of the best */
	float nearness;  /* as the scan scores it; NAN: has no vector */
};

struct fuse {
	struct snapshot *snap;
	struct arena *arena;
	const struct search *in;
	struct candidate *list;
	size_t n, nwords; /* the first nwords were found by words */
	double top;       /* the score by words that counts fully: the best, or one worth being the best */
	float nearest;
};

static uint64_t key_of(const struct fuse *f, doc_id id, uint32_t session)
{
	return f->in->by_session ? session : id;
}

/* The document where it lives now, if it passes the filter. */
static bool doc_find(const struct fuse *f, doc_id id, struct hit *ret, double *ret_prior)
{
	struct filter_check check;
	uint32_t doc;
	for (size_t i = f->snap->n; i-- > 0;) {
		const struct view *v = &f->snap->views[i];
		if (!segment_find_doc(v->seg, id, &doc) || view_is_dead(v, doc))
			continue;
		filter_start(&check, &f->in->filter, v->seg);
		if (!filter_passes(&check, doc))
			return false;
		*ret = (struct hit){ .id = id };
		segment_columns(v->seg, doc, &ret->columns);
		*ret_prior = prior_of(f->in, v->seg, doc);
		return true;
	}
	return false;
}

static void take_words(struct fuse *f, const struct search_result *r)
{
	double share = f->in->by_session ? index_weights.session_words_full : index_weights.words_full;
	f->top = fmax(r->n ? r->hits[0].score : 0, share * r->full);
	for (size_t i = 0; i < r->n; i++)
		f->list[f->n++] = (struct candidate){ .hit = r->hits[i],
			.key = key_of(f, r->hits[i].id, r->hits[i].columns.session),
			.words = f->top > 0 ? r->hits[i].score / f->top : 0,
			.nearness = NAN };
	f->nwords = f->n;
}

static bool is_candidate(const struct fuse *f, uint64_t key)
{
	for (size_t i = 0; i < f->nwords; i++)
		if (f->list[i].key == key)
			return true;
	return false;
}

static void take_near(struct fuse *f, const struct vectors_hit *near, size_t n)
{
	double prior;
	for (size_t i = 0; i < n; i++) {
		struct candidate c = { .key = key_of(f, near[i].id, near[i].session), .nearness = near[i].score };
		if ((!f->in->takes_far && near[i].best < MIN(index_weights.chunk_least, index_weights.meaning_least)) ||
			is_candidate(f, c.key) || !doc_find(f, near[i].id, &c.hit, &prior))
			continue;
		bool is_chunk = DOC_CLASS(near[i].id) == DOC_MEMORY && c.hit.columns.kind == KIND_CHUNK;
		if (!f->in->takes_far && near[i].best < (is_chunk ? index_weights.chunk_least : index_weights.meaning_least))
			continue;
		c.hit.prior = prior; /* as a share, until it is weighed */
		c.hit.by_meaning = true;
		f->list[f->n++] = c;
	}
}

static void scan(struct fuse *f)
{
	size_t k = FUSE_CANDIDATES;
	struct vectors_hit *near = ARENA_ARRAY(f->arena, struct vectors_hit, k);
	uint64_t *wanted = ARENA_ARRAY(f->arena, uint64_t, f->n + 1);
	float *scores = ARENA_ARRAY(f->arena, float, f->n + 1);
	for (size_t i = 0; i < f->n; i++)
		wanted[i] = f->list[i].key;
	struct vectors_scan s = { .query = f->in->meaning, .filter = &f->in->filter, .by_session = f->in->by_session,
		.k = k, .wanted = wanted, .nwanted = f->n, .wanted_scores = scores };
	size_t n = vectors_scan(f->in->vectors, &s, near);
	for (size_t i = 0; i < f->n; i++)
		f->list[i].nearness = scores[i];
	f->nearest = n ? near[0].score : 0;
	if (!is_exacting(f->in->query))
		take_near(f, near, n);
}

/*
 * Similarities are centred, so that 0 is what a text about something else has. The nearest counts
 * fully, unless it is not near at all.
 */
static void weigh(struct fuse *f)
{
	const struct weights *w = &index_weights;
	double share = f->in->is_semantic ? 1 : f->in->by_session ? w->session_meaning : w->meaning;
	double scale = f->top > 0 ? f->top : ALONE_SCALE;
	double full = fmax((double)f->nearest, w->meaning_full);
	for (size_t i = 0; i < f->n; i++) {
		struct candidate *c = &f->list[i];
		struct hit *h = &c->hit;
		bool is_known = !isnan(c->nearness);
		double near = is_known ? fmax(0, (double)c->nearness) / full : UNKNOWN_SHARE * c->words;
		double prior = h->by_meaning ? h->prior : 0;
		h->own *= 1 - share;
		h->session *= 1 - share;
		h->pairs *= 1 - share;
		h->meaning = share * near * scale;
		h->prior = h->by_meaning ? prior * h->meaning : h->prior * (1 - share);
		h->score = (1 - share) * c->words * scale + h->meaning + (h->by_meaning ? h->prior : 0);
		h->similarity = is_known ? c->nearness : 0;
	}
}

static int order(const void *x, const void *y)
{
	const struct hit *a = &((const struct candidate *)x)->hit, *b = &((const struct candidate *)y)->hit;
	if (a->score != b->score)
		return a->score > b->score ? -1 : 1;
	return a->id > b->id ? -1 : a->id < b->id;
}

static void give(struct fuse *f, const struct search_result *words, struct search_result *ret)
{
	size_t found = f->n - f->nwords;
	*ret = *words;
	ret->has_meaning = true;
	ret->total = words->total + found;
	if (f->n)
		qsort(f->list, f->n, sizeof(*f->list), order);
	size_t first = MIN(f->in->offset, f->n);
	ret->n = MIN(f->in->limit, f->n - first);
	ret->hits = ARENA_ARRAY(f->arena, struct hit, ret->n + 1);
	for (size_t i = 0; i < ret->n; i++)
		ret->hits[i] = f->list[first + i].hit;
	bool is_first_near = f->n && f->list[0].hit.by_meaning;
	if (found && (words->match == MATCH_NONE || (is_first_near && words->match > MATCH_STEM)))
		ret->match = MATCH_MEANING;
}

void fuse_search(struct snapshot *snap, struct room *room, struct arena *a, const struct search *q,
	struct search_result *ret)
{
	struct fuse f = { .snap = snap, .arena = a, .in = q };
	struct search words = *q;
	struct search_result r;
	bool is_deep = q->offset + q->limit > FUSE_CANDIDATES;
	words.offset = 0;
	words.limit = q->is_semantic ? 0 : is_deep ? FUSE_DEPTH : FUSE_CANDIDATES;
	search_words(snap, room, a, &words, &r);
	if (q->is_semantic) {
		r.total = 0;
		r.match = MATCH_NONE;
	}
	f.list = ARENA_ARRAY(a, struct candidate, r.n + FUSE_CANDIDATES);
	take_words(&f, &r);
	scan(&f);
	weigh(&f);
	give(&f, &r, ret);
}
