#ifndef DAEMON_READERS_H
#define DAEMON_READERS_H

#include <stdint.h>

#include "base/err.h"
#include "store/store.h"
#include "text/terms.h"

/*
 * The readers: connections that only read, each with an analyser, lent to one thread at a time.
 * They are opened when first needed and kept. Whoever holds one must not wait for the writer with
 * it, except the thread of a call, which readers_recall waits for.
 */

#define READERS_MAX 17 /* 4 HTTP threads, 8 calls, follower, observer, keeper, catch-up */
#define READERS_RECALL_MS 10000

struct reader {
	struct store *store;
	struct analyser *analyser;
	struct reader *next; /* of those that are idle */
	uint64_t era;        /* of the store that it was opened on */
};

struct readers;
/* author: as in store_setup. */
struct readers *readers_new(const char *url, const char *author);
void readers_free(struct readers *p); /* all must be back; NULL is fine */
/* Waits when all are lent. ERR_BUSY while the store is being replaced. */
int readers_lend(struct readers *p, struct reader **ret, struct err *err);
void readers_return(struct readers *p, struct reader *r); /* NULL is fine */
/*
 * For replacing the store: lends no more, waits until all but the one with the store `kept` are
 * back and closes all, `kept` included (it must not be used again). ERR_BUSY when one does not come
 * back.
 */
int readers_recall(struct readers *p, struct store *kept, struct err *err);
void readers_resume(struct readers *p);

#endif
