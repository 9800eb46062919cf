#ifndef DAEMON_NEIGHBOURS_H
#define DAEMON_NEIGHBOURS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The neighbours: other daemons on the same store. A thread with a connection of its own hears when one of them has
 * committed something, so that this daemon's index follows at once. Only where the store can have others (db_is_shared).
 */

struct neighbours_setup {
	const char *url, *author;
	/*
	 * Something was committed, `seq` is the last change. has_merged: projects became one, so that numbers that are
	 * remembered may be out of date.
	 */
	void (*heard)(void *ctx, int64_t seq, bool has_merged);
	void *ctx;
};

struct neighbours;
struct neighbours *neighbours_new(const struct neighbours_setup *setup);
void neighbours_free(struct neighbours *n); /* NULL is fine */

#endif
