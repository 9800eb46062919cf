#include "daemon/writer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "observe/intake.h"

/*
 * A batch begins with the most urgent work and goes on until its time is over, nothing waits, or
 * bare work is next. After a rollback the intake is made anew: what it remembers (project ids,
 * sessions) may never have been stored.
 */

#define RETRY_MIN_MS 20
#define RETRY_MAX_MS 1000
#define COMPLAINT_MS 60000 /* the same trouble is logged once in this time */

const char *const lane_names[LANE_COUNT] = { "hooks", "requests", "imports", "background" };

struct lane_queue {
	struct work *first, **last;
	size_t n, bytes;
};

struct writer {
	struct writer_setup setup;
	struct store *store;
	struct intake *intake;
	struct arena arena;
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t wake, room;
	struct lane_queue lanes[LANE_COUNT];
	bool is_closing, is_busy;
	unsigned hurried; /* threads that wait for a commit */
	struct writer_state state;
	_Atomic int64_t seq;
	_Atomic bool wants_refresh;
	uint64_t complained_us;
};

static uint64_t ms_since(uint64_t us)
{
	return (clock_mono_us() - us) / 1000;
}

/*
 * The lane to serve next, or -1. A lane that starved goes first, once per batch (`favoured`
 * remembers); NULL: urgency alone.
 */
static int lane_next(struct writer *w, unsigned *favoured)
{
	for (int i = LANE_COUNT - 1; favoured && i > 0; i--) {
		const struct work *first = w->lanes[i].first;
		if (first && !(*favoured & (1u << i)) &&
			ms_since(first->since_us) >= WRITER_STARVED_MS) {
			*favoured |= 1u << i;
			return i;
		}
	}
	for (int i = 0; i < LANE_COUNT; i++)
		if (w->lanes[i].first)
			return i;
	return -1;
}

static struct work *lane_take(struct writer *w, int lane)
{
	struct lane_queue *q = &w->lanes[lane];
	struct work *work = q->first;
	q->first = work->next;
	if (!q->first)
		q->last = &q->first;
	q->n--;
	q->bytes -= work->bytes;
	work->next = NULL;
	pthread_cond_broadcast(&w->room);
	return work;
}

/*
 * Takes the next work for a transaction; NULL when nothing waits or what is next must not join.
 * Background work only ever begins a transaction: the observer's check that nothing came between
 * relies on it.
 */
static struct work *take_for_batch(struct writer *w, unsigned *favoured)
{
	pthread_mutex_lock(&w->mutex);
	int lane = lane_next(w, favoured);
	bool may_join = lane >= 0 && lane != LANE_BACKGROUND && !w->lanes[lane].first->is_bare;
	struct work *work = may_join ? lane_take(w, lane) : NULL;
	pthread_mutex_unlock(&w->mutex);
	return work;
}

/*
 * Imports come in small pieces: a transaction that ends with one stays open for the next until its
 * time is over, since each commit waits for the disk, unless somebody waits for it. True when there
 * may be something now.
 */
static bool linger(struct writer *w, const struct work *last, uint64_t start)
{
	uint64_t spent = ms_since(start);
	if (last->lane != LANE_IMPORT || spent >= WRITER_BATCH_MS)
		return false;
	struct timespec end = clock_after_us((WRITER_BATCH_MS - spent) * 1000);
	pthread_mutex_lock(&w->mutex);
	int timed_out = 0;
	while (lane_next(w, NULL) < 0 && !w->is_closing && !w->hurried && !timed_out)
		timed_out = pthread_cond_timedwait(&w->wake, &w->mutex, &end);
	bool is_more = lane_next(w, NULL) >= 0;
	pthread_mutex_unlock(&w->mutex);
	return is_more;
}

static void intake_renew(struct writer *w)
{
	intake_free(w->intake);
	w->intake = w->setup.intake_make(w->setup.ctx);
}

