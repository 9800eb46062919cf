#include "daemon/import.h"

#include <string.h>

#include "agents/agent.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "daemon/walk.h"
#include "text/hash.h"

#define TRANSCRIPT_ENDING ".jsonl"

/* Sessions met, by hash, to be counted once. */
struct session_set {
	uint64_t *hashes; /* open addressing; 0 is free */
	size_t n, size;
};

struct importing {
	const struct import_room *room;
	struct op_call *call;
	const struct import_request *q;
	struct import_result *ret;
	size_t skipped_cap;
	uint64_t skipped_unnamed;
	struct session_set sessions;
	const struct found_file *file; /* parsed now */
	/* Parsed and on their way to the store, oldest first. */
	struct begun {
		const struct found_file *file;
		struct transcript_call call;
		struct reading *reading;
	} begun[TRANSCRIPT_WINDOW];
	size_t first, nbegun;
	int64_t files_done, files_total;
	uint64_t bytes_done, bytes_total, started_us, told_us;
	bool is_ended; /* the caller went away */
};

static bool set_add(struct session_set *s, uint64_t hash)
{
	static const size_t first_size = 256;
	hash = hash ? hash : 1;
	if (2 * s->n >= s->size) {
		struct session_set bigger = { .size = s->size ? s->size * 2 : first_size };
		bigger.hashes = mem_alloc(bigger.size * sizeof(*bigger.hashes));
		for (size_t i = 0; i < s->size; i++)
			if (s->hashes[i])
				set_add(&bigger, s->hashes[i]);
		free(s->hashes);
		*s = bigger;
	}
	size_t i = hash & (s->size - 1);
	for (; s->hashes[i]; i = (i + 1) & (s->size - 1))
		if (s->hashes[i] == hash)
			return false;
	s->hashes[i] = hash;
	s->n++;
	return true;
}

static int64_t eta_ms(const struct importing *im)
{
	uint64_t spent = (clock_mono_us() - im->started_us) / 1000;
	if (!im->bytes_done || im->bytes_done >= im->bytes_total)
		return 0;
	return (int64_t)((double)spent * (double)(im->bytes_total - im->bytes_done) /
			 (double)im->bytes_done);
}

/*
 * Tells the caller how far it is, at most every IMPORT_PROGRESS_MS. Non-zero: nobody listens any
 * more.
 */
static int tell(struct importing *im, bool at_once)
{
	uint64_t now = clock_mono_us();
	if (!im->call->progress || im->is_ended)
		return im->is_ended;
	if (!at_once && now - im->told_us < IMPORT_PROGRESS_MS * 1000ull)
		return 0;
	im->told_us = now;
	AUTO(buf_done) struct buf line = { 0 };
	struct jw w = { .out = &line };
	jw_object(&w, NULL);
	jw_object(&w, "progress");
	jw_int(&w, "files_done", im->files_done);
	jw_int(&w, "files_total", im->files_total);
	jw_int(&w, "bytes_done", (int64_t)im->bytes_done);
	jw_int(&w, "bytes_total", (int64_t)im->bytes_total);
	jw_int(&w, "eta_ms", eta_ms(im));
	jw_end(&w, '}');
	jw_end(&w, '}');
	im->is_ended = im->call->progress(im->call, buf_cstr(&line)) != 0;
	return im->is_ended;
}

static void skip(struct importing *im, const char *path, const char *reason)
{
	struct arena *a = im->call->arena;
	if (im->ret->nskipped == IMPORT_SKIPPED_MAX) {
		im->skipped_unnamed++;
		return;
	}
	struct import_skip s = { arena_str(a, path), arena_str(a, reason) };
	ARENA_PUSH(a, im->ret->skipped, im->ret->nskipped, im->skipped_cap, s);
}

static int on_read(void *ctx, uint64_t bytes)
{
	struct importing *im = ctx;
	im->bytes_done += bytes;
	return tell(im, false);
}

static void on_seen(void *ctx, enum agent_id agent, const char *agent_session)
{
	struct importing *im = ctx;
	uint64_t hash = hash64(agent_session, strlen(agent_session)) + (uint64_t)agent;
	if (!set_add(&im->sessions, hash))
		return;
	im->ret->sessions++;
	im->ret->agent_sessions[agent]++;
}

static void on_bad_line(void *ctx, uint64_t number, const char *reason)
{
	struct importing *im = ctx;
	skip(im,
		arena_printf(
			im->call->arena, "%s:%llu", im->file->path, (unsigned long long)number),
		reason);
}

/* Waits for the oldest reading. -1 only when the whole import has to end. */
static int finish_oldest(struct importing *im, struct err *err)
{
	struct begun *b = &im->begun[im->first];
	struct transcript_result result;
	struct err own = { 0 };
	im->first = (im->first + 1) % TRANSCRIPT_WINDOW;
	im->nbegun--;
	im->file = b->file;
	int failed = transcript_finish(b->reading, &result, &own);
	im->files_done++;
	im->ret->files += result.is_read;
	im->ret->bytes += result.bytes;
	im->ret->events += result.events;
	im->ret->new_events += result.new_events;
	if (result.new_events && !im->q->is_dry)
		observer_poke(im->room->observer);
	if (!failed)
		return 0;
	if (own.code == ERR_STORE || im->is_ended || atomic_load(im->room->stop)) {
		*err = own;
		return -1;
	}
	skip(im, b->file->path, own.text);
	return 0;
}

static int finish_all(struct importing *im, struct err *err)
{
	int result = 0;
	while (im->nbegun)
		if (finish_oldest(im, err))
			result = -1;
	return result;
}

