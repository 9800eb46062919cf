#ifndef STORE_JOB_H
#define STORE_JOB_H

#include "model/job.h"
#include "store/store.h"

/*
 * Durable jobs with leases, and the record of every request that was sent for them. A job is keyed
 * (kind, key); putting it again with the same input changes nothing, with another input makes it
 * wait again. A lease that ran out (the daemon died) makes a job wait again; its result is stored in
 * the same transaction that ends it, so that it is stored once.
 */

/* job->id is set; *ret_is_new: it waits now and did not before. */
int store_job_put(struct store *s, struct job *job, bool *ret_is_new, struct err *err);
/* The waiting job to run next (newest work first) is leased until `until`; id 0 when none is due at `now`. */
struct job_lease { enum job_kind kind; int64_t now, until; };
int store_job_lease(struct store *s, struct arena *a, const struct job_lease *l, struct job *ret, struct err *err);
/* Ends a lease: done, dead, or waiting again from run_after on, with the reason. is_attempt: it counts. */
struct job_end { int64_t job; enum job_state state; int64_t run_after; const char *error; bool is_attempt; };
int store_job_end(struct store *s, const struct job_end *e, struct err *err);
/* At start: whatever another process had leased waits again. */
int store_jobs_release(struct store *s, int64_t now, struct err *err);

struct job_query { int kind, state; /* -1: any */ int64_t below; /* id; 0: from the newest */ size_t max; };
int store_job_list(struct store *s, struct arena *a, const struct job_query *q, struct job **ret, size_t *ret_n, struct err *err);
int store_job_get(struct store *s, struct arena *a, int64_t id, struct job *ret, struct err *err); /* ERR_NOT_FOUND */
/* Dead ones wait again (id 0: all). */
int store_job_retry(struct store *s, int64_t id, int64_t *ret_n, struct err *err);
int store_job_drop(struct store *s, int64_t id, struct err *err);
/* Earliest run_after of a waiting job of this kind; 0: none. */
int store_job_next_at(struct store *s, enum job_kind kind, int64_t *ret, struct err *err);

int store_call_put(struct store *s, struct model_call *c, struct err *err);
int store_call_list(struct store *s, struct arena *a, int64_t after, size_t max, struct model_call **ret, size_t *ret_n, struct err *err);
/* Sums by day, project or model since `from`: for budgets and `cost`. */
enum cost_by { COST_DAY, COST_PROJECT, COST_MODEL };
struct cost_row { const char *name; int64_t calls, tokens_in, tokens_out, ok, failed; double cost; };
int store_cost(struct store *s, struct arena *a, enum cost_by by, int64_t from, struct cost_row **ret, size_t *ret_n, struct err *err);
/* Raw replies older than `before` go. */
int store_calls_prune(struct store *s, int64_t before, struct err *err);

#endif
