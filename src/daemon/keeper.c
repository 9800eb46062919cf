#include "daemon/keeper.h"

#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "daemon/keep.h"

/*
 * A poke is answered after DEBOUNCE_MS, so that what is written at once is looked at at once. A
 * round reads and asks without any transaction and hands its findings to the writer's background
 * lane. After a failure it waits longer each time.
 */

#define DEBOUNCE_MS 200
#define REST_MS 50 /* between rounds while there is more to do */
#define AGAIN_MS 2000
#define AGAIN_MAX_MS 600000
#define NICENESS 15

struct hint {
	int64_t project;
	char *path; /* file, or root */
	bool is_checkout;
};

struct keeper {
	struct readers *readers;
	struct writer *writer;
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t wake;
	bool is_closing, is_poked, is_busy, is_sweeping;
	unsigned again_ms;
	struct hint hints[KEEPER_HINTS];
	size_t nhints;
	size_t swept; /* files of this sweep so far */
};

/* --- One round, on the keeper's thread. --- */

struct round {
	struct keep keep;
	struct arena arena;
	struct hint *hints;
	size_t nhints;
	bool is_sweeping;
	size_t nfiles, ndue;
};

static int write_run(struct desk *desk, void *ctx, struct err *err)
{
	return keep_apply(desk->store, ctx, err);
}

/* Writes what was found so far, with no reader held. */
static int write_changes(struct keeper *k, struct round *r, struct err *err)
{
	int rc = r->keep.n ? writer_run(k->writer, LANE_BACKGROUND, write_run, &r->keep, err) : 0;
	r->keep.n = 0;
	return rc;
}

/* Work trees that somebody stands in; those that were noted lately need no writing. */
static int checkouts_note(struct round *r, struct err *err)
{
	struct keep *k = &r->keep;
	struct checkout *known;
	size_t n;

	if (store_checkouts(k->store, k->arena, 0, KEEPER_CHECKOUTS, &known, &n, err))
		return -1;
	for (size_t i = 0; i < r->nhints; i++) {
		bool is_noted = !r->hints[i].is_checkout;
		for (size_t j = 0; j < n && !is_noted; j++)
			is_noted = !strcmp(known[j].root, r->hints[i].path) &&
				   known[j].asked_at > k->now - KEEPER_NOTE_AGE_MS;
		if (!is_noted)
			keep_add(k, (struct keep_change){ .kind = KEEP_CHECKOUT,
					    .checkout = { r->hints[i].project, r->hints[i].path,
						    NULL, k->now } });
	}
	return 0;
}

static int memories_read(struct round *r, struct err *err)
{
	struct stale_due *due;

	if (store_stale_due(r->keep.store, r->keep.arena, KEEPER_MEMORIES, &due, &r->ndue, err))
		return -1;
	if (r->ndue == KEEPER_MEMORIES)
		r->keep.is_unfinished = true;
	if (checkouts_note(r, err))
		return -1;
	return keep_memories(&r->keep, due, r->ndue, err);
}

static int files_read(struct round *r, struct err *err)
{
	struct keep *k = &r->keep;
	struct file_state *list;
	size_t n;

	for (size_t i = 0; i < r->nhints; i++) {
		struct file_state f;
		if (r->hints[i].is_checkout)
			continue;
		if (store_file_state_get(
			    k->store, k->arena, r->hints[i].project, r->hints[i].path, &f, err) ||
			keep_file(k, &f, true, err))
			return -1;
	}
	int64_t before = r->is_sweeping ? k->now - KEEPER_SWEEP_AGE_MS : 1;
	if (store_file_states_old(k->store, k->arena, before, KEEPER_FILES, &list, &n, err))
		return -1;
	for (size_t i = 0; i < n; i++)
		if (keep_file(k, &list[i], list[i].seen_at == 0, err))
			return -1;
	if (n == KEEPER_FILES)
		k->is_unfinished = true;
	r->nfiles = n;
	return 0;
}

static int branches_read(struct round *r, struct err *err)
{
	struct keep *k = &r->keep;
	struct checkout *list;
	size_t n;

	for (size_t i = 0; i < k->nprojects; i++)
		if (k->projects[i]->has_new_branch &&
			keep_branches(k, k->projects[i]->id, true, err))
			return -1;
	if (store_checkouts(k->store, k->arena, 0, KEEPER_CHECKOUTS, &list, &n, err))
		return -1;
	for (size_t i = 0; i < n; i++) {
		bool is_seen = keep_project(k, list[i].project)->has_new_branch;
		for (size_t j = 0; j < i; j++)
			is_seen = is_seen || list[j].project == list[i].project;
		if (!is_seen && keep_branches(k, list[i].project, false, err))
			return -1;
	}
	return 0;
}

/* Each step sees what the one before it wrote. */
static int round_steps(struct keeper *k, struct round *r, struct err *err)
{
	static int (*const steps[])(
		struct round * r, struct err * err) = { memories_read, branches_read, files_read };

	for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
		struct reader *reader = NULL;
		if (readers_lend(k->readers, &reader, err))
			return -1;
		r->keep.store = reader->store;
		if (i + 1 == ARRAY_LEN(steps))
			r->keep.nprojects = 0; /* what has arrived is read anew */
		int rc = steps[i](r, err);
		readers_return(k->readers, reader);
		if (rc || write_changes(k, r, err))
			return -1;
	}
	return 0;
}

