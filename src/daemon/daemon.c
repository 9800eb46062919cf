#include "daemon/author.h"
#include "daemon/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "build_id.h"
#include "daemon/http.h"
#include "daemon/listen.h"
#include "daemon/lock.h"
#include "daemon/services.h"
#include "daemon/tcp_door.h"
#include "daemon/timers.h"
#include "observe/intake.h"

/*
 * The order of leaving matters: the socket goes first, so that hooks that come later start a new
 * daemon; then the spool is swept once more for those who had knocked already; the lock goes last,
 * and the new daemon, which waits for it, begins.
 */

#define LULL_US 30000 /* after a request; then what may wait goes on */
#define BORN_AT "store.born_at" /* counter: when this store was made, Unix ms */

/* --- What the parts tell each other. --- */

static struct intake *intake_make(void *ctx)
{
	struct daemon *d = ctx;
	return intake_new(current_settings(d->current), current_redactor(d->current));
}

static void committed(void *ctx, int64_t seq)
{
	struct daemon *d = ctx;
	/*
	 * The first commits come before the follower is there; it asks for the last change itself.
	 */
	if (d->follow)
		follow_notify(d->follow, seq);
	if (!atomic_load(&d->has_workers))
		return;
	embedding_wake(d->embedding);
	keeper_poke(d->keeper);
	contract_fill_poke(d->contract_fill);
}

/* A hook's events are in the store. */
static void hook_taken(void *ctx, const struct capture *c, int64_t session)
{
	struct daemon *d = ctx;
	const struct agent *agent = agent_by_id(c->session.agent);
	atomic_fetch_add(&d->events, c->nevents);
	if (session)
		observer_touch(d->observer, session);
	if (session && c->wants_transcript && c->session.transcript_path)
		catchup_add(d->catchup, c->session.transcript_path, agent);
	if (session && c->subagent_transcript)
		catchup_add(d->catchup, c->subagent_transcript, agent);
	if (session && (c->stops_turn || c->ends_session))
		observer_poke(d->observer);
	if (session && c->ends_session)
		model_work_wake(d->model_work);
}

/* Settings changed by hand hold for the very next event. */
static void sweeping(void *ctx)
{
	struct daemon *d = ctx;
	if (!current_refresh(d->current, false))
		return;
	writer_refresh(d->writer);
	model_work_wake(d->model_work);
}

static void swept(void *ctx)
{
	struct daemon *d = ctx;
	injections_flush(d->injections);
	journal_flush(d->journal, false);
}

void daemon_use(struct daemon *d)
{
	atomic_store(&d->used_us, clock_mono_us());
}

void daemon_leave(struct daemon *d)
{
	int why = errno;
	atomic_store(&d->is_leaving, true);
	if (write(d->wake[1], "x", 1) < 0) {
		/* The pipe is full: it is awake already. */
	}
	errno = why;
}

bool daemon_is_idle(struct daemon *d)
{
	return http_is_idle(d->http) && http_is_idle(d->tcp) && drain_is_idle(d->drain) && catchup_is_idle(d->catchup) && folders_is_idle(d->folders) &&
	       observer_is_idle(d->observer) && model_work_is_idle(d->model_work) &&
		keeper_is_idle(d->keeper) && writer_is_idle(d->writer) &&
	       follow_is_idle(d->follow) && embedding_is_idle(d->embedding) &&
	       contract_fill_is_idle(d->contract_fill);
}

/* For what may wait: somebody else has work now. */
static bool others_work(void *ctx)
{
	struct daemon *d = ctx;
	return !writer_is_idle(d->writer) || !follow_is_idle(d->follow) ||
	       clock_mono_us() - atomic_load(&d->used_us) < LULL_US;
}

static bool is_settled(void *ctx)
{
	struct daemon *d = ctx;
	return catchup_is_idle(d->catchup);
}

static void jobs_wait(void *ctx)
{
	model_work_wake(((struct daemon *)ctx)->model_work);
}

/* --- Making and ending. --- */

static char *store_url(struct daemon *d)
{
	const char *wanted = settings_text(current_settings(d->current), SET_STORE);
	if (wanted && *wanted)
		return arena_str(&d->arena, wanted);
	return arena_printf(&d->arena, "sqlite:%s", d->paths.store);
}

static int open_files(struct daemon *d, const char *home, struct err *err)
{
	if (paths_init(&d->paths, home, &d->arena, err) || paths_create(&d->paths, err) ||
		lock_check_place(d->paths.home, err))
		return -1;
	/* Not to keep anybody's folder from being unmounted. */
	if (chdir("/"))
		return err_set(err, ERR_IO, "cannot enter '/': %s", strerror(errno));
	if (lock_take(&d->paths, &d->lock, err))
		return -1;
	if (log_open(d->is_foreground ? NULL : path_join(&d->arena, d->paths.log, "daemon.log"),
		    err))
		return -1;
	d->current = current_open(d->paths.settings, err);
	return d->current ? 0 : -1;
}

