#ifndef DAEMON_PAIRS_H
#define DAEMON_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "model/capture.h"

/*
 * A transcript tells a tool call when it is made and again with its result, mostly a few lines
 * later. Joined while both are in hand they are stored once instead of written, read back and
 * written anew. What is stored is the same: the store merges both tellings as it would have.
 */

#define PAIRS_LOOK 64 /* calls looked back at */

struct call {
	uint64_t hash; /* of its id */
	struct captured_event *event;
	struct captured_session session;
};

struct pairs {
	struct call *calls; /* in the arena of their captures */
	size_t n, cap;
};

/* Joins a capture that only tells of a call again to that call; false: it stands for itself. */
bool pairs_join(struct pairs *p, const struct capture *c);
/* Remembers the calls of a capture that was not joined. */
void pairs_add(struct pairs *p, struct arena *a, const struct capture *c);

#endif
