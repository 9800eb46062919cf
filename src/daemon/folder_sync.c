#include "daemon/folder_sync.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/blob_id.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "daemon/folder_walk.h"
#include "text/document.h"
#include "text/redact.h"

#define FEW_FILES 16 /* go before what an import writes */
#define READ_TRIES 4
#define READ_AGAIN_US 20000
#define TRUNCATED_MS 1500 /* an empty file so young is one that an editor is about to fill */
#define REDACTIONS "redactions"

struct syncing {
	const struct sync_room *room;
	const struct sync_call *call;
	struct arena *arena;
	struct sync_result *ret;
	size_t failed_cap;
	struct folder_walk walk;
	struct folder_file *known; /* ascending by path */
	size_t nknown;
	bool *is_seen;             /* by number in known */
	struct folder_file **gone; /* ascending by checksum; taken ones are NULL in is_taken */
	bool *is_taken;
	size_t ngone;
	enum lane lane;
	bool is_unsettled, is_ended;
	/* Works that the writer has. */
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	struct file_work *finished;
	size_t pending;
	struct err trouble; /* of the store: ends the sync */
};

enum file_action { FILE_PUT, FILE_MOVE, FILE_REMOVE, FILE_SEEN, FILE_FAILED };

struct file_work {
	struct work work;
	struct syncing *owner;
	struct file_work *next;
	enum file_action action;
	struct arena arena;
	const char *path, *why; /* MOVE: path is the new one */
	int64_t file, stamp;
	bool drops; /* REMOVE: there was something to drop */
	struct file_text text;
	uint64_t redactions;
	struct file_result result;
	int failed;
	struct err err;
};

/* --- On the writer's thread. --- */

static int file_run(struct desk *desk, struct work *work, struct err *err)
{
	struct file_work *w = (struct file_work *)work;
	const struct folder *f = w->owner->call->folder;

	if (w->redactions &&
		store_counter_add(desk->store, REDACTIONS, (int64_t)w->redactions, err))
		return -1;
	switch (w->action) {
	case FILE_PUT:
		return folder_file_put(desk->store, f, &w->text, &w->result, err);
	case FILE_MOVE:
		return folder_file_move(desk->store, w->file, w->path, w->stamp, err);
	case FILE_REMOVE:
		return folder_file_remove(desk->store, w->file, err);
	case FILE_SEEN:
		return folder_file_seen(desk->store, w->file, w->stamp, w->why, err);
	case FILE_FAILED:
		return folder_file_failed(desk->store, f, w->path, w->why, w->drops, err);
	}
	return 0;
}

static void file_done(struct work *work, int result, int64_t seq, const struct err *err)
{
	struct file_work *w = (struct file_work *)work;
	struct syncing *s = w->owner;

	w->failed = result;
	if (result)
		w->err = *err;
	pthread_mutex_lock(&s->mutex);
	w->next = s->finished;
	s->finished = w;
	s->pending--;
	pthread_cond_signal(&s->changed);
	pthread_mutex_unlock(&s->mutex);
}

/* --- On the caller's. --- */

static void tell(
	struct syncing *s, enum sync_said what, const char *path, int64_t n, const char *why)
{
	if (s->call->said && !s->is_ended && s->call->said(s->call->ctx, what, path, n, why))
		s->is_ended = true;
}

static void fail(struct syncing *s, const char *path, const char *why)
{
	struct sync_failed f = { arena_str(s->arena, path), arena_str(s->arena, why) };

	if (s->ret->nfailed < SYNC_FAILED_MAX)
		ARENA_PUSH(s->arena, s->ret->failed, s->ret->nfailed, s->failed_cap, f);
	s->ret->failures++;
	tell(s, SYNC_SAID_FAIL, path, 0, why);
}

static void take_finished(struct syncing *s, struct file_work *w)
{
	struct sync_result *r = s->ret;

	if (w->failed) {
		s->trouble = w->err;
	} else if (w->action == FILE_PUT) {
		r->synced++;
		r->written += w->result.written;
		tell(s, SYNC_SAID_SYNC, w->path, w->result.chunks, NULL);
	} else if (w->action == FILE_MOVE) {
		r->renamed++;
		tell(s, SYNC_SAID_MOVE, w->path, 0, w->why);
	} else if (w->action == FILE_REMOVE && w->drops) {
		r->removed++;
		tell(s, SYNC_SAID_GONE, w->path, 0, NULL);
	}
	arena_done(&w->arena);
	free(w);
}

