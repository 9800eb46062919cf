#ifndef TESTS_VECTORS_FIXTURE_H
#define TESTS_VECTORS_FIXTURE_H

#include "unit.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "index/query.h"
#include "index/vectors.h"
#include "model/names.h"

/*
 * Random vectors in a folder of their own, and a twin of each, so that what is found can be compared with comparing everything.
 * A test sets `state` first, and `prefilter` where its files are to have sign bits.
 */

#define DOCS 300
#define PIECES_MAX 4
#define K 40
#define SESSIONS 20u

struct twin {
	bool is_there;
	struct vectors_doc d;
	int8_t at[PIECES_MAX][VECTOR_DIMS];
	float scales[PIECES_MAX];
};

static uint64_t state;
static char dir[] = "/tmp/test-vectors-XXXXXX";
static struct twin twins[DOCS];
/* Every file has bits, and everything is near enough to be compared. */
static const struct vectors_prefilter all_bits = { 1, 1, DOCS, DOCS, 2000 };
static const struct vectors_prefilter *prefilter;

static inline void random_vector(int8_t at[VECTOR_DIMS], float *scale)
{
	float v[VECTOR_DIMS];
	double squares = 0;
	for (size_t i = 0; i < VECTOR_DIMS; i++) {
		v[i] = (float)unit_below(&state, 2001) / 1000 - 1 + (i < 16 ? .8f : 0);
		squares += (double)(v[i] * v[i]);
	}
	for (size_t i = 0; i < VECTOR_DIMS; i++)
		v[i] /= (float)sqrt(squares);
	vector_pack(v, at, scale);
}

static inline void make(struct twin *t, size_t i)
{
	bool is_event = i % 3 == 2;
	*t = (struct twin){ .is_there = true };
	t->d = (struct vectors_doc){
		.id = DOC_ID(is_event ? DOC_EVENT : DOC_MEMORY, i + 1),
		.columns = { .at = (int64_t)(unit_below(&state, 1000) * 1000), .project = (uint32_t)unit_below(&state, 3) + 1,
			.session = (uint32_t)unit_below(&state, SESSIONS), .kind = (uint8_t)(1 + unit_below(&state, 2)),
			.status = (uint8_t)(is_event ? 0 : unit_below(&state, 5) ? MEMORY_ACTIVE : MEMORY_PENDING), .agent = 1 },
		.hash = (uint32_t)unit_random(&state),
		.n = (uint32_t)(1 + unit_below(&state, PIECES_MAX)),
	};
	for (uint32_t k = 0; k < t->d.n; k++)
		random_vector(t->at[k], &t->scales[k]);
	t->d.at = t->at[0];
	t->d.scales = t->scales;
}

static inline struct vectors *fresh(void)
{
	struct vectors *v;
	assert_int_equal(file_remove_tree(dir, NULL), 0);
	v = vectors_new(dir);
	if (prefilter)
		vectors_set_prefilter(v, prefilter);
	assert_int_equal(vectors_load(v, "model-a", VECTOR_DIMS, NULL), 0);
	return v;
}

static inline struct vectors *reopen(struct vectors *v, const char *model)
{
	vectors_free(v);
	v = vectors_new(dir);
	if (prefilter)
		vectors_set_prefilter(v, prefilter);
	assert_int_equal(vectors_load(v, model, VECTOR_DIMS, NULL), 0);
	return v;
}

static inline bool twin_passes(const struct twin *t, const struct search_filter *f)
{
	bool is_memory = DOC_CLASS(t->d.id) == DOC_MEMORY;
	if (!t->is_there || (f->classes && !(f->classes >> DOC_CLASS(t->d.id) & 1)))
		return false;
	if (is_memory && t->d.columns.status != MEMORY_ACTIVE)
		return false;
	return (!f->project || f->project == t->d.columns.project) && (!f->after || t->d.columns.at >= f->after);
}

static inline int hit_order(const void *x, const void *y)
{
	const struct vectors_hit *a = x, *b = y;
	return a->score != b->score ? (a->score > b->score ? -1 : 1) : (a->id > b->id ? -1 : a->id < b->id);
}

