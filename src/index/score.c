#include "index/score.h"

#include <string.h>

#include "base/mem.h"

#define WINDOW 1024u

/* One term's occurrences by session, and the sessions that have any. */
struct session_sums {
	float *tf;
	uint32_t *touched, n;
};

/* Adds the term's share to the sessions it occurs in and empties the sums. Returns its idf. */
static double add_term(struct run *r, double weight, struct session_sums *sums, const float *norms)
{
	const double k1 = index_weights.session_k1;
	const double idf =
		bm25_idf(r->snap->sessions, sums->n - (sums->tf[0] > 0)); /* slot 0 is no session */
	const float top = (float)(weight * idf * (k1 + 1));
	for (uint32_t i = 0; i < sums->n; i++) {
		uint32_t s = sums->touched[i];
		r->session_scores[s] += top * sums->tf[s] / (sums->tf[s] + norms[s]);
		sums->tf[s] = 0;
	}
	sums->n = 0;
	return idf;
}

/* The list's first document from place `lo` on that is not before `doc`. */
static uint32_t first_from(const struct list *l, uint32_t lo, uint32_t doc)
{
	uint32_t hi = l->n;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (l->docs[mid] < doc)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Adds the documents before `end`, each occurrence counting `weight`. */
static uint32_t sum_until(const struct view *v, const struct list *l, uint32_t i, uint32_t end,
	float weight, struct session_sums *sums)
{
	const uint32_t *slots = v->seg->slots;
	uint32_t n = sums->n;
	for (; i < l->n && l->docs[i] < end; i++) {
		uint32_t s = slots[l->docs[i]];
		/* Without a branch, which would be mispredicted half the time. */
		sums->touched[n] = s;
		n += sums->tf[s] == 0;
		sums->tf[s] += weight * l->tf[i];
	}
	sums->n = n;
	return i;
}

/* What a memory says was mostly said in its session before: it counts less. */
static void sum_list(const struct view *v, const struct list *l, struct session_sums *sums)
{
	const uint32_t *starts = v->seg->t.class_start;
	const float memory = (float)index_weights.session_memory;
	uint32_t i = memory > 0 ? sum_until(v, l, 0, starts[1], memory, sums) : first_from(l, 0, starts[1]);
	i = sum_until(v, l, i, starts[2], 1, sums);
	sum_until(v, l, i, starts[CLASS_COUNT], (float)index_weights.session_title, sums);
}

/* Words of a session, as they are counted; also of all of them together. */
static double words_of(uint64_t others, uint64_t memories)
{
	return (double)others + index_weights.session_memory * (double)memories;
}

void score_sessions(struct run *r)
{
	const struct snapshot *s = r->snap;
	const double k1 = index_weights.session_k1, b = index_weights.session_b;
	double average = s->sessions ? words_of(s->session_words_total, s->session_memory_words_total) / s->sessions : 1;
	r->session_scores = ARENA_ARRAY(r->scratch, float, s->nslots);
	if (s->sessions == 0)
		return;
	float *norms = ARENA_ARRAY(r->scratch, float, s->nslots);
	struct session_sums sums = { ARENA_ARRAY(r->scratch, float, s->nslots),
		ARENA_ARRAY(r->scratch, uint32_t, s->nslots + 1), 0 };
	for (uint32_t i = 0; i < s->nslots; i++)
		norms[i] = (float)(k1 * (1 - b + b * words_of(s->session_words[i], s->session_memory_words[i]) / MAX(average, 1.0)));
	for (size_t g = 0; g < r->ngroups; g++) {
		for (size_t v = 0; v < s->n; v++)
			sum_list(&s->views[v], run_list(r, v, g), &sums);
		r->groups[g].session_idf = add_term(r, 1, &sums, norms);
	}
	for (size_t p = 0; p < r->npairs && index_weights.session_pair > 0; p++) {
		for (size_t v = 0; v < s->n; v++)
			sum_list(&s->views[v], run_pair_list(r, v, p), &sums);
		r->pairs[p].session_idf = add_term(r, index_weights.session_pair, &sums, norms);
	}
}

struct window {
	float own[WINDOW], pairs[WINDOW];
	uint64_t groups[WINDOW], exact[WINDOW]; /* a bit per group */
	uint64_t touched[WINDOW / 64];
};

/* What a class's documents are measured with. */
struct scale {
	float norms[256]; /* k1 * (1 - b + b * length / average), by length code */
	float k1;
};

static void fill_scale(const struct run *r, int class, struct scale *s)
{
	const struct class_totals *c = &r->snap->classes[class];
	const double k1 = index_weights.k1, b = index_weights.b;
	double average = c->docs ? (double)c->words / (double)c->docs : 1;
	s->k1 = (float)k1;
	for (int i = 0; i < 256; i++)
		s->norms[i] =
			i < 16 + 8 * 28
				? (float)(k1 *
					  (1 - b + b * length_of((uint8_t)i) / MAX(average, 1.0)))
				: 0;
}

static void add_group(struct window *w, const struct run *r, size_t view, size_t group,
	const uint32_t range[2], const struct scale *s)
{
	struct list *l = run_list(r, view, group);
	const uint8_t *lengths = r->snap->views[view].seg->lengths;
	const float top = (float)r->groups[group].idf * (s->k1 + 1);
	const uint64_t bit = (uint64_t)1 << group;
	/* Which words a document holds matters only until one with all of them was found. */
	const uint64_t noted = r->wants_complete ? bit : 0;
	uint32_t i = l->at;
	for (; i < l->n && l->docs[i] < range[1]; i++) {
		uint32_t doc = l->docs[i], at = doc - range[0];
		float tf = l->tf[i];
		w->own[at] += top * tf / (tf + s->norms[lengths[doc]]);
		w->touched[at / 64] |= (uint64_t)1 << (at % 64);
		if (noted) {
			w->groups[at] |= noted;
			w->exact[at] |= l->exact[i] ? noted : 0;
		}
	}
	l->at = i;
}

static void add_pair(struct window *w, const struct run *r, size_t view, size_t pair,
	const uint32_t range[2], const struct scale *s)
{
	struct list *l = run_pair_list(r, view, pair);
	const uint8_t *lengths = r->snap->views[view].seg->lengths;
	const float top = (float)(index_weights.pair * r->pairs[pair].idf) * (s->k1 + 1);
	for (; l->at < l->n && l->docs[l->at] < range[1]; l->at++) {
		uint32_t doc = l->docs[l->at];
		float tf = l->tf[l->at];
		w->pairs[doc - range[0]] += top * tf / (tf + s->norms[lengths[doc]]);
	}
}

/*
 * The groups whose words a document must hold to hold them all: wholes are but another look at
 * their parts.
 */
static uint64_t needed_groups(const struct run *r)
{
	uint64_t needed = 0;
	for (size_t g = 0; g < r->ngroups; g++)
		if (!r->groups[g].word->is_whole)
			needed |= (uint64_t)1 << g;
	return needed;
}

struct pass {
	struct run *r;
	size_t view;
	scored_fn *each;
	void *ctx;
	const uint32_t *slots;
	uint64_t needed;
};

static void give(const struct pass *p, const struct window *w, uint32_t start, uint32_t at)
{
	struct run *r = p->r;
	uint32_t slot = p->slots[start + at];
	float session = slot ? r->session_scores[slot] : 0;
	float base = r->own_weight * w->own[at] + r->pair_weight * w->pairs[at] +
		     r->session_weight * session;
	bool has_all = (w->groups[at] & p->needed) == p->needed;
	if (base < (r->floors ? r->floors[slot] : r->least) && !(has_all && r->wants_complete)) {
		r->has_skipped = true;
		return;
	}
	struct scored s = { .view = p->view,
		.doc = start + at,
		.own = w->own[at],
		.pairs = w->pairs[at],
		.session = session,
		.has_all = has_all,
		.has_exact = (w->exact[at] & p->needed) == p->needed };
	p->each(p->ctx, &s);
}

static void empty_window(struct window *w, const struct pass *p, uint32_t start)
{
	for (uint32_t word = 0; word < WINDOW / 64; word++) {
		for (; w->touched[word]; w->touched[word] &= w->touched[word] - 1) {
			uint32_t at = word * 64 + (uint32_t)__builtin_ctzll(w->touched[word]);
			give(p, w, start, at);
			w->own[at] = w->pairs[at] = 0;
			w->groups[at] = w->exact[at] = 0;
		}
	}
}

/* Start of the next window that is not empty; `end` when there is none. */
static uint32_t next_start(const struct run *r, size_t view, uint32_t end)
{
	uint32_t first = end;
	for (size_t g = 0; g < r->ngroups; g++) {
		const struct list *l = run_list(r, view, g);
		if (l->at < l->n)
			first = MIN(first, l->docs[l->at]);
	}
	return first;
}

static void score_range(const struct pass *p, struct window *w, const uint32_t class_range[2],
	const struct scale *s)
{
	struct run *r = p->r;
	for (size_t g = 0; g < r->ngroups; g++)
		{ struct list *l = run_list(r, p->view, g); l->at = first_from(l, l->at, class_range[0]); }
	for (size_t i = 0; i < r->npairs; i++)
		{ struct list *l = run_pair_list(r, p->view, i); l->at = first_from(l, l->at, class_range[0]); }
	for (;;) {
		uint32_t start = next_start(r, p->view, class_range[1]);
		if (start >= class_range[1])
			return;
		const uint32_t range[2] = { start, MIN(start + WINDOW, class_range[1]) };
		for (size_t g = 0; g < r->ngroups; g++)
			add_group(w, r, p->view, g, range, s);
		for (size_t i = 0; i < r->npairs; i++)
			add_pair(w, r, p->view, i, range, s);
		empty_window(w, p, start);
	}
}

static void every_doc(const struct pass *p, const uint32_t range[2])
{
	const struct view *v = &p->r->snap->views[p->view];
	for (uint32_t d = range[0]; d < range[1]; d++) {
		struct scored s = { .view = p->view, .doc = d };
		if (!view_is_dead(v, d))
			p->each(p->ctx, &s);
	}
}

void score_docs(struct run *r, uint32_t classes, scored_fn *each, void *ctx)
{
	struct window *w = ARENA_NEW(r->scratch, struct window);
	struct scale scales[CLASS_COUNT];
	for (int c = 0; c < CLASS_COUNT; c++)
		fill_scale(r, c, &scales[c]);
	struct pass p = { .r = r, .each = each, .ctx = ctx, .needed = needed_groups(r) };
	for (p.view = 0; p.view < r->snap->n; p.view++) {
		const uint32_t *starts = r->snap->views[p.view].seg->t.class_start;
		p.slots = r->snap->views[p.view].seg->slots;
		for (int c = 0; c < CLASS_COUNT; c++) {
			const uint32_t range[2] = { starts[c], starts[c + 1] };
			if (!(classes >> c & 1) || range[0] == range[1])
				continue;
			if (r->ngroups)
				score_range(&p, w, range, &scales[c]);
			else
				every_doc(&p, range);
		}
	}
}
