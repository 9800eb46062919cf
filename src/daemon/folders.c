#include "daemon/folders.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "daemon/folder_sync.h"
#include "daemon/folder_watch.h"
#include "ops/ready.h"

#define PROGRESS_MS 200
#define MINUTE_US 60e6
#define FOLDERS_SKIPS_TOLD 5000 /* of one call; further files that are the same are only counted */

/* A folder that something happened in. */
struct due {
	int64_t folder; /* 0: all */
	uint64_t at_us, latest_us;
};

struct folders {
	struct sync_room room;
	struct follow *follow;
	char *user_home, *memory_dir;
	struct folder_watch *watch;
	pthread_t thread;
	pthread_mutex_t running; /* one sync at a time */
	pthread_mutex_t mutex;   /* what follows */
	struct due *due;
	size_t n, cap;
	bool is_busy;
	uint64_t swept_us;
	int wake[2];
	_Atomic bool stop;
};

/* --- What is due. --- */

static void nudge(struct folders *f)
{
	if (write(f->wake[1], "x", 1) < 0) {
		/* The pipe is full: it is awake already. */
	}
}

static void due_add(struct folders *f, int64_t folder, unsigned in_ms)
{
	uint64_t now = clock_mono_us(), at = now + in_ms * 1000ull;

	pthread_mutex_lock(&f->mutex);
	for (size_t i = 0; i < f->n; i++)
		if (f->due[i].folder == folder) {
			f->due[i].at_us = MIN(at, f->due[i].latest_us);
			pthread_mutex_unlock(&f->mutex);
			return;
		}
	MEM_GROW(f->due, f->cap, f->n + 1);
	f->due[f->n++] = (struct due){ folder, at, MAX(at, now + FOLDERS_LATEST_MS * 1000ull) };
	pthread_mutex_unlock(&f->mutex);
}

static void on_change(void *ctx, int64_t folder)
{
	due_add(ctx, folder, FOLDERS_DEBOUNCE_MS);
}

/* Takes one that is due; false: there is none. */
static bool due_take(struct folders *f, int64_t *ret)
{
	uint64_t now = clock_mono_us();
	bool has = false;

	pthread_mutex_lock(&f->mutex);
	for (size_t i = 0; i < f->n && !has; i++) {
		if (f->due[i].at_us > now)
			continue;
		*ret = f->due[i].folder;
		f->due[i] = f->due[--f->n];
		has = f->is_busy = true;
	}
	pthread_mutex_unlock(&f->mutex);
	return has;
}

static double sweep_us(struct folders *f)
{
	return settings_real(current_settings(f->room.current), SET_SYNC_SWEEP_MINUTES) * MINUTE_US;
}

static int wait_ms(struct folders *f)
{
	static const int longest = 60000;
	uint64_t now = clock_mono_us(), next = now + (uint64_t)longest * 1000;
	double sweep = sweep_us(f);

	pthread_mutex_lock(&f->mutex);
	for (size_t i = 0; i < f->n; i++)
		next = MIN(next, f->due[i].at_us);
	if (sweep > 0)
		next = MIN(next, f->swept_us + (uint64_t)sweep);
	pthread_mutex_unlock(&f->mutex);
	return next <= now ? 0 : (int)((next - now) / 1000) + 1;
}

/* --- Syncing. --- */

/* A sync of one folder under way, for whoever asked for it. */
struct telling {
	struct folders *folders;
	struct op_call *call; /* NULL: the sweep or the watch */
	int64_t folder;
	const char *namespace;
	size_t done, total, skips;
	uint64_t told_us;
};

static void on_entered(void *ctx, const char *path)
{
	struct telling *t = ctx;

	folder_watch_add(t->folders->watch, t->folder, path);
}

static void on_total(void *ctx, size_t files)
{
	((struct telling *)ctx)->total += files;
}

static int on_said(void *ctx, enum sync_said what, const char *path, int64_t n, const char *why)
{
	static const char *const names[SYNC_SAID_COUNT] = { [SYNC_SAID_SKIP] = "skip",
		[SYNC_SAID_SYNC] = "sync",
		[SYNC_SAID_MOVE] = "move",
		[SYNC_SAID_GONE] = "gone",
		[SYNC_SAID_FAIL] = "fail" };
	struct telling *t = ctx;
	uint64_t now = clock_mono_us();
	AUTO(buf_done) struct buf line = { 0 };
	struct jw w = { .out = &line };

	t->done += what == SYNC_SAID_SKIP || what == SYNC_SAID_SYNC || what == SYNC_SAID_MOVE;
	if (!t->call || !t->call->progress)
		return 0;
	if (what == SYNC_SAID_SKIP && ++t->skips > FOLDERS_SKIPS_TOLD &&
		now - t->told_us < PROGRESS_MS * 1000ull)
		return 0;
	t->told_us = now;
	jw_object(&w, NULL);
	jw_object(&w, "progress");
	jw_int(&w, "files_done", (int64_t)t->done);
	jw_int(&w, "files_total", (int64_t)t->total);
	jw_str(&w, "what", names[what]);
	jw_str(&w, "namespace", t->namespace);
	jw_str(&w, "path", path);
	if (what == SYNC_SAID_SYNC)
		jw_int(&w, "chunks", n);
	if (why)
		jw_str(&w, what == SYNC_SAID_MOVE ? "from" : "reason", why);
	jw_end(&w, '}');
	jw_end(&w, '}');
	return t->call->progress(t->call, buf_cstr(&line));
}