static int born_run(struct desk *desk, void *ctx, struct err *err)
{
	int64_t *born = ctx;
	if (store_counter_get(desk->store, BORN_AT, born, err))
		return -1;
	if (*born)
		return 0;
	*born = clock_now();
	return store_counter_add(desk->store, BORN_AT, *born, err);
}

/*
 * The index and its vectors follow one store. A file beside them names it; where there is none it is the one in the data
 * folder.
 */
static int index_of_store(struct daemon *d, struct err *err)
{
	AUTO(buf_done) struct buf known = { 0 };
	const char *mark = path_join(&d->arena, d->paths.run, "index-of");
	const char *url = db_url_shown(&d->arena, d->url);
	if (db_is_postgres(d->url)) /* what others share, and one's own: not the same for two authors */
		url = arena_printf(&d->arena, "%s %s", url, d->author);
	const char *usual = arena_printf(&d->arena, "sqlite:%s", d->paths.store);
	if (file_read(mark, STORE_URL_MAX, &known, NULL))
		buf_str(&known, usual);
	if (!strcmp(buf_cstr(&known), url))
		return 0;
	log_info("the index is of another store; it is made anew");
	if (file_remove_tree(d->paths.index, err))
		return -1;
	return file_write(mark, url, strlen(url), 0600, err);
}

/* Another daemon has written to the store, or this one. */
static void heard(void *ctx, int64_t seq, bool has_merged)
{
	struct daemon *d = ctx;
	follow_notify(d->follow, seq);
	if (has_merged)
		writer_refresh(d->writer);
	embedding_wake(d->embedding);
	contract_fill_poke(d->contract_fill);
}

static int open_store(struct daemon *d, int64_t *ret_born, struct err *err)
{
	d->url = store_url(d);
	if (author_name(&d->arena, current_settings(d->current), &d->author, err))
		return -1;
	struct writer_setup setup = {
		.url = d->url,
		.author = d->author,
		.backup = d->paths.backup,
		.intake_make = intake_make,
		.committed = committed,
		.ctx = d,
	};
	if (writer_open(&setup, &d->writer, err)) {
		/* Busy means another daemon of this folder, of whom nothing needs to be said. */
		if (err->code == ERR_BUSY)
			err->code = ERR_STORE;
		return -1;
	}
	d->readers = readers_new(d->url, d->author);
	if (writer_run(d->writer, LANE_REQUEST, born_run, ret_born, err))
		return -1;
	if (index_of_store(d, err))
		return -1;
	return follow_open(d->paths.index, d->readers, writer_seq(d->writer), &d->follow, err);
}

static void revoked(void *ctx)
{
	struct daemon *d = ctx;
	struct err err = { 0 };
	if (embedding_purge(d->embedding, &err))
		log_warn("vectors of what a colleague took back could not be removed: %s", err.text);
}

/* What only a store has that others reach too. */
static void open_shared(struct daemon *d)
{
	const struct contract_fill_setup contract = {
		.url = d->url,
		.author = d->author,
		.home = d->paths.home,
		.readers = d->readers,
		.embedding = d->embedding,
	};
	follow_on_revoked(d->follow, revoked, d);
	const struct neighbours_setup neighbours = {
		.url = d->url, .author = d->author, .heard = heard, .ctx = d
	};
	d->contract_fill = contract_fill_new(&contract);
	d->neighbours = neighbours_new(&neighbours);
}

static void open_workers(struct daemon *d, int64_t born)
{
	struct embedding_setup embedding = {
		.dir = path_join(&d->arena, d->paths.index, "vectors"),
		.home = d->paths.home,
		.readers = d->readers,
		.writer = d->writer,
		.follow = d->follow,
		.current = d->current,
		.is_busy = others_work,
		.ctx = d,
	};
	d->embedding = embedding_new(&embedding);
	d->observer = observer_new(d->readers, d->writer, d->current);
	d->transcripts = transcripts_new(d->writer, d->readers, d->observer, d->current);
	struct catchup_setup setup = {
		.transcripts = d->transcripts,
		.readers = d->readers,
		.observer = d->observer,
		.user_home = d->paths.user_home,
		.since = born,
		.rest_mark = path_join(&d->arena, d->paths.run, "history-rest"),
	};
	d->catchup = catchup_new(&setup);
	const struct model_work_setup work = {
		.readers = d->readers,
		.writer = d->writer,
		.current = d->current,
		.observer = d->observer,
		.prompts = d->paths.prompts,
		.is_shared = !str_starts(d->url, "sqlite:"),
		.folder = d->paths.observer,
		.is_settled = is_settled,
		.ctx = d,
	};
	d->model_work = model_work_new(&work);
	observer_tell(d->observer, jobs_wait, d);
	d->injections = injections_new(d->writer);
	d->journal = journal_new(d->writer);
	struct folders_setup folders = {
		.readers = d->readers,
		.writer = d->writer,
		.follow = d->follow,
		.current = d->current,
		.user_home = d->paths.user_home,
		.memory_dir = d->is_foreground ? getenv("MEMORY_DIR") : NULL,
		.stop = &d->is_leaving,
	};
	d->folders = folders_new(&folders);
	d->keeper = keeper_new(d->readers, d->writer);
	if (db_is_postgres(d->url))
		open_shared(d);
	struct drain_hooks hooks = {
		.taken = hook_taken, .sweeping = sweeping, .swept = swept, .ctx = d
	};
	d->drain = drain_new(&d->paths, d->writer, &hooks);
	atomic_store(&d->has_workers, true);
	/* For what was committed meanwhile. */
	embedding_wake(d->embedding);
	keeper_poke(d->keeper);
}

