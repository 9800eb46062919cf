#ifndef DAEMON_CATCHUP_H
#define DAEMON_CATCHUP_H

#include <stdbool.h>
#include <stdint.h>

#include "agents/agent.h"
#include "daemon/observer.h"
#include "daemon/readers.h"
#include "daemon/transcript.h"

/*
 * Catching up: a thread that reads transcripts that hooks spoke of (stop, sub-agent stop,
 * compaction, end), at once and again shortly after, since agents write them late; and, once after
 * the daemon started, those of sessions that went on while it was away.
 */

#define CATCHUP_WAITING_MAX 1024
#define CATCHUP_LATE_MS 2000   /* second look after a stop */
#define CATCHUP_AGAIN_MS 30000 /* after the store refused */
#define CATCHUP_ATTEMPTS 10

struct catchup;
struct catchup_setup {
	struct transcripts *transcripts;
	struct readers *readers;
	struct observer *observer;
	const char *user_home;
	/*
	 * files that nobody read yet are looked at when they are younger: when this store was made
	 */
	int64_t since;
	/*
	 * file that stands while a history is taken in in the background: the next daemon goes on
	 * with it
	 */
	const char *rest_mark;
};
struct catchup *catchup_new(const struct catchup_setup *setup);
void catchup_free(struct catchup *c); /* ends what it reads; NULL is fine */
/* Reads this transcript soon, and again after CATCHUP_LATE_MS. Any thread. */
void catchup_add(struct catchup *c, const char *path, const struct agent *agent);
/*
 * Reads these too, in this order, whenever nothing else is due; a daemon that starts meanwhile goes
 * on with them. Any thread.
 */
void catchup_rest(struct catchup *c, const char *const *paths, size_t n);
bool catchup_is_idle(struct catchup *c);
size_t catchup_waiting(struct catchup *c);

#endif
