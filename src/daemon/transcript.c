#include "daemon/transcript.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "daemon/lines.h"
#include "daemon/pairs.h"
#include "daemon/spool_file.h"
#include "observe/intake.h"
#include "text/hash.h"

/*
 * Pieces are handed over without waiting for them, so that parsing and writing overlap; when one
 * fails, those behind it refuse themselves (is_failed), since storing a later offset would lose the
 * earlier events. The reading then begins again at what is stored.
 */

#define SIGNATURE_MAX 64
#define BAD_LINES_LOGGED 20 /* of one file in one reading */
#define STOP_LOOK_US 100000

struct transcripts {
	struct writer *writer;
	struct readers *readers;
	struct observer *observer;
	struct current *current;
	pthread_mutex_t mutex;
	pthread_cond_t freed;
	const char *active[TRANSCRIPT_ACTIVE_MAX];
};

struct reading {
	struct transcripts *shared;
	const struct transcript_call *call;
	struct transcript_result result;
	int outcome; /* of the first attempt's parsing */
	struct err err;
	int fd;
	struct stat st;
	const struct agent *agent;
	struct transcript_reader *reader;
	uint64_t offset, lines;
	int64_t bad_lines; /* of the file since its start */
	char signature[SIGNATURE_MAX];
	struct piece *piece;
	uint64_t bad_logged;
	/* Shared with the writer thread. */
	pthread_mutex_t mutex;
	pthread_cond_t landed;
	size_t in_flight;
	bool is_parsed; /* the last piece is on its way */
	bool is_failed;
	struct err failure;
	int64_t new_events;
};

/* Captures of some lines, on their way to the writer. */
struct piece {
	struct work work;
	struct reading *reading;
	struct arena arena;
	struct capture *captures;
	size_t n, cap;
	struct pairs pairs;
	struct transcript row;
	int64_t sessions[8]; /* touched; more are touched as session 0 of none */
	size_t nsessions;
	int64_t new_events, skipped;
	uint64_t redactions;
};

/* Is nobody reading it? Then it is ours. With the mutex held. */
static bool path_take(struct transcripts *t, const char *path)
{
	size_t place = TRANSCRIPT_ACTIVE_MAX;
	for (size_t i = 0; i < TRANSCRIPT_ACTIVE_MAX; i++) {
		if (!t->active[i])
			place = i;
		else if (!strcmp(t->active[i], path))
			return false;
	}
	if (place == TRANSCRIPT_ACTIVE_MAX)
		return false;
	t->active[place] = path;
	return true;
}

static bool path_claim(struct transcripts *t, const char *path, bool may_wait)
{
	pthread_mutex_lock(&t->mutex);
	bool is_ours = path_take(t, path);
	while (!is_ours && may_wait) {
		pthread_cond_wait(&t->freed, &t->mutex);
		is_ours = path_take(t, path);
	}
	pthread_mutex_unlock(&t->mutex);
	return is_ours;
}

static void path_release(struct transcripts *t, const char *path)
{
	pthread_mutex_lock(&t->mutex);
	for (size_t i = 0; i < TRANSCRIPT_ACTIVE_MAX; i++)
		if (t->active[i] == path)
			t->active[i] = NULL;
	pthread_cond_broadcast(&t->freed);
	pthread_mutex_unlock(&t->mutex);
}

static bool is_failed(struct reading *r)
{
	pthread_mutex_lock(&r->mutex);
	bool failed = r->is_failed;
	pthread_mutex_unlock(&r->mutex);
	return failed;
}

static void note_failure(struct reading *r, const struct err *err)
{
	pthread_mutex_lock(&r->mutex);
	if (!r->is_failed)
		r->failure = *err;
	r->is_failed = true;
	pthread_mutex_unlock(&r->mutex);
}

static void piece_touches(struct piece *p, int64_t session)
{
	for (size_t i = 0; i < p->nsessions; i++)
		if (p->sessions[i] == session)
			return;
	if (session && p->nsessions < ARRAY_LEN(p->sessions))
		p->sessions[p->nsessions++] = session;
}