/* Waits until at most `most` works are with the writer, and takes what came back. */
static void settle(struct syncing *s, size_t most)
{
	struct file_work *list;

	pthread_mutex_lock(&s->mutex);
	if (s->pending > most)
		writer_hurry(s->room->writer, true);
	bool has_waited = s->pending > most;
	while (s->pending > most)
		pthread_cond_wait(&s->changed, &s->mutex);
	if (has_waited)
		writer_hurry(s->room->writer, false);
	list = s->finished;
	s->finished = NULL;
	pthread_mutex_unlock(&s->mutex);
	/* The last came first. */
	struct file_work *in_order = NULL;
	while (list) {
		struct file_work *next = list->next;
		list->next = in_order;
		in_order = list;
		list = next;
	}
	while (in_order) {
		struct file_work *next = in_order->next;
		take_finished(s, in_order);
		in_order = next;
	}
}

static struct file_work *work_new(struct syncing *s, enum file_action action, const char *path)
{
	struct file_work *w = mem_alloc(sizeof(*w));

	w->work = (struct work){ .lane = s->lane, .run = file_run, .done = file_done };
	w->owner = s;
	w->action = action;
	w->path = arena_str(&w->arena, path);
	return w;
}

static void hand_in(struct syncing *s, struct file_work *w)
{
	settle(s, FOLDER_WINDOW - 1);
	w->work.bytes = w->arena.used + sizeof(*w);
	pthread_mutex_lock(&s->mutex);
	s->pending++;
	pthread_mutex_unlock(&s->mutex);
	if (!writer_put(s->room->writer, &w->work, &w->err))
		return;
	w->failed = -1;
	pthread_mutex_lock(&s->mutex);
	s->pending--;
	pthread_mutex_unlock(&s->mutex);
	take_finished(s, w);
}

/* --- Reading a file. --- */

enum reading { READ_DONE, READ_GONE, READ_FAILED, READ_TOO_LARGE, READ_UNSETTLED };

static enum reading read_once(
	const char *path, struct buf *text, struct stat *after, struct err *err)
{
	struct stat before;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0) {
		err_set(err, ERR_IO, "%s",
			errno == EACCES ? "it may not be read (permissions)" : strerror(errno));
		return errno == ENOENT || errno == ENOTDIR ? READ_GONE : READ_FAILED;
	}
	enum reading result = READ_DONE;
	if (fstat(fd, &before) || !S_ISREG(before.st_mode)) {
		err_set(err, ERR_IO, "it is no regular file");
		result = READ_FAILED;
	} else if ((uint64_t)before.st_size > FOLDER_FILE_MAX) {
		err_set(err, ERR_TOO_LARGE, "it has %llu MB, more than the %u MB that are read",
			(unsigned long long)before.st_size >> 20, FOLDER_FILE_MAX >> 20);
		result = READ_TOO_LARGE;
	}
	buf_cut(text, 0);
	while (result == READ_DONE && buf_reserve(text, ARENA_BLOCK)) {
		ssize_t n = read(fd, text->data + text->len, ARENA_BLOCK);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			err_set(err, ERR_IO, "%s", strerror(errno));
			result = READ_FAILED;
		}
		if (n <= 0)
			break;
		text->len += (size_t)n;
		text->data[text->len] = '\0';
	}
	if (result == READ_DONE &&
		(fstat(fd, after) || folder_stamp(after) != folder_stamp(&before) ||
			(uint64_t)after->st_size != text->len))
		result = READ_UNSETTLED;
	close(fd);
	return result;
}

static enum reading read_file(
	const char *path, struct buf *text, struct stat *after, struct err *err)
{
	enum reading result = READ_UNSETTLED;

	for (int i = 0; i < READ_TRIES && result == READ_UNSETTLED; i++) {
		if (i)
			usleep(READ_AGAIN_US);
		result = read_once(path, text, after, err);
	}
	return result;
}

/* --- From a text to chunks. --- */

