#ifndef DAEMON_MODEL_WORK_H
#define DAEMON_MODEL_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/breaker.h"
#include "daemon/current.h"
#include "daemon/observer.h"
#include "daemon/readers.h"
#include "daemon/writer.h"
#include "ops/model_state.h"

/*
 * The model observer's work: threads that lease jobs, ask a model and store what it says. There are
 * none while observer.provider is "none", else observer.parallel. A request stands for itself: no
 * conversation grows. Whatever happens to a request is recorded, and its jobs are ended in the same
 * transaction that stores their results. Nobody waits for this.
 */

#define MODEL_PARALLEL_MAX 16
#define MODEL_BATCH_MAX 6       /* units in one request */
#define MODEL_ATTEMPTS_MAX 8    /* of one job; then it is dead */
#define MODEL_BACKLOG_LOW 50    /* waiting jobs below which turns from before are looked at */
#define MODEL_BACKLOG_STEP 200  /* so many at once */
#define MODEL_SUMMARY_QUIET_MS (2 * 3600000ll) /* a session without an end is over then */

struct model_work;
struct model_work_setup {
	struct readers *readers;
	struct writer *writer;
	struct current *current;
	struct observer *observer;
	bool is_shared;      /* other daemons work on this store: their leases hold until they run out */
	const char *folder;  /* where programs run that are asked as models */
	const char *prompts; /* folder of a person's own prompt files */
	bool (*is_settled)(void *ctx); /* nothing that hooks spoke of remains to be read */
	void *ctx;
};
struct model_work *model_work_new(const struct model_work_setup *setup);
/* Gives up what is under way, it waits again, and ends the threads. NULL is fine. */
void model_work_leave(struct model_work *w);
void model_work_free(struct model_work *w); /* once nobody wakes it any more; NULL is fine */
/* There are jobs, or the settings are others. Any thread. */
void model_work_wake(struct model_work *w);
/* Nothing under way, and nothing that could be done now. */
bool model_work_is_idle(struct model_work *w);
/* How it stands; texts are copies. */
void model_work_state(struct model_work *w, struct model_state *ret);
/* A request that a person made went well: nothing is paused any more. */
void model_work_well(struct model_work *w);

#endif
