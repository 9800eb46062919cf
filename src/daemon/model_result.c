/*
 * What a request came to, for its units and for the provider; and storing it. One table says what
 * follows from an outcome (llm_next); here is how.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "daemon/model_parts.h"

static void end_unit(struct batch_unit *u, enum job_state state, const char *error)
{
	u->end = state;
	u->error = error;
	u->run_after = 0;
	u->is_attempt = true;
}

static void end_all(struct batch *b, enum job_state state, const char *error)
{
	for (size_t i = 0; i < b->n; i++)
		end_unit(&b->units[i], state, error);
}

static const char *reason(struct batch *b)
{
	const char *detail = b->ask.call.detail;
	return arena_printf(&b->arena, "%s%s%s", call_outcome_names[b->ask.outcome],
		detail && *detail ? ": " : "", detail && *detail ? detail : "");
}

/* ---- an answer ---- */

static bool speaks_of(const struct reply *r, int number)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->items[i].unit == number)
			return true;
	return false;
}

static void keep_unit(struct batch *b, size_t i)
{
	struct batch_unit *u = &b->units[i];
	int number = (int)i + 1;
	/* Of several units in one answer each must be told apart, and none may be cut off. */
	if (b->n > 1 && !speaks_of(&b->ask.reply, number) &&
		(b->ask.outcome == CALL_CUT || speaks_of(&b->ask.reply, 0))) {
		end_unit(u, JOB_STATE_WAITING, "the answer of its request did not reach it");
		return;
	}
	const struct refine_input in = { .unit = &u->unit.in,
		.made = &u->unit.made,
		.digest = &u->unit.digest,
		.part = job_part(&u->job),
		.reply = &b->ask.reply,
		.mode = &b->mode,
		.similar = u->unit.similar,
		.nsimilar = u->unit.nsimilar,
		.number = number,
		.is_only_unit = b->n == 1,
		.model = b->ask.call.model,
		.version = b->ask.prompt.version,
		.threshold = settings_real(b->hand->settings, SET_REVIEW_THRESHOLD) };
	refine_run(&b->arena, &in, &u->refined);
	end_unit(u, JOB_STATE_DONE, NULL);
}

static void judge_keep(struct batch *b)
{
	for (size_t i = 0; i < b->n; i++)
		if (b->kind == JOB_SUMMARY)
			session_judge(b);
		else if (b->ask.outcome == CALL_NOTHING)
			end_unit(&b->units[i], JOB_STATE_DONE, NULL);
		else
			keep_unit(b, i);
}

/* ---- a failure ---- */

/* Several units: each is tried alone, which tells whose fault it is. */
static void judge_alone(struct batch *b)
{
	end_all(b, b->n > 1 ? JOB_STATE_WAITING : JOB_STATE_DEAD, reason(b));
}

/* An attempt counts against the units only when the provider is not to blame. */
static void judge_later(struct batch *b, bool is_counted)
{
	int64_t now = clock_now();
	for (size_t i = 0; i < b->n; i++) {
		struct batch_unit *u = &b->units[i];
		end_unit(u, JOB_STATE_WAITING, reason(b));
		u->is_attempt = is_counted;
		u->run_after = now + backoff(RETRY_MS, RETRY_MAX_MS, u->job.attempts,
					     hand_chance(b->hand));
		if (is_counted && u->job.attempts + 1 >= MODEL_ATTEMPTS_MAX)
			end_unit(u, JOB_STATE_DEAD,
				arena_printf(&b->arena, "given up after %d attempts; the last: %s",
					MODEL_ATTEMPTS_MAX, reason(b)));
	}
}

static void judge_wait(struct batch *b)
{
	end_all(b, JOB_STATE_WAITING, b->ask.outcome == CALL_ABORTED ? NULL : reason(b));
	for (size_t i = 0; i < b->n; i++)
		b->units[i].is_attempt = false;
}

/* ---- the provider ---- */