static const char *redacted(struct file_work *w, const struct redactor *r, const char *text)
{
	if (!text)
		return NULL;
	struct str s = redact(r, &w->arena, str_of(text), &w->redactions);
	return s.p == text ? text : arena_dup(&w->arena, s.p, s.n);
}

/* What the front matter says besides title and tags, to be found with the file's first chunk. */
static const char *notes_of(struct arena *a, const struct front_matter *f)
{
	AUTO(buf_done) struct buf b = { 0 };

	for (size_t i = 0; i < f->n; i++)
		if (f->entries[i].value != f->title)
			buf_printf(&b, "%s%s: %s", b.len ? "\n" : "", f->entries[i].name,
				f->entries[i].value);
	return b.len ? arena_str(a, buf_cstr(&b)) : NULL;
}

static int64_t date_of(const struct front_matter *f, int64_t otherwise)
{
	int64_t at = f->date ? clock_parse_iso(f->date) : 0;

	if (!at && (!f->date || !clock_parse_human(f->date, clock_now(), false, &at)))
		return otherwise;
	return at > 0 ? at : otherwise;
}

static void text_make(struct syncing *s, struct file_work *w, struct buf *content, int64_t mtime)
{
	struct arena *a = &w->arena;
	const struct redactor *r = current_redactor(s->room->current);
	struct file_text *t = &w->text;
	struct document d;

	document_blank_private(content->data, content->len);
	struct str text = utf8_repair(a, (struct str){ content->data, content->len });
	document_parse(a, text,
		(size_t)settings_int(current_settings(s->room->current), SET_CHUNK_CHARS), &d);
	struct chunk_text *chunks = ARENA_ARRAY(a, struct chunk_text, d.n + 1);
	for (size_t i = 0; i < d.n; i++) {
		const struct document_chunk *c = &d.chunks[i];
		chunks[i] = (struct chunk_text){
			.section = redacted(w, r, c->section),
			.path = redacted(w, r, c->path),
			.body = redacted(w, r, arena_dup(a, c->text.p, c->text.n)),
			.index = (int64_t)c->index,
			.first_line = (int64_t)c->first_line,
			.last_line = (int64_t)c->last_line,
		};
	}
	t->path = w->path;
	t->at = date_of(&d.front, mtime);
	t->title = redacted(w, r, d.title);
	t->metadata = redacted(w, r, front_matter_json(a, &d.front));
	t->tags = redacted(w, r, json_list(a, d.front.tags, d.front.ntags));
	t->notes = redacted(w, r, notes_of(a, &d.front));
	t->chunks = chunks;
	t->n = d.n;
}

/* --- Deciding. --- */

static int known_order(const void *key, const void *row)
{
	return strcmp(key, ((const struct folder_file *)row)->path);
}

static struct folder_file *known_find(struct syncing *s, const char *path)
{
	return s->nknown ? bsearch(path, s->known, s->nknown, sizeof(*s->known), known_order)
			 : NULL;
}

static int gone_order(const void *x, const void *y)
{
	const struct folder_file *const *a = x, *const *b = y;
	int order = strcmp((*a)->checksum, (*b)->checksum);

	return order ? order : strcmp((*a)->path, (*b)->path);
}

/* A file of the same content that is not where it was. */
static struct folder_file *gone_take(struct syncing *s, const char *checksum)
{
	size_t lo = 0, hi = s->ngone;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		if (strcmp(s->gone[mid]->checksum, checksum) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < s->ngone && !strcmp(s->gone[lo]->checksum, checksum); lo++) {
		if (s->is_taken[lo])
			continue;
		s->is_taken[lo] = true;
		return s->gone[lo];
	}
	return NULL;
}

/* Below a folder that could not be read, or beyond the ceilings, files may still be there. */
static bool may_be_there(const struct syncing *s, const char *path)
{
	if (s->walk.is_cut)
		return true;
	for (size_t i = 0; i < s->walk.nfailed; i++) {
		const char *failed = s->walk.failed[i].path;
		size_t n = strlen(failed);
		if (!strncmp(path, failed, n) && (path[n] == '/' || !path[n]))
			return true;
	}
	return false;
}

