/*
 * What is near a question. Every vector whose row passes the filter is compared, unless it lies in a
 * file with sign bits: then those that the bits say may be near (vectors_guess.h).
 */

#include <math.h>

#include "base/mem.h"
#include "index/vectors_best.h"
#include "index/vectors_filter.h"
#include "index/vectors_guess.h"

#define SHORTEST_USEFUL .2f
#define QUEUE 8u
#define CACHE_LINE 64u
#define SAMPLE_STEP 2654435761u /* a prime: such steps come to every row, and from all over */
#define SAMPLE_TRIES 8u         /* rows that are looked at for each that is wanted */

/*
 * The question in bytes, for telling with one product of bytes, cheaply and safely, that a vector
 * cannot be nearer than what was found already: what rounding may hide is added, and the vector is
 * taken to be as short, with the mean taken off, as it can be.
 */
struct coarse {
	int8_t at[VECTOR_DIMS_MAX];
	size_t dims;
	float scale, hidden, factor;
	bool is_useful;
};

/* The sum of the sizes of the numbers of a unit vector is at most the root of their count; a little more for rounding. */
static float lengths_max(size_t dims)
{
	return sqrtf((float)dims) * 1.004f;
}

static void coarse_init(struct coarse *c, const struct vector_query *q)
{
	float centred[VECTOR_DIMS_MAX], shortest = 1 - sqrtf(q->mean_squared);
	c->dims = q->dims;
	for (size_t i = 0; i < q->dims; i++)
		centred[i] = (float)q->centred[i] * q->centred_scale;
	vector_pack_wide(centred, q->dims, c->at, &c->scale);
	c->hidden = lengths_max(q->dims) * (c->scale + q->centred_scale) / 2 - q->centred_dot_mean;
	c->is_useful = q->centred_length > 0 && shortest > SHORTEST_USEFUL;
	c->factor = c->is_useful ? 1 / (q->centred_length * shortest) : 0;
}

/* At least the score of the vector, or anything when both are below 0. */
static float coarse_bound(const struct coarse *c, const int8_t *at, float scale)
{
	return ((float)vector_dot(at, c->at, c->dims) * (c->scale * scale) + c->hidden) * c->factor;
}

static float row_score(const struct vectors_part *p, uint32_t row, const struct vector_query *q)
{
	float best = -1;
	for (uint32_t i = p->rows[row].first, end = vectors_part_end(p, row); i < end; i++)
		best = fmaxf(best, vector_score(q, p->at + (size_t)i * p->dims, p->scales[i]));
	return best;
}

/* --- The scan. --- */

struct pass {
	const struct vectors_scan *scan;
	struct best best;
	struct nearests sessions;
	struct coarse coarse;
	struct guess *guess; /* NULL: everything is compared */
};

/* The row cannot be among the best any more. */
static bool row_is_far(const struct pass *p, const struct vectors_part *part, uint32_t row)
{
	float least = p->best.n && p->best.n == p->best.max ? p->best.at[0].score : 0;
	if (p->scan->by_session || !p->coarse.is_useful || least <= 0)
		return false;
	for (uint32_t i = part->rows[row].first, end = vectors_part_end(part, row); i < end; i++)
		if (coarse_bound(&p->coarse, part->at + (size_t)i * part->dims, part->scales[i]) >=
			least)
			return false;
	return true;
}

static void scan_row(struct pass *p, const struct vectors_part *part, uint32_t i)
{
	const struct vectors_row *row = &part->rows[i];
	if (row_is_far(p, part, i))
		return;
	float score = row_score(part, i, p->scan->query);
	if (!p->scan->by_session) {
		best_offer(&p->best, (struct vectors_hit){ row->id, row->session, score, score });
		return;
	}
	nearests_add(&p->sessions, row, score);
	if (p->guess && !part->bits.at)
		guess_add(p->guess, row->session, score);
}

/*
 * Rows that wait to be scored while their vectors are fetched: where a filter leaves gaps the
 * processor does not foresee which comes next, and waiting for memory would take most of the time.
 */
struct queue {
	uint32_t rows[QUEUE];
	size_t from, to;
};

static void queue_add(
	struct queue *q, struct pass *p, const struct vectors_part *part, uint32_t row)
{
	const int8_t *at = part->at + (size_t)part->rows[row].first * part->dims;
	for (size_t i = 0; i < part->dims; i += CACHE_LINE)
		__builtin_prefetch(at + i);
	if (q->to - q->from == QUEUE)
		scan_row(p, part, q->rows[q->from++ % QUEUE]);
	q->rows[q->to++ % QUEUE] = row;
}

static void queue_end(struct queue *q, struct pass *p, const struct vectors_part *part)
{
	while (q->from < q->to)
		scan_row(p, part, q->rows[q->from++ % QUEUE]);
}

