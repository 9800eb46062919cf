#ifndef STORE_FORGET_H
#define STORE_FORGET_H

#include "store/room.h"

/* Tombstones: hashes of what was forgotten, nothing else. Shared by forget.c, pause.c and
 * turn_memory.c. */

int forget_is_buried(struct store *s, const struct exclusion *x, bool *ret, struct err *err);
int forget_is_buried_memory(struct store *s, const struct memory *m, bool *ret, struct err *err);
int forget_bury_event(struct store *s, const struct event_row *e, enum agent_id agent,
	const char *agent_session, struct err *err);
int forget_bury_session(
	struct store *s, enum agent_id agent, const char *agent_session, struct err *err);
int forget_bury_memory(struct store *s, const struct memory *m, struct err *err);

#endif
