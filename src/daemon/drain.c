#include "daemon/drain.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "daemon/spool_file.h"
#include "observe/intake.h"
#include "wire/spool.h"

/*
 * A sweep lists a folder, hands each file to the writer, and waits for all of them before it lists
 * again, so that no file is in two works at once. A file that fails alone (others of its sweep were
 * stored) is counted; one that fails DRAIN_ATTEMPTS times is poison and is put aside, or it would
 * be tried for ever.
 */

#define SUSPECTS_MAX 64

struct suspect {
	char name[SPOOL_NAME_MAX];
	unsigned failures;
	bool has_failed; /* in the sweep going on */
	struct err err;
};

struct folder {
	char *new_dir, *bad_dir, *tmp_dir;
};

struct drain {
	struct writer *writer;
	struct drain_hooks hooks;
	struct folder folders[2];
	size_t nfolders;
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t wake, landed;
	bool is_closing, is_poked, is_busy;
	uint64_t sweeps;
	size_t in_flight, passed, failed; /* of the sweep going on */
	struct drain_state state;
	struct suspect suspects[SUSPECTS_MAX];
	size_t nsuspects; /* with the mutex while works are in flight, else the thread's own */
};

/* One file on its way through the writer. */
struct hook_work {
	struct work work;
	struct drain *drain;
	const struct folder *folder;
	char name[SPOOL_NAME_MAX];
	struct arena arena;
	struct capture capture;
	int64_t session;
};

static void folder_init(struct folder *f, const char *spool)
{
	AUTO(arena_done) struct arena a = { 0 };
	f->new_dir = mem_strdup(path_join(&a, spool, "new"));
	f->bad_dir = mem_strdup(path_join(&a, spool, "bad"));
	f->tmp_dir = mem_strdup(path_join(&a, spool, "tmp"));
}

static void folder_done(struct folder *f)
{
	free(f->new_dir);
	free(f->bad_dir);
	free(f->tmp_dir);
}

static void path_of(char out[PATH_MAX], const char *dir, const char *name, const char *ending)
{
	snprintf(out, PATH_MAX, "%s/%s%s", dir, name, ending);
}

/*
 * Moves a file into bad/ and writes why beside it. A file that cannot be moved stays, and is said.
 */
static void put_aside(
	struct drain *d, const struct folder *f, const char *name, const struct err *why)
{
	char from[PATH_MAX], to[PATH_MAX], reason[PATH_MAX];
	struct err err = { 0 };
	path_of(from, f->new_dir, name, "");
	path_of(to, f->bad_dir, name, "");
	path_of(reason, f->bad_dir, name, ".reason");
	log_warn("spool file '%s' is put aside: %s", name, why->text);
	if (file_mkdirs(f->bad_dir, 0700, &err) || rename(from, to)) {
		log_error("spool file '%s' cannot be put aside: %s", name, strerror(errno));
		return;
	}
	AUTO(buf_done) struct buf text = { .max = DRAIN_REASON_MAX };
	buf_printf(&text, "%s\n", why->text);
	if (file_write(reason, buf_cstr(&text), text.len, 0600, &err))
		log_warn("the reason of '%s' cannot be written: %s", name, err.text);
	pthread_mutex_lock(&d->mutex);
	d->state.put_aside++;
	pthread_mutex_unlock(&d->mutex);
}

static int hook_run(struct desk *desk, struct work *work, struct err *err)
{
	struct hook_work *h = (struct hook_work *)work;
	struct intake_result result = { 0 };
	if (intake_take(desk->intake, desk->store, desk->arena, &h->capture, h->name, &result, err))
		return -1;
	if (result.redactions &&
		store_counter_add(desk->store, "redactions", (int64_t)result.redactions, err))
		return -1;
	h->session = result.session;
	if (!h->capture.stops_turn || !result.session)
		return 0;
	const char *turn =
		h->capture.nevents ? h->capture.events[h->capture.nevents - 1].turn : NULL;
	return store_turn_stopped(desk->store, result.session, turn, err);
}

