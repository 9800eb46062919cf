#include "index/match.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

#define WINDOW 4096u
#define STRIPE 16u

double bm25_idf(uint64_t docs, uint64_t df)
{
	return log(1 + ((double)docs - (double)MIN(df, docs) + 0.5) / ((double)df + 0.5));
}

void *run_room(struct run *r, size_t bytes)
{
	struct room *room = r->room;
	bytes = (bytes + 15) & ~(size_t)15;
	if (room->size - room->used < bytes) {
		room->missed += bytes;
		return arena_alloc(r->scratch, bytes);
	}
	room->used += bytes;
	return room->bytes + room->used - bytes;
}

struct ref_list {
	struct ref *items;
	size_t n, cap;
};

static void add_ref(struct arena *a, struct ref_list *l, const struct term_cursor *c, bool is_exact)
{
	struct ref ref = { c->ref, is_exact };
	ARENA_PUSH(a, l->items, l->n, l->cap, ref);
}

static void add_forms(struct arena *a, struct ref_list *l, const struct segment *seg,
	const struct query_word *w, size_t stem, bool exact_only)
{
	struct term_cursor c;
	bool is_there = term_cursor_seek(&c, seg, w->stems[stem]);
	while (is_there) {
		bool is_exact = str_eq((struct str){ c.word, c.word_len }, w->word);
		if (is_exact || !exact_only)
			add_ref(a, l, &c, is_exact);
		is_there = term_cursor_next(&c) &&
			   str_eq((struct str){ c.stem, c.stem_len }, w->stems[stem]);
	}
}

size_t match_refs(struct arena *a, const struct segment *seg, const struct query_word *w,
	bool exact_only, struct ref **ret)
{
	struct ref_list l = { 0 };
	for (size_t i = 0; i < w->nstems && !w->is_whole; i++)
		add_forms(a, &l, seg, w, i, exact_only);
	if (!exact_only && !w->is_part) {
		char marked[KEY_MAX] = { WHOLE_MARK };
		struct term_cursor c;
		memcpy(marked + 1, w->word.p, w->word.n);
		if (term_cursor_seek(&c, seg, (struct str){ marked, w->word.n + 1 }))
			add_ref(a, &l, &c, true);
	}
	*ret = l.items;
	return l.n;
}

/* What a code counts, in the word itself and in another form of it. */
struct code_weights {
	float of[2][CODE_COUNT]; /* [is_exact] */
};

static void fill_code_weights(struct code_weights *w)
{
	const struct code_info *codes = code_table();
	for (int i = 0; i < CODE_COUNT; i++) {
		double sum = codes[i].title * index_weights.title +
			     codes[i].body * index_weights.body +
			     codes[i].rest * index_weights.rest;
		w->of[true][i] = (float)sum;
		w->of[false][i] = (float)index_weights.form * (float)sum;
	}
}

static void list_room(struct run *r, struct list *l)
{
	size_t most = 0;
	for (size_t i = 0; i < l->nrefs; i++)
		most += l->refs[i].term.df;
	l->docs = run_room(r, (most + 1) * sizeof(*l->docs));
	l->tf = run_room(r, (most + 1) * sizeof(*l->tf));
	l->exact = run_room(r, most + 1);
}

static void gather_one(const struct view *v, struct list *l, const struct code_weights *weights)
{
	struct postings p;
	const float *counts = weights->of[l->refs[0].is_exact];
	uint32_t n = 0;
	postings_start(&p, v->seg, &l->refs[0].term);
	for (; postings_next(&p); n += p.n) {
		memcpy(l->docs + n, p.docs, p.n * sizeof(*p.docs));
		for (uint32_t i = 0; i < p.n; i++)
			l->tf[n + i] = counts[p.codes[i]];
	}
	memset(l->exact, l->refs[0].is_exact, n);
	l->n = n;
}

/* Leaves removed documents out, whatever was written. */
static void drop_dead(const struct view *v, struct list *l)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < l->n && v->dead; i++) {
		l->docs[n] = l->docs[i];
		l->tf[n] = l->tf[i];
		l->exact[n] = l->exact[i];
		n += !view_is_dead(v, l->docs[i]);
	}
	l->n = v->dead ? n : l->n;
}

