#include "daemon/catchup.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "daemon/import.h"
#include "daemon/walk.h"

/*
 * At the start of the daemon, a file that was read before and has grown is read on. A file never
 * read is only touched when it is younger than the store and its agent is one that this store
 * already knows: what is older is for `remanence import`, which a person asks for.
 */

#define SOON_US 50000

struct due {
	char *path;
	const struct agent *agent;
	uint64_t at_us;
	unsigned attempts;
};

struct catchup {
	struct catchup_setup setup;
	char *user_home;
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t wake;
	struct due *due;
	size_t n, cap;
	char **rest; /* the last one is next */
	size_t nrest;
	char *rest_mark;
	bool is_busy, is_started;
	_Atomic bool stop;
};

/* With the mutex held. */
static void due_add(struct catchup *c, const char *path, const struct agent *agent, uint64_t at_us,
	unsigned attempts)
{
	uint64_t soon = clock_mono_us() + SOON_US;
	for (size_t i = 0; i < c->n; i++) {
		struct due *d = &c->due[i];
		if (strcmp(d->path, path) || (d->at_us > soon) != (at_us > soon))
			continue;
		if (at_us > soon)
			d->at_us = MAX(d->at_us, at_us);
		return;
	}
	if (c->n == CATCHUP_WAITING_MAX) {
		log_warn("too many transcripts wait to be read; '%s' waits for the next import",
			path);
		return;
	}
	MEM_GROW(c->due, c->cap, c->n + 1);
	c->due[c->n++] = (struct due){ mem_strdup(path), agent, at_us, attempts };
}

void catchup_add(struct catchup *c, const char *path, const struct agent *agent)
{
	uint64_t now = clock_mono_us();
	pthread_mutex_lock(&c->mutex);
	due_add(c, path, agent, now, 0);
	due_add(c, path, agent, now + CATCHUP_LATE_MS * 1000ull, 0);
	pthread_cond_signal(&c->wake);
	pthread_mutex_unlock(&c->mutex);
}

void catchup_rest(struct catchup *c, const char *const *paths, size_t n)
{
	if (!n)
		return;
	struct err err = { 0 };
	if (file_write(c->rest_mark, "", 0, 0600, &err))
		log_warn("%s", err.text);
	pthread_mutex_lock(&c->mutex);
	c->rest = mem_resize(c->rest, (c->nrest + n) * sizeof(*c->rest));
	memmove(c->rest + n, c->rest, c->nrest * sizeof(*c->rest));
	for (size_t i = 0; i < n; i++)
		c->rest[i] = mem_strdup(paths[n - 1 - i]);
	c->nrest += n;
	pthread_cond_signal(&c->wake);
	pthread_mutex_unlock(&c->mutex);
}

static size_t first_due(const struct catchup *c)
{
	size_t first = 0;
	for (size_t i = 1; i < c->n; i++)
		if (c->due[i].at_us < c->due[first].at_us)
			first = i;
	return first;
}

static struct due due_take(struct catchup *c, size_t i)
{
	struct due d = c->due[i];
	c->due[i] = c->due[--c->n];
	return d;
}

/* Reads one; true when it has to come again. */
static bool read_one(struct catchup *c, const struct due *d)
{
	struct transcript_call call = { .path = d->path, .agent = d->agent, .stop = &c->stop };
	struct transcript_result result;
	struct err err = { 0 };
	int failed = transcript_read(c->setup.transcripts, &call, &result, &err);
	if (result.new_events)
		log_debug("%lld events from '%s'", (long long)result.new_events, d->path);
	observer_poke(c->setup.observer);
	if (!failed || err.code == ERR_NOT_FOUND || atomic_load(&c->stop))
		return false;
	bool may_pass = err.code == ERR_STORE || err.code == ERR_BUSY;
	log_warn("transcript '%s' cannot be read%s: %s", d->path, may_pass ? " now" : "", err.text);
	return may_pass && d->attempts < CATCHUP_ATTEMPTS;
}

static bool is_of_this_store(struct store *s, enum agent_id agent)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct session *sessions = NULL;
	size_t n = 0;
	struct session_query q = { .agent = agent, .max = 1 };
	return !store_session_list(s, &a, &q, &sessions, &n, NULL) && n;
}

static bool has_grown(struct store *s, const struct found_file *f, int64_t unread_since)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct transcript row = { 0 };
	if (store_transcript_get(s, &a, f->path, &row, NULL))
		return false;
	if (!row.id)
		return f->mtime >= unread_since && f->size;
	return f->size != row.offset;
}