static void suspect_note(struct drain *d, const char *name, const struct err *err)
{
	struct suspect *s = NULL;
	for (size_t i = 0; i < d->nsuspects && !s; i++)
		if (!strcmp(d->suspects[i].name, name))
			s = &d->suspects[i];
	if (!s) {
		if (d->nsuspects == SUSPECTS_MAX)
			return;
		s = &d->suspects[d->nsuspects++];
		*s = (struct suspect){ 0 };
		memcpy(s->name, name, sizeof(s->name));
	}
	s->has_failed = true;
	s->err = *err;
}

static void hook_failed(struct hook_work *h, const struct err *err)
{
	struct drain *d = h->drain;
	if (err->code != ERR_BUSY)
		log_error("spool file '%s' cannot be stored now: %s", h->name, err->text);
	pthread_mutex_lock(&d->mutex);
	d->failed++;
	d->state.failed++;
	if (err->code != ERR_BUSY)
		suspect_note(d, h->name, err);
	pthread_mutex_unlock(&d->mutex);
}

static void hook_done(struct work *work, int result, int64_t seq, const struct err *err)
{
	struct hook_work *h = (struct hook_work *)work;
	struct drain *d = h->drain;
	char path[PATH_MAX];
	if (result) {
		hook_failed(h, err);
	} else {
		path_of(path, h->folder->new_dir, h->name, "");
		if (unlink(path) && errno != ENOENT)
			log_error(
				"spool file '%s' cannot be removed: %s", h->name, strerror(errno));
		d->hooks.taken(d->hooks.ctx, &h->capture, h->session);
	}
	arena_done(&h->arena);
	free(h);
	pthread_mutex_lock(&d->mutex);
	if (!result) {
		d->passed++;
		d->state.taken++;
	}
	d->in_flight--;
	pthread_cond_broadcast(&d->landed);
	pthread_mutex_unlock(&d->mutex);
}

static void take_file(struct drain *d, const struct folder *f, const char *name)
{
	char path[PATH_MAX];
	struct err err = { 0 };
	struct hook_work *h = mem_alloc(sizeof(*h));
	path_of(path, f->new_dir, name, "");
	enum spool_verdict verdict = spool_file_read(path, &h->arena, &h->capture, &err);
	if (verdict == SPOOL_TAKEN) {
		h->work = (struct work){ .lane = LANE_HOOK,
			.bytes = h->arena.used,
			.run = hook_run,
			.done = hook_done };
		h->drain = d;
		h->folder = f;
		snprintf(h->name, sizeof(h->name), "%s", name);
		pthread_mutex_lock(&d->mutex);
		d->in_flight++;
		pthread_mutex_unlock(&d->mutex);
		if (!writer_put(d->writer, &h->work, &err))
			return;
		pthread_mutex_lock(&d->mutex);
		d->in_flight--;
		pthread_mutex_unlock(&d->mutex);
	} else if (verdict == SPOOL_BAD) {
		put_aside(d, f, name, &err);
	} else if (verdict == SPOOL_LATER) {
		log_warn("spool file '%s' is left for later: %s", name, err.text);
	}
	arena_done(&h->arena);
	free(h);
}

static int name_compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

/*
 * The first names of a folder in order, at most DRAIN_SWEEP_FILES; *has_more when there are others.
 */
static size_t names_read(const char *dir, char (**ret)[SPOOL_NAME_MAX], bool *has_more)
{
	DIR *folder = opendir(dir);
	char(*names)[SPOOL_NAME_MAX] = NULL;
	size_t n = 0, cap = 0;
	struct dirent *entry;
	while (folder && (entry = readdir(folder))) {
		if (entry->d_name[0] == '.' || strlen(entry->d_name) >= SPOOL_NAME_MAX)
			continue;
		if (n == 2 * DRAIN_SWEEP_FILES) {
			qsort(names, n, SPOOL_NAME_MAX, name_compare);
			n = DRAIN_SWEEP_FILES;
			*has_more = true;
		}
		MEM_GROW(names, cap, n + 1);
		memcpy(names[n++], entry->d_name, strlen(entry->d_name) + 1);
	}
	if (folder)
		closedir(folder);
	if (n)
		qsort(names, n, SPOOL_NAME_MAX, name_compare);
	if (n > DRAIN_SWEEP_FILES) {
		n = DRAIN_SWEEP_FILES;
		*has_more = true;
	}
	*ret = names;
	return n;
}