static void note_most(struct list *l)
{
	float most = 0;
	for (uint32_t i = 0; i < l->n; i++)
		most = MAX(most, l->tf[i]);
	l->most = most;
}

struct window {
	float tf[WINDOW]; /* above 0 for those that hold a form */
	uint8_t exact[WINDOW];
	uint8_t touched[WINDOW / STRIPE]; /* which stripes hold any */
};

/*
 * Adds the postings of one form that lie in [start, start + WINDOW); `i` is the cursor in the block
 * in hand.
 */
static void add_window(struct window *w, struct postings *p, uint32_t *i, uint32_t start,
	const struct code_weights *weights, bool is_exact)
{
	const float *counts = weights->of[is_exact];
	while (p->n) {
		uint32_t k = *i;
		const uint32_t n = p->n;
		for (; k < n && p->docs[k] - start < WINDOW; k++) {
			const uint32_t at = p->docs[k] - start;
			w->tf[at] += counts[p->codes[k]];
			w->exact[at] |= is_exact;
			w->touched[at / STRIPE] = 1;
		}
		*i = k;
		if (k < n)
			return;
		*i = 0;
		postings_next(p);
	}
}

static void empty_stripe(struct window *w, struct list *l, uint32_t start, uint32_t first)
{
	uint32_t n = l->n, *docs = l->docs;
	float *tf = l->tf;
	uint8_t *exact = l->exact;
	for (uint32_t at = first; at < first + STRIPE; at++) {
		/* Written always, kept when it counts: no branch to mispredict. */
		docs[n] = start + at;
		tf[n] = w->tf[at];
		exact[n] = w->exact[at];
		n += w->tf[at] > 0;
	}
	l->n = n;
	memset(w->tf + first, 0, STRIPE * sizeof(*w->tf));
	memset(w->exact + first, 0, STRIPE * sizeof(*w->exact));
}

static void empty_window(struct window *w, struct list *l, uint32_t start)
{
	for (uint32_t stripe = 0; stripe < WINDOW / STRIPE; stripe++) {
		if (w->touched[stripe])
			empty_stripe(w, l, start, stripe * STRIPE);
		w->touched[stripe] = 0;
	}
}

/* Several forms: summed in windows of documents. */
static void gather_forms(
	struct run *r, const struct view *v, struct list *l, const struct code_weights *weights)
{
	struct postings *p = run_room(r, l->nrefs * sizeof(*p));
	uint32_t *at = arena_alloc(r->scratch, l->nrefs * sizeof(*at));
	struct window *w = arena_alloc(r->scratch, sizeof(*w));
	for (size_t i = 0; i < l->nrefs; i++) {
		postings_start(&p[i], v->seg, &l->refs[i].term);
		postings_next(&p[i]);
	}
	for (;;) {
		uint32_t first = UINT32_MAX;
		for (size_t i = 0; i < l->nrefs; i++)
			if (p[i].n)
				first = MIN(first, p[i].docs[at[i]]);
		if (first == UINT32_MAX)
			return;
		uint32_t start = first / 64 * 64;
		for (size_t i = 0; i < l->nrefs; i++)
			add_window(w, &p[i], &at[i], start, weights, l->refs[i].is_exact);
		empty_window(w, l, start);
	}
}

void match_run(struct run *r)
{
	struct code_weights weights;
	fill_code_weights(&weights);
	r->lists = arena_alloc(r->scratch, (r->snap->n * r->ngroups + 1) * sizeof(*r->lists));
	for (size_t v = 0; v < r->snap->n; v++) {
		for (size_t g = 0; g < r->ngroups; g++) {
			struct list *l = run_list(r, v, g);
			l->nrefs = match_refs(r->scratch, r->snap->views[v].seg, r->groups[g].word,
				false, &l->refs);
			list_room(r, l);
			if (l->nrefs == 1)
				gather_one(&r->snap->views[v], l, &weights);
			else if (l->nrefs > 1)
				gather_forms(r, &r->snap->views[v], l, &weights);
			drop_dead(&r->snap->views[v], l);
			note_most(l);
			r->groups[g].df += l->n;
		}
	}
	for (size_t g = 0; g < r->ngroups; g++)
		r->groups[g].idf = bm25_idf(r->docs, r->groups[g].df);
}
