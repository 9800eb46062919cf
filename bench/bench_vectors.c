/*
 * bench_vectors [DOCS] [DIR]: a scan of so many vectors (default 100,000), of all, of one project
 * in ten, by session; in
 * milliseconds of processor time; what they take on disk, and to open. The vectors are random: a
 * scan takes the same time whatever they are.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "index/vectors.h"
#include "model/names.h"

#define ROUNDS 200
#define K 200

static uint64_t state = 7;

static uint64_t random_next(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * UINT64_C(2685821657736338717);
}

static void fill(struct vectors *v, size_t docs)
{
	int8_t at[VECTOR_DIMS];
	float scale = 1.0f / (64 * 22.6f);
	for (size_t i = 0; i < docs; i++) {
		struct vectors_doc d = { .id = DOC_ID(DOC_MEMORY, i + 1), .hash = (uint32_t)i, .n = 1, .at = at, .scales = &scale };
		d.columns = (struct doc_columns){ .at = (int64_t)i * 1000, .project = (uint32_t)(i % 10) + 1,
			.session = (uint32_t)(i / 12) + 1, .kind = 1, .status = MEMORY_ACTIVE, .agent = 1 };
		for (size_t k = 0; k < VECTOR_DIMS; k += 8) {
			uint64_t r = random_next();
			memcpy(at + k, &r, 8);
		}
		vectors_put(v, &d, NULL);
	}
	vectors_flush(v, NULL);
}

/* Of this thread: other programs on the machine do not count. */
static double cpu_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1000 + (double)t.tv_nsec / 1e6;
}

static int order(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;
	return (a > b) - (a < b);
}

static void measure(struct vectors *v, const char *name, struct search_filter filter, bool by_session)
{
	static double times[ROUNDS];
	static struct vectors_hit hits[K];
	float mean[VECTOR_DIMS_MAX];
	vectors_mean(v, 0, mean);
	for (int i = 0; i < ROUNDS; i++) {
		struct vector_query q;
		int8_t at[VECTOR_DIMS];
		for (size_t k = 0; k < VECTOR_DIMS; k++)
			at[k] = (int8_t)random_next();
		vector_query_init(&q, VECTOR_DIMS, at, 1.0f / (64 * 22.6f), mean);
		double start = cpu_ms();
		struct vectors_scan s = { .query = &q, .filter = &filter, .by_session = by_session, .k = K };
		vectors_scan(v, &s, hits);
		times[i] = cpu_ms() - start;
	}
	qsort(times, ROUNDS, sizeof(*times), order);
	printf("%-24s p50 %6.2f ms CPU  p95 %6.2f ms  p99 %6.2f ms\n", name, times[ROUNDS / 2], times[ROUNDS * 95 / 100],
		times[ROUNDS * 99 / 100]);
}

int main(int argc, char **argv)
{
	size_t docs = argc > 1 ? strtoul(argv[1], NULL, 10) : 100000;
	char made[] = "/tmp/bench-vectors-XXXXXX";
	const char *dir = argc > 2 ? argv[2] : mkdtemp(made);
	struct vectors *v = vectors_new(dir);
	struct vectors_stats st;
	if (vectors_load(v, "bench", VECTOR_DIMS, NULL))
		return 1;
	uint64_t start = clock_mono_us();
	fill(v, docs);
	printf("%zu vectors put and merged in %.1f s\n", docs, (double)(clock_mono_us() - start) / 1e6);
	vectors_free(v);
	v = vectors_new(dir);
	start = clock_mono_us();
	vectors_load(v, "bench", VECTOR_DIMS, NULL);
	vectors_stats(v, &st);
	printf("opened and checked in %.1f ms; %llu files, %.1f bytes a vector\n", (double)(clock_mono_us() - start) / 1000,
		(unsigned long long)st.files, (double)st.bytes / (double)st.vectors);
	measure(v, "all", (struct search_filter){ 0 }, false);
	measure(v, "one project of ten", (struct search_filter){ .project = 3 }, false);
	measure(v, "sessions", (struct search_filter){ 0 }, true);
	vectors_free(v);
	file_remove_tree(dir, NULL);
	return 0;
}
