#include "daemon/observer.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "daemon/feedback.h"
#include "daemon/observer_jobs.h"
#include "daemon/session_title.h"
#include "observe/entity.h"
#include "observe/fact_settle.h"
#include "observe/rules.h"
#include "store/entity.h"

/*
 * Touches are counted per session (modulo a power of two: a collision only costs another round),
 * after the commit. The count is read before the events are, and compared on the writer thread at
 * the beginning of a transaction, where nothing can come between.
 */

#define TOUCH_SLOTS 1024
#define AGAIN_MS 1000 /* after a failure, or when turns moved while they were read; doubles */
#define AGAIN_MAX_MS 600000
#define SHELVED_MAX 64 /* turns that could not be observed; they wait for the next start */
#define COMPLAINT_US 60000000
#define QUIET_US ((OBSERVER_QUIET_MS + 1000) * 1000ull)

struct observer {
	struct readers *readers;
	struct writer *writer;
	struct current *current; /* NULL: settings as they come */
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t wake, settled, landed;
	void (*jobs_wait)(void *ctx); /* NULL: there is no model */
	void *ctx;
	bool is_closing, is_poked, is_busy;
	uint64_t rounds;      /* finished without anything left */
	uint64_t deadline_us; /* of the quiet timer; 0: not set */
	uint64_t touched_us;
	unsigned again_ms;
	struct round *flying; /* handed to the writer; this and the rest: the thread's own */
	int64_t shelved[SHELVED_MAX];
	size_t nshelved;
	int64_t dictionary_rows[PACK_CLASS_END];
	uint64_t complained_us;
	_Atomic uint32_t touches[TOUCH_SLOTS];
	_Atomic uint64_t made;
};

struct turn_result {
	struct turn turn;
	uint32_t touches;
	struct memory *memories;
	size_t n;
	struct fact_candidate *candidates;
	size_t ncandidates;
	struct mention *mentions;
	size_t nmentions;
	struct feedback feedback;
	struct turn_jobs jobs;
	bool has_title; /* its session */
	bool has_new_jobs;
	bool is_written;
	struct err err;
};

/* Turns on their way from reading to the store. One is written while the next is read. */
struct round {
	struct work work;
	struct observer *observer;
	struct arena arena;
	struct turn_result *turns;
	size_t n;
	struct graves graves; /* when its reading began */
	/* Under the observer's mutex. */
	bool is_landed;
	int result;
	struct err err;
};

static _Atomic uint32_t *slot_of(struct observer *o, int64_t session)
{
	return &o->touches[(uint64_t)session % TOUCH_SLOTS];
}

static int turn_read(
	struct observer *o, struct store *s, struct round *r, struct turn *t, struct err *err)
{
	struct turn_result *result = &r->turns[r->n];
	*result =
		(struct turn_result){ .turn = *t, .touches = atomic_load(slot_of(o, t->session)) };
	struct session session;
	struct project project = { 0 };
	struct event *events = NULL;
	size_t n = 0;
	int failed = store_look_begin(s, err) ||
		     store_session_of(s, &r->arena, t->session, &session, err) ||
		     (t->project && store_project_get(s, &r->arena, t->project, &project, err)) ||
		     unit_events(s, &r->arena, t, &events, &n, err) ||
		     feedback_read(s, &r->arena, t, events, n, &result->feedback, err);
	store_look_end(s);
	if (failed)
		return -1;
	struct rules_input in = {
		.turn = t, .session = &session, .project = &project, .events = events, .n = n
	};
	if (o->current)
		in.off = settings_list(current_settings(o->current), SET_RULES_OFF);
	struct rules_output out = { 0 };
	rules_run(&r->arena, &in, &out);
	result->memories = out.memories;
	result->n = out.n;
	result->candidates = out.candidates;
	result->ncandidates = out.ncandidates;
	entities_run(&r->arena, &in, &result->mentions, &result->nmentions);
	if (o->current)
		turn_jobs_make(&r->arena, current_settings(o->current), &in, &out, &result->jobs);
	result->has_title = session.title != NULL;
	r->n++;
	return 0;
}