/*
 * After a sweep, nothing is in flight: who failed while others passed comes nearer to quarantine;
 * who did not fail is no suspect any more.
 */
static void judge_suspects(struct drain *d, const struct folder *f, bool has_passed)
{
	size_t kept = 0;
	for (size_t i = 0; i < d->nsuspects; i++) {
		struct suspect *s = &d->suspects[i];
		if (!s->has_failed)
			continue;
		s->has_failed = false;
		s->failures += has_passed ? 1 : 0;
		if (s->failures >= DRAIN_ATTEMPTS)
			put_aside(d, f, s->name, &s->err);
		else
			d->suspects[kept++] = *s;
	}
	d->nsuspects = kept;
}

/* One pass over one folder. True when another pass would find more to do. */
static bool folder_sweep(struct drain *d, const struct folder *f)
{
	char(*names)[SPOOL_NAME_MAX] = NULL;
	bool has_more = false;
	size_t n = names_read(f->new_dir, &names, &has_more);
	for (size_t i = 0; i < n; i++)
		take_file(d, f, names[i]);
	free(names);
	pthread_mutex_lock(&d->mutex);
	while (d->in_flight)
		pthread_cond_wait(&d->landed, &d->mutex);
	bool has_passed = d->passed > 0;
	d->state.waiting += d->failed;
	pthread_mutex_unlock(&d->mutex);
	judge_suspects(d, f, has_passed);
	return has_more && has_passed;
}

static void sweep(struct drain *d)
{
	d->hooks.sweeping(d->hooks.ctx);
	for (size_t i = 0; i < d->nfolders; i++) {
		bool has_more = true;
		while (has_more) {
			pthread_mutex_lock(&d->mutex);
			d->passed = d->failed = 0;
			if (i == 0)
				d->state.waiting = 0;
			pthread_mutex_unlock(&d->mutex);
			has_more = folder_sweep(d, &d->folders[i]);
		}
	}
	d->hooks.swept(d->hooks.ctx);
}

static void *drain_main(void *arg)
{
	struct drain *d = arg;
	pthread_mutex_lock(&d->mutex);
	for (;;) {
		while (!d->is_poked && !d->is_closing)
			pthread_cond_wait(&d->wake, &d->mutex);
		if (d->is_closing)
			break;
		d->is_poked = false;
		d->is_busy = true;
		pthread_mutex_unlock(&d->mutex);
		sweep(d);
		pthread_mutex_lock(&d->mutex);
		d->is_busy = false;
		d->sweeps++;
		pthread_cond_broadcast(&d->landed);
	}
	pthread_mutex_unlock(&d->mutex);
	return NULL;
}

struct drain *drain_new(
	const struct paths *paths, struct writer *writer, const struct drain_hooks *hooks)
{
	struct drain *d = mem_alloc(sizeof(*d));
	d->writer = writer;
	d->hooks = *hooks;
	folder_init(&d->folders[d->nfolders++], paths->spool);
	if (paths->spare) {
		AUTO(arena_done) struct arena a = { 0 };
		folder_init(&d->folders[d->nfolders++], path_join(&a, paths->spare, "spool"));
	}
	pthread_mutex_init(&d->mutex, NULL);
	pthread_cond_init(&d->wake, NULL);
	pthread_cond_init(&d->landed, NULL);
	d->is_poked = true;
	if (pthread_create(&d->thread, NULL, drain_main, d))
		die("cannot start the drain thread");
	return d;
}

