#ifndef STORE_ROOM_H
#define STORE_ROOM_H

#include <stdbool.h>
#include <stdint.h>

#include "store/pack.h"
#include "store/store.h"

/* What the files of this room share. Not for others. */

struct author_called {
	int64_t id;
	const char *name;
};

struct store {
	struct db *db;
	struct packer *packer;
	struct buf raw, blob; /* the pack that is being written */
	bool is_writer;
	bool is_seq_known;
	int64_t seq; /* of the last change */
	struct {
		int64_t session, first, last; /* 0: nothing waits */
	} touched;
	/* Within one transaction: is there anything at all that could be excluded? */
	struct {
		bool is_known, has_pauses, has_graves;
	} bars;
	/* Within one transaction: does the author share any project? */
	struct {
		bool is_known, any;
	} shares;
	int64_t me;    /* the author (author.h) */
	char *my_name; /* NULL: it was opened for nobody in particular */
	struct arena names_arena;
	struct author_called *names; /* colleagues that were met */
	size_t nnames, names_cap;
	struct session_told *told; /* session.c: what was last said of a session; NULL: nothing */
};

/* pause.c: looks whether there are pauses and tombstones, once in a transaction. */
int store_bars(struct store *s, struct err *err);
/* session.c */
void session_told_forget(struct store *s);

/* session.c: the times of a session widen with its events; written once per batch, or before
 * anybody looks. */
int session_touch(struct store *s, int64_t session, int64_t at, struct err *err);
int session_flush(struct store *s, struct err *err);

#define STORE_FLAG(n) (1 << (n))

/* change.ref = id * CHANGE_REF_STEP + kind. A stored number. */
#define CHANGE_REF_STEP 4
/* Records that the index must look at this row again (or that it is gone). */
int store_note(struct store *s, enum change_kind kind, int64_t id, bool is_gone, struct err *err);
/* The same of a memory that colleagues see, or saw: their daemons look too. */
int store_note_team(struct store *s, int64_t memory, struct err *err);

/* One row or none of a statement: 1, 0 or -1. On 0 and -1 *ret is NULL; on 1 the caller ends it. */
int store_row(struct store *s, const char *sql, const struct db_arg *args, size_t n,
	struct db_rows **ret, struct err *err);

/* A text of a row in the arena; NULL for NULL. */
char *row_str(struct arena *a, struct db_rows *r, int col);

/* Row ids of a statement's first column. */
struct ids {
	int64_t *p;
	size_t n, cap;
};
void ids_add(struct ids *list, int64_t id);
void ids_done(struct ids *list);
int store_ids(struct store *s, const char *sql, const struct db_arg *args, size_t n,
	struct ids *ret, struct err *err);
/*
 * All rows of a table, a page at a time, since a driver may hold a whole result in memory. sql: the id first, ?1 the id to go
 * on behind, ?2 how many. `row` gives 0, 1 when it has seen enough, or -1.
 */
int store_scan(struct store *s, const char *sql,
	int (*row)(struct store *s, struct db_rows *r, void *ctx, struct err *err), void *ctx, struct err *err);
/* Runs a statement once for each id (as its ?1). */
int store_each(struct store *s, const char *sql, const struct ids *ids, struct err *err);

/* event.c, event_row.c: an event in memory, as stored. */
enum said {
	SAID_TEXT = 1,
	SAID_INPUT = 2,
	SAID_OUTPUT = 4,
	SAID_DIFF = 8,
	SAID_STATUS = 16,
	SAID_EXIT = 32,
	SAID_AT = 64,
	SAID_TURN = 128,
	SAID_TOOL = 256,
	SAID_CWD = 512,
	SAID_BRANCH = 1024
};
enum event_flag {
	FLAG_WRITES = 1,
	FLAG_META = 2,
	FLAG_LOOSE = 4 /* the agent names no turn: placed by time */
};

struct event_row {
	int64_t id, session, ident, at, turn, likeness;
	int64_t project; /* when it is not the session's, else 0 */
	int kind, source, status, exit_code, flags, said;
	uint64_t true_size;
	const char *key, *subagent, *tool, *cwd, *branch;
	struct str text, input, output, diff;
	const char **files; /* sorted, each once */
	size_t nfiles;
	const char *agent_turn; /* what the agent calls its turn; not a column: by way of turn */
};

/* The hash under which an agent's event is known, also to tombstones. */
int64_t event_ident(enum agent_id agent, const char *key);
/* Hash of what both copies of a message share; 0 for what has no second copy. */
int64_t event_likeness(const struct event_row *e);
/* Hash of a text whose white space does not count. */
uint64_t text_likeness(struct str text);

