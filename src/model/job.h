#ifndef MODEL_JOB_H
#define MODEL_JOB_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Durable work and what became of each request to a model. The numbers are stored: rows are only
 * ever added at the end.
 */

enum job_kind { JOB_NONE, JOB_OBSERVE, JOB_SUMMARY, JOB_CANARY, JOB_TRIAL /* never a row of job */,
	JOB_EMBED /* texts to an embedding server; never a row of job, and outside the observer's budget */, JOB_KIND_COUNT };

/* "running" is a waiting job with a lease; a lease that ran out makes it a waiting one again. */
enum job_state { JOB_STATE_WAITING, JOB_STATE_RUNNING, JOB_STATE_DONE, JOB_STATE_DEAD, JOB_STATE_COUNT };

/* How a request ended, as counted and shown. Each has one defined consequence (llm/llm.h). */
enum call_outcome {
	CALL_NONE,
	CALL_OK,
	CALL_NOTHING,    /* the model says that nothing is worth keeping: a valid answer */
	CALL_EMPTY,      /* no text at all */
	CALL_REFUSED,    /* it will not, in prose */
	CALL_UNREADABLE, /* a text that holds no memory and no "nothing" */
	CALL_CUT,        /* token limit reached; whole items before it were kept */
	CALL_TIMEOUT,    /* total or silence */
	CALL_ABORTED,    /* by us: leaving, paused, lease lost */
	CALL_RATE_LIMIT,
	CALL_QUOTA,      /* used up, or not paid */
	CALL_AUTH,
	CALL_NETWORK,    /* not reached, reset, not HTTP */
	CALL_SERVER,     /* 5xx, an error page, a reply of the wrong type */
	CALL_REQUEST,    /* the server says that our request is wrong (too long, mostly) */
	CALL_SETUP,      /* the settings are: model unknown, nothing at that address, no such command */
	CALL_OUTCOME_COUNT
};

extern const char *const job_kind_names[JOB_KIND_COUNT];
extern const char *const job_state_names[JOB_STATE_COUNT];
extern const char *const call_outcome_names[CALL_OUTCOME_COUNT];

/* One request, whatever became of it. Times in ms, -1: unknown. */
struct model_call {
	int64_t id, at;
	int64_t job, project;          /* of its first unit; 0: none (a trial) */
	enum job_kind kind;
	const char *provider, *model;
	int64_t units;                 /* work units in it; several small ones share one request */
	int64_t bytes_in, bytes_out;   /* of question and answer: what is counted where no tokens are told */
	int64_t bytes_shared;          /* of the question that its further units did not cost again */
	int64_t tokens_in, tokens_out; /* as the server counts; -1: it does not say */
	double cost;                   /* of the currency of the price settings; 0: free or unknown */
	int64_t queue_ms;              /* in the server's queue, where it can be known */
	int64_t connect_ms, first_byte_ms, total_ms;
	enum call_outcome outcome;     /* CALL_NONE: under way, or its daemon died */
	const char *detail; /* one sentence for people; NULL */
	const char *reply;  /* raw, bounded; NULL once pruned */
};
#define CALL_REPLY_MAX (32u << 10)
#define BYTES_PER_TOKEN 4 /* where the server does not count */

struct job {
	int64_t id;
	enum job_kind kind;
	const char *key; /* unique in its kind: "t123.0" is part 0 of turn 123, "s7" a session */
	int64_t turn, session, project;
	int64_t at;         /* when the work happened: newest first */
	uint64_t input;     /* hash of what is sent; the same input is never paid twice */
	int64_t bytes;      /* of what is sent */
	enum job_state state;
	int64_t attempts, run_after, leased_until;
	const char *last_error;
};

#endif
