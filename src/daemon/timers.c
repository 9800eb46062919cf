#include "daemon/timers.h"

#include <malloc.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "daemon/daemon.h"
#include "daemon/http.h"
#include "store/job.h"
#include "store/folder.h"

#define SECOND_MS 1000u
#define MINUTE_MS (60 * SECOND_MS)
#define HOUR_MS (60 * MINUTE_MS)
#define DAY_MS (24 * (int64_t)HOUR_MS)

/* Keeping house is left out while this was not needed: nothing was written since. */
struct timer {
	const char *name;
	unsigned every_ms, first_ms;
	bool after_writes; /* only when something was written since it last ran */
	void (*run)(struct daemon *d);
};

struct timers {
	struct daemon *daemon;
	uint64_t *due_us;
	uint64_t *works; /* of the writer, when it last ran */
};

/* --- What runs. --- */

static void sweep(struct daemon *d)
{
	drain_poke(d->drain);
}

static int checkpoint_run(struct desk *desk, void *ctx, struct err *err)
{
	return store_checkpoint(desk->store, false, err);
}

static int retention_run(struct desk *desk, void *ctx, struct err *err)
{
	const struct settings *s = current_settings(((struct daemon *)ctx)->current);
	int64_t days = settings_int(s, SET_RETENTION_EVENTS_DAYS);
	int64_t before = days ? clock_now() - days * DAY_MS : 0;
	int64_t removed = 0;
	if (store_retention(
		    desk->store, before, settings_int(s, SET_RETENTION_MAX_BYTES), &removed, err))
		return -1;
	if (removed)
		log_info("retention removed %lld events", (long long)removed);
	return 0;
}

static int log_prune_run(struct desk *desk, void *ctx, struct err *err)
{
	int64_t days = settings_int(current_settings(((struct daemon *)ctx)->current), SET_SEARCH_LOG_DAYS);
	return search_log_prune(desk->store, days ? clock_now() - days * DAY_MS : 0, SEARCH_LOG_MAX, err);
}

static int prune_run(struct desk *desk, void *ctx, struct err *err)
{
	struct follow_state state;
	follow_state(((struct daemon *)ctx)->follow, &state);
	return state.is_filling ? 0 : store_change_prune(desk->store, state.seq, err);
}

static int replies_run(struct desk *desk, void *ctx, struct err *err)
{
	const struct settings *s = current_settings(((struct daemon *)ctx)->current);
	return store_calls_prune(
		desk->store, clock_now() - settings_int(s, SET_OBSERVER_REPLIES_DAYS) * DAY_MS, err);
}

static int train_run(struct desk *desk, void *ctx, struct err *err)
{
	return store_train_dictionary(desk->store, err);
}

/* Work for the writer that nobody waits for. */
struct chore {
	struct work work;
	const char *name;
	int (*fn)(struct desk *desk, void *ctx, struct err *err);
	void *ctx;
};

static int chore_run(struct desk *desk, struct work *work, struct err *err)
{
	struct chore *c = (struct chore *)work;
	return c->fn(desk, c->ctx, err);
}

static void chore_done(struct work *work, int result, int64_t seq, const struct err *err)
{
	struct chore *c = (struct chore *)work;
	if (result)
		log_warn("%s failed: %s", c->name, err->text);
	free(c);
}

static void chore_put(struct daemon *d, const char *name, bool is_bare,
	int (*fn)(struct desk *, void *, struct err *))
{
	struct chore *c = mem_alloc(sizeof(*c));
	*c = (struct chore){
		.work = { .lane = LANE_BACKGROUND,
			.is_bare = is_bare,
			.run = chore_run,
			.done = chore_done },
		.name = name,
		.fn = fn,
		.ctx = d,
	};
	if (writer_put(d->writer, &c->work, NULL))
		free(c);
}

static void checkpoint(struct daemon *d)
{
	chore_put(d, "checkpoint", true, checkpoint_run);
}

static void retention(struct daemon *d)
{
	chore_put(d, "retention", false, retention_run);
	chore_put(d, "pruning", false, prune_run);
	chore_put(d, "pruning the search log", false, log_prune_run);
	drain_clean(&d->paths);
}

static void prune_replies(struct daemon *d)
{
	chore_put(d, "pruning raw answers", false, replies_run);
}

static void look_at_files(struct daemon *d)
{
	keeper_sweep(d->keeper);
}