static bool is_of_the_store(const struct err *err)
{
	return err->code == ERR_STORE || err->code == ERR_BUSY || err->code == ERR_IO;
}

static int piece_run(struct desk *desk, struct work *work, struct err *err)
{
	struct piece *p = (struct piece *)work;
	if (is_failed(p->reading))
		return err_set(
			err, ERR_STORE, "an earlier piece of the transcript could not be stored");
	struct intake_result total = { 0 };
	p->skipped = 0;
	for (size_t i = 0; i < p->n; i++) {
		struct err own = { 0 };
		if (!intake_take(desk->intake, desk->store, desk->arena, &p->captures[i], NULL,
			    &total, &own)) {
			piece_touches(p, total.session);
			continue;
		}
		if (is_of_the_store(&own)) {
			*err = own;
			note_failure(p->reading, err);
			return -1;
		}
		p->skipped++;
	}
	p->row.bad_lines += p->skipped;
	p->new_events = (int64_t)total.new_events;
	/* not what was redacted when it came by hook */
	int64_t redactions = total.new_events ? (int64_t)total.redactions : 0;
	if ((redactions && store_counter_add(desk->store, "redactions", redactions, err)) ||
		store_transcript_put(desk->store, &p->row, err)) {
		note_failure(p->reading, err);
		return -1;
	}
	return 0;
}

static void piece_done(struct work *work, int result, int64_t seq, const struct err *err)
{
	struct piece *p = (struct piece *)work;
	struct reading *r = p->reading;
	for (size_t i = 0; !result && i < p->nsessions; i++)
		observer_touch(r->shared->observer, p->sessions[i]);
	if (result)
		note_failure(r, err);
	pthread_mutex_lock(&r->mutex);
	if (!result)
		r->new_events += p->new_events;
	r->in_flight--;
	bool is_whole = r->is_parsed && !r->in_flight && r->new_events;
	struct observer *observer = r->shared->observer;
	pthread_cond_signal(&r->landed);
	pthread_mutex_unlock(&r->mutex);
	/* The reading may be over and gone by now. Its turns need not wait for other files. */
	if (is_whole)
		observer_poke(observer);
	arena_done(&p->arena);
	free(p);
}

static struct piece *piece_new(struct reading *r)
{
	struct piece *p = mem_alloc(sizeof(*p));
	p->reading = r;
	p->work = (struct work){ .lane = LANE_IMPORT, .run = piece_run, .done = piece_done };
	return p;
}

static void piece_fill_row(struct reading *r, struct piece *p)
{
	AUTO(buf_done) struct buf state = { 0 };
	r->agent->reader_save(r->reader, &state);
	p->row = (struct transcript){
		.path = arena_str(&p->arena, r->call->path),
		.agent = r->agent->id,
		.offset = r->offset,
		.lines = r->lines,
		.size = r->st.st_size,
		.mtime = (int64_t)r->st.st_mtim.tv_sec * 1000 + r->st.st_mtim.tv_nsec / 1000000,
		.inode = (int64_t)r->st.st_ino,
		.state = arena_dup(&p->arena, buf_cstr(&state), state.len),
		.head_hash = arena_str(&p->arena, r->signature),
		.bad_lines = r->bad_lines,
	};
}

/* Hands the piece at hand to the writer. */
static int piece_send(struct reading *r, struct err *err)
{
	struct piece *p = r->piece;
	r->piece = NULL;
	if (!p)
		return 0;
	if (r->call->is_dry) {
		arena_done(&p->arena);
		free(p);
		return 0;
	}
	piece_fill_row(r, p);
	p->work.bytes = p->arena.used;
	pthread_mutex_lock(&r->mutex);
	r->in_flight++;
	pthread_mutex_unlock(&r->mutex);
	if (!writer_put(r->shared->writer, &p->work, err))
		return 0;
	pthread_mutex_lock(&r->mutex);
	r->in_flight--;
	pthread_mutex_unlock(&r->mutex);
	arena_done(&p->arena);
	free(p);
	return -1;
}

