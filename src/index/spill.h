#ifndef INDEX_SPILL_H
#define INDEX_SPILL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/*
 * A byte string of any length that is written from its start to its end and then read back once:
 * its last bytes are in memory, what was before in a file without a name. One thread's.
 */

#define SPILL_HELD_MAX (256u << 10) /* bytes in memory, and what is added at once */

struct spill {
	const char *dir; /* for the file; NULL: everything stays in memory */
	struct buf held; /* add here, then call spill_settle */
	int fd;          /* of the file, once there is one (is_open) */
	bool is_open;
	uint64_t written; /* bytes in the file */
	int error;        /* errno of the first failure; what was added since is lost */
};

void spill_init(struct spill *s, const char *dir);
void spill_done(struct spill *s);
uint64_t spill_len(const struct spill *s);
/* Moves what is held to the file when it is much. */
void spill_settle(struct spill *s);
/* Gives all of it in pieces, and leaves it empty, to be filled again. */
void spill_take(struct spill *s, void (*piece)(void *ctx, const void *data, size_t len), void *ctx);

#endif
