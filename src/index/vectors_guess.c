/*
 * Guesses are kept as steps of a thousandth below a cosine of 1, so that the best of all rows are
 * found by counting. The bits of a file are about its own mean s, scores are about the store's mean
 * m. With d = s - m, and v - s at a right angle to d on the average,
 *
 *     (v - m)(q - m) = (v - s)(q - s) + d(q - m),    |v - m|² = 1 - |s|² + |d|²,
 *
 * which makes guesses of files with different means comparable.
 */

#include "index/vectors_guess.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "index/vectors_best.h"
#include "index/vectors_filter.h"

#define STEPS 1000
#define FARTHEST (2 * STEPS + 1)
#define NONE UINT16_MAX /* the row does not count */
#define TABLE_FIRST 1024u
#define CHOSEN_BITS 65536u
#define BLOCK 64u   /* rows looked at together */
#define STRETCH 32u /* rows passed over together: most are not near */
#define LEAST_SQUARED 1e-6

/* What is guessed of a session. */
struct likely {
	uint32_t session;
	uint16_t n;
	uint16_t limit;              /* rows up to it are compared; 0: not chosen */
	uint16_t near[NEAREST_DOCS]; /* ascending */
};

struct guess {
	struct vectors *v;
	const struct vectors_scan *scan;
	uint16_t *rows; /* of all files with bits */
	size_t rows_cap;
	uint16_t *near[VECTORS_FILES_MAX]; /* of each: steps of each row, 1 … FARTHEST, or NONE */
	uint32_t counts[FARTHEST + 1];
	uint16_t cut; /* by session: what no row of a chosen session is beyond */
	struct likely *at;
	size_t size, n;
	struct likely *last;               /* rows of a session lie together mostly */
	uint64_t chosen[CHOSEN_BITS / 64]; /* by a session's number: no bit, not chosen */
};

/* --- Sessions. --- */

/* Numbers of sessions are given one after the other: as they are they fill the table evenly and in order. */
static struct likely *slot(const struct guess *g, uint32_t session)
{
	size_t i = session & (g->size - 1);
	while (g->at[i].session && g->at[i].session != session)
		i = (i + 1) & (g->size - 1);
	return &g->at[i];
}

static void grow(struct guess *g)
{
	struct guess larger = { .size = g->size ? g->size * 2 : TABLE_FIRST };
	larger.at = mem_alloc(larger.size * sizeof(*larger.at));
	for (size_t i = 0; i < g->size; i++)
		if (g->at[i].session)
			*slot(&larger, g->at[i].session) = g->at[i];
	free(g->at);
	g->at = larger.at;
	g->size = larger.size;
}

static struct likely *likely_of(struct guess *g, uint32_t session)
{
	if (g->last && g->last->session == session)
		return g->last;
	if (g->n * 2 >= g->size)
		grow(g);
	struct likely *s = slot(g, session);
	if (!s->session) {
		g->n++;
		s->session = session;
		for (size_t i = 0; i < NEAREST_DOCS; i++)
			s->near[i] = NONE;
	}
	g->last = s;
	return s;
}

/* Without a branch that depends on how near: nobody could foresee it. */
static void likely_add(struct guess *g, uint32_t session, uint16_t near)
{
	struct likely *s = likely_of(g, session);
	for (size_t i = 0; i < NEAREST_DOCS; i++) {
		uint16_t nearer = MIN(s->near[i], near);
		near = MAX(s->near[i], near);
		s->near[i] = nearer;
	}
	s->n = (uint16_t)(s->n + (s->n < NEAREST_DOCS));
}

static uint16_t steps_of(double score)
{
	return (uint16_t)(1 + lrint((1 - fmin(1, fmax(-1, score))) * STEPS));
}

void guess_add(struct guess *g, uint32_t session, float score)
{
	likely_add(g, session, steps_of((double)score));
}

/* As a session is scored: half its nearest, half the mean of three. */
static uint16_t session_steps(const struct likely *s)
{
	uint32_t sum = 0;
	for (size_t i = 0; i < s->n; i++)
		sum += s->near[i];
	return (uint16_t)((s->near[0] + sum / s->n) / 2);
}

/* --- Rows. --- */

static double dot(const float *a, const float *b, size_t n)
{
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += (double)a[i] * (double)b[i];
	return sum;
}