static void wait_landed(struct reading *r)
{
	pthread_mutex_lock(&r->mutex);
	bool has_to_wait = r->in_flight > 0;
	pthread_mutex_unlock(&r->mutex);
	if (!has_to_wait)
		return;
	writer_hurry(r->shared->writer, true);
	pthread_mutex_lock(&r->mutex);
	while (r->in_flight)
		pthread_cond_wait(&r->landed, &r->mutex);
	pthread_mutex_unlock(&r->mutex);
	writer_hurry(r->shared->writer, false);
}

static void bad_line(struct reading *r, uint64_t number, const char *reason)
{
	r->bad_lines++;
	r->result.bad_lines++;
	if (r->bad_logged++ < BAD_LINES_LOGGED)
		log_warn("line %llu of '%s' is passed over: %s", (unsigned long long)number,
			r->call->path, reason);
	if (r->call->bad_line)
		r->call->bad_line(r->call->ctx, number, reason);
}

static void take_capture(struct reading *r, struct capture *c, uint64_t cut)
{
	struct piece *p = r->piece;
	capture_note_cut(c, cut);
	if (!c->session.agent_session)
		return;
	if (c->nevents && r->call->seen)
		r->call->seen(r->call->ctx, c->session.agent, c->session.agent_session);
	r->result.events += (int64_t)c->nevents;
	if (r->call->is_dry)
		return;
	if (r->shared->current)
		intake_clean(current_settings(r->shared->current),
			current_redactor(r->shared->current), &p->arena, c);
	if (c->is_clean && pairs_join(&p->pairs, c))
		return;
	pairs_add(&p->pairs, &p->arena, c);
	ARENA_PUSH(&p->arena, p->captures, p->n, p->cap, *c);
}

/* Parses a line into the piece at hand. False for a torn line that is not complete yet. */
static bool take_line(struct reading *r, const struct line *line)
{
	AUTO(json_free_ptr) json *parsed = NULL;
	struct err err = { 0 };
	struct capture c = { 0 };
	if (line->is_too_long)
		err_set(&err, ERR_TOO_LARGE, "it is longer than %u MB even without its long texts",
			LINES_KEPT_MAX >> 20);
	else if (!json_parse(line->data, line->len, &parsed, &err) &&
		 json_type(parsed) != JSON_OBJECT)
		err_set(&err, ERR_USAGE, "it is no JSON object");
	if (err.code && line->is_torn)
		return false;
	if (!r->piece)
		r->piece = piece_new(r);
	if (!err.code &&
		!r->agent->reader_line(r->reader, &r->piece->arena, parsed, line->number, &c, &err))
		take_capture(r, &c, line->cut);
	else
		bad_line(r, line->number, err.text);
	return true;
}

static bool is_stopped(const struct reading *r)
{
	return r->call->stop && atomic_load(r->call->stop);
}

static int tell_progress(struct reading *r, uint64_t to, struct err *err)
{
	uint64_t bytes = to - r->offset;
	r->offset = to;
	r->result.bytes += bytes;
	if (is_stopped(r) || (r->call->read && r->call->read(r->call->ctx, bytes)))
		return err_set(err, ERR_BUSY,
			"the import was ended; it goes on where it was when it is asked for again");
	return 0;
}

/* After each line: moves on, and hands over a piece that is full. */
static int move_to(struct reading *r, uint64_t offset, uint64_t lines, struct err *err)
{
	r->lines = lines;
	if (tell_progress(r, offset, err))
		return -1;
	if (r->piece && (r->piece->arena.used >= TRANSCRIPT_PIECE_BYTES ||
				r->piece->n >= TRANSCRIPT_PIECE_LINES))
		return piece_send(r, err);
	return 0;
}

static int read_lines(struct reading *r, struct lines *l, struct err *err)
{
	struct line line;
	int n;
	while ((n = lines_next(l, &line, err)) > 0 && !is_failed(r)) {
		r->result.lines++;
		if (!take_line(r, &line))
			break;
		if (line.is_torn)
			l->offset = line.end, l->number = line.number;
		if (move_to(r, l->offset, l->number, err))
			return -1;
	}
	if (n < 0)
		return -1;
	/* Lines passed over at the end count as read too. */
	if (l->offset != r->offset) {
		if (!r->piece)
			r->piece = piece_new(r);
		if (move_to(r, l->offset, l->number, err))
			return -1;
	}
	pthread_mutex_lock(&r->mutex);
	r->is_parsed = true;
	pthread_mutex_unlock(&r->mutex);
	return piece_send(r, err);
}