void drain_free(struct drain *d)
{
	if (!d)
		return;
	pthread_mutex_lock(&d->mutex);
	d->is_closing = true;
	pthread_cond_broadcast(&d->wake);
	pthread_mutex_unlock(&d->mutex);
	pthread_join(d->thread, NULL);
	for (size_t i = 0; i < d->nfolders; i++)
		folder_done(&d->folders[i]);
	pthread_cond_destroy(&d->wake);
	pthread_cond_destroy(&d->landed);
	pthread_mutex_destroy(&d->mutex);
	free(d);
}

void drain_poke(struct drain *d)
{
	pthread_mutex_lock(&d->mutex);
	d->is_poked = true;
	pthread_cond_signal(&d->wake);
	pthread_mutex_unlock(&d->mutex);
}

void drain_all(struct drain *d)
{
	pthread_mutex_lock(&d->mutex);
	uint64_t goal = d->sweeps + (d->is_busy ? 2 : 1);
	d->is_poked = true;
	pthread_cond_signal(&d->wake);
	while (d->sweeps < goal) {
		if (!d->is_busy && !d->is_poked) {
			d->is_poked = true;
			pthread_cond_signal(&d->wake);
		}
		pthread_cond_wait(&d->landed, &d->mutex);
	}
	pthread_mutex_unlock(&d->mutex);
}

bool drain_is_idle(struct drain *d)
{
	pthread_mutex_lock(&d->mutex);
	bool is_idle = !d->is_busy && !d->is_poked && !d->state.waiting;
	pthread_mutex_unlock(&d->mutex);
	return is_idle;
}

void drain_state(struct drain *d, struct drain_state *ret)
{
	pthread_mutex_lock(&d->mutex);
	*ret = d->state;
	pthread_mutex_unlock(&d->mutex);
}

static int64_t count_files(const char *spool, const char *name, bool without_reasons)
{
	AUTO(arena_done) struct arena a = { 0 };
	DIR *folder = opendir(path_join(&a, spool, name));
	struct dirent *entry;
	int64_t n = 0;
	while (folder && (entry = readdir(folder)))
		n += entry->d_name[0] != '.' &&
		     !(without_reasons && str_ends(entry->d_name, ".reason"));
	if (folder)
		closedir(folder);
	return n;
}

void drain_count(const struct paths *paths, int64_t *ret_new, int64_t *ret_bad)
{
	AUTO(arena_done) struct arena a = { 0 };
	*ret_new = count_files(paths->spool, "new", false);
	*ret_bad = count_files(paths->spool, "bad", true);
	if (!paths->spare)
		return;
	const char *spare = path_join(&a, paths->spare, "spool");
	*ret_new += count_files(spare, "new", false);
	*ret_bad += count_files(spare, "bad", true);
}

static void remove_older(const char *spool, const char *name, int64_t before)
{
	AUTO(arena_done) struct arena a = { 0 };
	const char *dir = path_join(&a, spool, name);
	char **names = NULL;
	size_t n = 0, removed = 0;
	struct stat st;
	if (file_list(&a, dir, &names, &n, NULL))
		return;
	for (size_t i = 0; i < n; i++) {
		const char *path = path_join(&a, dir, names[i]);
		if (!lstat(path, &st) && S_ISREG(st.st_mode) &&
			(int64_t)st.st_mtime * 1000 < before)
			removed += !unlink(path);
	}
	if (removed)
		log_info("removed %zu old files from '%s'", removed, dir);
}

void drain_clean(const struct paths *paths)
{
	AUTO(arena_done) struct arena a = { 0 };
	const char *const spools[] = { paths->spool,
		paths->spare ? path_join(&a, paths->spare, "spool") : NULL };
	for (size_t i = 0; i < ARRAY_LEN(spools) && spools[i]; i++) {
		remove_older(spools[i], "tmp", clock_now() - DRAIN_TMP_MS);
		remove_older(spools[i], "bad", clock_now() - DRAIN_BAD_MS);
	}
}
