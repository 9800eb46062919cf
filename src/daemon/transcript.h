#ifndef DAEMON_TRANSCRIPT_H
#define DAEMON_TRANSCRIPT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "agents/agent.h"
#include "base/err.h"
#include "daemon/current.h"
#include "daemon/observer.h"
#include "daemon/readers.h"
#include "daemon/writer.h"

/*
 * Reading one transcript from where it was last left to its end. The calling thread splits,
 * parses and cleans; pieces of captures go to the writer, which stores events, offset and the reader's state
 * in one transaction: a kill at any point loses nothing and repeats nothing. A file that became
 * shorter, or whose beginning changed, is read from its start; its events meet themselves. A torn
 * last line waits. A bad line is passed over, counted and named. One thread reads a path at a time;
 * others wait.
 */

#define TRANSCRIPT_HEAD (64u << 10) /* bytes shown to the agents to recognise a file */
#define TRANSCRIPT_SIGNED 4096      /* bytes whose hash tells whether it is still the same file */
#define TRANSCRIPT_PIECE_BYTES (512u << 10)
#define TRANSCRIPT_PIECE_LINES 400
#define TRANSCRIPT_ATTEMPTS 5    /* when the store refuses */
#define TRANSCRIPT_ACTIVE_MAX 96 /* begun and not finished, by all threads together */
#define TRANSCRIPT_WINDOW 32     /* of them, by one import */

struct transcripts;
/* What is read is cleaned on the reading thread by the settings of `current`; NULL: by the writer. */
struct transcripts *transcripts_new(struct writer *writer, struct readers *readers,
	struct observer *observer, struct current *current);
void transcripts_free(struct transcripts *t); /* nobody reads any more; NULL is fine */

struct transcript_call {
	const char *path;
	const struct agent *agent; /* whose it is if nobody recognises it; NULL: then it is none */
	bool agent_only;           /* a file of another agent is passed over without a word */
	bool is_dry;               /* parses and stores nothing */
	const _Atomic bool *stop;  /* ends early, with ERR_BUSY; may be NULL */
	/* Called on the reading thread; each may be NULL. */
	/* so many bytes further; non-zero ends as *stop does */
	int (*read)(void *ctx, uint64_t bytes);
	void (*seen)(void *ctx, enum agent_id agent, const char *agent_session);
	void (*bad_line)(void *ctx, uint64_t number, const char *reason);
	void *ctx;
};

struct transcript_result {
	bool is_read;      /* false: passed over without a word (another agent's, empty) */
	bool was_complete; /* nothing new was in it */
	uint64_t bytes, lines, bad_lines;
	int64_t events, new_events;
};

/*
 * In two steps, so that small files are stored many at a time. Begins and parses; what it found is
 * on its way to the writer. NULL when another thread reads this path and may_wait is false: whoever
 * holds unfinished readings must finish them before waiting. `c` and what it points to must stay
 * until the end.
 */
struct reading;
struct reading *transcript_begin(
	struct transcripts *t, const struct transcript_call *c, bool may_wait);
/*
 * Waits until everything is stored, trying again what was not; ends the reading. Returns as
 * transcript_read.
 */
int transcript_finish(struct reading *r, struct transcript_result *ret, struct err *err);

/*
 * Both. -1: why it was not read to its end. ERR_USAGE and ERR_IO speak of the file, ERR_BUSY of
 * being stopped, ERR_STORE of the store.
 */
int transcript_read(struct transcripts *t, const struct transcript_call *c,
	struct transcript_result *ret, struct err *err);

#endif