/* "4096:<hash>": how many bytes, and what they are. */
static int sign(int fd, uint64_t size, char out[SIGNATURE_MAX], struct err *err)
{
	char head[TRANSCRIPT_SIGNED], hex[HASH_HEX];
	ssize_t n = pread(fd, head, (size_t)MIN(size, (uint64_t)sizeof(head)), 0);
	if (n < 0)
		return err_set(err, ERR_IO, "it cannot be read: %s", strerror(errno));
	hash_hex(head, (size_t)n, hex);
	snprintf(out, SIGNATURE_MAX, "%zd:%s", n, hex);
	return 0;
}

/* Is what was read then still the beginning of the file? */
static bool is_same_file(struct reading *r, const struct transcript *row)
{
	char now[SIGNATURE_MAX];
	struct err ignored = { 0 };
	long signed_bytes = row->head_hash ? strtol(row->head_hash, NULL, 10) : 0;
	if ((uint64_t)r->st.st_size < row->offset || signed_bytes < 0 ||
		signed_bytes > TRANSCRIPT_SIGNED)
		return false;
	if (!signed_bytes)
		return row->offset == 0;
	return !sign(r->fd, (uint64_t)signed_bytes, now, &ignored) && !strcmp(now, row->head_hash);
}

static int file_open(struct reading *r, struct err *err)
{
	r->fd = open(r->call->path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (r->fd < 0)
		return err_set(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO,
			"it cannot be opened: %s", strerror(errno));
	if (fstat(r->fd, &r->st))
		return err_set(err, ERR_IO, "it cannot be read: %s", strerror(errno));
	if (!S_ISREG(r->st.st_mode))
		return err_set(err, ERR_USAGE, "it is no regular file");
	return 0;
}

static int recognise(struct reading *r, struct err *err)
{
	AUTO(mem_free_ptr) char *head = mem_alloc(TRANSCRIPT_HEAD);
	ssize_t n = pread(r->fd, head, TRANSCRIPT_HEAD, 0);
	if (n < 0)
		return err_set(err, ERR_IO, "it cannot be read: %s", strerror(errno));
	r->agent = agent_of_transcript(r->call->path, head, (size_t)n);
	if (!r->agent && !r->call->agent_only)
		r->agent = r->call->agent;
	if (!r->agent || !r->agent->reader_new)
		return err_set(
			err, ERR_USAGE, "it is not a transcript of an agent that is known here");
	return 0;
}

static int row_read(struct reading *r, struct arena *a, struct transcript *row, struct err *err)
{
	struct reader *reader;
	if (readers_lend(r->shared->readers, &reader, err))
		return -1;
	int result = store_transcript_get(reader->store, a, r->call->path, row, err);
	readers_return(r->shared->readers, reader);
	return result;
}

/* Where to begin. */
static int begin(struct reading *r, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct transcript row = { 0 };
	if (row_read(r, &a, &row, err))
		return -1;
	bool goes_on = row.id && row.agent == r->agent->id && is_same_file(r, &row);
	r->offset = goes_on ? row.offset : 0;
	r->lines = goes_on ? row.lines : 0;
	r->bad_lines = goes_on ? row.bad_lines : 0;
	r->reader = r->agent->reader_new(r->call->path, goes_on ? row.state : NULL);
	return sign(r->fd, (uint64_t)r->st.st_size, r->signature, err);
}

/* A last line that was taken without its line end: the end, when it comes, is not another line. */
static void skip_late_line_end(struct reading *r)
{
	char two[2];
	if (r->offset && pread(r->fd, two, 2, (off_t)r->offset - 1) == 2 && two[0] != '\n' &&
		two[1] == '\n')
		r->offset++;
}

/* Parses from where it was left and sends what it finds. */
static int parse_file(struct reading *r, struct err *err)
{
	r->result = (struct transcript_result){ .is_read = true };
	if (begin(r, err))
		return -1;
	r->result.was_complete = r->offset == (uint64_t)r->st.st_size;
	if (r->result.was_complete)
		return 0;
	skip_late_line_end(r);
	struct lines lines;
	lines_init(&lines, r->fd, r->offset, r->lines);
	lines.is_wanted = r->agent->line_is_wanted;
	int result = read_lines(r, &lines, err);
	lines_done(&lines);
	if (r->piece) {
		arena_done(&r->piece->arena);
		free(r->piece);
		r->piece = NULL;
	}
	return result;
}

static int open_and_parse(struct reading *r, struct err *err)
{
	if (file_open(r, err))
		return -1;
	if (!r->st.st_size)
		return 0;
	if (recognise(r, err))
		return -1;
	if (r->call->agent_only && r->call->agent && r->agent != r->call->agent)
		return 0;
	return parse_file(r, err);
}

static int attempt(struct reading *r, struct err *err)
{
	r->is_failed = false;
	int result = open_and_parse(r, err);
	if (r->agent && r->reader)
		r->agent->reader_free(r->reader);
	r->reader = NULL;
	if (r->fd >= 0)
		close(r->fd);
	r->fd = -1;
	return result;
}

static void pause_before(const struct reading *r, unsigned attempt)
{
	for (unsigned i = 0; i < (1u << attempt) && !is_stopped(r); i++)
		clock_sleep_us(STOP_LOOK_US);
}

struct reading *transcript_begin(
	struct transcripts *t, const struct transcript_call *c, bool may_wait)
{
	if (!path_claim(t, c->path, may_wait))
		return NULL;
	struct reading *r = mem_alloc(sizeof(*r));
	r->shared = t;
	r->call = c;
	r->fd = -1;
	pthread_mutex_init(&r->mutex, NULL);
	pthread_cond_init(&r->landed, NULL);
	r->outcome = attempt(r, &r->err);
	return r;
}

/* The outcome once everything has landed; tries again what the store refused. */
static int settle(struct reading *r, struct err *err)
{
	int result = r->outcome;
	*err = r->err;
	for (unsigned n = 1;; n++) {
		wait_landed(r);
		if (r->is_failed && !(result && err->code == ERR_BUSY && is_stopped(r))) {
			*err = r->failure;
			result = -1;
		}
		if (!result || !r->is_failed || n == TRANSCRIPT_ATTEMPTS || is_stopped(r) ||
			!is_of_the_store(err))
			return result;
		pause_before(r, n);
		*err = (struct err){ 0 };
		result = attempt(r, err);
	}
}

int transcript_finish(struct reading *r, struct transcript_result *ret, struct err *err)
{
	struct err own = { 0 };
	int result = settle(r, &own);
	path_release(r->shared, r->call->path);
	*ret = r->result;
	ret->new_events = r->call->is_dry ? ret->events : r->new_events;
	pthread_cond_destroy(&r->landed);
	pthread_mutex_destroy(&r->mutex);
	free(r);
	if (result && err)
		*err = own;
	return result;
}

int transcript_read(struct transcripts *t, const struct transcript_call *c,
	struct transcript_result *ret, struct err *err)
{
	return transcript_finish(transcript_begin(t, c, true), ret, err);
}

struct transcripts *transcripts_new(struct writer *writer, struct readers *readers,
	struct observer *observer, struct current *current)
{
	struct transcripts *t = mem_alloc(sizeof(*t));
	*t = (struct transcripts){
		.writer = writer, .readers = readers, .observer = observer, .current = current
	};
	pthread_mutex_init(&t->mutex, NULL);
	pthread_cond_init(&t->freed, NULL);
	return t;
}

void transcripts_free(struct transcripts *t)
{
	if (!t)
		return;
	pthread_cond_destroy(&t->freed);
	pthread_mutex_destroy(&t->mutex);
	free(t);
}
