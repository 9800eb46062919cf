#include "daemon/follow.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "ops/find.h"

/*
 * An index that is ahead of the store belongs to another store (one that was restored, say): it is
 * filled anew. So is one whose changes cannot be read back.
 */

#define RETRY_MS 5000 /* after a failure of the store or of the disk */

enum wish { WISH_NONE, WISH_PURGE, WISH_FILL };

struct follow {
	struct index *index;
	struct readers *readers;
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t wake, moved;
	int64_t seq, last;
	enum wish wish;
	bool is_closing, is_leaving, is_filling, is_busy, has_tail;
	bool has_revoked; /* the thread's own: what a colleague took back or forgot is still in the segments */
	void (*revoked)(void *ctx);
	void *revoked_ctx;
	uint64_t wishes_done;
	int wish_result;
	struct err wish_err;
	bool is_stuck;
	char trouble[ERR_TEXT_MAX];
};

static uint8_t byte_of(double share)
{
	return share <= 0 ? 0 : share >= 1 ? 255 : (uint8_t)(share * 255 + .5);
}

static enum doc_class class_of(enum change_kind kind)
{
	static const enum doc_class classes[CHANGE_KIND_COUNT] = {
		[CHANGE_EVENT] = DOC_EVENT,
		[CHANGE_MEMORY] = DOC_MEMORY,
		[CHANGE_SESSION] = DOC_SESSION,
	};
	return classes[kind];
}

static bool is_gone(const struct index_row *r)
{
	return r->kind != CHANGE_SESSION && !r->doc_kind;
}

struct doc follow_doc(const struct index_row *r)
{
	return (struct doc){
		.id = DOC_ID(class_of(r->kind), r->id),
		.columns = {
			.at = r->at,
			.project = (uint32_t)r->project,
			.session = (uint32_t)r->session,
			.kind = (uint8_t)r->doc_kind,
			.type = (uint8_t)r->type,
			.status = (uint8_t)r->status,
			.origin = (uint8_t)r->origin,
			.agent = (uint8_t)r->agent,
			.confidence = byte_of(r->confidence),
			.flags = (uint8_t)((r->is_pinned ? DOC_PINNED : 0) | (r->is_meta ? DOC_META : 0) |
				(r->is_suspect ? DOC_SUSPECT : 0)),
			.branch = r->namespace ? find_namespace_hash(r->namespace) : find_branch_hash(r->branch),
		},
		.title = str_of(r->title),
		.body = str_of(r->body),
		.rest = str_of(r->rest),
	};
}

static int page_index(struct follow *f, struct arena *a, const struct change *changes,
	const struct index_row *rows, size_t n, struct err *err)
{
	struct doc *docs = ARENA_ARRAY(a, struct doc, n);
	doc_id *gone = ARENA_ARRAY(a, doc_id, n);
	size_t ndocs = 0, ngone = 0;
	for (size_t i = 0; i < n; i++) {
		if (is_gone(&rows[i]) && changes[i].is_others)
			f->has_revoked |= index_has(f->index, DOC_ID(class_of(changes[i].kind), changes[i].id));
		if (is_gone(&rows[i]))
			gone[ngone++] = DOC_ID(class_of(changes[i].kind), changes[i].id);
		else
			docs[ndocs++] = follow_doc(&rows[i]);
	}
	if (ngone && index_remove(f->index, gone, ngone, err))
		return -1;
	if (ndocs && index_put(f->index, docs, ndocs, err))
		return -1;
	index_set_seq(f->index, (uint64_t)changes[n - 1].seq);
	return index_wants_flush(f->index) ? index_flush(f->index, false, err) : 0;
}

/* Changes that were read together, and the rows of the first of them. */
struct page {
	struct change *changes;
	struct index_row *rows;
	size_t nchanges, n;
};