static bool is_shelved(const struct observer *o, int64_t turn)
{
	for (size_t i = 0; i < o->nshelved; i++)
		if (o->shelved[i] == turn)
			return true;
	return false;
}

/* A turn that fails for a reason of its own must not keep the others. */
static void shelve(struct observer *o, int64_t turn, const struct err *err)
{
	log_warn("turn %lld cannot be observed: %s", (long long)turn, err->text);
	if (o->nshelved < SHELVED_MAX)
		o->shelved[o->nshelved++] = turn;
}

/* Reads dirty turns and runs their rules. Stops early when the round holds much. */
static int round_read(struct observer *o, struct round *r, struct err *err)
{
	static const size_t round_bytes = 2u << 20;
	struct reader *reader;
	if (readers_lend(o->readers, &reader, err))
		return -1;
	struct turn *turns = NULL;
	size_t n = 0;
	int64_t quiet_before = clock_now() - OBSERVER_QUIET_MS;
	size_t max = OBSERVER_TURNS + o->nshelved;
	int64_t after = o->flying ? o->flying->turns[o->flying->n - 1].turn.id : 0;
	int result = store_graves(reader->store, &r->graves, err) ||
				     store_turns_dirty(reader->store, &r->arena, quiet_before,
					     after, max, &turns, &n, err)
			     ? -1
			     : 0;
	if (!result && n)
		r->turns = ARENA_ARRAY(&r->arena, struct turn_result, n);
	for (size_t i = 0; !result && i < n && r->arena.used < round_bytes; i++) {
		if (is_shelved(o, turns[i].id))
			continue;
		struct err own = { 0 };
		if (turn_read(o, reader->store, r, &turns[i], &own))
			shelve(o, turns[i].id, &own);
	}
	readers_return(o->readers, reader);
	return result;
}

static int turn_write(struct desk *desk, struct round *r, struct turn_result *t, struct err *err)
{
	bool is_still = t->touches == atomic_load(slot_of(r->observer, t->turn.session));
	if (is_still && store_turn_is_still(desk->store, &t->turn, &is_still, err))
		return -1;
	if (is_still &&
		(store_turn_memories(desk->store, &t->turn, t->memories, t->n, err) ||
			store_turn_candidates(
				desk->store, &t->turn, t->candidates, t->ncandidates, err) ||
			store_turn_mentions(
				desk->store, &t->turn, t->mentions, t->nmentions, err) ||
			feedback_write(desk->store, &t->feedback, err) ||
			turn_jobs_write(desk->store, &t->turn, &t->jobs, &t->has_new_jobs, err)))
		return -1;
	t->is_written = is_still;
	return 0;
}

/* Is another turn of its session, of those that were written, before this one? */
static bool has_earlier(const struct round *r, const struct turn_result *t)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct turn_result *other = &r->turns[i];
		if (other != t && other->is_written && other->turn.session == t->turn.session &&
			(other->turn.ordinal < t->turn.ordinal ||
				(other->turn.ordinal == t->turn.ordinal && other < t)))
			return true;
	}
	return false;
}

/* A session's title is made of its first turns: once in a round, when all of them are written. */
static int titles_write(struct desk *desk, struct round *r, struct err *err)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct turn_result *t = &r->turns[i];
		if (t->is_written && !has_earlier(r, t) &&
			session_title_make(desk->store, &t->turn, t->has_title, err))
			return -1;
	}
	return 0;
}

static int round_write(struct desk *desk, void *ctx, struct err *err)
{
	struct round *r = ctx;
	struct graves now;
	/* Of what was forgotten meanwhile nothing must come back: the turns stay dirty. */
	if (store_graves(desk->store, &now, err))
		return -1;
	for (size_t i = 0; i < r->n && graves_same(&now, &r->graves); i++)
		if (turn_write(desk, r, &r->turns[i], err))
			return -1;
	return titles_write(desk, r, err);
}

