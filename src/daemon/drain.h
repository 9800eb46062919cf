#ifndef DAEMON_DRAIN_H
#define DAEMON_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "conf/paths.h"
#include "daemon/writer.h"
#include "model/capture.h"

/*
 * The drain: a thread that takes what hooks left in the spool (and in the spare folder) into the
 * store. Files are read in the order of their names; a file is unlinked only when the transaction
 * that holds its events is on disk. What cannot be read is put aside into bad/ with its reason.
 * What cannot be written now stays and is tried at the next sweep.
 */

#define DRAIN_SWEEP_FILES 4096 /* names held at once */
#define DRAIN_ATTEMPTS 8       /* of a file that fails while others pass, then it is put aside */
/* an unfinished file this old in tmp/ belongs to a dead hook */
#define DRAIN_TMP_MS (60 * 60 * 1000)
#define DRAIN_BAD_MS (30LL * 24 * 60 * 60 * 1000) /* quarantine is emptied of what is older */
#define DRAIN_REASON_MAX 600

struct drain_hooks {
	/* After the commit of a hook's events, on the writer thread. */
	void (*taken)(void *ctx, const struct capture *c, int64_t session);
	/* Before and after a sweep, on the drain's thread. */
	void (*sweeping)(void *ctx);
	void (*swept)(void *ctx);
	void *ctx;
};

struct drain_state {
	uint64_t taken, put_aside, failed;
	size_t waiting; /* files seen by the last sweep that are still there */
};

struct drain;
struct drain *drain_new(
	const struct paths *paths, struct writer *writer, const struct drain_hooks *hooks);
void drain_free(struct drain *d); /* NULL is fine */
void drain_poke(struct drain *d); /* a knock; from any thread */
/* Sweeps until everything that can be taken is taken; from any thread, waits. */
void drain_all(struct drain *d);
bool drain_is_idle(struct drain *d);
void drain_state(struct drain *d, struct drain_state *ret);
/* Files that wait in new/ and that lie in bad/, counted now. */
void drain_count(const struct paths *paths, int64_t *ret_new, int64_t *ret_bad);
/* Removes leftovers of dead hooks and old quarantine. */
void drain_clean(const struct paths *paths);

#endif