static void note_trouble(struct writer *w, const struct err *err)
{
	pthread_mutex_lock(&w->mutex);
	w->state.failures++;
	w->state.is_stuck = true;
	memcpy(w->state.trouble, err->text, sizeof(w->state.trouble));
	pthread_mutex_unlock(&w->mutex);
	if (w->complained_us && ms_since(w->complained_us) < COMPLAINT_MS)
		return;
	w->complained_us = clock_mono_us();
	log_error("nothing can be written: %s. What was captured stays in the spool and is tried "
		  "again",
		err->text);
}

static void note_well(struct writer *w, size_t works)
{
	if (w->complained_us)
		log_info("writing works again");
	w->complained_us = 0;
	pthread_mutex_lock(&w->mutex);
	w->state.batches++;
	w->state.works += works;
	w->state.is_stuck = false;
	w->state.trouble[0] = '\0';
	pthread_mutex_unlock(&w->mutex);
}

static bool is_passing(const struct err *err)
{
	return err->code == ERR_BUSY;
}

/* Opens a transaction, patiently while somebody else holds the store locked. */
static int begin(struct writer *w, struct err *err)
{
	uint64_t start = clock_mono_us();
	unsigned pause = RETRY_MIN_MS;
	for (;;) {
		*err = (struct err){ 0 };
		if (!store_begin(w->store, err))
			return 0;
		if (!is_passing(err) || ms_since(start) >= WRITER_PATIENCE_MS)
			return -1;
		clock_sleep_us(pause * 1000ull);
		pause = MIN(pause * 2, RETRY_MAX_MS);
	}
}

/* One work in its savepoint. -1 means that the whole transaction is lost. */
static int run_one(struct writer *w, struct work *work)
{
	struct db *db = store_db(w->store);
	struct desk desk = { w->store, w->intake, &w->arena };
	work->err = (struct err){ 0 };
	work->result = 0;
	if (db_savepoint(db, &work->err))
		return -1;
	work->result = work->run(&desk, work, &work->err);
	arena_reset(&w->arena);
	/* What the work wrote is surely well only now. */
	if (!work->result && db_release(db, &work->err))
		work->result = -1;
	if (!work->result)
		return 0;
	/*
	 * A full disk may have undone the whole transaction: then nothing of this batch was stored.
	 */
	bool is_lost = !db_is_in_transaction(db);
	if (!is_lost)
		db_rollback_to(db);
	intake_renew(w);
	return is_lost || !db_is_in_transaction(db) ? -1 : 0;
}

static void batch_done(struct writer *w, struct work *batch, bool is_lost, const struct err *err)
{
	int64_t seq = atomic_load(&w->seq);
	while (batch) {
		struct work *work = batch;
		batch = work->next;
		work->next = NULL;
		struct err why = is_lost ? *err : work->err;
		work->done(work, is_lost ? -1 : work->result, seq, &why);
	}
}

static void batch_commit(
	struct writer *w, struct work *batch, size_t n, bool is_lost, struct err *err)
{
	if (!is_lost && store_commit(w->store, err))
		is_lost = true;
	if (is_lost) {
		store_rollback(w->store);
		intake_renew(w);
		note_trouble(w, err);
		batch_done(w, batch, true, err);
		return;
	}
	int64_t seq = 0;
	if (!store_change_last(w->store, &seq, NULL))
		atomic_store(&w->seq, seq);
	note_well(w, n);
	w->setup.committed(w->setup.ctx, atomic_load(&w->seq));
	batch_done(w, batch, false, err);
}

static void run_batch(struct writer *w, struct work *first)
{
	struct err err = { 0 };
	struct work *batch = first, **end = &first->next;
	size_t n = 1;
	if (begin(w, &err)) {
		note_trouble(w, &err);
		batch_done(w, batch, true, &err);
		return;
	}
	uint64_t start = clock_mono_us();
	unsigned favoured = 0;
	struct work *work = first;
	bool is_lost = false;
	for (;;) {
		is_lost = run_one(w, work) != 0;
		if (is_lost) {
			err = work->err;
			break;
		}
		if (n == WRITER_BATCH_WORKS || ms_since(start) >= WRITER_BATCH_MS)
			break;
		struct work *next = take_for_batch(w, &favoured);
		if (!next && linger(w, work, start))
			next = take_for_batch(w, &favoured);
		if (!next)
			break;
		work = next;
		*end = work;
		end = &work->next;
		n++;
	}
	batch_commit(w, batch, n, is_lost, &err);
}

