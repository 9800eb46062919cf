/*
 * bench_rules STORE BYTES LAST [ROUNDS]: what the rules cost, alone. Reads the events of turns 1 to
 * LAST of a store that holds an archive of BYTES bytes, then runs rules, facts and entities over
 * them in memory and prints CPU time: MB of archive a second, and microseconds a turn.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "observe/entity.h"
#include "observe/rules.h"
#include "store/store.h"

#define EVENTS_MAX 4000 /* of one turn, as the daemon takes */
#define ROUNDS 5
#define PERCENT 100

struct loaded {
	struct turn turn;
	struct session session;
	struct project project;
	struct event *events;
	size_t n;
};

static bool turn_load(struct store *s, struct arena *a, int64_t id, struct loaded *ret)
{
	struct err err = { 0 };

	if (store_turn_get(s, a, id, &ret->turn, &err) ||
		store_session_get(s, a, ret->turn.session, &ret->session, &err))
		return false;
	if (ret->turn.project)
		(void)store_project_get(s, a, ret->turn.project, &ret->project, &err);
	return !store_events(
		       s, a, ret->turn.session, id, 0, EVENTS_MAX, &ret->events, &ret->n, &err) &&
	       ret->n;
}

static double turn_run(const struct loaded *t, size_t *io_made)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct rules_input in = { .turn = &t->turn,
		.session = &t->session,
		.project = &t->project,
		.events = t->events,
		.n = t->n };
	struct rules_output out = { 0 };
	struct mention *mentions;
	size_t n;
	double start = (double)clock_cpu_us();

	rules_run(&a, &in, &out);
	entities_run(&a, &in, &mentions, &n);
	*io_made += out.n + out.ncandidates;
	return (double)clock_cpu_us() - start;
}

static int by_number(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return (a > b) - (a < b);
}

int main(int argc, char **argv)
{
	struct arena a = { 0 };
	struct store *s = NULL;
	struct err err = { 0 };
	size_t n = 0, cap = 0, made = 0;
	struct loaded *turns = NULL;

	if (argc < 4) {
		fprintf(stderr, "usage: bench_rules STORE BYTES LAST [ROUNDS]\n");
		return 2;
	}
	if (store_open(argv[1], DB_READ, NULL, &s, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	for (int64_t id = 1, last = atoll(argv[3]); id <= last; id++) {
		struct loaded t = { .n = 0 };

		if (turn_load(s, &a, id, &t))
			ARENA_PUSH(&a, turns, n, cap, t);
	}
	size_t rounds = argc > 4 ? (size_t)atoi(argv[4]) : ROUNDS;
	double *us = mem_alloc((n + 1) * sizeof(*us)), best = 0;
	for (size_t r = 0; r < rounds; r++) {
		double all = 0;

		made = 0;
		for (size_t i = 0; i < n; i++)
			all += us[i] = turn_run(&turns[i], &made);
		best = r && best < all ? best : all;
	}
	qsort(us, n, sizeof(*us), by_number);
	printf("{\"turns\":%zu,\"made\":%zu,\"mb_s\":%.1f,\"turn_us\":%.0f,\"p50_us\":%.0f,\"p95_"
	       "us\":%.0f,"
	       "\"max_us\":%.0f}\n",
		n, made, best > 0 ? atof(argv[2]) / best : 0, n ? best / (double)n : 0,
		n ? us[n / 2] : 0, n ? us[n * 95 / PERCENT] : 0, n ? us[n - 1] : 0);
	free(us);
	store_close(s);
	arena_done(&a);
	return 0;
}