static void train(struct daemon *d)
{
	if (daemon_is_idle(d))
		chore_put(d, "training the dictionary", true, train_run);
}

/* What an import or a large reply left in the allocator goes back to the system. */
static void trim(struct daemon *d)
{
#ifdef __GLIBC__
	if (daemon_is_idle(d))
		malloc_trim(0);
#endif
}

static void leave_when_idle(struct daemon *d)
{
	const struct settings *s = current_settings(d->current);
	double minutes = settings_real(s, SET_DAEMON_IDLE_MINUTES);
	uint64_t idle_us = clock_mono_us() - atomic_load(&d->used_us);
	if (minutes <= 0 || (double)idle_us < minutes * MINUTE_MS * 1000.0 || !daemon_is_idle(d))
		return;
	/* Under a supervisor it stays, unless a person asked for it. */
	if (d->is_foreground && settings_origin(s, SET_DAEMON_IDLE_MINUTES)[0] == 'd')
		return;
	log_info("leaving: nobody used the daemon for %.1f minutes", minutes);
	daemon_leave(d);
}

static const struct timer timers_table[] = {
	{ "sweep", 30 * SECOND_MS, 30 * SECOND_MS, false, sweep },
	{ "idle", 20 * SECOND_MS, 20 * SECOND_MS, false, leave_when_idle },
	{ "checkpoint", 5 * MINUTE_MS, 5 * MINUTE_MS, true, checkpoint },
	{ "files", 10 * MINUTE_MS, 5 * MINUTE_MS, true, look_at_files },
	{ "trim", 2 * MINUTE_MS, MINUTE_MS, true, trim },
	{ "train", 10 * MINUTE_MS, 3 * MINUTE_MS, true, train },
	/* At once too: a daemon that always leaves early must not keep them for ever. */
	{ "replies", HOUR_MS, 0, false, prune_replies },
	{ "retention", 24 * HOUR_MS, 15 * MINUTE_MS, false, retention },
};

/* --- When. --- */

/* Short idle times (tests, people in a hurry) are looked at more often. */
static unsigned period(const struct timers *t, const struct timer *timer)
{
	static const double looks = 4; /* in one idle time */
	if (timer->run != leave_when_idle)
		return timer->every_ms;
	double idle_ms =
		settings_real(current_settings(t->daemon->current), SET_DAEMON_IDLE_MINUTES) *
		MINUTE_MS;
	if (idle_ms <= 0 || idle_ms / looks >= timer->every_ms)
		return timer->every_ms;
	return (unsigned)MAX(idle_ms / looks, (double)TIMERS_SHORTEST_MS);
}

struct timers *timers_new(struct daemon *d)
{
	struct timers *t = mem_alloc(sizeof(*t));
	t->daemon = d;
	t->due_us = mem_alloc(sizeof(*t->due_us) * ARRAY_LEN(timers_table));
	t->works = mem_alloc(sizeof(*t->works) * ARRAY_LEN(timers_table));
	for (size_t i = 0; i < ARRAY_LEN(timers_table); i++) {
		unsigned first = MIN(timers_table[i].first_ms, period(t, &timers_table[i]));
		t->due_us[i] = clock_mono_us() + first * 1000ull;
	}
	return t;
}

void timers_free(struct timers *t)
{
	if (!t)
		return;
	free(t->due_us);
	free(t->works);
	free(t);
}

static void run_one(struct timers *t, size_t i)
{
	const struct timer *timer = &timers_table[i];
	struct writer_state state;
	writer_state(t->daemon->writer, &state);
	bool is_needed = !timer->after_writes || t->works[i] != state.works;
	t->works[i] = state.works;
	if (is_needed)
		timer->run(t->daemon);
	t->due_us[i] = clock_mono_us() + period(t, timer) * 1000ull;
}

int timers_run(struct timers *t)
{
	uint64_t now = clock_mono_us(), next = UINT64_MAX;
	for (size_t i = 0; i < ARRAY_LEN(timers_table); i++)
		if (t->due_us[i] <= now)
			run_one(t, i);
	now = clock_mono_us();
	for (size_t i = 0; i < ARRAY_LEN(timers_table); i++)
		next = MIN(next, t->due_us[i]);
	return next <= now ? TIMERS_SHORTEST_MS : (int)((next - now) / 1000) + 1;
}
