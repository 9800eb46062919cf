#ifndef DAEMON_SPOOL_FILE_H
#define DAEMON_SPOOL_FILE_H

#include "base/arena.h"
#include "base/err.h"
#include "model/capture.h"
#include "wire/spool.h"

/*
 * One file of the spool: read, thinned when it is long, parsed, and made a capture by its agent.
 * Touches nothing but the file.
 */

#define SPOOL_FILE_MAX ((uint64_t)4 << 30) /* bytes; longer is put aside */
#define SPOOL_PIECE (256u << 10)           /* read at once */

enum spool_verdict {
	SPOOL_TAKEN, /* *ret holds the capture, perhaps without events */
	SPOOL_BAD,   /* will never be readable: err says why */
	SPOOL_LATER, /* cannot be read now (no memory for descriptors, a disk error) */
	SPOOL_GONE   /* somebody took it away */
};

enum spool_verdict spool_file_read(
	const char *path, struct arena *a, struct capture *ret, struct err *err);

/*
 * Bytes were cut away before parsing: the event with the longest texts is told so, unless it knows.
 */
void capture_note_cut(struct capture *c, uint64_t cut);

#endif
