#include "index/sessions.h"

#include "base/mem.h"

struct session_sums {
	float *tf, *norms;    /* by slot */
	uint32_t *touched, n; /* slots that have any */
};

/* Words of a session, as they are counted; also of all of them together. */
static double words_of(uint64_t others, uint64_t memories)
{
	return (double)others + index_weights.session_memory * (double)memories;
}

struct session_sums *sessions_start(struct run *r)
{
	const struct snapshot *s = r->snap;
	const double k1 = index_weights.session_k1, b = index_weights.session_b;
	const double words = words_of(s->session_words_total, s->session_memory_words_total);
	const double average = MAX(words / MAX(s->sessions, 1u), 1.0);
	r->session_scores = ARENA_ARRAY(r->scratch, float, s->nslots);
	if (s->sessions == 0)
		return NULL;
	struct session_sums *sums = ARENA_NEW(r->scratch, struct session_sums);
	sums->tf = ARENA_ARRAY(r->scratch, float, s->nslots);
	sums->norms = run_room(r, s->nslots * sizeof(*sums->norms));
	sums->touched = run_room(r, (s->nslots + 1) * sizeof(*sums->touched));
	for (uint32_t i = 0; i < s->nslots; i++)
		sums->norms[i] = (float)(k1 * (1 - b +
						      b *
							      words_of(s->session_words[i],
								      s->session_memory_words[i]) /
							      average));
	return sums;
}

/* Adds the documents before `end`, each occurrence counting `weight`. */
static uint32_t add_until(struct session_sums *sums, const uint32_t *slots, const uint32_t *docs,
	const float *tf, uint32_t n, uint32_t end, float weight)
{
	uint32_t i = 0, held = sums->n;
	while (i < n && docs[i] < end) {
		/* Neighbours are mostly of one session: their sum stays in a register. */
		const uint32_t s = slots[docs[i]];
		float sum = 0;
		do
			sum += tf[i++];
		while (i < n && docs[i] < end && slots[docs[i]] == s);
		/* Without a branch, which would be mispredicted half the time. */
		sums->touched[held] = s;
		held += sums->tf[s] == 0;
		sums->tf[s] += weight * sum;
	}
	sums->n = held;
	return i;
}

/* What a memory says was mostly said in its session before: it counts less. */
void sessions_add(struct session_sums *s, const struct view *v, const uint32_t *docs,
	const float *tf, uint32_t n)
{
	const uint32_t *starts = v->seg->t.class_start, *slots = v->seg->slots;
	const float memory = (float)index_weights.session_memory;
	uint32_t i = 0;
	if (memory > 0)
		i = add_until(s, slots, docs, tf, n, starts[1], memory);
	while (i < n && docs[i] < starts[1])
		i++;
	i += add_until(s, slots, docs + i, tf + i, n - i, starts[2], 1);
	add_until(
		s, slots, docs + i, tf + i, n - i, UINT32_MAX, (float)index_weights.session_title);
}

double sessions_give(struct run *r, struct session_sums *s, double weight)
{
	const double k1 = index_weights.session_k1;
	const double idf =
		bm25_idf(r->snap->sessions, s->n - (s->tf[0] > 0)); /* slot 0 is no session */
	const float top = (float)(weight * idf * (k1 + 1));
	for (uint32_t i = 0; i < s->n; i++) {
		uint32_t slot = s->touched[i];
		r->session_scores[slot] += top * s->tf[slot] / (s->tf[slot] + s->norms[slot]);
		s->tf[slot] = 0;
	}
	s->n = 0;
	return idf;
}