static void reconcile_agent(struct catchup *c, struct store *s, const struct agent *agent)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct walk w = { .arena = &a, .ending = ".jsonl" };
	int64_t since = file_exists(c->rest_mark) ? 0 : c->setup.since;
	if (since && !is_of_this_store(s, agent->id))
		return;
	import_own_folders(&w, c->user_home, agent->id);
	walk_done(&w);
	walk_sort(&w);
	for (size_t i = 0; i < w.n && !atomic_load(&c->stop); i++) {
		if (!has_grown(s, &w.files[i], since))
			continue;
		if (!since) {
			catchup_rest(c, &w.files[i].path, 1);
			continue;
		}
		pthread_mutex_lock(&c->mutex);
		due_add(c, w.files[i].path, agent, clock_mono_us(), 0);
		pthread_mutex_unlock(&c->mutex);
	}
}

static void reconcile(struct catchup *c)
{
	struct reader *reader;
	if (!c->user_home || readers_lend(c->setup.readers, &reader, NULL))
		return;
	for (size_t i = 0; agents[i]; i++)
		if (agents[i]->transcript_dirs)
			reconcile_agent(c, reader->store, agents[i]);
	readers_return(c->setup.readers, reader);
}

static void wait_until(struct catchup *c, uint64_t at_us)
{
	uint64_t now = clock_mono_us();
	struct timespec end = clock_after_us(at_us > now ? at_us - now : 0);
	pthread_cond_timedwait(&c->wake, &c->mutex, &end);
}

static void read_next(struct catchup *c)
{
	struct due d = due_take(c, first_due(c));
	c->is_busy = true;
	pthread_mutex_unlock(&c->mutex);
	bool comes_again = read_one(c, &d);
	pthread_mutex_lock(&c->mutex);
	c->is_busy = false;
	if (comes_again)
		due_add(c, d.path, d.agent, clock_mono_us() + CATCHUP_AGAIN_MS * 1000ull,
			d.attempts + 1);
	free(d.path);
}

/* One of a history; the mark goes with the last. */
static void read_rest(struct catchup *c)
{
	struct due d = { .path = c->rest[--c->nrest] };
	c->is_busy = true;
	pthread_mutex_unlock(&c->mutex);
	bool comes_again = read_one(c, &d);
	pthread_mutex_lock(&c->mutex);
	c->is_busy = false;
	if (comes_again)
		due_add(c, d.path, NULL, clock_mono_us() + CATCHUP_AGAIN_MS * 1000ull, 1);
	free(d.path);
	if (!c->nrest && !atomic_load(&c->stop))
		unlink(c->rest_mark);
}

static bool is_due(const struct catchup *c)
{
	return c->n && c->due[first_due(c)].at_us <= clock_mono_us();
}

static void *catchup_main(void *arg)
{
	struct catchup *c = arg;
	reconcile(c);
	pthread_mutex_lock(&c->mutex);
	c->is_started = true;
	while (!atomic_load(&c->stop)) {
		if (is_due(c))
			read_next(c);
		else if (c->nrest)
			read_rest(c);
		else if (c->n)
			wait_until(c, c->due[first_due(c)].at_us);
		else
			pthread_cond_wait(&c->wake, &c->mutex);
	}
	pthread_mutex_unlock(&c->mutex);
	return NULL;
}

struct catchup *catchup_new(const struct catchup_setup *setup)
{
	struct catchup *c = mem_alloc(sizeof(*c));
	c->setup = *setup;
	c->user_home = setup->user_home ? mem_strdup(setup->user_home) : NULL;
	c->rest_mark = mem_strdup(setup->rest_mark);
	pthread_mutex_init(&c->mutex, NULL);
	pthread_cond_init(&c->wake, NULL);
	if (pthread_create(&c->thread, NULL, catchup_main, c))
		die("cannot start the catch-up thread");
	return c;
}

void catchup_free(struct catchup *c)
{
	if (!c)
		return;
	atomic_store(&c->stop, true);
	pthread_mutex_lock(&c->mutex);
	pthread_cond_signal(&c->wake);
	pthread_mutex_unlock(&c->mutex);
	pthread_join(c->thread, NULL);
	for (size_t i = 0; i < c->n; i++)
		free(c->due[i].path);
	free(c->due);
	for (size_t i = 0; i < c->nrest; i++)
		free(c->rest[i]);
	free(c->rest);
	free(c->rest_mark);
	free(c->user_home);
	pthread_cond_destroy(&c->wake);
	pthread_mutex_destroy(&c->mutex);
	free(c);
}

size_t catchup_waiting(struct catchup *c)
{
	pthread_mutex_lock(&c->mutex);
	size_t n = c->n + c->nrest + (c->is_busy ? 1 : 0);
	pthread_mutex_unlock(&c->mutex);
	return n;
}

bool catchup_is_idle(struct catchup *c)
{
	pthread_mutex_lock(&c->mutex);
	bool is_idle = c->is_started && !c->is_busy && !c->n && !c->nrest;
	pthread_mutex_unlock(&c->mutex);
	return is_idle;
}