/* Turn by turn, after all together failed. */
static int round_write_singly(struct observer *o, struct round *r, struct err *err)
{
	struct turn_result *all = r->turns;
	size_t n = r->n, failed = 0;
	r->n = 1;
	for (size_t i = 0; i < n; i++) {
		r->turns = &all[i];
		all[i].is_written = false;
		struct err own = { 0 };
		if (!writer_run(o->writer, LANE_BACKGROUND, round_write, r, &own))
			continue;
		all[i].is_written = false;
		all[i].err = own;
		failed++;
	}
	r->turns = all;
	r->n = n;
	if (failed == n) {
		/* All of them: the store's trouble, not theirs. */
		*err = all[0].err;
		return -1;
	}
	for (size_t i = 0; i < n; i++)
		if (all[i].err.code)
			shelve(o, all[i].turn.id, &all[i].err);
	return 0;
}

/* The same trouble is said once in COMPLAINT_US. */
static void complain(struct observer *o, const struct err *err)
{
	uint64_t now = clock_mono_us();
	if (o->complained_us && now - o->complained_us < COMPLAINT_US)
		return;
	o->complained_us = now;
	log_warn("turns could not be observed: %s", err->text);
}

static int round_work(struct desk *desk, struct work *work, struct err *err)
{
	return round_write(desk, work, err);
}

static void round_done(struct work *work, int result, int64_t seq, const struct err *err)
{
	struct round *r = (struct round *)work;
	struct observer *o = r->observer;
	pthread_mutex_lock(&o->mutex);
	r->result = result;
	if (result)
		r->err = *err;
	r->is_landed = true;
	pthread_cond_signal(&o->landed);
	pthread_mutex_unlock(&o->mutex);
}

static struct round *round_new(struct observer *o)
{
	struct round *r = mem_alloc(sizeof(*r));
	r->observer = o;
	r->work = (struct work){ .lane = LANE_BACKGROUND, .run = round_work, .done = round_done };
	return r;
}

static void round_free(struct round *r)
{
	if (!r)
		return;
	arena_done(&r->arena);
	free(r);
}

/* Hands a round to the writer; nobody waits for it yet. */
static int round_launch(struct observer *o, struct round *r, struct err *err)
{
	r->work.bytes = r->arena.used;
	if (writer_put(o->writer, &r->work, err))
		return -1;
	o->flying = r;
	return 0;
}

static void tell_of_jobs(struct observer *o)
{
	pthread_mutex_lock(&o->mutex);
	void (*tell)(void *) = o->jobs_wait;
	void *ctx = o->ctx;
	pthread_mutex_unlock(&o->mutex);
	if (tell)
		tell(ctx);
}

/*
 * Waits for the round that is being written. Returns the number of turns written, -1 after a
 * failure, MOVED when all had later events; 0 when there is none.
 */
#define MOVED (-2)
static int round_land(struct observer *o)
{
	struct round *r = o->flying;
	bool has_new_jobs = false;
	int written = 0;
	o->flying = NULL;
	if (!r)
		return 0;
	pthread_mutex_lock(&o->mutex);
	while (!r->is_landed)
		pthread_cond_wait(&o->landed, &o->mutex);
	pthread_mutex_unlock(&o->mutex);
	int result = r->result;
	struct err err = r->err;
	if (result && r->n > 1 && err.code != ERR_BUSY)
		result = round_write_singly(o, r, &err);
	if (result && err.code != ERR_BUSY)
		complain(o, &err);
	for (size_t i = 0; !result && i < r->n; i++) {
		if (r->turns[i].is_written) {
			written++;
			atomic_fetch_add(&o->made, r->turns[i].n);
			has_new_jobs = has_new_jobs || r->turns[i].has_new_jobs;
		}
	}
	round_free(r);
	if (has_new_jobs)
		tell_of_jobs(o);
	return result ? -1 : written ? written : MOVED;
}

/*
 * Reads a round while the one before is written, and hands it on. Returns as round_land, or the
 * number of turns that are being written now.
 */