static void run_bare(struct writer *w, struct work *work)
{
	struct desk desk = { w->store, w->intake, &w->arena };
	work->err = (struct err){ 0 };
	work->result = work->run(&desk, work, &work->err);
	arena_reset(&w->arena);
	int64_t seq = 0;
	if (w->store && !store_change_last(w->store, &seq, NULL))
		atomic_store(&w->seq, seq);
	work->done(work, work->result, atomic_load(&w->seq), &work->err);
}

static void *writer_main(void *arg)
{
	struct writer *w = arg;
	pthread_mutex_lock(&w->mutex);
	for (;;) {
		int lane;
		unsigned favoured = 0;
		while ((lane = lane_next(w, &favoured)) < 0 && !w->is_closing)
			pthread_cond_wait(&w->wake, &w->mutex);
		if (lane < 0)
			break;
		struct work *work = lane_take(w, lane);
		w->is_busy = true;
		pthread_mutex_unlock(&w->mutex);
		if (atomic_exchange(&w->wants_refresh, false))
			intake_renew(w);
		if (work->is_bare)
			run_bare(w, work);
		else
			run_batch(w, work);
		pthread_mutex_lock(&w->mutex);
		w->is_busy = false;
	}
	pthread_mutex_unlock(&w->mutex);
	return NULL;
}

static int open_store(const struct writer_setup *setup, struct store **ret, struct err *err)
{
	const struct store_setup store = { .url = setup->url,
		.mode = DB_CREATE,
		.backup_dir = setup->backup,
		.author = setup->author };

	return store_open_as(&store, ret, err);
}

int writer_open(const struct writer_setup *setup, struct writer **ret, struct err *err)
{
	struct store *store;
	if (open_store(setup, &store, err))
		return -1;
	struct writer *w = mem_alloc(sizeof(*w));
	w->setup = *setup;
	w->store = store;
	w->intake = setup->intake_make(setup->ctx);
	pthread_mutex_init(&w->mutex, NULL);
	pthread_cond_init(&w->wake, NULL);
	pthread_cond_init(&w->room, NULL);
	for (int i = 0; i < LANE_COUNT; i++)
		w->lanes[i].last = &w->lanes[i].first;
	int64_t seq = 0;
	if (!store_change_last(store, &seq, NULL))
		atomic_store(&w->seq, seq);
	if (pthread_create(&w->thread, NULL, writer_main, w))
		die("cannot start the writer thread");
	*ret = w;
	return 0;
}

void writer_close(struct writer *w)
{
	if (!w)
		return;
	pthread_mutex_lock(&w->mutex);
	w->is_closing = true;
	pthread_cond_broadcast(&w->wake);
	pthread_cond_broadcast(&w->room);
	pthread_mutex_unlock(&w->mutex);
	pthread_join(w->thread, NULL);
	store_close(w->store);
	intake_free(w->intake);
	arena_done(&w->arena);
	pthread_cond_destroy(&w->wake);
	pthread_cond_destroy(&w->room);
	pthread_mutex_destroy(&w->mutex);
	free(w);
}

static bool lane_is_full(const struct lane_queue *q, const struct work *work)
{
	return q->n >= WRITER_LANE_WORKS || (q->n && q->bytes + work->bytes > WRITER_LANE_BYTES);
}

int writer_put(struct writer *w, struct work *work, struct err *err)
{
	struct lane_queue *q = &w->lanes[work->lane];
	pthread_mutex_lock(&w->mutex);
	while (!w->is_closing && lane_is_full(q, work))
		pthread_cond_wait(&w->room, &w->mutex);
	bool is_closing = w->is_closing;
	if (!is_closing) {
		work->next = NULL;
		work->since_us = clock_mono_us();
		*q->last = work;
		q->last = &work->next;
		q->n++;
		q->bytes += work->bytes;
		pthread_cond_signal(&w->wake);
	}
	pthread_mutex_unlock(&w->mutex);
	return is_closing ? err_set(err, ERR_BUSY, "the daemon is leaving; ask again") : 0;
}

