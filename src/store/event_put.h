#ifndef STORE_EVENT_PUT_H
#define STORE_EVENT_PUT_H

#include "store/room.h"

/* One call of store_event_put under way; shared by event.c and event_pair.c. */

struct event_putter {
	struct store *store;
	struct arena *arena;
	const struct event_put *put;
	int64_t session_project;
	enum put_result result;
	int64_t id;
};

int event_find(struct event_putter *u, int64_t ident, int64_t session, struct event_row *ret,
	bool *ret_found, struct err *err);
/* Places, writes, settles and notes a row; `old` is the row before (its id is kept), NULL for
 * a new one. */
int event_save(
	struct event_putter *u, struct event_row *e, const struct event_row *old, struct err *err);
/* Was this hook's copy taken in before (a replayed spool file)? Then the putter has its row. */
int event_pair_seen(struct event_putter *u, const struct event_row *e, bool *ret, struct err *err);
/* A new copy of a prompt, reply or compaction: finds the copies that it is like, and pairs all
 * of them anew. */
int event_pair(struct event_putter *u, struct event_row *e, struct err *err);

#endif
