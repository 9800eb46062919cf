#ifndef LLM_LLM_H
#define LLM_LLM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "conf/settings.h"
#include "model/job.h"

/*
 * Language models: one question, one answer, no conversation. Five providers behind one interface:
 * openai (any compatible chat completions), ollama (/api/chat), anthropic, gemini and command (any
 * program: question on standard input, answer on standard output). A client belongs to one thread.
 * What a request came to is an outcome, not an error: everything that can happen has one.
 */

#define LLM_REPLY_MAX (1u << 20) /* bytes of an answer; the rest is not read */
#define LLM_THINKING_TOKENS 4096

/* What runs in a folder of this name is never captured, whatever wrote a transcript of it. */
#define LLM_FOLDER "remanence-observer"

struct llm;

struct llm_config {
	const char *provider;      /* "openai", "ollama", "anthropic", "gemini", "command" */
	const char *url;           /* base address, or NULL for the provider's own; command: the command line */
	const char *model;
	const char *key, *key_file, *key_command; /* the first that is set; a file readable by others is refused */
	const char *folder;        /* command: where it runs, a folder named LLM_FOLDER; NULL: "/" */
	int timeout_ms, stall_ms;
	int64_t context_tokens;    /* ollama num_ctx; 0: as the question needs */
	const char *keep_alive;    /* ollama: how long the model stays in memory; NULL: the server's own */
};
/* From the settings observer.*; texts live as long as the settings. false: observer.provider is none. */
bool llm_config_fill(const struct settings *s, struct llm_config *ret);

struct llm_question {
	const char *system, *user;
	const char *schema;   /* JSON schema of the answer, or NULL; asked for as the server can (schema, JSON, plain), remembered */
	const char *name;     /* of the schema */
	int64_t max_tokens;   /* of the answer; a model that was seen to think may use LLM_THINKING_TOKENS more */
	/* ollama: what this and all like it need, thinking aside (a server loads its model anew for another number); 0: the server's own. */
	int64_t context_tokens;
	const _Atomic bool *stop;
};

struct llm_answer {
	/*
	 * CALL_OK or CALL_CUT when there is text that may be read; never CALL_NOTHING, CALL_UNREADABLE.
	 * Thinking that ate the token limit and left no text is CALL_EMPTY, and is_cut.
	 */
	enum call_outcome outcome;
	struct buf text;           /* the answer without thinking that the server marks as such; valid UTF-8 */
	bool is_cut;               /* token limit */
	int64_t tokens_in, tokens_out; /* -1 unknown */
	int64_t queue_ms, connect_ms, first_byte_ms, total_ms; /* queue: only where the server tells its own durations; never more than first_byte */
	int64_t retry_after_ms;    /* -1 */
	size_t request_bytes;
	char model[128];           /* as the server says, else as asked */
	char detail[ERR_TEXT_MAX]; /* a sentence, without keys; "" when all is well */
};

/* ERR_USAGE with a sentence: no model, no address, a key that cannot be read. Nothing is sent. */
int llm_open(const struct llm_config *c, struct llm **ret, struct err *err);
void llm_close(struct llm *l);
void llm_ask(struct llm *l, const struct llm_question *q, struct llm_answer *ret);
void llm_answer_done(struct llm_answer *a);
/* Is the server there, without a token spent? A sentence when not. */
int llm_check(struct llm *l, struct err *err);

/* What follows from an outcome. */
enum llm_next {
	LLM_KEEP,    /* read the answer */
	LLM_SHORTER, /* once more at once, with a shorter digest and a stricter instruction */
	LLM_LATER,   /* the same again after a wait; counts against the provider */
	LLM_WAIT,    /* the same again when the server said; counts against nobody */
	LLM_PAUSE,   /* nothing is sent until settings change or a probe succeeds (auth, quota, setup) */
	LLM_NEVER,   /* dead: sending it again cannot help */
};
extern const enum llm_next llm_next[CALL_OUTCOME_COUNT];

#endif