static int round_run(struct observer *o)
{
	struct round *next = round_new(o);
	struct err err = { 0 };
	int result = round_read(o, next, &err);
	int landed = round_land(o);
	if (result) {
		complain(o, &err);
	} else if (next->n && landed != -1) {
		int n = (int)next->n;
		result = round_launch(o, next, &err);
		if (!result)
			return n;
	}
	round_free(next);
	return result ? -1 : landed;
}

struct settling {
	struct fact_policy policy;
	size_t n;
};

static int settle_write(struct desk *desk, void *ctx, struct err *err)
{
	struct settling *s = ctx;
	return facts_settle(desk->store, &s->policy, &s->n, err);
}

/*
 * Once no turn is left: facts whose candidates changed. Returns how many topics there were, -1
 * after a failure.
 */
static int facts_run_due(struct observer *o)
{
	struct settling s = { 0 };
	struct err err = { 0 };
	if (o->current)
		s.policy.threshold =
			settings_real(current_settings(o->current), SET_REVIEW_THRESHOLD);
	if (writer_run(o->writer, LANE_BACKGROUND, settle_write, &s, &err)) {
		if (err.code != ERR_BUSY)
			complain(o, &err);
		return -1;
	}
	return (int)s.n;
}

static int dictionary_write(struct desk *desk, void *ctx, struct err *err)
{
	return store_dictionary_put(desk->store, ctx, err);
}

/*
 * A first import writes most of what a store will ever hold: it must not wait for an idle daemon to
 * have its dictionaries.
 */
static int dictionary_run(struct observer *o, enum pack_class class, struct err *err)
{
	AUTO(dictionary_made_done) struct dictionary_made made = { 0 };
	struct reader *reader;

	if (readers_lend(o->readers, &reader, err))
		return -1;
	int64_t rows_min = MAX(OBSERVER_DICTIONARY_ROWS, o->dictionary_rows[class]);
	int result = store_dictionary_make(reader->store, class, rows_min, &made, err);
	readers_return(o->readers, reader);
	/* Texts that teach nothing are looked at again when there are twice as many. */
	if (made.is_tried)
		o->dictionary_rows[class] = 2 * made.rows;
	return result || !made.data.len
		       ? result
		       : writer_run(o->writer, LANE_BACKGROUND, dictionary_write, &made, err);
}

static void dictionaries_run(struct observer *o)
{
	struct err err = { 0 };

	for (int class = PACK_EVENT; class < PACK_CLASS_END; class ++)
		if (dictionary_run(o, (enum pack_class) class, &err) && err.code != ERR_BUSY)
			complain(o, &err);
}

static void observe_all(struct observer *o)
{
	o->is_busy = true;
	o->is_poked = false;
	pthread_mutex_unlock(&o->mutex);
	dictionaries_run(o);
	int n = round_run(o);
	if (!n)
		n = facts_run_due(o);
	pthread_mutex_lock(&o->mutex);
	o->is_busy = false;
	if (n > 0) {
		o->again_ms = 0;
		o->is_poked = true;
		return;
	}
	if (n < 0) {
		o->again_ms =
			o->again_ms && n != MOVED ? MIN(o->again_ms * 2, AGAIN_MAX_MS) : AGAIN_MS;
		uint64_t again = clock_mono_us() + o->again_ms * 1000ull;
		if (!o->deadline_us || o->deadline_us > again)
			o->deadline_us = again;
	}
	if (!o->is_poked) {
		o->rounds++;
		pthread_cond_broadcast(&o->settled);
	}
}

/* Waits for a poke or for the quiet timer. */
static void observer_sleep(struct observer *o)
{
	if (!o->deadline_us) {
		pthread_cond_wait(&o->wake, &o->mutex);
		return;
	}
	uint64_t now = clock_mono_us();
	if (now >= o->deadline_us) {
		o->deadline_us = o->touched_us + QUIET_US > now ? o->touched_us + QUIET_US : 0;
		o->is_poked = true;
		return;
	}
	struct timespec end = clock_after_us(o->deadline_us - now);
	pthread_cond_timedwait(&o->wake, &o->mutex, &end);
}

static int rules_write(struct desk *desk, void *ctx, struct err *err)
{
	return store_turns_of_rules(desk->store, RULES_VERSION, err);
}

