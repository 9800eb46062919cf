#ifndef DAEMON_FEEDBACK_H
#define DAEMON_FEEDBACK_H

#include "base/arena.h"
#include "store/store.h"

/*
 * Which of the memories that a session was given its turns then used (observe/use.h): looked at
 * with the rules of a turn, written with their memories. Marks are only added, so that the order of
 * turns does not matter and a turn may be looked at again.
 */

#define FEEDBACK_MEMORIES_MAX 300 /* the latest that one session was given */

struct feedback {
	struct injected *given; /* `used` are bits to add */
	size_t n;
};

/* events: those of the turn. Results live in the arena. */
int feedback_read(struct store *s, struct arena *a, const struct turn *t, const struct event *events,
	size_t n, struct feedback *ret, struct err *err);
int feedback_write(struct store *s, const struct feedback *f, struct err *err);

#endif