static int open_doors(struct daemon *d, struct err *err)
{
	int fd;
	if (listen_open(d->paths.socket, &fd, err))
		return -1;
	d->http = http_new(d, fd, NULL);
	tcp_door_open(d);
	if (http_start(d->http, err) || (d->tcp && http_start(d->tcp, err)))
		return -1;
	d->timers = timers_new(d);
	return 0;
}

/*
 * Why it did not start, for the client to show. Another daemon's success is not overwritten by our
 * coming second.
 */
static void reason_write(struct daemon *d, const struct err *err)
{
	AUTO(buf_done) struct buf text = { 0 };
	if (!d->paths.start_error || err->code == ERR_BUSY)
		return;
	buf_printf(&text, "%s\n%s%s", err->text, err->hint, *err->hint ? "\n" : "");
	file_write(d->paths.start_error, buf_cstr(&text), text.len, 0600, NULL);
}

int daemon_open(struct daemon *d, const char *home, bool is_foreground, struct err *err)
{
	int64_t born = 0;
	*d = (struct daemon){ .lock = -1, .wake = { -1, -1 }, .is_foreground = is_foreground };
	d->started_at = clock_now();
	d->started_us = clock_mono_us();
	daemon_use(d);
	services_fill(d, &d->services);
	if (pipe2(d->wake, O_CLOEXEC | O_NONBLOCK))
		err_set(err, ERR_IO, "cannot make a pipe: %s", strerror(errno));
	else if (!open_files(d, home, err) && !open_store(d, &born, err)) {
		open_workers(d, born);
		if (!open_doors(d, err)) {
			unlink(d->paths.start_error);
			log_info("serving '%s', build %s, after %llu ms", d->paths.home,
				REMANENCE_BUILD_ID,
				(unsigned long long)(clock_mono_us() - d->started_us) / 1000);
			return 0;
		}
	}
	reason_write(d, err);
	log_error("cannot start: %s", err->text);
	daemon_close(d);
	return -1;
}

static void empty_pipe(int fd)
{
	char bytes[64];
	while (read(fd, bytes, sizeof(bytes)) > 0)
		;
}

void daemon_run(struct daemon *d)
{
	while (!atomic_load(&d->is_leaving)) {
		struct pollfd p = { .fd = d->wake[0], .events = POLLIN };
		if (poll(&p, 1, timers_run(d->timers)) > 0)
			empty_pipe(d->wake[0]);
	}
}

void daemon_close(struct daemon *d)
{
	atomic_store(&d->is_leaving, true);
	if (d->http) {
		unlink(d->paths.socket);
		http_quiesce(d->http);
		http_quiesce(d->tcp);
		follow_leave(d->follow);
	}
	neighbours_free(d->neighbours);
	http_close(d->http);
	tcp_door_close(d);
	folders_free(d->folders);
	model_work_leave(d->model_work);
	/* What it drains may speak of transcripts. */
	if (d->drain)
		drain_all(d->drain);
	drain_free(d->drain);
	catchup_free(d->catchup);
	observer_free(d->observer);
	model_work_free(d->model_work);
	atomic_store(&d->has_workers, false);
	keeper_leave(d->keeper);
	injections_free(d->injections);
	if (d->journal)
		journal_flush(d->journal, true);
	journal_free(d->journal);
	transcripts_free(d->transcripts);
	contract_fill_free(d->contract_fill);
	if (d->follow)
		follow_on_revoked(d->follow, NULL, NULL);
	embedding_free(d->embedding);
	follow_close(d->follow);
	readers_free(d->readers);
	writer_close(d->writer);
	keeper_free(d->keeper);
	timers_free(d->timers);
	current_close(d->current);
	if (d->lock >= 0) {
		log_info("left");
		close(d->lock);
	}
	log_close();
	for (int i = 0; i < 2; i++)
		if (d->wake[i] >= 0)
			close(d->wake[i]);
	arena_done(&d->arena);
}