/* Columns in the order that event_row_read expects: EVENT_COLUMNS. */
#define EVENT_COLUMNS                                                                        \
	"e.id, e.session, e.ident, e.at, e.kind, e.source, e.status, e.exit_code, e.flags, " \
	"e.said, e.turn, e.likeness, "                                                       \
	"e.true_size, e.event_key, e.subagent, e.tool, e.cwd, e.branch, e.project, e.pack, " \
	"t.agent_turn, s.project, s.agent"
#define EVENT_FROM \
	" FROM event e JOIN session s ON s.id = e.session LEFT JOIN turn t ON t.id = e.turn "
#define EVENT_COL_ID 0
#define EVENT_COL_SESSION 1
#define EVENT_COL_AT 3
#define EVENT_COL_KIND 4
#define EVENT_COL_PROJECT 21
#define EVENT_COL_AGENT 22
#define EVENT_COL_PARENT 23 /* where a statement adds s.parent */
int event_row_read(struct store *s, struct arena *a, struct db_rows *r, struct event_row *ret,
	struct err *err);
int event_row_load(struct store *s, struct arena *a, int64_t id, struct event_row *ret,
	struct err *err); /* ERR_NOT_FOUND */
int event_row_write(
	struct store *s, struct event_row *e, struct err *err); /* id 0: inserts and sets it */
void event_row_show(const struct event_row *e, int64_t project, struct event *ret);

/* event_merge.c: takes over what `from` knows and `to` does not, or knows less well. True when
 * something changed. */
bool event_merge(struct arena *a, struct event_row *to, const struct event_row *from);
bool event_equal(const struct event_row *a, const struct event_row *b);

/*
 * event_match.c: which hook's copy and which transcript's copy of like messages are one. A pure
 * function of the two sets, so that it does not matter in which order they came. First those
 * whose turns are known and equal, then those where one is unknown; as many pairs as possible, in
 * time order, nearest in time. Both lists are sorted by (at, key); ret[i] is the transcript's
 * copy of hook copy i, or -1.
 */
struct copy {
	int64_t row, at;
	const char *turn;  /* decides who may go with whom; NULL: anybody */
	const char *label; /* what the agent called the turn, NULL: not said */
	const char *key;
};
void copies_sort(struct copy *list, size_t n);
void copies_match(const struct copy *hooks, size_t nhooks, const struct copy *scripts,
	size_t nscripts, int *ret);

/*
 * turn_place.c: puts the event into its turn (sets e->turn and FLAG_LOOSE), and after the row is
 * written, settles the events that are placed by time around it. `old` is the row before, NULL for
 * a new one.
 */
/* The turn that the agent calls so; made when there is none. */
int turn_named(
	struct store *s, int64_t session, const char *agent_turn, int64_t *ret, struct err *err);
int turn_place(struct store *s, struct event_row *e, const struct event_row *old, struct err *err);
int turn_settle(
	struct store *s, const struct event_row *e, const struct event_row *old, struct err *err);
/* An event has left its session: its turn and those around it are settled without it. */
int turn_leave(struct store *s, const struct event_row *old, struct err *err);
/* Widens the turn's times and marks it dirty. */
int turn_touch(struct store *s, int64_t turn, int64_t at, struct err *err);
/* Removes a turn that has no events left, with what the rules made of it; else its times are
 * made exact. */
int turn_tidy(struct store *s, int64_t turn, struct err *err);
bool event_is_anchor(const struct event_row *e);

/* copy.c */
int copy_to_file(struct store *s, const char *path, struct err *err);

/* memory_row.c */
#define MEMORY_COLUMNS                                                                            \
	"m.id, m.project, m.session, m.turn, m.at, m.kind, m.type, m.status, m.origin, m.trust, " \
	"m.is_pinned, m.confidence, "                                                             \
	"m.created_at, m.updated_at, m.valid_from, m.valid_to, m.superseded_by, m.pack, m.author, m.visibility"
#define MEMORY_COLUMNS_N 20
int memory_row_read(
	struct store *s, struct arena *a, struct db_rows *r, struct memory *ret, struct err *err);
int memory_files_read(struct store *s, struct arena *a, struct memory *m, struct err *err);
/* Deletes memories with all that hangs on them, and notes it. */
int memory_delete(struct store *s, const struct ids *ids, struct err *err);

#endif
