/*
 * Times the builtin embedder, one thread, CPU time, best of RUNS: milliseconds per text of 16, 64,
 * 128 and 200 tokens by each kind of loop that this processor can run, texts at a time, the
 * tokeniser, a scan of vectors, and the memory it took. bench/embed builds and runs it.
 * usage: bench_embed MODEL-FILE
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "embed/embedder.h"
#include "embed/model.h"
#include "embed/tokenise.h"
#include "embed/use.h"

#define RUNS 20
#define PLAIN_RUNS 3
#define SCAN_VECTORS 100000
#define SCAN_BEST 20

static const size_t lengths[] = { 16, 64, 128, 200 };

static const char sample[] = "The parser test was flaky because the connection pool handed out a "
			     "socket that the server had already closed; "
			     "retrying once on a reset made it pass. Nous avons décidé de garder "
			     "le cache en mémoire et de vider les clés après "
			     "une heure. In src/net/pool.c the function pool_take() now checks the "
			     "age of an idle connection before use, and the "
			     "limit is read from settings (pool.max_idle_ms, default 30000). Die "
			     "Tests laufen jetzt auch ohne Netz. What is left: "
			     "document the setting, and count how often a connection is dropped "
			     "for its age. The migration to the new schema was "
			     "run on a copy of the database first; it took four minutes and the "
			     "indexes were rebuilt afterwards. ";

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double memory_mb(const char *key)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	double kb = 0;

	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, key, strlen(key)) == 0)
			sscanf(line + strlen(key), ": %lf", &kb);
	if (f)
		fclose(f);
	return kb / 1024;
}

static void print_memory(const char *when)
{
	printf("%-28s %6.1f MB resident, of it %.1f MB of files and %.1f MB anonymous\n", when,
		memory_mb("VmRSS"), memory_mb("RssFile"), memory_mb("RssAnon"));
}

static double best_ms(
	const struct model *m, const struct kernel *k, const struct sequence *s, size_t n)
{
	static float out[USE_BATCH_TEXTS][MODEL_DIMS];
	int runs = k == &kernel_plain ? PLAIN_RUNS : RUNS;
	double best = 1e9;

	for (int i = 0; i < runs; i++) {
		double start = seconds();

		use_embed(m, k, s, n, out);
		best = MIN(best, (seconds() - start) * 1e3);
	}
	return best / (double)n;
}

static void bench_kernel(const struct model *m, const struct kernel *k, const uint32_t *ids)
{
	struct sequence many[USE_BATCH_TEXTS];

	printf("%-28s", k->name);
	for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
		struct sequence one = { ids, lengths[i] };

		printf("  %zu tokens %.2f ms", lengths[i], best_ms(m, k, &one, 1));
	}
	for (size_t i = 0; i < 16; i++)
		many[i] = (struct sequence){ ids + i, 16 };
	printf("  16 in a batch of 16 %.2f ms\n", best_ms(m, k, many, 16));
}

static void bench_scan(struct embedder *e)
{
	int8_t *at = mem_alloc((size_t)SCAN_VECTORS * VECTOR_DIMS), query[VECTOR_DIMS];
	float *scales = mem_alloc(SCAN_VECTORS * sizeof(*scales)), scale,
	      mean[VECTOR_DIMS] = { 0.01f };
	struct vector_set set = { .at = at, .scales = scales, .n = SCAN_VECTORS };
	struct vector_hit hits[SCAN_BEST];
	struct vector_query q;
	struct str text = str_of(sample);
	double best = 1e9;

	for (size_t i = 0; i < (size_t)SCAN_VECTORS * VECTOR_DIMS; i++)
		at[i] = (int8_t)(i * 2654435761u >> 13);
	for (size_t i = 0; i < SCAN_VECTORS; i++)
		scales[i] = 1.0f / 1700;
	embed_texts(e, &text, 1, query, &scale);
	vector_query_init(&q, VECTOR_DIMS, query, scale, mean);
	for (int i = 0; i < RUNS; i++) {
		double start = seconds();

		vector_scan(&set, &q, SCAN_BEST, hits);
		best = MIN(best, (seconds() - start) * 1e3);
	}
	printf("%-28s %.2f ms for %d vectors\n", "scan, mean taken off", best, SCAN_VECTORS);
	free(at);
	free(scales);
}

static void bench_tokens(const struct model *m)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct token *tokens;
	size_t n = 0;
	double best = 1e9;

	for (int i = 0; i < RUNS; i++) {
		double start = seconds();

		tokenise(m, &a, str_of(sample), SIZE_MAX, &tokens, &n);
		best = MIN(best, seconds() - start);
	}
	printf("%-28s %.3f ms for %zu tokens, %.0f MB/s\n", "tokeniser", best * 1e3, n,
		(double)(sizeof(sample) - 1) / best / 1e6);
}

int main(int argc, char **argv)
{
	uint32_t ids[256];
	struct embedder *e;
	struct model m;
	struct err err;
	double start = seconds();

	if (argc != 2) {
		fprintf(stderr, "usage: bench_embed MODEL-FILE\n");
		return 2;
	}
	if (embedder_open(argv[1], &e, &err) < 0 || model_open(argv[1], &m, &err) < 0) {
		fprintf(stderr, "bench_embed: %s\n", err.text);
		return 1;
	}
	printf("%-28s %.2f ms\n", "open, with its checks", (seconds() - start) / 2 * 1e3);
	for (size_t i = 0; i < ARRAY_LEN(ids); i++)
		ids[i] = (uint32_t)(6 + i * i * 7 % 20000);
	for (size_t i = 0; kernels[i]; i++)
		if (kernels[i]->is_supported())
			bench_kernel(&m, kernels[i], ids);
	bench_tokens(&m);
	model_close(&m);
	print_memory("memory, after this");
	embedder_rest(e);
	print_memory("memory, at rest");
	bench_scan(e);
	embedder_close(e);
	return 0;
}