static int rows_read(struct store *s, struct arena *a, struct page *p, struct err *err)
{
	p->rows = ARENA_ARRAY(a, struct index_row, p->nchanges);
	for (; p->n < p->nchanges && a->used < FOLLOW_PAGE_BYTES; p->n++)
		if (store_index_rows(s, a, &p->changes[p->n], 1, &p->rows[p->n], err))
			return -1;
	return 0;
}

static int page_read(struct follow *f, struct arena *a, struct page *p, struct err *err)
{
	struct reader *reader;
	if (readers_lend(f->readers, &reader, err))
		return -1;
	struct store *s = reader->store;
	int result = store_look_begin(s, err);
	if (!result)
		result = store_changes(s, a, (int64_t)index_seq(f->index), FOLLOW_PAGE, &p->changes,
			&p->nchanges, err);
	if (!result && p->nchanges)
		result = rows_read(s, a, p, err);
	store_look_end(s);
	readers_return(f->readers, reader);
	return result;
}

/* Follows one page. 1: there may be more, 0: caught up. */
static int page_follow(struct follow *f, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct page p = { 0 };
	if (page_read(f, &a, &p, err))
		return -1;
	if (p.n && page_index(f, &a, p.changes, p.rows, p.n, err))
		return -1;
	return p.nchanges == FOLLOW_PAGE || p.n < p.nchanges;
}

static void publish(struct follow *f, bool is_caught_up)
{
	f->seq = (int64_t)index_seq(f->index);
	f->has_tail = true;
	f->is_stuck = false;
	f->trouble[0] = '\0';
	if (is_caught_up) {
		/* Pruned changes leave gaps at the end: what was read to the end is complete. */
		if (f->is_filling)
			log_info("the index is complete again");
		f->is_filling = false;
	}
	pthread_cond_broadcast(&f->moved);
}

/* Gives up the mutex while it works. */
static bool catch_up(struct follow *f)
{
	int64_t goal = f->last;
	f->is_busy = true;
	pthread_mutex_unlock(&f->mutex);
	struct err err = { 0 };
	int more = page_follow(f, &err);
	pthread_mutex_lock(&f->mutex);
	f->is_busy = false;
	if (more < 0) {
		if (!f->is_stuck)
			log_error("the index cannot follow the store: %s", err.text);
		f->is_stuck = true;
		memcpy(f->trouble, err.text, sizeof(f->trouble));
		pthread_cond_broadcast(&f->moved);
		return false;
	}
	if (!more && (int64_t)index_seq(f->index) < goal)
		index_set_seq(f->index, (uint64_t)goal);
	publish(f, !more);
	return true;
}

static void grant(struct follow *f)
{
	enum wish wish = f->wish;
	f->is_busy = true;
	pthread_mutex_unlock(&f->mutex);
	struct err err = { 0 };
	int result =
		wish == WISH_FILL ? index_clear(f->index, &err) : index_flush(f->index, true, &err);
	pthread_mutex_lock(&f->mutex);
	f->is_busy = false;
	if (wish == WISH_FILL && !result) {
		f->is_filling = true;
		f->seq = 0;
	}
	f->wish = WISH_NONE;
	f->wish_result = result;
	f->wish_err = err;
	f->wishes_done++;
	pthread_cond_broadcast(&f->moved);
}

static void flush_tail(struct follow *f)
{
	f->has_tail = false;
	pthread_mutex_unlock(&f->mutex);
	struct err err = { 0 };
	if (index_flush(f->index, false, &err))
		log_warn("the index cannot be written: %s", err.text);
	pthread_mutex_lock(&f->mutex);
}

/* A colleague's word holds here as the author's own forgetting does: nothing of the text stays in a file. */
static void purge_revoked(struct follow *f)
{
	f->is_busy = true;
	f->has_revoked = false;
	pthread_mutex_unlock(&f->mutex);
	struct err err = { 0 };
	if (index_flush(f->index, true, &err))
		log_warn("what a colleague took back is not found any more, but still in the index: %s", err.text);
	if (f->revoked)
		f->revoked(f->revoked_ctx);
	pthread_mutex_lock(&f->mutex);
	f->is_busy = false;
	pthread_cond_broadcast(&f->moved);
}

