/*
 * bench_vectors [DOCS] [DIR]: a scan of so many vectors (default 100,000), of all, of one project
 * in ten, by session, without sign bits and with them; in milliseconds of processor time; how many
 * of the nearest 20 and 200 the bits let through; what vectors take on disk, and to open. The vectors lie
 * around a hundred subjects, those of a session around one place in its subject.
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "index/vectors.h"
#include "model/names.h"

#define ROUNDS 100
#define K 200
#define SUBJECTS 100

static uint64_t state = 7;

static uint64_t random_next(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * UINT64_C(2685821657736338717);
}

/* About normal, with a spread of 1. */
static float random_normal(void)
{
	uint64_t r = random_next();
	return ((float)(r & 0xffff) + (float)(r >> 16 & 0xffff) + (float)(r >> 32 & 0xffff) - 98302.5f) / 32768;
}

static void random_place(float *at, const float *around, float spread)
{
	for (size_t k = 0; k < VECTOR_DIMS; k++)
		at[k] = (around ? around[k] : 0) + spread * random_normal();
}

static float subjects[SUBJECTS][VECTOR_DIMS];

static void pack(float *at, int8_t *ret, float *ret_scale)
{
	double squares = 0;
	for (size_t k = 0; k < VECTOR_DIMS; k++)
		squares += (double)at[k] * (double)at[k];
	for (size_t k = 0; k < VECTOR_DIMS; k++)
		at[k] /= (float)sqrt(squares);
	vector_pack(at, ret, ret_scale);
}

static void fill(struct vectors *v, size_t docs)
{
	float place[VECTOR_DIMS], own[VECTOR_DIMS];
	int8_t at[VECTOR_DIMS];
	float scale;
	random_place(own, NULL, .5f); /* what all texts have in common */
	for (size_t i = 0; i < SUBJECTS; i++)
		random_place(subjects[i], own, .5f);
	for (size_t i = 0; i < docs; i++) {
		struct vectors_doc d = { .id = DOC_ID(DOC_MEMORY, i + 1), .hash = (uint32_t)i, .n = 1, .at = at, .scales = &scale };
		d.columns = (struct doc_columns){ .at = (int64_t)i * 1000, .project = (uint32_t)(i % 10) + 1,
			.session = (uint32_t)(i / 12) + 1, .kind = 1, .status = MEMORY_ACTIVE, .agent = 1 };
		if (i % 12 == 0)
			random_place(place, subjects[random_next() % SUBJECTS], .4f);
		random_place(own, place, .7f);
		pack(own, at, &scale);
		vectors_put(v, &d, NULL);
	}
	vectors_flush(v, NULL);
}

static int order(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;
	return (a > b) - (a < b);
}

struct kind {
	const char *name;
	struct search_filter filter;
	bool by_session;
};

static const struct kind kinds[] = {
	{ "all", { 0 }, false },
	{ "one project of ten", { .project = 3 }, false },
	{ "sessions", { 0 }, true },
	{ "sessions of a project", { .project = 3 }, true },
};

/* The answers without bits, to compare those with bits with. */
static struct vectors_hit exact[ARRAY_LEN(kinds)][ROUNDS][K];

static size_t common(const struct vectors_hit *a, const struct vectors_hit *b, size_t n, bool by_session)
{
	size_t found = 0;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n; k++)
			found += by_session ? a[i].session == b[k].session : a[i].id == b[k].id;
	return found;
}

static void measure(struct vectors *v, size_t kind, bool is_first)
{
	static double times[ROUNDS];
	const struct kind *the = &kinds[kind];
	float mean[VECTOR_DIMS_MAX];
	size_t in_20 = 0, in_k = 0;
	vectors_mean(v, 0, mean);
	state = 11;
	for (int i = 0; i < ROUNDS; i++) {
		struct vectors_hit hits[K] = { 0 };
		struct vector_query q;
		int8_t at[VECTOR_DIMS];
		float own[VECTOR_DIMS], scale;
		random_place(own, subjects[random_next() % SUBJECTS], .6f);
		pack(own, at, &scale);
		vector_query_init(&q, VECTOR_DIMS, at, scale, mean);
		double start = (double)clock_cpu_us() / 1e3;
		struct vectors_scan s = { .query = &q, .filter = &the->filter, .by_session = the->by_session, .k = K };
		vectors_scan(v, &s, hits);
		times[i] = (double)clock_cpu_us() / 1e3 - start;
		if (is_first)
			memcpy(exact[kind][i], hits, sizeof(hits));
		in_20 += common(exact[kind][i], hits, 20, the->by_session);
		in_k += common(exact[kind][i], hits, K, the->by_session);
	}
	qsort(times, ROUNDS, sizeof(*times), order);
	printf("%-24s p50 %6.2f ms CPU  p95 %6.2f ms  p99 %6.2f ms  recall at 20 %.4f, at %d %.4f\n", the->name,
		times[ROUNDS / 2], times[ROUNDS * 95 / 100], times[ROUNDS * 99 / 100], (double)in_20 / (20.0 * ROUNDS), K,
		(double)in_k / ((double)K * ROUNDS));
}

static void run(const char *dir, bool has_bits, size_t docs)
{
	struct vectors_prefilter prefilter = { has_bits ? 1 : UINT32_MAX, VECTORS_BITS_FILE_LEAST, VECTORS_GUESSED_DOCS,
		VECTORS_GUESSED_SESSIONS, VECTORS_GUESS_MARGIN };
	struct vectors *v = vectors_new(dir);
	struct vectors_stats st;
	vectors_set_prefilter(v, &prefilter);
	uint64_t start = clock_mono_us();
	if (vectors_load(v, "bench", VECTOR_DIMS, NULL))
		exit(1);
	if (!has_bits) {
		fill(v, docs);
		printf("%zu vectors put and merged in %.1f s\n", docs, (double)(clock_mono_us() - start) / 1e6);
	} else {
		printf("opened and checked in %.1f ms\n", (double)(clock_mono_us() - start) / 1000);
		start = clock_mono_us();
		vectors_flush(v, NULL);
		printf("bits made in %.1f ms\n", (double)(clock_mono_us() - start) / 1000);
	}
	vectors_stats(v, &st);
	printf("%llu files, %.1f bytes a vector and %.1f of bits\n", (unsigned long long)st.files,
		(double)st.bytes / (double)st.vectors, (double)st.bits / (double)st.vectors);
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		measure(v, i, !has_bits);
	vectors_free(v);
}

int main(int argc, char **argv)
{
	size_t docs = argc > 1 ? strtoul(argv[1], NULL, 10) : 100000;
	char made[] = "/tmp/bench-vectors-XXXXXX";
	const char *dir = argc > 2 ? argv[2] : mkdtemp(made);
	run(dir, false, docs);
	run(dir, true, docs);
	file_remove_tree(dir, NULL);
	return 0;
}
