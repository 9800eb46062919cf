#ifndef EMBED_REMOTE_H
#define EMBED_REMOTE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "conf/settings.h"
#include "model/job.h"

/*
 * Embedding by a server: openai (any compatible /v1/embeddings), ollama (/api/embed, and
 * /api/embeddings of old ones) and jobs (an orchestrator that is given a job per text and asked
 * until it is done). A client belongs to one thread. What a request came to is an outcome, as with
 * language models (llm/llm.h).
 */

#define REMOTE_DIMS_MAX 4096u
#define REMOTE_BATCH_MAX 64u        /* texts of a call */
#define REMOTE_TEXT_MAX (32u << 10) /* bytes of a text; the rest is not sent */
#define REMOTE_ID_MAX 200

struct remote;

struct remote_config {
	const char *provider; /* "openai", "ollama", "jobs" */
	const char *url;      /* base address, or NULL for the provider's own (jobs has none) */
	const char *model;
	const char *key, *key_file, *key_command; /* the first that is set */
	uint32_t dims;        /* numbers of a vector; 0: found out at the first reply */
	int timeout_ms;       /* of a call */
};
/*
 * From the settings embed.* and, where they say nothing, AI_ORCHESTRATOR_URL and EMBEDDING_MODEL of
 * the environment; texts live as long as the settings. false: no server is to be asked.
 */
bool remote_config_fill(const struct settings *s, struct remote_config *ret);

/* ERR_USAGE with a sentence: no model, no address, a key that cannot be read. Nothing is sent. */
int remote_open(const struct remote_config *c, struct remote **ret, struct err *err);
void remote_close(struct remote *r);
/* What vectors of this model are called: "ollama/nomic-embed-text", whoever serves it. Constant. */
const char *remote_id(const struct remote *r);

/* Some models want to be told what a text is for. */
enum remote_use { REMOTE_DOCUMENT, REMOTE_QUESTION };

struct remote_call {
	const struct str *texts; /* valid UTF-8; empty ones are sent as a space */
	size_t n;                /* 1 … REMOTE_BATCH_MAX */
	enum remote_use use;
	int total_ms;            /* 0: as configured */
	const _Atomic bool *stop;
};

struct remote_result {
	enum call_outcome outcome;
	bool is_too_long;  /* CALL_REQUEST: one of the texts is; send them alone, or less of it */
	uint32_t dims;
	float *vectors;    /* [n][dims], unit length, on the heap; NULL unless CALL_OK */
	int64_t tokens_in; /* -1: it does not say */
	int64_t connect_ms, first_byte_ms, total_ms, retry_after_ms;
	char detail[ERR_TEXT_MAX];
};

/*
 * The first reply says the dimension, unless it was configured; a later one of another dimension is
 * CALL_SETUP and gives nothing.
 */
void remote_embed(struct remote *r, const struct remote_call *call, struct remote_result *ret);
void remote_result_done(struct remote_result *r);
/* What was found out about the dimension no longer holds. */
void remote_forget_dims(struct remote *r);
/* Is the server there, without a text embedded? A sentence when not. */
int remote_check(struct remote *r, struct err *err);

#endif