static int wait_ms(struct follow *f, pthread_cond_t *cond, unsigned ms)
{
	struct timespec end = clock_after_us(ms * 1000ull);
	return pthread_cond_timedwait(cond, &f->mutex, &end);
}

static void *follow_main(void *arg)
{
	struct follow *f = arg;
	pthread_mutex_lock(&f->mutex);
	for (;;) {
		bool is_behind = f->seq < f->last || f->is_filling;
		if (f->wish != WISH_NONE && (f->wish == WISH_FILL || !is_behind || f->is_stuck))
			grant(f);
		else if (is_behind && !catch_up(f))
			if (f->is_closing)
				break;
			else
				wait_ms(f, &f->wake, RETRY_MS);
		else if (is_behind)
			continue;
		else if (f->has_revoked)
			purge_revoked(f);
		else if (f->is_closing)
			break;
		else if (!f->has_tail)
			pthread_cond_wait(&f->wake, &f->mutex);
		else if (wait_ms(f, &f->wake, FOLLOW_FLUSH_MS))
			flush_tail(f);
	}
	pthread_mutex_unlock(&f->mutex);
	return NULL;
}

/* Before the thread runs: catches up with a few changes; more are left to the thread. */
static void start_up(struct follow *f)
{
	if (f->is_filling || f->last - f->seq > FOLLOW_BEFORE_SERVING) {
		f->is_filling = f->seq < f->last;
		return;
	}
	pthread_mutex_lock(&f->mutex);
	while (f->seq < f->last && catch_up(f))
		;
	pthread_mutex_unlock(&f->mutex);
}

int follow_open(const char *dir, struct readers *readers, int64_t last, struct follow **ret,
	struct err *err)
{
	struct index *index;
	bool needs_rebuild = false;
	if (index_open(dir, &index, &needs_rebuild, err))
		return -1;
	if ((int64_t)index_seq(index) > last) {
		log_warn("the index belongs to another store; it is made anew");
		needs_rebuild = true;
	}
	if (needs_rebuild && index_clear(index, err)) {
		index_close(index);
		return -1;
	}
	struct follow *f = mem_alloc(sizeof(*f));
	f->index = index;
	f->readers = readers;
	f->last = last;
	f->seq = (int64_t)index_seq(index);
	f->is_filling = needs_rebuild && last > FOLLOW_BEFORE_SERVING;
	pthread_mutex_init(&f->mutex, NULL);
	pthread_cond_init(&f->wake, NULL);
	pthread_cond_init(&f->moved, NULL);
	start_up(f);
	if (pthread_create(&f->thread, NULL, follow_main, f))
		die("cannot start the index thread");
	*ret = f;
	return 0;
}

void follow_close(struct follow *f)
{
	if (!f)
		return;
	pthread_mutex_lock(&f->mutex);
	f->is_closing = true;
	/*
	 * A fill from scratch goes on at the next start; it would keep a leaving daemon for long.
	 */
	if (f->is_filling) {
		f->is_filling = false;
		f->last = f->seq;
	}
	pthread_cond_broadcast(&f->wake);
	pthread_mutex_unlock(&f->mutex);
	pthread_join(f->thread, NULL);
	struct err err = { 0 };
	if (index_flush(f->index, false, &err))
		log_warn("the index cannot be written: %s; it is filled from the store at the next "
			 "start",
			err.text);
	index_close(f->index);
	pthread_cond_destroy(&f->wake);
	pthread_cond_destroy(&f->moved);
	pthread_mutex_destroy(&f->mutex);
	free(f);
}

struct index *follow_index(struct follow *f)
{
	return f->index;
}