static void note_failed(struct model_work *w, struct batch *b)
{
	if (breaker_failed(
		    &w->breaker, clock_now(), hand_chance(b->hand), b->ask.outcome, reason(b)))
		log_warn("the model observer waits: %d requests in a row failed; the last: %s",
			w->breaker.failures, reason(b));
}

static void note_paused(struct model_work *w, struct batch *b)
{
	if (breaker_paused(&w->breaker, clock_now(), b->ask.outcome, reason(b)))
		log_warn("the model observer is paused: %s", reason(b));
}

static void note_answered(struct model_work *w)
{
	if (w->breaker.state != BREAKER_CLOSED)
		log_info("the model observer goes on: the provider answers again");
	breaker_succeeded(&w->breaker);
}

void batch_judge(struct batch *b)
{
	struct model_work *w = b->hand->work;
	enum llm_next next = llm_next[b->ask.outcome];
	pthread_mutex_lock(&w->mutex);
	bool is_blameless = w->breaker.failures == 0 && w->breaker.state == BREAKER_CLOSED;
	if (next == LLM_LATER)
		note_failed(w, b);
	else if (next == LLM_PAUSE)
		note_paused(w, b);
	else if (b->ask.outcome == CALL_RATE_LIMIT)
		breaker_limited(&w->breaker, clock_now(), hand_chance(b->hand),
			b->ask.answer.retry_after_ms);
	else if (b->ask.outcome == CALL_ABORTED)
		breaker_undo(&w->breaker);
	else
		note_answered(w);
	pthread_mutex_unlock(&w->mutex);
	if (next == LLM_KEEP)
		judge_keep(b);
	else if (next == LLM_SHORTER || next == LLM_NEVER)
		judge_alone(b);
	else if (next == LLM_LATER)
		judge_later(b,
			is_blameless || (b->ask.outcome == CALL_TIMEOUT && b->hand->is_reachable));
	else
		judge_wait(b);
}

/* ---- storing ---- */

static int store_unit(struct store *s, struct batch *b, struct batch_unit *u, struct err *err)
{
	struct arena *a = &b->arena;
	struct refine_output *r = &u->refined;
	struct memory *memories = ARENA_ARRAY(a, struct memory, r->n + 1);
	int part = job_part(&u->job);
	for (size_t i = 0; i < r->n; i++) {
		memories[i] = r->items[i].m;
		memories[i].refines = r->items[i].refines;
	}
	return store_model_memories(s, &u->unit.turn, part, memories, r->n, err) ||
			       store_model_candidates(
				       s, &u->unit.turn, part, r->candidates, r->ncandidates, err)
		       ? -1
		       : 0;
}

static int store_run(struct desk *desk, void *ctx, struct err *err)
{
	struct batch *b = ctx;
	if (b->is_sent && store_call_put(desk->store, &b->ask.call, err))
		return -1;
	for (size_t i = 0; i < b->n; i++) {
		struct batch_unit *u = &b->units[i];
		const struct job_end end = { .job = &u->job,
			.state = u->end,
			.run_after = u->run_after,
			.error = u->error,
			.is_attempt = u->is_attempt };
		bool is_held;
		if (store_job_end(desk->store, &end, &is_held, err))
			return -1;
		if (!is_held || u->end != JOB_STATE_DONE)
			continue;
		if (b->kind == JOB_SUMMARY ? session_store(desk->store, b, err)
					   : store_unit(desk->store, b, u, err))
			return -1;
	}
	return 0;
}

int batch_store(struct batch *b, struct err *err)
{
	return writer_run(b->hand->work->setup.writer, LANE_BACKGROUND, store_run, b, err);
}

int batch_return(struct batch *b, int64_t run_after, const char *why, struct err *err)
{
	end_all(b, JOB_STATE_WAITING, why);
	for (size_t i = 0; i < b->n; i++) {
		b->units[i].is_attempt = false;
		b->units[i].run_after = run_after;
	}
	b->is_sent = false;
	return batch_store(b, err);
}