static void scan_part(struct pass *p, const struct vectors_part *part)
{
	const struct vectors_scan *s = p->scan;
	struct queue q = { 0 };
	for (uint32_t i = 0; i < part->ndocs; i++) {
		const struct vectors_row *row = &part->rows[i];
		if (!vectors_row_is_dead(part, i) && vectors_row_passes(s->filter, row) &&
			(!s->by_session || row->session))
			queue_add(&q, p, part, i);
	}
	queue_end(&q, p, part);
}

/* Of a file with bits only what may be near. */
static void scan_likely(struct pass *p, const struct vectors_part *part, size_t file)
{
	struct queue q = { 0 };
	for (uint32_t i = guess_next(p->guess, file, 0); i < part->ndocs;
		i = guess_next(p->guess, file, i + 1))
		queue_add(&q, p, part, i);
	queue_end(&q, p, part);
}

static void scan_all(struct pass *p, struct vectors *v)
{
	p->guess = guess_new(v, p->scan);
	for (size_t f = 0; f < v->n; f++)
		if (!v->files[f]->bits.at)
			scan_part(p, v->files[f]);
	scan_part(p, &v->tail);
	if (!p->guess)
		return;
	guess_choose(p->guess);
	for (size_t f = 0; f < v->n; f++)
		if (v->files[f]->bits.at)
			scan_likely(p, v->files[f], f);
}

static float doc_score(const struct vectors *v, doc_id id, const struct vector_query *q)
{
	uint32_t row;
	for (uint32_t i = 0; i < v->tail.ndocs; i++)
		if (v->tail.rows[i].id == id && !vectors_row_is_dead(&v->tail, i))
			return row_score(&v->tail, i, q);
	for (size_t i = v->n; i-- > 0;)
		if (vectors_part_find(v->files[i], id, &row))
			return row_score(v->files[i], row, q);
	return NAN;
}

static void give_wanted(const struct vectors *v, struct pass *p)
{
	const struct vectors_scan *s = p->scan;
	for (size_t i = 0; i < s->nwanted; i++) {
		if (!s->by_session) {
			s->wanted_scores[i] = doc_score(v, s->wanted[i], s->query);
			continue;
		}
		const struct nearest *found = nearests_find(&p->sessions, (uint32_t)s->wanted[i]);
		s->wanted_scores[i] = found ? nearest_score(found) : NAN;
	}
}

static void give_sessions(struct pass *p)
{
	for (size_t i = 0; i < p->sessions.size; i++) {
		const struct nearest *s = &p->sessions.at[i];
		if (s->session && (!p->guess || guess_is_chosen(p->guess, s->session)))
			best_offer(&p->best, (struct vectors_hit){ s->id, s->session, s->best[0],
						     nearest_score(s) });
	}
}

/* The model may have changed between asking for the question's vector and comparing it. */
static bool is_of(const struct vector_query *q, const struct vectors *v)
{
	return q->dims == v->dims && (!q->store || q->store == v->store);
}

size_t vectors_scan(struct vectors *v, const struct vectors_scan *scan, struct vectors_hit *hits)
{
	struct pass p = { .scan = scan, .best = { .at = hits, .max = scan->k } };
	coarse_init(&p.coarse, scan->query);
	pthread_rwlock_rdlock(&v->lock);
	if (is_of(scan->query, v)) {
		scan_all(&p, v);
		give_wanted(v, &p);
	} else {
		for (size_t i = 0; i < scan->nwanted; i++)
			scan->wanted_scores[i] = NAN;
	}
	pthread_rwlock_unlock(&v->lock);
	give_sessions(&p);
	nearests_done(&p.sessions);
	guess_free(p.guess);
	best_sort(&p.best);
	return p.best.n;
}

/* --- What chance gives. --- */

struct sample {
	const struct vector_query *query;
	const struct search_filter *filter;
	float *scores;
	size_t n;
};

static void sample_row(struct sample *s, const struct vectors *v, uint64_t row)
{
	for (size_t i = 0; i <= v->n; i++) {
		const struct vectors_part *p = i < v->n ? v->files[i] : &v->tail;
		if (row < p->ndocs) {
			uint32_t at = (uint32_t)row;
			if (!vectors_row_is_dead(p, at) &&
				vectors_row_passes(s->filter, &p->rows[at]))
				s->scores[s->n++] = row_score(p, at, s->query);
			return;
		}
		row -= p->ndocs;
	}
}

size_t vectors_sample(struct vectors *v, const struct vector_query *q,
	const struct search_filter *filter, size_t max, float *scores)
{
	struct sample s = { .query = q, .filter = filter, .scores = scores };
	uint64_t total = 0;
	pthread_rwlock_rdlock(&v->lock);
	for (size_t i = 0; i <= v->n && is_of(q, v); i++)
		total += i < v->n ? v->files[i]->ndocs : v->tail.ndocs;
	uint64_t tries = MIN(total, (uint64_t)max * SAMPLE_TRIES);
	for (uint64_t i = 0; i < tries && s.n < max; i++)
		sample_row(&s, v, i * SAMPLE_STEP % total);
	pthread_rwlock_unlock(&v->lock);
	return s.n;
}
