#ifndef DAEMON_FOLLOW_H
#define DAEMON_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "daemon/readers.h"
#include "index/index.h"

/*
 * The follower: the one thread that writes the index. It reads what changed in the store after the
 * index's sequence number, turns the rows into documents and puts them in. A damaged or missing
 * index is filled from the first change on, in the background, while searches already answer from
 * what is there.
 */

#define FOLLOW_PAGE 1024 /* changes read at once, */
#define FOLLOW_PAGE_BYTES (1u << 20) /* and what they hold in memory; but for the last of them */
/* changes caught up with before the daemon serves; more are followed in the background */
#define FOLLOW_BEFORE_SERVING 4000
#define FOLLOW_WAIT_MS 10000  /* longest wait of a request for the index */
#define FOLLOW_FLUSH_MS 60000 /* an idle tail is written after this time */

struct follow_state {
	int64_t seq, last; /* included in the index; last known of the store */
	bool is_filling;   /* so far behind that searches miss things */
	bool is_stuck;
	char trouble[ERR_TEXT_MAX];
};

struct follow;
/* Opens the index and catches up with what is little. */
int follow_open(const char *dir, struct readers *readers, int64_t last, struct follow **ret,
	struct err *err);
void follow_close(struct follow *f); /* catches up, writes the tail; NULL is fine */
struct index *follow_index(struct follow *f);
void follow_notify(struct follow *f, int64_t seq);
/*
 * Waits until the index includes `seq`, at most FOLLOW_WAIT_MS and not at all while it is being
 * filled: what was committed stays committed.
 */
void follow_wait(struct follow *f, int64_t seq);
/* As follow_wait without a limit, until *stop. For imports. */
void follow_wait_long(struct follow *f, int64_t seq, const _Atomic bool *stop);
/*
 * Rewrites segments without what was removed; from_scratch: empties the index and fills it from the
 * store. Waits.
 */
int follow_purge(struct follow *f, bool from_scratch, struct err *err);
/*
 * What a colleague took back or forgot leaves the index with the change that says so, and its segments soon after; then this is
 * called, on the index thread. NULL: nobody is, and nobody is being called when this returns.
 */
void follow_on_revoked(struct follow *f, void (*revoked)(void *ctx), void *ctx);
/* The daemon is about to leave: nobody waits for a long filling any more. */
void follow_leave(struct follow *f);
/*
 * The store was replaced by another one whose last change is `last`: a purge from scratch has to
 * follow.
 */
void follow_reset(struct follow *f, int64_t last);
bool follow_is_idle(struct follow *f);
void follow_state(struct follow *f, struct follow_state *ret);

/* The document of a row that is not gone. Pure. */
struct index_row;
struct doc follow_doc(const struct index_row *r);

#endif