static void find_gone(struct syncing *s)
{
	size_t at = 0;

	s->is_seen = ARENA_ARRAY(s->arena, bool, s->nknown + 1);
	s->gone = ARENA_ARRAY(s->arena, struct folder_file *, s->nknown + 1);
	s->is_taken = ARENA_ARRAY(s->arena, bool, s->nknown + 1);
	for (size_t i = 0; i < s->nknown; i++) {
		while (at < s->walk.n && strcmp(s->walk.files[at].path, s->known[i].path) < 0)
			at++;
		s->is_seen[i] =
			(at < s->walk.n && !strcmp(s->walk.files[at].path, s->known[i].path)) ||
			may_be_there(s, s->known[i].path);
		if (!s->is_seen[i] && s->known[i].checksum)
			s->gone[s->ngone++] = &s->known[i];
	}
	if (s->ngone)
		qsort(s->gone, s->ngone, sizeof(s->gone[0]), gone_order);
}

static void refuse(struct syncing *s, const char *path, const struct folder_file *row,
	const char *why, bool drops)
{
	fail(s, path, why);
	if (row && row->error && !strcmp(row->error, why) && (!drops || !row->checksum))
		return;
	log_info("'%s' of the namespace '%s' was left out: %s", path, s->call->folder->namespace,
		why);
	struct file_work *w = work_new(s, FILE_FAILED, path);
	w->why = arena_str(&w->arena, why);
	w->drops = drops;
	hand_in(s, w);
}

static void skip(struct syncing *s, const struct walked_file *f, const struct folder_file *row,
	int64_t stamp)
{
	s->ret->skipped++;
	tell(s, SYNC_SAID_SKIP, f->path, 0, NULL);
	if (row->stamp == stamp && !row->error)
		return;
	struct file_work *w = work_new(s, FILE_SEEN, f->path);
	w->file = row->id;
	w->stamp = stamp;
	hand_in(s, w);
}

static void put(struct syncing *s, const struct walked_file *f, struct buf *content,
	const char *checksum, int64_t stamp)
{
	struct file_work *w = work_new(s, FILE_PUT, f->path);

	w->text.checksum = arena_str(&w->arena, checksum);
	w->text.stamp = stamp;
	text_make(s, w, content, f->mtime);
	hand_in(s, w);
}

static void move(struct syncing *s, const struct walked_file *f, const struct folder_file *from,
	int64_t stamp)
{
	struct file_work *w = work_new(s, FILE_MOVE, f->path);

	w->file = from->id;
	w->stamp = stamp;
	w->why = arena_str(&w->arena, from->path);
	hand_in(s, w);
}

/* A content that was read. */
static void decide(struct syncing *s, const struct walked_file *f, struct folder_file *row,
	struct buf *content, const struct stat *st)
{
	char checksum[BLOB_ID_SIZE];
	int64_t now = clock_now();
	bool is_old = f->changed_at < now - FOLDER_SETTLED_MS;
	int64_t stamp = is_old ? folder_stamp(st) : 0;
	struct folder_file *from;

	if (!content->len && row && row->chunks && s->call->is_quick &&
		f->mtime > now - TRUNCATED_MS) {
		s->is_unsettled = true;
		return;
	}
	blob_id(content->len ? content->data : "", content->len, checksum);
	bool is_same = row && row->checksum && !strcmp(row->checksum, checksum);
	if (is_same && !s->call->is_forced)
		skip(s, f, row, stamp);
	else if (!row && !s->call->is_forced && (from = gone_take(s, checksum)))
		move(s, f, from, stamp);
	else
		put(s, f, content, checksum, stamp);
}

static void take_file(struct syncing *s, const struct walked_file *f, struct buf *content)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct folder_file *row = known_find(s, f->path);
	struct stat st;
	struct err why = { 0 };

	if (s->call->is_quick && !s->call->is_forced && row && row->stamp == f->stamp) {
		s->ret->skipped++;
		tell(s, SYNC_SAID_SKIP, f->path, 0, NULL);
		return;
	}
	switch (read_file(path_join(&a, s->call->folder->root, f->path), content, &st, &why)) {
	case READ_DONE:
		decide(s, f, row, content, &st);
		break;
	case READ_GONE: /* the next look removes it */
	case READ_UNSETTLED:
		s->is_unsettled = true;
		break;
	case READ_FAILED:
		refuse(s, f->path, row, why.text, false);
		break;
	case READ_TOO_LARGE:
		refuse(s, f->path, row, why.text, true);
		break;
	}
}

