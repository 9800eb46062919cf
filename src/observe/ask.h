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

/*
 * How long an answer may be: its form, and up to a point half of what it tells of. Whoever is asked
 * for little and goes on to the limit is not waited for in vain.
 */
#define ASK_TOKENS_FORM 512       /* for each unit */
#define ASK_TOKENS_TEXT 1536      /* for each unit, at most */
#define ASK_BYTES_PER_TEXT_TOKEN 8 /* of the question */

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

int64_t ask_answer_tokens(size_t units, size_t bytes);
/* Tokens of the longest question with its answer, by observer.max_chars: the same for all, in steps. */
int64_t ask_context_tokens(const struct settings *s);
enum call_outcome ask_outcome(const struct reply *r);
/* By observer.price_in and price_out; where no tokens are told, by the bytes. */
double ask_cost(const struct settings *s, const struct model_call *c);

#endif
