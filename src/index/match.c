#include "index/match.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "index/sessions.h"
#include "index/skip.h"

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

/* The lists of one word in one segment, on their way to what is kept of them. */
struct take {
	struct run *r;
	const struct view *v;
	struct list *l;
	const struct code_weights *weights;
};

/* The most that one document has, at most, as blocks' bounds and the last documents tell. */
static float most_of(struct postings *p, const float *counts)
{
	float most = 0;
	for (uint32_t b = 0; b < p->blocks; b++)
		most = MAX(most, counts[postings_bound(p, b).code]);
	p->next = p->blocks;
	if (postings_next(p))
		for (uint32_t i = 0; i < p->n; i++)
			most = MAX(most, counts[p->codes[i]]);
	return most;
}

static void take_map(uint64_t *map, const struct postings *p, size_t words)
{
	for (size_t i = 0; i < words; i++)
		map[i] |= load64(p->map + i * 8);
}

/* Unpacks as little as it can: with a map and the sessions' list nothing, with either a part. */
static void read_list(const struct take *t, const struct ref *ref, uint64_t *exact)
{
	struct postings p;
	struct session_sums *sums = t->r->sums;
	postings_start(&p, t->v->seg, &ref->term);
	if (p.map) {
		take_map(t->l->map, &p, view_map_words(t->v));
		if (exact)
			take_map(exact, &p, view_map_words(t->v));
	}
	if (sums && p.sessions) {
		sessions_add_list(sums, t->v->seg, p.sessions, ref->is_exact);
		sums = NULL;
	}
	while ((!p.map || sums) && (sums ? postings_next(&p) : postings_next_docs(&p))) {
		if (sums)
			sessions_add(sums, t->v->seg, &p, ref->is_exact);
		if (p.map)
			continue;
		set_bits(t->l->map, p.docs, p.n);
		if (exact)
			set_bits(exact, p.docs, p.n);
	}
	t->l->most += most_of(&p, t->weights->of[ref->is_exact]);
}

/* A word of the map of removed documents that hold the word. */
static uint64_t word_of_dead(const struct take *t, size_t word)
{
	return t->l->map[word] & load64(t->v->dead->bits + word * 8);
}

/* Removed documents are not there, nor in the sums. */
static void drop_dead(const struct take *t)
{
	struct list *l = t->l;
	const size_t words = view_map_words(t->v);
	for (size_t k = 0; k < l->nrefs && t->r->sums; k++) {
		struct postings p;
		postings_start(&p, t->v->seg, &l->refs[k].term);
		for (size_t i = 0; i < words; i++)
			for (uint64_t bits = word_of_dead(t, i); bits; bits &= bits - 1) {
				const uint32_t doc =
					(uint32_t)i * 64 + (uint32_t)__builtin_ctzll(bits);
				const int at = postings_find(&p, doc);
				if (at >= 0)
					sessions_drop(t->r->sums, t->v->seg, doc, p.codes[at],
						l->refs[k].is_exact);
			}
	}
	for (size_t i = 0; i < words; i++) {
		const uint64_t dead = load64(t->v->dead->bits + i * 8);
		l->map[i] &= ~dead;
		if (l->exact)
			l->exact[i] &= ~dead;
	}
}

static void count_docs(const struct take *t)
{
	struct list *l = t->l;
	if (l->nrefs == 1 && !t->v->dead) {
		l->n = l->refs[0].term.df;
		return;
	}
	for (size_t i = 0, words = view_map_words(t->v); i < words; i++)
		l->n += bits_count(l->map[i]);
}

/* Of one word in one segment: the documents that hold it, and what their sessions have. */
static void read_lists(const struct take *t)
{
	struct list *l = t->l;
	const size_t bytes = view_map_room(t->v) * sizeof(*l->map);
	bool has_exact = false;
	for (size_t i = 0; i < l->nrefs; i++)
		has_exact |= l->refs[i].is_exact;
	l->map = arena_alloc(t->r->scratch, bytes);
	if (has_exact)
		l->exact = l->nrefs == 1 ? l->map : arena_alloc(t->r->scratch, bytes);
	for (size_t i = 0; i < l->nrefs; i++)
		read_list(t, &l->refs[i],
			l->refs[i].is_exact && l->exact != l->map ? l->exact : NULL);
	if (t->v->dead)
		drop_dead(t);
	count_docs(t);
}

static void match_group(struct run *r, size_t g, const struct code_weights *weights)
{
	for (size_t v = 0; v < r->snap->n; v++) {
		const struct take t = { r, &r->snap->views[v], run_list(r, v, g), weights };
		t.l->nrefs = match_refs(r->scratch, t.v->seg, r->groups[g].word, false, &t.l->refs);
		if (t.l->nrefs == 0)
			continue;
		read_lists(&t);
		r->groups[g].df += t.l->n;
	}
	if (r->sums)
		r->groups[g].session_idf = sessions_give(r, r->sums, 1);
}

void match_run(struct run *r)
{
	struct code_weights weights;
	code_weights_fill(&weights);
	r->lists = arena_alloc(r->scratch, (r->snap->n * r->ngroups + 1) * sizeof(*r->lists));
	for (size_t g = 0; g < r->ngroups; g++) {
		match_group(r, g, &weights);
		r->groups[g].idf = bm25_idf(r->docs, r->groups[g].df);
	}
}