/* 1: there is more to do, 0: nothing is left, -1. */
static int round_run(struct keeper *k, struct round *r)
{
	struct err err = { 0 };
	int rc;

	r->keep = (struct keep){ .arena = &r->arena, .now = clock_now() };
	rc = round_steps(k, r, &err);
	if (rc && err.code != ERR_BUSY)
		log_warn("it could not be found out whether memories still hold: %s", err.text);
	return rc ? -1 : r->keep.is_unfinished;
}

/* --- The thread. --- */

static void pause_ms(struct keeper *k, unsigned ms)
{
	struct timespec end = clock_after_us(ms * 1000ull);

	while (!k->is_closing && pthread_cond_timedwait(&k->wake, &k->mutex, &end) == 0)
		;
}

static void keep_once(struct keeper *k)
{
	struct round r = { .is_sweeping = k->is_sweeping, .nhints = k->nhints };

	r.hints = mem_dup(k->hints, sizeof(k->hints[0]) * k->nhints);
	k->nhints = 0;
	k->is_poked = false;
	pthread_mutex_unlock(&k->mutex);
	int rc = round_run(k, &r);
	for (size_t i = 0; i < r.nhints; i++)
		free(r.hints[i].path);
	free(r.hints);
	arena_done(&r.arena);
	pthread_mutex_lock(&k->mutex);
	if (rc < 0) {
		k->again_ms = k->again_ms ? MIN(k->again_ms * 2, AGAIN_MAX_MS) : AGAIN_MS;
		k->is_poked = true;
		pause_ms(k, k->again_ms);
		return;
	}
	k->again_ms = 0;
	k->swept += r.nfiles;
	if (rc == 0 || k->swept >= KEEPER_SWEEP_FILES) {
		k->is_sweeping = false;
		k->swept = 0;
	}
	if (rc > 0) {
		k->is_poked = true;
		pause_ms(k, REST_MS);
	}
}

static void *keeper_main(void *arg)
{
	struct keeper *k = arg;

	/* On Linux a thread has a priority of its own. */
	setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICENESS);
	pthread_mutex_lock(&k->mutex);
	while (!k->is_closing) {
		if (!k->is_poked) {
			pthread_cond_wait(&k->wake, &k->mutex);
			continue;
		}
		k->is_busy = true;
		pause_ms(k, DEBOUNCE_MS);
		if (!k->is_closing)
			keep_once(k);
		k->is_busy = false;
	}
	pthread_mutex_unlock(&k->mutex);
	return NULL;
}

struct keeper *keeper_new(struct readers *readers, struct writer *writer)
{
	struct keeper *k = mem_alloc(sizeof(*k));

	k->readers = readers;
	k->writer = writer;
	k->is_poked = true;
	pthread_mutex_init(&k->mutex, NULL);
	pthread_cond_init(&k->wake, NULL);
	if (pthread_create(&k->thread, NULL, keeper_main, k))
		die("cannot start the keeper thread");
	return k;
}

void keeper_leave(struct keeper *k)
{
	if (!k || k->is_closing)
		return;
	pthread_mutex_lock(&k->mutex);
	k->is_closing = true;
	pthread_cond_broadcast(&k->wake);
	pthread_mutex_unlock(&k->mutex);
	pthread_join(k->thread, NULL);
}

void keeper_free(struct keeper *k)
{
	if (!k)
		return;
	keeper_leave(k);
	for (size_t i = 0; i < k->nhints; i++)
		free(k->hints[i].path);
	pthread_cond_destroy(&k->wake);
	pthread_mutex_destroy(&k->mutex);
	free(k);
}

void keeper_poke(struct keeper *k)
{
	pthread_mutex_lock(&k->mutex);
	k->is_poked = true;
	pthread_cond_signal(&k->wake);
	pthread_mutex_unlock(&k->mutex);
}

static void hint_add(struct keeper *k, int64_t project, const char *path, bool is_checkout)
{
	bool is_there = false;

	pthread_mutex_lock(&k->mutex);
	for (size_t i = 0; i < k->nhints && !is_there; i++)
		is_there = k->hints[i].project == project && !strcmp(k->hints[i].path, path);
	if (!is_there && k->nhints < KEEPER_HINTS)
		k->hints[k->nhints++] = (struct hint){ project, mem_strdup(path), is_checkout };
	k->is_poked = true;
	pthread_cond_signal(&k->wake);
	pthread_mutex_unlock(&k->mutex);
}

void keeper_file(struct keeper *k, int64_t project, const char *path)
{
	hint_add(k, project, path, false);
}

void keeper_checkout(struct keeper *k, int64_t project, const char *root)
{
	hint_add(k, project, root, true);
}

void keeper_sweep(struct keeper *k)
{
	pthread_mutex_lock(&k->mutex);
	k->is_sweeping = k->is_poked = true;
	pthread_cond_signal(&k->wake);
	pthread_mutex_unlock(&k->mutex);
}

bool keeper_is_idle(struct keeper *k)
{
	pthread_mutex_lock(&k->mutex);
	bool is_idle = !k->is_busy && !k->is_poked;
	pthread_mutex_unlock(&k->mutex);
	return is_idle;
}