static int sync_one(struct folders *f, struct telling *t, const struct folder *folder,
	bool is_forced, struct arena *a, struct sync_result *ret, struct err *err)
{
	struct sync_call c = {
		.folder = folder,
		.is_forced = is_forced,
		.is_quick = !t->call,
		.said = on_said,
		.total = on_total,
		.entered = on_entered,
		.ctx = t,
	};
	bool is_unsettled = false;

	t->folder = folder->id;
	t->namespace = folder->namespace;
	pthread_mutex_lock(&f->running);
	int rc = folder_sync(&f->room, a, &c, ret, &is_unsettled, err);
	pthread_mutex_unlock(&f->running);
	if (is_unsettled || (rc && !atomic_load(&f->stop)))
		due_add(f, folder->id, is_unsettled ? FOLDERS_AGAIN_MS : FOLDERS_MISSING_MS);
	nudge(f);
	return rc;
}

static int list_read(
	struct folders *f, struct arena *a, struct folder **ret, size_t *ret_n, struct err *err)
{
	struct reader *reader;

	if (readers_lend(f->room.readers, &reader, err))
		return -1;
	int rc = folder_list(reader->store, a, ret, ret_n, err);
	readers_return(f->room.readers, reader);
	return rc;
}

static int64_t chunks_now(struct folders *f, struct arena *a, const char *namespace)
{
	struct folder *list;
	size_t n;
	int64_t sum = 0;

	if (list_read(f, a, &list, &n, NULL))
		return 0;
	for (size_t i = 0; i < n; i++)
		if (!namespace || !strcmp(namespace, list[i].namespace))
			sum += list[i].chunks;
	return sum;
}

int folders_sync(struct folders *f, struct op_call *call, const struct sync_request *q,
	struct sync_result *ret, struct err *err)
{
	struct telling t = { .folders = f, .call = call };
	struct folder *list;
	size_t n, failures = 0, tried = 0;
	struct err why = { 0 };

	*ret = (struct sync_result){ 0 };
	if (list_read(f, call->arena, &list, &n, err))
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (q->namespace && strcmp(q->namespace, list[i].namespace))
			continue;
		tried++;
		if (!sync_one(f, &t, &list[i], q->is_forced, call->arena, ret, &why))
			continue;
		if (why.code == ERR_STORE || why.code == ERR_UNAVAILABLE || q->namespace) {
			*err = why;
			return -1;
		}
		/* One of several: the others are done all the same. */
		failures++;
		size_t cap = ret->nfailed;
		struct sync_failed one = { list[i].root, arena_str(call->arena, why.text) };
		ARENA_PUSH(call->arena, ret->failed, ret->nfailed, cap, one);
	}
	ret->failures += (int64_t)failures;
	ret->chunks = chunks_now(f, call->arena, q->namespace);
	follow_wait_long(f->follow, writer_seq(f->room.writer), f->room.stop);
	return 0;
}

/* --- The thread. --- */

static void background_sync(struct folders *f, const struct folder *folder)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct telling t = { .folders = f };
	struct sync_result r = { 0 };
	struct err err = { 0 };

	if (sync_one(f, &t, folder, false, &a, &r, &err)) {
		if (!atomic_load(&f->stop) && (!folder->error || strcmp(folder->error, err.text)))
			log_warn("the markdown folder of '%s' is not up to date: %s",
				folder->namespace, err.text);
		return;
	}
	if (r.synced || r.removed || r.renamed)
		log_info("markdown '%s': %lld files read anew, %lld moved, %lld gone",
			folder->namespace, (long long)r.synced, (long long)r.renamed,
			(long long)r.removed);
}

struct put_all {
	struct folder *list;
	size_t n;
};

static int put_run(struct desk *desk, void *ctx, struct err *err)
{
	struct put_all *p = ctx;

	for (size_t i = 0; i < p->n; i++)
		if (folder_put(desk->store, &p->list[i], err))
			return -1;
	return 0;
}

/* Those of projects that came since, where ready-made folders are followed. */
static int ready_read(struct folders *f, struct arena *a, struct put_all *ret, struct err *err)
{
	struct reader *reader;
	int64_t is_followed = 0;

	if (readers_lend(f->room.readers, &reader, err))
		return -1;
	int rc = store_counter_get(reader->store, READY_COUNTER, &is_followed, err);
	if (!rc && is_followed)
		rc = ready_find(reader->store, a, f->user_home, &ret->list, &ret->n, err);
	readers_return(f->room.readers, reader);
	return rc;
}