static inline float twin_score(const struct twin *t, const struct vector_query *q)
{
	float best = -1;
	for (uint32_t k = 0; k < t->d.n; k++)
		best = fmaxf(best, vector_score(q, t->at[k], t->scales[k]));
	return best;
}

static inline int float_order(const void *x, const void *y)
{
	float a = *(const float *)x, b = *(const float *)y;
	return a > b ? -1 : a < b;
}

/* The answer by looking at each twin. */
static inline size_t oracle(const struct vectors_scan *s, struct vectors_hit *hits)
{
	static float scores[SESSIONS][DOCS];
	size_t counts[SESSIONS] = { 0 }, n = 0;
	doc_id best[SESSIONS] = { 0 };
	for (size_t i = 0; i < DOCS; i++) {
		const struct twin *t = &twins[i];
		uint32_t session = t->d.columns.session;
		if (!twin_passes(t, s->filter))
			continue;
		float score = twin_score(t, s->query);
		if (!s->by_session) {
			hits[n++] = (struct vectors_hit){ t->d.id, session, score, score };
			continue;
		}
		bool is_best = true;
		for (size_t k = 0; k < counts[session]; k++)
			is_best &= score > scores[session][k];
		best[session] = is_best ? t->d.id : best[session];
		scores[session][counts[session]++] = score;
	}
	for (uint32_t i = 1; s->by_session && i < SESSIONS; i++) {
		float sum = 0;
		size_t m = MIN(counts[i], (size_t)3);
		if (!m)
			continue;
		qsort(scores[i], counts[i], sizeof(float), float_order);
		for (size_t k = 0; k < m; k++)
			sum += scores[i][k];
		hits[n++] = (struct vectors_hit){ best[i], i, scores[i][0], (scores[i][0] + sum / (float)m) / 2 };
	}
	qsort(hits, n, sizeof(*hits), hit_order);
	return MIN(n, s->k);
}

static inline void compare(struct vectors *v)
{
	static const struct search_filter filters[] = { { 0 }, { .project = 2 }, { .classes = 1u << DOC_EVENT },
		{ .after = 500000, .project = 1 } };
	for (size_t i = 0; i < 2 * ARRAY_LEN(filters); i++) {
		struct vectors_hit got[K], want[DOCS];
		struct vector_query q;
		int8_t at[VECTOR_DIMS];
		float scale, mean[VECTOR_DIMS_MAX], score;
		random_vector(at, &scale);
		vectors_mean(v, 0, mean);
		vector_query_init(&q, VECTOR_DIMS, at, scale, mean);
		struct vectors_scan s = { .query = &q, .filter = &filters[i / 2], .by_session = i % 2, .k = K };
		size_t n = oracle(&s, want);
		uint64_t wanted = n ? s.by_session ? want[n - 1].session : want[n - 1].id : 0;
		s.wanted = &wanted;
		s.nwanted = n ? 1 : 0;
		s.wanted_scores = &score;
		assert_int_equal(vectors_scan(v, &s, got), n);
		for (size_t k = 0; k < n; k++) {
			assert_int_equal(got[k].id, want[k].id);
			assert_true(fabsf(got[k].score - want[k].score) < 1e-6f);
		}
		if (n)
			assert_true(fabsf(score - want[n - 1].score) < 1e-6f);
	}
}

static inline bool twin_is_alive(void *ctx, doc_id id)
{
	return twins[DOC_ROW(id) - 1].is_there;
}

static inline void damage(const char *path, bool cuts)
{
	struct stat st;
	uint8_t byte;
	int fd = open(path, O_RDWR);
	assert_int_equal(fstat(fd, &st), 0);
	off_t at = (off_t)unit_below(&state, (size_t)st.st_size);
	if (cuts) {
		assert_int_equal(ftruncate(fd, at), 0);
	} else {
		assert_int_equal(pread(fd, &byte, 1, at), 1);
		byte ^= (uint8_t)(1u << unit_below(&state, 8));
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	}
	close(fd);
}

#endif
