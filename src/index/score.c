#include "index/score.h"

#include <string.h>

#include "base/mem.h"

#define WINDOW 1024u
#define STRIPE 16u

uint32_t score_window = WINDOW;

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

/* Adds the documents before `end`, each occurrence counting `weight`. */
static uint32_t sum_until(const struct view *v, const struct list *l, uint32_t i, uint32_t end,
	float weight, struct session_sums *sums)
{
	const uint32_t *slots = v->seg->slots;
	uint32_t n = sums->n;
	while (i < l->n && l->docs[i] < end) {
		/* Neighbours are mostly of one session: their sum stays in a register. */
		const uint32_t s = slots[l->docs[i]];
		float sum = 0;
		do
			sum += l->tf[i++];
		while (i < l->n && l->docs[i] < end && slots[l->docs[i]] == s);
		/* Without a branch, which would be mispredicted half the time. */
		sums->touched[n] = s;
		n += sums->tf[s] == 0;
		sums->tf[s] += weight * sum;
	}
	sums->n = n;
	return i;
}

/* What a memory says was mostly said in its session before: it counts less. */
static void sum_list(const struct view *v, const struct list *l, struct session_sums *sums)
{
	const uint32_t *starts = v->seg->t.class_start;
	const float memory = (float)index_weights.session_memory;
	uint32_t i = memory > 0 ? sum_until(v, l, 0, starts[1], memory, sums)
				: list_first(l, 0, starts[1]);
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
	double words = words_of(s->session_words_total, s->session_memory_words_total);
	double average = s->sessions ? MAX(words / s->sessions, 1.0) : 1;
	r->session_scores = ARENA_ARRAY(r->scratch, float, s->nslots);
	if (s->sessions == 0)
		return;
	float *norms = ARENA_ARRAY(r->scratch, float, s->nslots);
	struct session_sums sums = { ARENA_ARRAY(r->scratch, float, s->nslots),
		ARENA_ARRAY(r->scratch, uint32_t, s->nslots + 1), 0 };
	for (uint32_t i = 0; i < s->nslots; i++)
		norms[i] = (float)(k1 * (1 - b + b * words_of(s->session_words[i], s->session_memory_words[i]) / average));
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

/* Of neighbouring documents; own is above 0 for those that hold a word that was looked for. */
struct window {
	float own[WINDOW], pairs[WINDOW];
	uint8_t touched[WINDOW / STRIPE]; /* which stripes hold any */
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

/* One class of one segment, which is scored window by window. */
struct pass {
	struct run *r;
	size_t view;
	scored_fn *each;
	void *ctx;
	const uint32_t *slots;
	const uint8_t *lengths;
	const struct scale *scale;
	uint32_t end;
	/* Groups from the rarest word to the most common; most that those from this one on can add. */
	size_t order[QUERY_TERMS_MAX];
	float bounds[QUERY_TERMS_MAX + 1];
};

static float group_top(const struct pass *p, size_t group)
{
	return (float)p->r->groups[group].idf * (p->scale->k1 + 1);
}

static float pair_top(const struct pass *p, size_t pair)
{
	return (float)(index_weights.pair * p->r->pairs[pair].idf) * (p->scale->k1 + 1);
}

/* Adds a list's share to the documents of the range, to `sums`, which are the window's. */
static void add_touching(struct window *w, float *sums, const struct pass *p, struct list *l,
	const uint32_t range[2], float top)
{
	/* In locals: a byte that is written could else be any of them. */
	const uint32_t *docs = l->docs, n = list_first(l, l->at, range[1]);
	const float *tf = l->tf, *norms = p->scale->norms;
	const uint8_t *lengths = p->lengths;
	for (uint32_t i = l->at; i < n; i++) {
		const uint32_t at = docs[i] - range[0];
		sums[at] += top * tf[i] / (tf[i] + norms[lengths[docs[i]]]);
		w->touched[at / STRIPE] = 1;
	}
	l->at = n;
}

/* Adds a list's share to the documents that are touched already, and to no others. */
static void add_known(
	struct window *w, const struct pass *p, struct list *l, const uint32_t range[2], float top)
{
	const uint32_t *docs = l->docs, n = list_first(l, l->at, range[1]);
	const float *tf = l->tf, *norms = p->scale->norms;
	for (uint32_t i = l->at; i < n; i++) {
		const uint32_t at = docs[i] - range[0];
		if (w->own[at] > 0 || w->pairs[at] > 0)
			w->own[at] += top * tf[i] / (tf[i] + norms[p->lengths[docs[i]]]);
	}
	l->at = n;
}

static void give(const struct pass *p, const struct window *w, uint32_t start, uint32_t at)
{
	struct run *r = p->r;
	uint32_t slot = p->slots[start + at];
	float session = slot ? r->session_scores[slot] : 0;
	float base = r->own_weight * w->own[at] + r->pair_weight * w->pairs[at] +
		     r->session_weight * session;
	if (base < r->least || (r->floors && base < r->floors[slot])) {
		r->has_skipped |= base < r->least;
		return;
	}
	struct scored s = { .view = p->view,
		.doc = start + at,
		.own = w->own[at],
		.pairs = w->pairs[at],
		.session = session };
	p->each(p->ctx, &s);
}

/* Gives the documents that hold a pair or whose own score is above `least`. */
static void empty_window(struct window *w, const struct pass *p, uint32_t start, float least)
{
	for (uint32_t stripe = 0; stripe < WINDOW / STRIPE; stripe++) {
		const uint32_t first = stripe * STRIPE;
		if (!w->touched[stripe])
			continue;
		for (uint32_t at = first; at < first + STRIPE; at++)
			if (w->own[at] > least || w->pairs[at] > 0)
				give(p, w, start, at);
		memset(w->own + first, 0, STRIPE * sizeof(*w->own));
		memset(w->pairs + first, 0, STRIPE * sizeof(*w->pairs));
	}
	memset(w->touched, 0, sizeof(w->touched));
}

/* Start of the next window that is not empty; the end when there is none. */
static uint32_t next_start(const struct pass *p)
{
	uint32_t first = p->end;
	for (size_t g = 0; g < p->r->ngroups; g++) {
		const struct list *l = run_list(p->r, p->view, g);
		if (l->at < l->n)
			first = MIN(first, l->docs[l->at]);
	}
	return first;
}

static float best_session(const struct pass *p, const uint32_t range[2])
{
	const float *scores = p->r->session_scores;
	float best = 0;
	for (uint32_t d = range[0]; d < range[1]; d++)
		best = MAX(best, scores[p->slots[d]]); /* of no session: at most too careful */
	return best;
}

/*
 * What the own score of a document in the range must exceed to reach the least, weighted, when it
 * holds no pair. Those with a pair are few, and all given.
 */
static float missing_in(const struct pass *p, const uint32_t range[2])
{
	const struct run *r = p->r;
	return r->least <= 0 ? 0
			     : MAX(0, r->least - r->session_weight * best_session(p, range));
}

/*
 * How many of the groups, in order, a document must be looked for in: one that holds none of them
 * misses the least, whatever else it holds.
 */
static size_t essential_groups(const struct pass *p, float missing)
{
	size_t n = p->r->ngroups;
	while (n > 0 && p->bounds[n - 1] < missing)
		n--;
	return n;
}

static void skip_to(const struct pass *p, uint32_t doc)
{
	for (size_t g = 0; g < p->r->ngroups; g++) {
		struct list *l = run_list(p->r, p->view, g);
		l->at = list_first(l, l->at, doc);
	}
	for (size_t i = 0; i < p->r->npairs; i++) {
		struct list *l = run_pair_list(p->r, p->view, i);
		l->at = list_first(l, l->at, doc);
	}
}

static bool has_pair(const struct pass *p, const uint32_t range[2])
{
	bool has = false;
	for (size_t i = 0; i < p->r->npairs; i++) {
		const struct list *l = run_pair_list(p->r, p->view, i);
		has |= l->at < l->n && l->docs[l->at] < range[1];
	}
	return has;
}

static void score_range(const struct pass *p, struct window *w, const uint32_t range[2])
{
	struct run *r = p->r;
	const float missing = missing_in(p, range);
	size_t essential = essential_groups(p, missing);
	r->has_skipped |= missing > 0;
	if (essential == 0 && !has_pair(p, range)) {
		skip_to(p, range[1]);
		return;
	}
	for (size_t i = 0; i < r->npairs; i++)
		add_touching(w, w->pairs, p, run_pair_list(r, p->view, i), range, pair_top(p, i));
	for (size_t i = 0; i < essential; i++)
		add_touching(w, w->own, p, run_list(r, p->view, p->order[i]), range,
			group_top(p, p->order[i]));
	for (size_t i = essential; i < r->ngroups; i++)
		add_known(w, p, run_list(r, p->view, p->order[i]), range,
			group_top(p, p->order[i]));
	empty_window(w, p, range[0], r->own_weight > 0 ? 0.9999f * missing / r->own_weight : 0);
}

/* The most that a list can add to a document: its highest count in the shortest text. */
static float list_bound(const struct pass *p, const struct list *l, float top)
{
	return l->n ? 1.0001f * top * l->most / (l->most + p->scale->norms[0]) : 0;
}

static void fill_bounds(struct pass *p)
{
	struct run *r = p->r;
	p->bounds[r->ngroups] = 0;
	for (size_t i = r->ngroups; i > 0; i--)
		p->bounds[i - 1] = p->bounds[i] +
				   r->own_weight * list_bound(p, run_list(r, p->view, p->order[i - 1]),
							   group_top(p, p->order[i - 1]));
}

static void score_class(struct pass *p, struct window *w, const uint32_t class_range[2])
{
	skip_to(p, class_range[0]);
	p->end = class_range[1];
	fill_bounds(p);
	for (uint32_t start; (start = next_start(p)) < p->end;) {
		const uint32_t range[2] = { start, MIN(start + score_window, p->end) };
		score_range(p, w, range);
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

static void order_groups(struct pass *p)
{
	const struct group *groups = p->r->groups;
	for (size_t i = 0; i < p->r->ngroups; i++) {
		size_t k = i;
		for (; k > 0 && groups[p->order[k - 1]].idf < groups[i].idf; k--)
			p->order[k] = p->order[k - 1];
		p->order[k] = i;
	}
}

void score_docs(struct run *r, uint32_t classes, scored_fn *each, void *ctx)
{
	struct window *w = ARENA_NEW(r->scratch, struct window);
	struct scale scales[CLASS_COUNT];
	for (int c = 0; c < CLASS_COUNT; c++)
		fill_scale(r, c, &scales[c]);
	struct pass p = { .r = r, .each = each, .ctx = ctx };
	order_groups(&p);
	for (p.view = 0; p.view < r->snap->n; p.view++) {
		const struct segment *seg = r->snap->views[p.view].seg;
		p.slots = seg->slots;
		p.lengths = seg->lengths;
		for (int c = 0; c < CLASS_COUNT; c++) {
			const uint32_t range[2] = { seg->t.class_start[c], seg->t.class_start[c + 1] };
			if (!(classes >> c & 1) || range[0] == range[1])
				continue;
			p.scale = &scales[c];
			if (r->ngroups)
				score_class(&p, w, range);
			else
				every_doc(&p, range);
		}
	}
}