static void ready_follow(struct folders *f)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct put_all p = { 0 };
	struct err err = { 0 };

	if (ready_read(f, &a, &p, &err) ||
		(p.n && writer_run(f->room.writer, LANE_BACKGROUND, put_run, &p, &err)))
		log_warn("cannot look for new markdown folders: %s", err.text);
}

/* MEMORY_DIR, as a hand-made service names it. */
static void memory_dir_follow(struct folders *f)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct folder one = { .namespace = FOLDERS_DEFAULT, .globs = "*.md", .is_team = true }, *list;
	struct put_all p = { .list = &one, .n = 1 };
	struct err err = { 0 };
	size_t n;

	if (!f->memory_dir || list_read(f, &a, &list, &n, &err))
		return;
	one.root = path_clean(&a, "/", f->memory_dir);
	for (size_t i = 0; i < n; i++)
		if (!strcmp(list[i].namespace, FOLDERS_DEFAULT)) {
			one.id = list[i].id;
			one.globs = list[i].globs;
			one.project = list[i].project;
			one.is_team = list[i].is_team;
			if (!strcmp(list[i].root, one.root))
				return;
		}
	if (writer_run(f->room.writer, LANE_REQUEST, put_run, &p, &err))
		log_warn("cannot follow MEMORY_DIR: %s", err.text);
}

static void sync_due(struct folders *f, int64_t id)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct folder *list;
	struct err err = { 0 };
	bool is_there = false;
	size_t n;

	if (!id)
		ready_follow(f);
	if (list_read(f, &a, &list, &n, &err)) {
		log_warn("cannot list the markdown folders: %s", err.text);
		return;
	}
	for (size_t i = 0; i < n && !atomic_load(&f->stop); i++)
		if (!id || list[i].id == id) {
			is_there = true;
			background_sync(f, &list[i]);
		}
	if (id && !is_there)
		folder_watch_remove(f->watch, id);
}

static void wait(struct folders *f)
{
	struct pollfd p[] = { { .fd = f->wake[0], .events = POLLIN },
		{ .fd = folder_watch_fd(f->watch), .events = POLLIN } };
	char bytes[64];

	if (poll(p, ARRAY_LEN(p), wait_ms(f)) <= 0)
		return;
	while (read(f->wake[0], bytes, sizeof(bytes)) > 0)
		;
	if (p[1].revents)
		folder_watch_read(f->watch, on_change, f);
}

static void *folders_main(void *arg)
{
	struct folders *f = arg;
	int64_t id;

	memory_dir_follow(f);
	while (!atomic_load(&f->stop)) {
		double sweep = sweep_us(f);
		if (sweep > 0 && clock_mono_us() - f->swept_us >= (uint64_t)sweep) {
			f->swept_us = clock_mono_us();
			due_add(f, 0, 0);
		}
		while (!atomic_load(&f->stop) && due_take(f, &id)) {
			sync_due(f, id);
			pthread_mutex_lock(&f->mutex);
			f->is_busy = false;
			pthread_mutex_unlock(&f->mutex);
		}
		if (!atomic_load(&f->stop))
			wait(f);
	}
	return NULL;
}

struct folders *folders_new(const struct folders_setup *setup)
{
	struct folders *f = mem_alloc(sizeof(*f));

	f->room = (struct sync_room){ .readers = setup->readers,
		.writer = setup->writer,
		.current = setup->current,
		.stop = setup->stop };
	f->follow = setup->follow;
	f->user_home = setup->user_home ? mem_strdup(setup->user_home) : NULL;
	f->memory_dir =
		setup->memory_dir && *setup->memory_dir ? mem_strdup(setup->memory_dir) : NULL;
	f->watch = folder_watch_new();
	pthread_mutex_init(&f->mutex, NULL);
	pthread_mutex_init(&f->running, NULL);
	if (pipe2(f->wake, O_CLOEXEC | O_NONBLOCK))
		die("cannot make a pipe for the markdown folders");
	f->swept_us = clock_mono_us();
	due_add(f, 0, 0);
	if (pthread_create(&f->thread, NULL, folders_main, f))
		die("cannot start the thread of the markdown folders");
	return f;
}

void folders_free(struct folders *f)
{
	if (!f)
		return;
	atomic_store(&f->stop, true);
	nudge(f);
	pthread_join(f->thread, NULL);
	folder_watch_free(f->watch);
	for (int i = 0; i < 2; i++)
		close(f->wake[i]);
	pthread_mutex_destroy(&f->mutex);
	pthread_mutex_destroy(&f->running);
	free(f->due);
	free(f->user_home);
	free(f->memory_dir);
	free(f);
}

void folders_changed(struct folders *f)
{
	due_add(f, 0, FOLDERS_DEBOUNCE_MS);
	nudge(f);
}

bool folders_is_idle(struct folders *f)
{
	uint64_t soon = clock_mono_us() + 2 * FOLDERS_LATEST_MS * 1000ull;

	pthread_mutex_lock(&f->mutex);
	bool is_idle = !f->is_busy;
	for (size_t i = 0; i < f->n; i++)
		is_idle &= f->due[i].at_us > soon;
	pthread_mutex_unlock(&f->mutex);
	return is_idle;
}