/* The question as a file's bits are compared with it, and the steps that a number of different bits stands for. */
struct ruler {
	uint64_t bits[VECTOR_WORDS_MAX];
	uint16_t steps[VECTOR_DIMS_MAX + 1];
};

static void ruler_init(struct ruler *r, const struct vectors_part *p, const struct vector_query *q)
{
	float mean[VECTOR_DIMS_MAX], own[VECTOR_DIMS_MAX], about[VECTOR_DIMS_MAX],
		shift[VECTOR_DIMS_MAX];
	size_t dims = p->dims;
	vectors_part_mean(p, mean);
	vector_query_numbers(q, own);
	memset(r->bits, 0, sizeof(r->bits));
	for (size_t i = 0; i < dims; i++) {
		about[i] = own[i] - mean[i];
		shift[i] = mean[i] - (float)q->mean[i] * q->mean_scale;
		own[i] = (float)q->centred[i] * q->centred_scale;
		r->bits[i / 64] |= (uint64_t)(about[i] >= 0) << i % 64;
	}
	double short_squared = fmax(LEAST_SQUARED, 1 - dot(mean, mean, dims));
	double factor = sqrt(dot(about, about, dims) * short_squared), more = dot(shift, own, dims);
	double length = (double)q->centred_length * sqrt(short_squared + dot(shift, shift, dims));
	for (size_t i = 0; i <= dims; i++) {
		double angle = cos(M_PI * (double)i / (double)dims);
		r->steps[i] = steps_of(length > 0 ? (angle * factor + more) / length : 0);
	}
}

static uint16_t row_steps(
	const struct vectors_part *p, uint32_t row, const struct ruler *r, vector_differ_fn *differ)
{
	size_t words = VECTOR_WORDS(p->dims);
	uint32_t least = UINT32_MAX;
	for (uint32_t i = p->rows[row].first, end = vectors_part_end(p, row); i < end; i++)
		least = MIN(least, differ(p->bits.at + words * i, r->bits, words));
	return r->steps[MIN(least, (uint32_t)p->dims)];
}

struct block {
	uint32_t from, to;
};

/* The rows that pass; their bits are fetched meanwhile. */
static size_t block_rows(
	const struct vectors_part *p, const struct vectors_scan *s, struct block b, uint32_t *ret)
{
	size_t words = VECTOR_WORDS(p->dims), n = 0;
	for (uint32_t i = b.from; i < b.to; i++) {
		const struct vectors_row *row = &p->rows[i];
		if (vectors_row_is_dead(p, i) || !vectors_row_passes(s->filter, row) ||
			(s->by_session && !row->session))
			continue;
		__builtin_prefetch(p->bits.at + words * row->first);
		ret[n++] = i;
	}
	return n;
}

static void guess_file(struct guess *g, size_t file)
{
	const struct vectors_part *p = g->v->files[file];
	const struct vectors_scan *s = g->scan;
	vector_differ_fn *differ = vector_differ();
	struct ruler ruler;
	ruler_init(&ruler, p, s->query);
	uint16_t *near = g->near[file];
	for (uint32_t i = 0; i < p->ndocs; i += BLOCK) {
		uint32_t rows[BLOCK], end = MIN(i + BLOCK, p->ndocs);
		size_t n = block_rows(p, s, (struct block){ i, end }, rows);
		memset(near + i, 0xff, (end - i) * sizeof(*near));
		for (size_t k = 0; k < n; k++) {
			uint32_t row = rows[k];
			near[row] = row_steps(p, row, &ruler, differ);
			if (s->by_session)
				likely_add(g, p->rows[row].session, near[row]);
			else
				g->counts[near[row]]++;
		}
	}
}

static void guess_drop(struct guess *g)
{
	if (!g)
		return;
	free(g->rows);
	free(g->at);
	free(g);
}

/* Rows of files with bits. */
static size_t count_rows(const struct vectors *v)
{
	size_t n = 0;
	for (size_t i = 0; i < v->n; i++)
		n += v->files[i]->bits.at ? v->files[i]->ndocs : 0;
	return n;
}

/*
 * In the memory of the scan before, which is some megabytes: asking the system for them anew, page by
 * page, takes longer than to fill them.
 */
