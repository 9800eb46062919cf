/*
 * The daily sample: a few of the newest units are asked about and the answers judged; nothing of
 * them is stored but what they cost. Its job waits for the next day; what was found stands in it as
 * its last error, so that another daemon knows it too.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "daemon/model_parts.h"
#include "observe/trial.h"

#define CANARY_KEY "canary"
#define CANARY_UNITS 3
#define DAY_MS (24 * 3600000ll)

struct canary {
	struct hand *hand;
	struct arena arena;
	struct job job;   /* id 0: not due */
	struct job known; /* with what was found the last time */
	int64_t next;
	struct unit *units;
	size_t n;
	struct trial trial;
	const char *complaint;
};

/* The first one is due when the model was on for a day. */
static int lease_run(struct desk *desk, void *ctx, struct err *err)
{
	struct canary *c = ctx;
	struct job job = {
		.kind = JOB_CANARY, .key = CANARY_KEY, .input = 1, .run_after = clock_now() + DAY_MS
	};
	int64_t timeout = settings_int(c->hand->settings, SET_OBSERVER_TIMEOUT_MS);
	const struct job_lease l = { .kind = JOB_CANARY,
		.now = clock_now(),
		.until = clock_now() + (CANARY_UNITS + 1) * timeout };
	bool is_new;
	if (store_job_put(desk->store, &job, &is_new, err) ||
		store_job_get(desk->store, &c->arena, job.id, &c->known, err) ||
		store_job_lease(desk->store, &c->arena, &l, &c->job, err))
		return -1;
	return store_job_next_at(desk->store, JOB_CANARY, &c->next, err);
}

static int load(struct canary *c, struct err *err)
{
	struct reader *reader;
	if (readers_lend(c->hand->work->setup.readers, &reader, err))
		return -1;
	int result = trial_units(
		reader->store, &c->arena, c->hand->settings, CANARY_UNITS, &c->units, &c->n, err);
	readers_return(c->hand->work->setup.readers, reader);
	return result;
}

static int record_run(struct desk *desk, void *ctx, struct err *err)
{
	return store_call_put(desk->store, ctx, err);
}

/* One that was not reached says nothing about the answers. */
static bool is_telling(enum call_outcome o)
{
	return o != CALL_ABORTED && o != CALL_NETWORK && o != CALL_RATE_LIMIT && o != CALL_QUOTA &&
	       o != CALL_AUTH && o != CALL_SETUP;
}

static int try_units(struct canary *c, struct err *err)
{
	struct model_work *w = c->hand->work;
	struct trial *t = &c->trial;
	*t = (struct trial){ .settings = c->hand->settings,
		.prompts = w->setup.prompts,
		.folder = w->setup.folder,
		.stop = &w->stop };
	int result = trial_open(t, &c->arena, NULL, err);
	for (size_t i = 0; i < c->n && !result && !atomic_load(&w->stop); i++) {
		struct trial_result r;
		result = trial_run(t, &c->units[i], &r, err);
		if (result)
			break;
		r.ask.call.kind = JOB_CANARY;
		result = writer_run(w->setup.writer, LANE_BACKGROUND, record_run, &r.ask.call, err);
		if (is_telling(r.ask.outcome))
			trial_add(t, &c->units[i], &r);
		ask_done(&r.ask);
	}
	trial_close(t);
	c->complaint = trial_complaint(t);
	return result;
}

static int end_run(struct desk *desk, void *ctx, struct err *err)
{
	struct canary *c = ctx;
	bool is_held, is_tried = c->trial.units > 0;
	c->next = clock_now() + (is_tried ? DAY_MS : DAY_MS / 24);
	const struct job_end end = { .job = &c->job,
		.state = JOB_STATE_WAITING,
		.run_after = c->next,
		.error = is_tried ? c->complaint : c->known.last_error,
		.is_attempt = false };
	return store_job_end(desk->store, &end, &is_held, err);
}

static void tell(struct canary *c)
{
	struct model_work *w = c->hand->work;
	const char *text = c->trial.units ? c->complaint : c->known.last_error;
	pthread_mutex_lock(&w->mutex);
	bool is_news = text && strcmp(w->degraded, text) != 0;
	snprintf(w->degraded, sizeof(w->degraded), "%s", text ? text : "");
	pthread_mutex_unlock(&w->mutex);
	if (is_news)
		log_warn("the model '%s' observes badly: %s",
			settings_text(c->hand->settings, SET_OBSERVER_MODEL), text);
}

int canary_run(struct hand *h, int64_t *ret_next, struct err *err)
{
	struct canary c = { .hand = h };
	struct err own = { 0 };
	*ret_next = INT64_MAX;
	if (!settings_bool(h->settings, SET_OBSERVER_CANARY))
		return 0;
	int result = writer_run(h->work->setup.writer, LANE_BACKGROUND, lease_run, &c, err);
	if (!result && c.job.id) {
		if (load(&c, &own) || try_units(&c, &own))
			log_warn("the daily sample of the model failed: %s", own.text);
		result = writer_run(h->work->setup.writer, LANE_BACKGROUND, end_run, &c, err);
	}
	if (!result)
		tell(&c);
	if (!result && c.next)
		*ret_next = c.next;
	arena_done(&c.arena);
	return result;
}
