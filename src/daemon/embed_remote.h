#ifndef DAEMON_EMBED_REMOTE_H
#define DAEMON_EMBED_REMOTE_H

#include "base/buf.h"
#include "embed/remote.h"

/*
 * A server as the embedder of the daemon: the breaker, shorter texts and smaller batches when a
 * server wants them, and a second client for questions, which wait for nobody and not for long.
 */

#define EMBED_REMOTE_BATCH 32          /* texts of a request */
#define EMBED_REMOTE_FAILURES 3        /* in a row; then the breaker opens */
#define EMBED_REMOTE_RETRY_MS 5000     /* after a failure; doubles, with a random part */
#define EMBED_REMOTE_RETRY_MAX_MS 600000
#define EMBED_REMOTE_PAUSE_MS 600000   /* after what only a person can mend: key, quota, settings */
#define EMBED_REMOTE_ASK_PAUSE_MS 15000 /* words alone answer after a question that failed */

struct embed_remote;

/* Told of each request, from the thread that made it. */
struct embed_call {
	const char *provider, *model;
	size_t texts, bytes;
	const struct remote_result *result;
};
typedef void embed_called_fn(void *ctx, const struct embed_call *call);

int embed_remote_open(const struct remote_config *c, embed_called_fn *called, void *ctx,
	struct embed_remote **ret, struct err *err);
void embed_remote_close(struct embed_remote *r);
const char *embed_remote_id(const struct embed_remote *r);
/* Numbers of a vector; 0 as long as none came. */
uint32_t embed_remote_dims(const struct embed_remote *r);
/* Milliseconds until documents may be sent again; 0: now. */
int64_t embed_remote_wait(const struct embed_remote *r);
/*
 * Appends a unit vector of floats per text, n * dims; all zero for a text that the server will not
 * embed whatever its length. One thread. -1: ERR_UPSTREAM, and embed_remote_wait says when again.
 */
int embed_remote_make(struct embed_remote *r, const struct str *texts, size_t n,
	const _Atomic bool *stop, struct buf *vectors, struct err *err);
/*
 * A question, within ask_ms, waiting for other questions counted. ret[*ret_dims], room for
 * REMOTE_DIMS_MAX. Any thread. False with a sentence.
 */
bool embed_remote_ask(struct embed_remote *r, struct str text, int ask_ms, float *ret,
	uint32_t *ret_dims, char why[ERR_TEXT_MAX]);

#endif