static struct guess *guess_start(struct vectors *v, const struct vectors_scan *scan, size_t rows)
{
	struct guess *g = atomic_exchange(&v->spare, NULL);
	if (!g)
		g = mem_alloc(sizeof(*g));
	const struct guess had = *g;
	*g = (struct guess){ .v = v,
		.scan = scan,
		.rows = had.rows,
		.rows_cap = had.rows_cap,
		.at = had.at,
		.size = had.size };
	if (g->size)
		memset(g->at, 0, g->size * sizeof(*g->at));
	if (g->rows_cap < rows) {
		free(g->rows);
		g->rows = mem_resize(NULL, rows * sizeof(*g->rows));
		g->rows_cap = rows;
	}
	return g;
}

struct guess *guess_new(struct vectors *v, const struct vectors_scan *scan)
{
	const size_t rows = count_rows(v);
	struct guess *g = rows ? guess_start(v, scan, rows) : NULL;
	for (size_t i = 0, at = 0; g && i < v->n; i++) {
		if (!v->files[i]->bits.at)
			continue;
		g->near[i] = g->rows + at;
		at += v->files[i]->ndocs;
		guess_file(g, i);
	}
	return g;
}

void guess_free(struct guess *g)
{
	struct guess *none = NULL;
	if (g && !atomic_compare_exchange_strong(&g->v->spare, &none, g))
		guess_drop(g);
}

void guess_drop_spare(struct vectors *v)
{
	guess_drop(atomic_exchange(&v->spare, NULL));
}

/* --- Choosing. --- */

/* The steps that at least so many are within. */
static uint16_t cut_at(const struct guess *g, size_t wanted)
{
	uint64_t n = 0;
	uint16_t i = 0;
	while (i < FARTHEST && (n += g->counts[i]) < wanted)
		i++;
	return i;
}

static void choose(struct guess *g, struct likely *s)
{
	uint32_t bit = s->session % CHOSEN_BITS;
	g->chosen[bit / 64] |= UINT64_C(1) << bit % 64;
	s->limit = (uint16_t)MIN(s->near[s->n - 1] + g->v->prefilter.margin, (uint32_t)FARTHEST);
	g->cut = MAX(g->cut, s->limit);
}

static void choose_sessions(struct guess *g)
{
	for (size_t i = 0; i < g->size; i++)
		if (g->at[i].session)
			g->counts[session_steps(&g->at[i])]++;
	uint16_t cut = cut_at(g, MAX((size_t)g->v->prefilter.sessions, g->scan->k));
	for (size_t i = 0; i < g->size; i++)
		if (g->at[i].session && session_steps(&g->at[i]) <= cut)
			choose(g, &g->at[i]);
	for (size_t i = 0; i < g->scan->nwanted && g->size; i++) {
		struct likely *s = slot(g, (uint32_t)g->scan->wanted[i]);
		if (s->session)
			choose(g, s);
	}
}

void guess_choose(struct guess *g)
{
	if (g->scan->by_session)
		choose_sessions(g);
	else
		g->cut = cut_at(g, MAX((size_t)g->v->prefilter.docs, g->scan->k));
}

bool guess_is_chosen(const struct guess *g, uint32_t session)
{
	const struct likely *s = g->size ? slot(g, session) : NULL;
	return s && s->session && s->limit;
}

static bool is_likely(const struct guess *g, size_t file, uint32_t row)
{
	if (!g->scan->by_session)
		return true;
	uint32_t session = g->v->files[file]->rows[row].session, bit = session % CHOSEN_BITS;
	return g->chosen[bit / 64] >> bit % 64 & 1 && g->near[file][row] <= slot(g, session)->limit;
}

/* Of STRETCH rows. */
static bool has_near(const uint16_t *near, uint16_t cut)
{
	uint16_t any = 0;
	for (uint32_t i = 0; i < STRETCH; i++)
		any |= (uint16_t)(near[i] <= cut);
	return any;
}

uint32_t guess_next(const struct guess *g, size_t file, uint32_t row)
{
	const uint16_t *near = g->near[file], cut = g->cut;
	const uint32_t end = g->v->files[file]->ndocs;
	while (row < end) {
		if (row % STRETCH == 0 && end - row >= STRETCH && !has_near(near + row, cut))
			row += STRETCH;
		else if (near[row] <= cut && is_likely(g, file, row))
			return row;
		else
			row++;
	}
	return end;
}
