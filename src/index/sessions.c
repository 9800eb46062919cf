#include "index/sessions.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "index/session_list.h"

/*
 * Weights of occurrences are rounded to a grid so fine that it tells nowhere and so coarse that all
 * sums up to four million occurrences are exact.
 */
#define GRID 1073741824.0

struct field_weights {
	double of[FIELD_COUNT];
};

struct session_sums {
	double *tf; /* by slot */
	const float *norms;
	uint32_t *touched, n;                        /* slots that have or had any, each once */
	bool *is_held;                               /* by slot: among them */
	double classes[CLASS_COUNT];                 /* of a pair */
	struct field_weights fields[CLASS_COUNT][2]; /* of an occurrence; [is_exact] */
	double codes[CLASS_COUNT][2][CODE_COUNT];
};

static double on_grid(double weight)
{
	return nearbyint(weight * GRID) / GRID;
}

/* What a memory says was mostly said in its session before: it counts less. */
static void fill_weights(struct session_sums *s)
{
	const struct weights *w = &index_weights;
	const struct code_info *codes = code_table();
	s->classes[DOC_MEMORY] = on_grid(w->session_memory);
	s->classes[DOC_EVENT] = 1;
	s->classes[DOC_SESSION] = on_grid(w->session_title);
	for (int c = 0; c < CLASS_COUNT; c++)
		for (int exact = 0; exact < 2; exact++) {
			struct field_weights *f = &s->fields[c][exact];
			const double all = s->classes[c] * (exact ? 1 : w->form);
			f->of[FIELD_TITLE] = on_grid(all * w->title);
			f->of[FIELD_BODY] = on_grid(all * w->body);
			f->of[FIELD_REST] = on_grid(all * w->rest);
			for (int i = 0; i < CODE_COUNT; i++)
				s->codes[c][exact][i] = codes[i].title * f->of[FIELD_TITLE] +
							codes[i].body * f->of[FIELD_BODY] +
							codes[i].rest * f->of[FIELD_REST];
		}
}

/* Words of a session, as they are counted; also of all of them together. */
static double words_of(uint64_t others, uint64_t memories)
{
	return (double)others + index_weights.session_memory * (double)memories;
}

/*
 * What a session's length makes of its counts, by slot: the same for every search in a snapshot, as
 * long as nobody fits weights.
 */
struct session_norms {
	double k1, b, memory;
	float of[];
};

static bool norms_fit(const struct session_norms *n)
{
	const double wanted[] = { index_weights.session_k1, index_weights.session_b,
		index_weights.session_memory };
	const double have[] = { n->k1, n->b, n->memory };
	return !memcmp(have, wanted, sizeof(have));
}

static struct session_norms *norms_make(const struct snapshot *s)
{
	const double k1 = index_weights.session_k1, b = index_weights.session_b;
	const double words = words_of(s->session_words_total, s->session_memory_words_total);
	const double average = MAX(words / MAX(s->sessions, 1u), 1.0);
	struct session_norms *n = mem_alloc(sizeof(*n) + s->nslots * sizeof(*n->of));
	n->k1 = k1;
	n->b = b;
	n->memory = index_weights.session_memory;
	for (uint32_t i = 0; i < s->nslots; i++) {
		const double own = words_of(s->session_words[i], s->session_memory_words[i]);
		n->of[i] = (float)(k1 * (1 - b + b * own / average));
	}
	return n;
}

static const float *norms_of(struct run *r)
{
	struct snapshot *s = r->snap;
	struct session_norms *there = atomic_load(&s->norms), *made;
	if (there && norms_fit(there))
		return there->of;
	made = norms_make(s);
	if (!there && atomic_compare_exchange_strong(&s->norms, &there, made))
		return made->of;
	const bool is_fitting = !norms_fit(there);
	const size_t bytes = s->nslots * sizeof(*made->of);
	const float *ret = is_fitting ? memcpy(run_room(r, bytes), made->of, bytes) : there->of;
	free(made);
	return ret;
}