/* Work whose owner waits for it on the stack. */
struct waiting {
	struct work work;
	int (*fn)(struct desk *desk, void *ctx, struct err *err);
	void *ctx;
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	bool is_done;
	int result;
	struct err err;
};

static int waiting_run(struct desk *desk, struct work *work, struct err *err)
{
	struct waiting *x = (struct waiting *)work;
	return x->fn(desk, x->ctx, err);
}

static void waiting_done(struct work *work, int result, int64_t seq, const struct err *err)
{
	struct waiting *x = (struct waiting *)work;
	pthread_mutex_lock(&x->mutex);
	x->result = result;
	if (err)
		x->err = *err;
	x->is_done = true;
	pthread_cond_signal(&x->cond);
	pthread_mutex_unlock(&x->mutex);
}

static int wait_for(struct writer *w, struct waiting *x, struct err *err)
{
	x->work.run = waiting_run;
	x->work.done = waiting_done;
	pthread_mutex_init(&x->mutex, NULL);
	pthread_cond_init(&x->cond, NULL);
	int result = writer_put(w, &x->work, err);
	if (!result) {
		pthread_mutex_lock(&x->mutex);
		while (!x->is_done)
			pthread_cond_wait(&x->cond, &x->mutex);
		pthread_mutex_unlock(&x->mutex);
		result = x->result;
		if (result && err)
			*err = x->err;
	}
	pthread_cond_destroy(&x->cond);
	pthread_mutex_destroy(&x->mutex);
	return result;
}

int writer_run(struct writer *w, enum lane lane,
	int (*fn)(struct desk *desk, void *ctx, struct err *err), void *ctx, struct err *err)
{
	struct waiting x = { .work = { .lane = lane }, .fn = fn, .ctx = ctx };
	return wait_for(w, &x, err);
}

int writer_run_bare(struct writer *w, int (*fn)(struct desk *desk, void *ctx, struct err *err),
	void *ctx, struct err *err)
{
	struct waiting x = {
		.work = { .lane = LANE_REQUEST, .is_bare = true }, .fn = fn, .ctx = ctx
	};
	return wait_for(w, &x, err);
}

void writer_hurry(struct writer *w, bool is_waiting)
{
	pthread_mutex_lock(&w->mutex);
	w->hurried += is_waiting ? 1u : -1u;
	pthread_cond_signal(&w->wake);
	pthread_mutex_unlock(&w->mutex);
}

int64_t writer_seq(const struct writer *w)
{
	return atomic_load(&w->seq);
}

int writer_reopen(
	struct writer *w, int (*swap)(void *ctx, struct err *err), void *ctx, struct err *err)
{
	intake_free(w->intake);
	w->intake = NULL;
	store_close(w->store);
	w->store = NULL;
	int result = swap(ctx, err);
	struct err trouble = { 0 };
	if (open_store(&w->setup, &w->store, &trouble))
		die("the store cannot be opened again: %s", trouble.text);
	w->intake = w->setup.intake_make(w->setup.ctx);
	return result;
}

void writer_refresh(struct writer *w)
{
	atomic_store(&w->wants_refresh, true);
}

bool writer_is_idle(struct writer *w)
{
	pthread_mutex_lock(&w->mutex);
	bool is_idle = !w->is_busy && lane_next(w, NULL) < 0;
	pthread_mutex_unlock(&w->mutex);
	return is_idle;
}

void writer_state(struct writer *w, struct writer_state *ret)
{
	pthread_mutex_lock(&w->mutex);
	*ret = w->state;
	for (int i = 0; i < LANE_COUNT; i++)
		ret->waiting[i] = w->lanes[i].n;
	pthread_mutex_unlock(&w->mutex);
}
