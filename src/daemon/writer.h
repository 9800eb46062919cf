#ifndef DAEMON_WRITER_H
#define DAEMON_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "store/store.h"

/*
 * The writer: the one thread that owns the connection that writes. Everybody else hands it work.
 * Work waits in four lanes, served in order of urgency; what was served within WRITER_BATCH_MS
 * becomes one transaction, each work in a savepoint of its own, so that a bad one takes nobody
 * along. `done` tells each work's owner after the commit, on the writer thread. Lanes are bounded:
 * whoever hands in more waits. A locked store is tried again for WRITER_PATIENCE_MS; then the work
 * fails and its owner, who still has the input, tries again later.
 */

#define WRITER_BATCH_MS 50
#define WRITER_BATCH_WORKS 512
#define WRITER_PATIENCE_MS 10000
/* work of a lower lane that waited this long is served once in each batch */
#define WRITER_STARVED_MS 200
#define WRITER_LANE_WORKS 256
#define WRITER_LANE_BYTES (4u << 20)

enum lane { LANE_HOOK, LANE_REQUEST, LANE_IMPORT, LANE_BACKGROUND, LANE_COUNT };
extern const char *const lane_names[LANE_COUNT];

struct intake;

/* What work finds when it runs. */
struct desk {
	struct store *store;
	struct intake *intake;
	struct arena *arena; /* emptied after each work */
};

struct work {
	enum lane lane;
	bool is_bare; /* runs with no transaction open and no other write running */
	size_t bytes; /* what it holds in memory, for the lane's bound */
	int (*run)(struct desk *desk, struct work *work, struct err *err);
	/*
	 * result 0: committed, and `seq` is the last change of the store. Owns the work from here
	 * on.
	 */
	void (*done)(struct work *work, int result, int64_t seq, const struct err *err);
	/* The writer's own. */
	struct work *next;
	uint64_t since_us;
	int result;
	struct err err;
};

struct writer_setup {
	const char *url, *backup, *author /* see store_setup */;
	/*
	 * Makes what cleans and inserts; called anew when a transaction was rolled back, since its
	 * caches may hold undone rows.
	 */
	struct intake *(*intake_make)(void *ctx);
	/* After a commit: the index has something to follow. */
	void (*committed)(void *ctx, int64_t seq);
	void *ctx;
};

struct writer_state {
	size_t waiting[LANE_COUNT];
	uint64_t batches, works, failures;
	bool is_stuck;              /* the last transaction could not be made */
	char trouble[ERR_TEXT_MAX]; /* why, or "" */
};

struct writer;
/* Opens the store (making or migrating it) and starts the thread. */
int writer_open(const struct writer_setup *setup, struct writer **ret, struct err *err);
/* Finishes what waits, then ends the thread and closes the store. NULL is fine. */
void writer_close(struct writer *w);

/*
 * Hands in work; waits while its lane is full. -1 when the writer is closing: `done` is then not
 * called.
 */
int writer_put(struct writer *w, struct work *work, struct err *err);

/*
 * Runs fn inside a transaction and waits for its commit. Not to be called from the writer thread.
 */
int writer_run(struct writer *w, enum lane lane,
	int (*fn)(struct desk *desk, void *ctx, struct err *err), void *ctx, struct err *err);
/* The same without a transaction, alone. */
int writer_run_bare(struct writer *w, int (*fn)(struct desk *desk, void *ctx, struct err *err),
	void *ctx, struct err *err);
/*
 * Around a wait for the commit of import work (writer_put): a transaction then does not stay open
 * for more.
 */
void writer_hurry(struct writer *w, bool is_waiting);
/* The last change that was committed. */
int64_t writer_seq(const struct writer *w);

/*
 * On the writer thread, from bare work only: closes the store, lets `swap` put another file in its
 * place, opens what is there then.
 */
int writer_reopen(
	struct writer *w, int (*swap)(void *ctx, struct err *err), void *ctx, struct err *err);
/* The settings changed: the intake is made anew before the next work. */
void writer_refresh(struct writer *w);

bool writer_is_idle(struct writer *w);
void writer_state(struct writer *w, struct writer_state *ret);

#endif