struct session_sums *sessions_start(struct run *r)
{
	const struct snapshot *s = r->snap;
	r->session_scores = ARENA_ARRAY(r->scratch, float, s->nslots);
	if (s->sessions == 0)
		return NULL;
	struct session_sums *sums = ARENA_NEW(r->scratch, struct session_sums);
	fill_weights(sums);
	sums->tf = ARENA_ARRAY(r->scratch, double, s->nslots);
	sums->is_held = ARENA_ARRAY(r->scratch, bool, s->nslots);
	sums->norms = norms_of(r);
	sums->touched = run_room(r, (s->nslots + 1) * sizeof(*sums->touched));
	return sums;
}

static inline void add_one(struct session_sums *s, uint32_t slot, double tf)
{
	/* Without a branch, which would be mispredicted half the time. */
	s->touched[s->n] = slot;
	s->n += !s->is_held[slot];
	s->is_held[slot] = true;
	s->tf[slot] += tf;
}

/* Adds the documents in hand from `i` on that lie before `end`. Returns where they end. */
static uint32_t add_until(struct session_sums *s, const uint32_t *slots, const struct postings *p,
	uint32_t i, uint32_t end, const double *codes)
{
	while (i < p->n && p->docs[i] < end) {
		/* Neighbours are mostly of one session: their sum stays in a register. */
		const uint32_t slot = slots[p->docs[i]];
		double sum = 0;
		do
			sum += codes[p->codes[i++]];
		while (i < p->n && p->docs[i] < end && slots[p->docs[i]] == slot);
		add_one(s, slot, sum);
	}
	return i;
}

void sessions_add(
	struct session_sums *s, const struct segment *seg, const struct postings *p, bool is_exact)
{
	uint32_t i = 0;
	for (int c = 0; c < CLASS_COUNT; c++)
		i = add_until(
			s, seg->slots, p, i, seg->t.class_start[c + 1], s->codes[c][is_exact]);
}

void sessions_add_list(
	struct session_sums *s, const struct segment *seg, const uint8_t *list, bool is_exact)
{
	for (int c = 0; c < CLASS_COUNT; c++) {
		const struct field_weights *w = &s->fields[c][is_exact];
		uint64_t ordinal = 0;
		for (uint64_t left = varint_get(&list); left > 0; left--) {
			const uint64_t head = varint_get(&list);
			double tf = (double)varint_get(&list) * w->of[FIELD_BODY];
			ordinal += head >> 2;
			if (head & SESSION_HAS_TITLE)
				tf += (double)varint_get(&list) * w->of[FIELD_TITLE];
			if (head & SESSION_HAS_REST)
				tf += (double)varint_get(&list) * w->of[FIELD_REST];
			add_one(s, seg->session_slots[ordinal++], tf);
		}
	}
}

void sessions_drop(struct session_sums *s, const struct segment *seg, uint32_t doc, uint8_t code,
	bool is_exact)
{
	s->tf[seg->slots[doc]] -= s->codes[segment_class(seg, doc)][is_exact][code];
}

void sessions_add_pairs(
	struct session_sums *s, const struct segment *seg, const struct pair_list *l)
{
	for (uint32_t i = 0; i < l->n; i++)
		add_one(s, seg->slots[l->docs[i]],
			s->classes[segment_class(seg, l->docs[i])] * (double)l->tf[i]);
}

/* Removed documents may have been all that a session had. Slot 0 is no session. */
static uint32_t count_holding(const struct session_sums *s)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < s->n; i++)
		n += s->touched[i] && s->tf[s->touched[i]] > 0;
	return n;
}

double sessions_give(struct run *r, struct session_sums *s, double weight)
{
	const double k1 = index_weights.session_k1;
	const double idf = bm25_idf(r->snap->sessions, count_holding(s));
	const float top = (float)(weight * idf * (k1 + 1));
	for (uint32_t i = 0; i < s->n; i++) {
		const uint32_t slot = s->touched[i];
		const float tf = (float)s->tf[slot];
		r->session_scores[slot] += tf > 0 ? top * tf / (tf + s->norms[slot]) : 0;
		s->tf[slot] = 0;
		s->is_held[slot] = false;
	}
	s->n = 0;
	return idf;
}
