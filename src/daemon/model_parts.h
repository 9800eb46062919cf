#ifndef DAEMON_MODEL_PARTS_H
#define DAEMON_MODEL_PARTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/arena.h"
#include "daemon/model_work.h"
#include "llm/llm.h"
#include "observe/ask.h"
#include "observe/mode.h"
#include "observe/refine.h"
#include "observe/reply.h"
#include "observe/unit.h"
#include "store/fact.h"
#include "store/job.h"

/* What the files model_*.c share. Not for others. */

struct model_work {
	struct model_work_setup setup;
	_Atomic bool stop; /* requests are given up */
	pthread_mutex_t mutex; /* of all that follows */
	pthread_cond_t wake;
	bool is_closing;
	bool has_work;    /* jobs may be due: nobody found that there are none */
	uint64_t pokes;
	pthread_t threads[MODEL_PARALLEL_MAX];
	size_t nthreads;
	int busy;         /* hands in a round */
	int running;      /* requests under way */
	struct breaker breaker;
	uint64_t identity; /* of the provider, so that the breaker is its */
	int64_t budget_until; /* the budget of this day is used up; 0 */
	bool is_backlog_done;
	char trouble[ERR_TEXT_MAX]; /* of settings and files, or "" */
	char budget[ERR_TEXT_MAX];  /* which is used up, or "" */
	char degraded[ERR_TEXT_MAX];
};

/* One thread's own. */
struct hand {
	struct model_work *work;
	size_t index;
	const struct settings *settings; /* that llm was made of */
	struct llm *llm;
	unsigned seed;
	bool is_probe, is_reachable; /* of this round: the server answered before */
};

double hand_chance(struct hand *h);

/* One job of a request. */
struct batch_unit {
	struct job job;
	struct unit unit;
	struct refine_output refined;
	/* How its lease ends. */
	enum job_state end;
	int64_t run_after;
	const char *error;
	bool is_attempt;
};

struct batch {
	struct arena arena;
	struct hand *hand;
	enum job_kind kind;
	int64_t until; /* of the leases */
	struct batch_unit units[MODEL_BATCH_MAX];
	size_t n;
	bool is_again;     /* the shorter and stricter question */
	bool is_sent;
	struct mode mode;
	/* Of JOB_SUMMARY. */
	struct session session;
	struct memory *summaries;
	size_t nsummaries;
	struct digest session_digest;
	struct memory memory; /* when has_memory */
	bool has_memory;
	struct ask ask;
	bool is_lost;      /* the turn is another than the job says: nothing was sent */
};

/* model_batch.c */
/* Leases what goes into one request; n 0: nothing is due. */
int batch_lease(struct batch *b, struct err *err);
/* Reads its units and makes the question. ERR_NOT_FOUND: the turn or session is gone. */
int batch_load(struct batch *b, struct err *err);
int64_t batch_bytes(const struct batch *b);

/* model_ask.c */
/* Sends the question and reads the answer; the request is recorded before and after. */
int batch_ask(struct batch *b, struct err *err);

/* model_result.c */
/* What follows for each unit, and for the provider. */
void batch_judge(struct batch *b);
/* Ends the leases and stores the results. */
int batch_store(struct batch *b, struct err *err);
/* Everything waits again, as if it had not been leased. */
int batch_return(struct batch *b, int64_t run_after, const char *why, struct err *err);

/* model_session.c */
int session_load(struct batch *b, struct store *s, struct err *err);
int session_store(struct store *s, struct batch *b, struct err *err);
void session_judge(struct batch *b);

/* model_canary.c */
/* Runs the daily sample when it is due. *ret_next: when it will be. */
int canary_run(struct hand *h, int64_t *ret_next, struct err *err);

#endif
