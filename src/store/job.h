#ifndef STORE_JOB_H
#define STORE_JOB_H

#include "model/job.h"
#include "store/store.h"

/*
 * Durable jobs with leases, and the record of every request that was sent for them. A job is keyed
 * (kind, key); putting it again with the same input changes nothing, with another input makes it
 * wait again. A lease that ran out (the daemon died) makes a job wait again; its result is stored in
 * the same transaction that ends it, and only while the lease holds, so that it is stored once.
 */

/* job->id is set; *ret_is_new: it waits now and did not before. job->state: WAITING, or DONE for what need not be sent. */
int store_job_put(struct store *s, struct job *job, bool *ret_is_new, struct err *err);
/*
 * The jobs of a turn, one for each part. Jobs of other parts go. What a model made of a part that
 * changed goes too: the rules' memories hold until there is something better.
 */
int store_turn_jobs(struct store *s, const struct turn *t, struct job *jobs, size_t n,
	bool *ret_is_new, struct err *err);
#define JOB_KEY_MAX 48
/* "t123.0" or "s7". */
void job_key_turn(int64_t turn, int part, char out[JOB_KEY_MAX]);
void job_key_session(int64_t session, char out[JOB_KEY_MAX]);
int job_part(const struct job *job);

/* The waiting job to run next (newest work first) is leased until `until`; id 0 when none is due at `now`. */
struct job_lease {
	enum job_kind kind;
	int64_t now, until;
	int64_t project;      /* only of this one; 0: any */
	bool is_fresh;        /* only such as never failed */
};
int store_job_lease(struct store *s, struct arena *a, const struct job_lease *l, struct job *ret,
	struct err *err);
/* Ends a lease: done, dead, or waiting again from run_after on, with the reason. */
struct job_end {
	const struct job *job; /* as leased */
	enum job_state state;
	int64_t run_after;
	const char *error;
	bool is_attempt;       /* it counts */
};
/* *ret_is_held: the lease still held; else nothing was changed, and its result is not to be stored. */
int store_job_end(struct store *s, const struct job_end *e, bool *ret_is_held, struct err *err);
/* At start: whatever another process had leased waits again, and its requests count as aborted. */
int store_jobs_release(struct store *s, int64_t now, struct err *err);

struct job_query {
	int kind, state;  /* -1: any; a kind of -1 leaves out the daily sample */
	int64_t below;    /* id; 0: from the newest */
	int64_t project;  /* 0: any */
	bool is_open;     /* only such as wait, run or are dead */
	size_t max;
};
int store_job_list(struct store *s, struct arena *a, const struct job_query *q, struct job **ret,
	size_t *ret_n, struct err *err);
int store_job_get(struct store *s, struct arena *a, int64_t id, struct job *ret, struct err *err); /* ERR_NOT_FOUND */
/* How many of each state; kind 0: all but the daily sample. */
int store_job_counts(struct store *s, enum job_kind kind, int64_t ret[JOB_STATE_COUNT], struct err *err);
/* Dead ones wait again (id 0: all). */
int store_job_retry(struct store *s, int64_t id, int64_t *ret_n, struct err *err);
int store_job_drop(struct store *s, int64_t id, struct err *err); /* ERR_NOT_FOUND */
/* Earliest run_after of a waiting job of this kind; 0: none. */
int store_job_next_at(struct store *s, enum job_kind kind, int64_t *ret, struct err *err);
/* Does an observe job of this session wait or run? */
int store_session_has_jobs(struct store *s, int64_t session, bool *ret, struct err *err);
/* Hash of the inputs of all observe jobs of a session, and how many there are. */
int store_session_input(struct store *s, int64_t session, uint64_t *ret, int64_t *ret_n, struct err *err);
/*
 * Turns that were observed before there was a model have no job: the newest `max` of them are made
 * dirty, so that the rules look at them again. How many are left is not counted.
 */
int store_turns_without_job(struct store *s, size_t max, int64_t *ret_n, struct err *err);
/* The newest turns: what a model is tried on. */
int store_turns_newest(struct store *s, struct arena *a, size_t max, int64_t **ret, size_t *ret_n, struct err *err);

/* call.c; c->id 0: a new row (the id is set), else changed. */
int store_call_put(struct store *s, struct model_call *c, struct err *err);
int store_call_list(struct store *s, struct arena *a, int64_t after, size_t max,
	struct model_call **ret, size_t *ret_n, struct err *err);
/* Sums by day (local), project or model since `from`, newest or most first: for budgets and `cost`. */
enum cost_by { COST_DAY, COST_PROJECT, COST_MODEL };
struct cost_row {
	const char *name;
	int64_t day; /* COST_DAY: its first ms */
	int64_t calls, units, tokens_in, tokens_out, ok, failed;
	double cost;
};
struct cost_query {
	enum cost_by by;
	int64_t from, project; /* 0: any */
};
int store_cost(struct store *s, struct arena *a, const struct cost_query *q,
	struct cost_row **ret, size_t *ret_n, struct err *err);
/* All since `from` in one row, but for embedding: what the budgets of the observer are about. */
int store_cost_total(struct store *s, int64_t from, int64_t project, struct cost_row *ret, struct err *err);
int store_call_outcomes(struct store *s, int64_t from, int64_t ret[CALL_OUTCOME_COUNT], struct err *err);
/* What sharing requests and leaving units out saved since `from`. */
struct cost_saved {
	int64_t requests, shared_tokens;  /* by several units in one request */
	int64_t skipped, skipped_tokens;  /* by not sending what the rules see nothing more in */
};
int store_cost_saved(struct store *s, int64_t from, struct cost_saved *ret, struct err *err);
/* Raw replies older than `before` go. */
int store_calls_prune(struct store *s, int64_t before, struct err *err);

#endif