/* What an older version made of turns is made anew, once. */
static void rules_check(struct observer *o)
{
	struct err err = { 0 };

	if (writer_run(o->writer, LANE_BACKGROUND, rules_write, NULL, &err))
		complain(o, &err);
}

static void *observer_main(void *arg)
{
	struct observer *o = arg;
	rules_check(o);
	pthread_mutex_lock(&o->mutex);
	while (!o->is_closing) {
		if (o->is_poked)
			observe_all(o);
		else
			observer_sleep(o);
	}
	pthread_mutex_unlock(&o->mutex);
	round_land(o);
	pthread_mutex_lock(&o->mutex);
	o->rounds++;
	pthread_cond_broadcast(&o->settled);
	pthread_mutex_unlock(&o->mutex);
	return NULL;
}

struct observer *observer_new(
	struct readers *readers, struct writer *writer, struct current *current)
{
	struct observer *o = mem_alloc(sizeof(*o));
	o->readers = readers;
	o->writer = writer;
	o->current = current;
	o->is_poked = true;
	pthread_mutex_init(&o->mutex, NULL);
	pthread_cond_init(&o->wake, NULL);
	pthread_cond_init(&o->settled, NULL);
	pthread_cond_init(&o->landed, NULL);
	if (pthread_create(&o->thread, NULL, observer_main, o))
		die("cannot start the observer thread");
	return o;
}

void observer_free(struct observer *o)
{
	if (!o)
		return;
	pthread_mutex_lock(&o->mutex);
	o->is_closing = true;
	pthread_cond_broadcast(&o->wake);
	pthread_mutex_unlock(&o->mutex);
	pthread_join(o->thread, NULL);
	pthread_cond_destroy(&o->wake);
	pthread_cond_destroy(&o->settled);
	pthread_cond_destroy(&o->landed);
	pthread_mutex_destroy(&o->mutex);
	free(o);
}

void observer_tell(struct observer *o, void (*jobs_wait)(void *ctx), void *ctx)
{
	pthread_mutex_lock(&o->mutex);
	o->jobs_wait = jobs_wait;
	o->ctx = ctx;
	pthread_mutex_unlock(&o->mutex);
}

void observer_poke(struct observer *o)
{
	pthread_mutex_lock(&o->mutex);
	o->is_poked = true;
	pthread_cond_signal(&o->wake);
	pthread_mutex_unlock(&o->mutex);
}

void observer_touch(struct observer *o, int64_t session)
{
	atomic_fetch_add(slot_of(o, session), 1);
	pthread_mutex_lock(&o->mutex);
	/* One timer for all, set again when it goes off while there were later events. */
	o->touched_us = clock_mono_us();
	if (!o->deadline_us) {
		o->deadline_us = o->touched_us + QUIET_US;
		pthread_cond_signal(&o->wake);
	}
	pthread_mutex_unlock(&o->mutex);
}

void observer_wait(struct observer *o, const _Atomic bool *stop)
{
	static const uint64_t look_us = 200000; /* at *stop */
	pthread_mutex_lock(&o->mutex);
	uint64_t goal = o->rounds + (o->is_busy ? 2 : 1);
	o->is_poked = true;
	pthread_cond_signal(&o->wake);
	while (o->rounds < goal && !atomic_load(stop) && !o->is_closing) {
		struct timespec end = clock_after_us(look_us);
		pthread_cond_timedwait(&o->settled, &o->mutex, &end);
		if (!o->is_busy && !o->is_poked && o->rounds < goal) {
			o->is_poked = true;
			pthread_cond_signal(&o->wake);
		}
	}
	pthread_mutex_unlock(&o->mutex);
}

bool observer_is_idle(struct observer *o)
{
	pthread_mutex_lock(&o->mutex);
	bool is_idle = !o->is_busy && !o->is_poked;
	pthread_mutex_unlock(&o->mutex);
	return is_idle;
}

uint64_t observer_made(struct observer *o)
{
	return atomic_load(&o->made);
}
