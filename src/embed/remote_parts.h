#ifndef EMBED_REMOTE_PARTS_H
#define EMBED_REMOTE_PARTS_H

#include "base/arena.h"
#include "base/json.h"
#include "embed/remote.h"
#include "net/net.h"
#include "net/problem.h"

/* A client for embeddings from the inside. */

#define REMOTE_CONNECT_MS 10000

struct remote {
	struct arena arena;
	struct remote_config c; /* texts in the arena; url: without a slash at its end */
	const struct remote_provider *provider;
	const char *id;
	const char *before[2]; /* what goes before a text, by enum remote_use */
	char *key;
	uint32_t dims;         /* 0: not known yet */
	bool is_old;           /* Ollama without /api/embed */
	bool has_no_v1;        /* openai: its path does not begin with /v1 */
	struct net *net;
};

/* A call under way. */
struct remote_work {
	struct remote *r;
	const struct remote_call *call;
	struct remote_result *result;
	uint64_t end_us; /* of its time */
	size_t have;     /* vectors that came */
	bool taken[REMOTE_BATCH_MAX];
};

struct remote_provider {
	const char *name, *url;
	void (*run)(struct remote_work *w);
	const char *check_path;
};
extern const struct remote_provider remote_openai, remote_ollama, remote_jobs;

/* remote_http.c */
/* One exchange; a failure fills the result. *ret is NULL then, and for a status of `soft` (0: none), which is no failure. */
struct remote_exchange {
	const char *method, *path;
	const struct buf *body; /* NULL with GET */
	long soft;
};
json *remote_exchange(struct remote_work *w, const struct remote_exchange *x);
void remote_fail(struct remote_work *w, enum call_outcome outcome, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Takes the vector of text i; false (and a failure) when it is none. */
bool remote_take(struct remote_work *w, size_t i, const json *numbers);
/* Appends the text as it is sent. */
void remote_text(const struct remote_work *w, size_t i, struct buf *to);
static inline bool remote_has_failed(const struct remote_work *w)
{
	return w->result->outcome != CALL_NONE;
}

/* remote_jobs.c */
void remote_jobs_run(struct remote_work *w);
int remote_jobs_check(struct remote *r, const json *tools, struct err *err);

#endif