static void remove_gone(struct syncing *s)
{
	for (size_t i = 0; i < s->ngone; i++)
		s->is_seen[s->gone[i] - s->known] = s->is_taken[i];
	for (size_t i = 0; i < s->nknown && !s->is_ended; i++) {
		if (s->is_seen[i])
			continue;
		struct file_work *w = work_new(s, FILE_REMOVE, s->known[i].path);
		w->file = s->known[i].id;
		w->drops = s->known[i].checksum;
		hand_in(s, w);
	}
}

static int known_read(struct syncing *s, struct err *err)
{
	struct reader *reader;

	if (readers_lend(s->room->readers, &reader, err))
		return -1;
	int rc = folder_files(
		reader->store, s->arena, s->call->folder->id, &s->known, &s->nknown, err);
	readers_return(s->room->readers, reader);
	return rc;
}

struct marked {
	int64_t folder, at;
	const char *error;
};

static int mark_run(struct desk *desk, void *ctx, struct err *err)
{
	struct marked *m = ctx;

	return folder_synced(desk->store, m->folder, m->at, m->error, err);
}

static int sync_files(struct syncing *s, struct err *err)
{
	AUTO(buf_done) struct buf content = { .max = FOLDER_FILE_MAX + ARENA_BLOCK };
	size_t changed = 0;

	for (size_t i = 0; i < s->walk.n && changed <= FEW_FILES; i++) {
		const struct folder_file *row = known_find(s, s->walk.files[i].path);
		changed += !row || row->stamp != s->walk.files[i].stamp;
	}
	s->lane = changed > FEW_FILES ? LANE_IMPORT : LANE_REQUEST;
	for (size_t i = 0; i < s->walk.nfailed; i++)
		refuse(s, s->walk.failed[i].path, known_find(s, s->walk.failed[i].path),
			s->walk.failed[i].reason, false);
	for (size_t i = 0; i < s->walk.n && !s->is_ended && !s->trouble.code; i++) {
		if (atomic_load(s->room->stop))
			s->is_ended = true;
		else
			take_file(s, &s->walk.files[i], &content);
	}
	/* A move must have been made before what it left is looked for. */
	settle(s, 0);
	if (!s->is_ended && !s->trouble.code)
		remove_gone(s);
	settle(s, 0);
	if (s->trouble.code) {
		*err = s->trouble;
		return -1;
	}
	return s->is_ended ? err_set(err, ERR_UNAVAILABLE, "the sync of '%s' was broken off",
				     s->call->folder->namespace)
			   : 0;
}

static int sync_run(struct syncing *s, struct err *err)
{
	struct marked mark = { .folder = s->call->folder->id };

	if (known_read(s, err))
		return -1;
	if (folder_walk(&s->walk, err)) {
		const char *known = s->call->folder->error;
		mark.error = err->text;
		if (!known || strcmp(known, err->text))
			writer_run(s->room->writer, LANE_REQUEST, mark_run, &mark, NULL);
		return -1;
	}
	s->ret->files += (int64_t)s->walk.n;
	if (s->call->total)
		s->call->total(s->call->ctx, s->walk.n);
	find_gone(s);
	if (sync_files(s, err))
		return -1;
	mark.at = clock_now();
	if (s->walk.is_cut)
		mark.error = "it holds more files than are followed";
	return writer_run(s->room->writer, LANE_REQUEST, mark_run, &mark, err);
}

int folder_sync(const struct sync_room *room, struct arena *a, const struct sync_call *call,
	struct sync_result *ret, bool *ret_is_unsettled, struct err *err)
{
	struct syncing s = {
		.room = room,
		.call = call,
		.arena = a,
		.ret = ret,
		.failed_cap = ret->nfailed,
		.walk = { .arena = a,
			.root = call->folder->root,
			.globs = call->folder->globs,
			.entered = call->entered,
			.ctx = call->ctx },
	};

	pthread_mutex_init(&s.mutex, NULL);
	pthread_cond_init(&s.changed, NULL);
	int rc = sync_run(&s, err);
	*ret_is_unsettled = s.is_unsettled;
	pthread_cond_destroy(&s.changed);
	pthread_mutex_destroy(&s.mutex);
	return rc;
}
