#include "index/match.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "index/sessions.h"

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

void code_weights_fill(struct code_weights *w)
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

/* Documents on their way from postings to what is kept of them. */
struct take {
	struct run *r;
	const struct view *v;
	struct list *l;
	const struct code_weights *weights;
};

static void set_bits(uint64_t *map, const uint32_t *docs, uint32_t n)
{
	for (uint32_t i = 0; i < n;) {
		const uint32_t word = docs[i] / 64;
		uint64_t bits = 0;
		for (; i < n && docs[i] / 64 == word; i++)
			bits |= (uint64_t)1 << (docs[i] % 64);
		map[word] |= bits;
	}
}

/* Leaves removed documents out, whatever was written. */
static uint32_t drop_dead(const struct view *v, uint32_t *docs, float *tf, uint32_t n)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < n; i++) {
		docs[kept] = docs[i];
		tf[kept] = tf[i];
		kept += !view_is_dead(v, docs[i]);
	}
	return kept;
}

/* Four at a time, so that no maximum waits for the one before. */
static float most_of(const float *tf, uint32_t n)
{
	float most[4] = { 0 };
	uint32_t i = 0;
	for (; i + 4 <= n; i += 4)
		for (unsigned k = 0; k < 4; k++)
			most[k] = MAX(most[k], tf[i + k]);
	for (; i < n; i++)
		most[0] = MAX(most[0], tf[i]);
	return MAX(MAX(most[0], most[1]), MAX(most[2], most[3]));
}

static void take_docs(const struct take *t, uint32_t *docs, float *tf, uint32_t n)
{
	if (t->v->dead)
		n = drop_dead(t->v, docs, tf, n);
	t->l->most = MAX(t->l->most, most_of(tf, n));
	t->l->n += n;
	set_bits(t->l->map, docs, n);
	if (t->r->sums)
		sessions_add(t->r->sums, t->v, docs, tf, n);
}

static void read_one(const struct take *t)
{
	struct postings p;
	float tf[POSTING_BLOCK];
	const float *counts = t->weights->of[t->l->refs[0].is_exact];
	for (postings_start(&p, t->v->seg, &t->l->refs[0].term); postings_next(&p);) {
		for (uint32_t i = 0; i < p.n; i++)
			tf[i] = counts[p.codes[i]];
		take_docs(t, p.docs, tf, p.n);
	}
	t->l->exact = t->l->refs[0].is_exact ? t->l->map : NULL;
}

struct window {
	float tf[WINDOW];                       /* above 0 for those that hold a form */
	uint64_t touched[WINDOW / STRIPE / 64]; /* which stripes hold any */
	uint32_t docs[WINDOW];
	float found[WINDOW];
};

/*
 * Adds the postings of one form that lie in [start, start + WINDOW); `i` is the cursor in the block
 * in hand.
 */
static void add_window(struct window *w, struct postings *p, uint32_t *i, uint32_t start,
	const float *counts, uint64_t *exact)
{
	while (p->n) {
		const uint32_t first = *i, n = p->n;
		uint32_t k = first;
		for (; k < n && p->docs[k] - start < WINDOW; k++) {
			const uint32_t at = p->docs[k] - start;
			w->tf[at] += counts[p->codes[k]];
			w->touched[at / STRIPE / 64] |= (uint64_t)1 << (at / STRIPE % 64);
		}
		if (exact)
			set_bits(exact, p->docs + first, k - first);
		*i = k;
		if (k < n)
			return;
		*i = 0;
		postings_next(p);
	}
}

static void empty_window(struct window *w, const struct take *t, uint32_t start)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < ARRAY_LEN(w->touched); i++) {
		for (; w->touched[i]; w->touched[i] &= w->touched[i] - 1) {
			const uint32_t first =
				(i * 64 + (uint32_t)__builtin_ctzll(w->touched[i])) * STRIPE;
			for (uint32_t at = first; at < first + STRIPE; at++) {
				/* Written always, kept when it counts: no branch to mispredict. */
				w->docs[n] = start + at;
				w->found[n] = w->tf[at];
				n += w->tf[at] > 0;
			}
			memset(w->tf + first, 0, STRIPE * sizeof(*w->tf));
		}
	}
	take_docs(t, w->docs, w->found, n);
}

/* Removed documents must not tell how well something matched either. */
static void keep_live(struct list *l, size_t words)
{
	for (size_t i = 0; l->exact && i < words; i++)
		l->exact[i] &= l->map[i];
}

/* Several forms: summed in windows of documents. */
static void read_forms(const struct take *t, struct window *w)
{
	struct list *l = t->l;
	struct postings *p = run_room(t->r, l->nrefs * sizeof(*p));
	uint32_t *at = arena_alloc(t->r->scratch, l->nrefs * sizeof(*at));
	for (size_t i = 0; i < l->nrefs; i++) {
		postings_start(&p[i], t->v->seg, &l->refs[i].term);
		postings_next(&p[i]);
		if (l->refs[i].is_exact && !l->exact)
			l->exact = arena_alloc(
				t->r->scratch, view_map_words(t->v) * sizeof(*l->exact));
	}
	for (;;) {
		uint32_t first = UINT32_MAX;
		for (size_t i = 0; i < l->nrefs; i++)
			if (p[i].n)
				first = MIN(first, p[i].docs[at[i]]);
		if (first == UINT32_MAX)
			break;
		uint32_t start = first / 64 * 64;
		for (size_t i = 0; i < l->nrefs; i++)
			add_window(w, &p[i], &at[i], start, t->weights->of[l->refs[i].is_exact],
				l->refs[i].is_exact ? l->exact : NULL);
		empty_window(w, t, start);
	}
	keep_live(l, view_map_words(t->v));
}

static void match_group(
	struct run *r, size_t g, const struct code_weights *weights, struct window *w)
{
	for (size_t v = 0; v < r->snap->n; v++) {
		const struct take t = { r, &r->snap->views[v], run_list(r, v, g), weights };
		t.l->nrefs = match_refs(r->scratch, t.v->seg, r->groups[g].word, false, &t.l->refs);
		if (t.l->nrefs == 0)
			continue;
		t.l->map = arena_alloc(r->scratch, view_map_words(t.v) * sizeof(*t.l->map));
		if (t.l->nrefs == 1)
			read_one(&t);
		else
			read_forms(&t, w);
		r->groups[g].df += t.l->n;
	}
	if (r->sums)
		r->groups[g].session_idf = sessions_give(r, r->sums, 1);
}

void match_run(struct run *r)
{
	struct code_weights weights;
	struct window *w = arena_alloc(r->scratch, sizeof(*w));
	code_weights_fill(&weights);
	r->lists = arena_alloc(r->scratch, (r->snap->n * r->ngroups + 1) * sizeof(*r->lists));
	for (size_t g = 0; g < r->ngroups; g++) {
		match_group(r, g, &weights, w);
		r->groups[g].idf = bm25_idf(r->docs, r->groups[g].df);
	}
}
