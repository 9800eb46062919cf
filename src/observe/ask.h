#ifndef OBSERVE_ASK_H
#define OBSERVE_ASK_H

#include "conf/settings.h"
#include "llm/llm.h"
#include "observe/digest.h"
#include "observe/reply.h"

/*
 * One question to a model, its answer read, and the record of it. Sends once: what follows from the
 * outcome is for whoever asks. One thread.
 */

#define ASK_TOKENS 4096 /* of the answer for one unit, and for each further one: */
#define ASK_TOKENS_MORE 1024

struct ask {
	/* Filled in by whoever asks. */
	const struct settings *settings;
	struct llm *llm;
	const char *model; /* as asked for */
	struct prompt prompt;
	enum job_kind kind;
	size_t units;
	const _Atomic bool *stop;
	/* What came of it. */
	struct llm_answer answer; /* ended by ask_done */
	struct reply reply;       /* in the arena */
	enum call_outcome outcome;
	struct model_call call;   /* texts are those of the answer and of the settings */
};

/* The record as it is before anything is sent: outcome CALL_NONE. job and project are the caller's. */
void ask_begin(struct ask *k);
void ask_send(struct ask *k, struct arena *a);
void ask_done(struct ask *k);

enum call_outcome ask_outcome(const struct reply *r);
/* By observer.price_in and price_out; where no tokens are told, by the bytes. */
double ask_cost(const struct settings *s, const struct model_call *c);

#endif