void follow_notify(struct follow *f, int64_t seq)
{
	pthread_mutex_lock(&f->mutex);
	if (seq > f->last) {
		f->last = seq;
		pthread_cond_signal(&f->wake);
	}
	pthread_mutex_unlock(&f->mutex);
}

void follow_wait(struct follow *f, int64_t seq)
{
	uint64_t end = clock_mono_us() + FOLLOW_WAIT_MS * 1000ull;
	pthread_mutex_lock(&f->mutex);
	while (f->seq < seq && !f->is_filling && !f->is_stuck && clock_mono_us() < end)
		wait_ms(f, &f->moved, FOLLOW_WAIT_MS);
	if (f->seq < seq)
		log_warn("a reply did not wait for the index (at change %lld of %lld)",
			(long long)f->seq, (long long)seq);
	pthread_mutex_unlock(&f->mutex);
}

void follow_wait_long(struct follow *f, int64_t seq, const _Atomic bool *stop)
{
	static const unsigned look_ms = 500; /* at *stop */
	pthread_mutex_lock(&f->mutex);
	while ((f->seq < seq || f->is_filling) && !f->is_stuck && !atomic_load(stop))
		wait_ms(f, &f->moved, look_ms);
	pthread_mutex_unlock(&f->mutex);
}

int follow_purge(struct follow *f, bool from_scratch, struct err *err)
{
	pthread_mutex_lock(&f->mutex);
	while (f->wish != WISH_NONE)
		pthread_cond_wait(&f->moved, &f->mutex);
	f->wish = from_scratch ? WISH_FILL : WISH_PURGE;
	uint64_t mine = f->wishes_done + 1;
	pthread_cond_signal(&f->wake);
	while (f->wishes_done < mine)
		pthread_cond_wait(&f->moved, &f->mutex);
	int result = f->wish_result;
	if (result && err)
		*err = f->wish_err;
	while (!result && from_scratch && f->is_filling && !f->is_stuck && !f->is_leaving)
		pthread_cond_wait(&f->moved, &f->mutex);
	if (!result && from_scratch && f->is_filling && f->is_leaving)
		result = err_set(err, ERR_BUSY,
			"the daemon is leaving; the index is filled at its next start");
	if (!result && from_scratch && f->is_stuck)
		result = err_set(err, ERR_STORE, "the index cannot be filled: %s", f->trouble);
	pthread_mutex_unlock(&f->mutex);
	return result;
}

void follow_on_revoked(struct follow *f, void (*revoked)(void *ctx), void *ctx)
{
	pthread_mutex_lock(&f->mutex);
	while (f->is_busy)
		pthread_cond_wait(&f->moved, &f->mutex);
	f->revoked = revoked;
	f->revoked_ctx = ctx;
	pthread_mutex_unlock(&f->mutex);
}

void follow_reset(struct follow *f, int64_t last)
{
	pthread_mutex_lock(&f->mutex);
	f->last = last;
	pthread_mutex_unlock(&f->mutex);
}

void follow_leave(struct follow *f)
{
	pthread_mutex_lock(&f->mutex);
	f->is_leaving = true;
	pthread_cond_broadcast(&f->moved);
	pthread_mutex_unlock(&f->mutex);
}

bool follow_is_idle(struct follow *f)
{
	pthread_mutex_lock(&f->mutex);
	bool is_idle = !f->is_busy && f->seq >= f->last && !f->is_filling && f->wish == WISH_NONE;
	pthread_mutex_unlock(&f->mutex);
	return is_idle;
}

void follow_state(struct follow *f, struct follow_state *ret)
{
	pthread_mutex_lock(&f->mutex);
	*ret = (struct follow_state){
		.seq = f->seq, .last = f->last, .is_filling = f->is_filling, .is_stuck = f->is_stuck
	};
	memcpy(ret->trouble, f->trouble, sizeof(ret->trouble));
	pthread_mutex_unlock(&f->mutex);
}