/* Parses one file; makes room in the window first. */
static int import_file(struct importing *im, const struct found_file *f, struct err *err)
{
	if (im->nbegun == TRANSCRIPT_WINDOW && finish_oldest(im, err))
		return -1;
	struct begun *b = &im->begun[(im->first + im->nbegun) % TRANSCRIPT_WINDOW];
	uint64_t before = im->bytes_done;
	b->file = im->file = f;
	b->call = (struct transcript_call){
		.path = f->path,
		.agent = agent_by_id(im->q->agent),
		.agent_only = im->q->agent != AGENT_NONE && !f->is_named,
		.is_dry = im->q->is_dry,
		.stop = im->room->stop,
		.read = on_read,
		.seen = on_seen,
		.bad_line = on_bad_line,
		.ctx = im,
	};
	b->reading = transcript_begin(im->room->transcripts, &b->call, im->nbegun == 0);
	if (!b->reading) {
		/* Somebody else reads it: waiting with readings in hand could be a deadlock. */
		struct begun again = *b;
		if (finish_all(im, err))
			return -1;
		b = &im->begun[im->first];
		*b = again;
		b->reading = transcript_begin(im->room->transcripts, &b->call, true);
	}
	im->nbegun++;
	im->bytes_done = MAX(before + f->size, im->bytes_done);
	return im->is_ended ? finish_all(im, err) : 0;
}

void import_own_folders(struct walk *w, const char *user_home, enum agent_id agent)
{
	for (size_t i = 0; agents[i]; i++) {
		char **dirs = NULL;
		size_t n = 0;
		if (!agents[i]->transcript_dirs || (agent != AGENT_NONE && agents[i]->id != agent))
			continue;
		agents[i]->transcript_dirs(w->arena, user_home, &dirs, &n);
		for (size_t k = 0; k < n; k++)
			if (file_is_dir(dirs[k]))
				walk_add(w, dirs[k]);
	}
}

/* What there is to read. Names given that lead nowhere are an error when nothing else was given. */
static int find_files(struct importing *im, struct walk *w, struct err *err)
{
	const struct import_request *q = im->q;
	const char *missing = NULL;
	size_t nmissing = 0;
	for (size_t i = 0; i < q->n; i++) {
		const char *path =
			path_clean(w->arena, im->call->cwd ? im->call->cwd : "/", q->paths[i]);
		if (!file_exists(path)) {
			missing = path;
			nmissing++;
		}
		walk_add(w, path);
	}
	if (!q->n)
		import_own_folders(w, im->room->user_home, q->agent);
	walk_done(w);
	if (q->n && nmissing == q->n)
		return err_set(err, ERR_NOT_FOUND, "there is no file or folder '%s'", missing);
	walk_sort(w);
	for (size_t i = 0; i < w->npassed; i++)
		skip(im, w->passed[i].path, w->passed[i].reason);
	return 0;
}

/* An import of limited patience leaves what it did not begin to the background. */
static bool is_out_of_patience(const struct importing *im)
{
	return im->q->patience_ms &&
	       clock_mono_us() - im->started_us > (uint64_t)im->q->patience_ms * 1000;
}

static void leave_to_background(struct importing *im, const struct walk *w, size_t from)
{
	const char **paths = ARENA_ARRAY(im->call->arena, const char *, w->n - from);
	for (size_t i = from; i < w->n; i++)
		paths[i - from] = w->files[i].path;
	catchup_rest(im->room->catchup, paths, w->n - from);
	im->ret->files_left = (int64_t)(w->n - from);
}

static int read_files(struct importing *im, const struct walk *w, struct err *err)
{
	for (size_t i = 0; i < w->n; i++) {
		im->bytes_total += w->files[i].size;
		im->files_total++;
	}
	tell(im, true);
	int result = 0;
	for (size_t i = 0; i < w->n && !result; i++) {
		if (is_out_of_patience(im)) {
			leave_to_background(im, w, i);
			break;
		}
		result = import_file(im, &w->files[i], err);
	}
	struct err late = { 0 };
	if (finish_all(im, result ? &late : err))
		result = -1;
	return result;
}

static void keep_since(struct walk *w, int64_t since)
{
	size_t kept = 0;
	for (size_t i = 0; i < w->n; i++)
		if (w->files[i].mtime >= since)
			w->files[kept++] = w->files[i];
	w->n = kept;
}

int import_run(const struct import_room *room, struct op_call *call, const struct import_request *q,
	struct import_result *ret, struct err *err)
{
	struct importing im = {
		.room = room, .call = call, .q = q, .ret = ret, .started_us = clock_mono_us()
	};
	struct walk w = { .arena = call->arena, .ending = TRANSCRIPT_ENDING };
	uint64_t made = observer_made(room->observer);
	*ret = (struct import_result){ 0 };
	if (find_files(&im, &w, err))
		return -1;
	keep_since(&w, q->since);
	int result = read_files(&im, &w, err);
	free(im.sessions.hashes);
	if (im.skipped_unnamed)
		log_warn("the import passed over %llu further lines or files",
			(unsigned long long)im.skipped_unnamed);
	uint64_t read_us = clock_mono_us();
	if (result || q->is_dry)
		return result;
	observer_wait(room->observer, room->stop);
	uint64_t observed_us = clock_mono_us();
	follow_wait_long(room->follow, writer_seq(room->writer), room->stop);
	log_info("import of %llu bytes: read in %llu ms, observed %llu ms later, indexed %llu ms "
		 "later",
		(unsigned long long)ret->bytes,
		(unsigned long long)(read_us - im.started_us) / 1000,
		(unsigned long long)(observed_us - read_us) / 1000,
		(unsigned long long)(clock_mono_us() - observed_us) / 1000);
	ret->memories = (int64_t)(observer_made(room->observer) - made);
	tell(&im, true);
	return 0;
}
