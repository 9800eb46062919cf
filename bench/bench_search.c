/*
 * bench_search HOME FILE [ROUNDS]: whole searches without a door, in this process: opens the store
 * and the index of a stopped daemon's data folder and runs the operation for each line of FILE, a
 * JSON object of parameters. Prints processor time in microseconds of the best of the rounds of
 * each question; with EACH in the environment also that of each, with REPLIES the replies, to compare
 * builds by. Made for profilers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "conf/settings.h"
#include "index/index.h"
#include "ops/ops.h"
#include "text/terms.h"

#define ROUNDS 5
#define QUESTIONS_MAX (16u << 20) /* bytes of the file */

struct asked {
	const char *text;
	json *params;
	double us;
	size_t bytes;
};

struct bench {
	struct store *store;
	struct index *index;
	struct settings *settings;
	struct analyser *analyser;
	struct arena arena;
	struct asked *asked;
	size_t n, cap;
};

static int bench_open(struct bench *b, const char *home, struct err *err)
{
	bool needs_rebuild = false;
	const char *url = arena_printf(&b->arena, "sqlite:%s/remanence.db", home);

	b->analyser = analyser_new();
	if (store_open(url, DB_READ, NULL, &b->store, err) ||
		settings_load(path_join(&b->arena, home, "config.toml"), &b->settings, NULL, err) ||
		index_open(path_join(&b->arena, home, "index"), &b->index, &needs_rebuild, err))
		return -1;
	return needs_rebuild ? err_set(err, ERR_NOT_FOUND, "the index of '%s' is not whole", home)
			     : 0;
}

static int questions_read(struct bench *b, const char *path, struct err *err)
{
	AUTO(buf_done) struct buf text = { 0 };
	struct str rest, line;

	if (file_read(path, QUESTIONS_MAX, &text, err))
		return -1;
	rest = (struct str){ arena_dup(&b->arena, text.data, text.len), text.len };
	while (str_line(&rest, &line)) {
		struct asked q = { .text = arena_dup(&b->arena, line.p, line.n) };
		if (json_parse(q.text, line.n, &q.params, err))
			return -1;
		ARENA_PUSH(&b->arena, b->asked, b->n, b->cap, q);
	}
	return 0;
}

static int ask(struct bench *b, struct asked *q, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	AUTO(buf_done) struct buf out = { 0 };
	struct jw w = { .out = &out };
	struct op_call call = { .arena = &a,
		.store = b->store,
		.index = b->index,
		.settings = b->settings,
		.analyser = b->analyser,
		.params = q->params,
		.started_us = clock_mono_us() };
	double start = (double)clock_cpu_us();

	if (op_find("search")(&call, &w, err))
		return -1;
	double us = (double)clock_cpu_us() - start;
	q->us = q->us > 0 && q->us < us ? q->us : us;
	q->bytes = out.len;
	if (getenv("REPLIES"))
		puts(buf_cstr(&out));
	return 0;
}

static int by_time(const void *x, const void *y)
{
	const struct asked *a = x, *b = y;

	return (a->us > b->us) - (a->us < b->us);
}

int main(int argc, char **argv)
{
	struct bench b = { 0 };
	struct err err = { 0 };
	size_t bytes = 0;
	double sum = 0;

	if (argc < 3)
		die("usage: bench_search HOME FILE [ROUNDS]");
	if (bench_open(&b, argv[1], &err) || questions_read(&b, argv[2], &err))
		die("%s", err.text);
	for (int round = argc > 3 ? atoi(argv[3]) : ROUNDS; round > 0; round--)
		for (size_t i = 0; i < b.n; i++)
			if (ask(&b, &b.asked[i], &err))
				die("%s", err.text);
	if (getenv("EACH"))
		for (size_t i = 0; i < b.n; i++)
			printf("%8.0f us  %s\n", b.asked[i].us, b.asked[i].text);
	for (size_t i = 0; i < b.n; i++) {
		sum += b.asked[i].us;
		bytes += b.asked[i].bytes;
	}
	qsort(b.asked, b.n, sizeof(*b.asked), by_time);
	if (b.n)
		printf("%zu questions: mean %.0f us, p50 %.0f, p95 %.0f, p99 %.0f; %zu bytes of "
		       "replies\n",
			b.n, sum / (double)b.n, b.asked[b.n / 2].us, b.asked[b.n * 95 / 100].us,
			b.asked[b.n * 99 / 100].us, bytes);
	return 0;
}
