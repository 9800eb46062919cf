#ifndef DAEMON_LINES_H
#define DAEMON_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json_scan.h"

/*
 * The lines of a file that may be growing: read in pieces, whatever their length. A line longer
 * than LINES_THIN has its long strings cut on the way, so that one of a gigabyte needs no more
 * memory than what is left of it. Lines that nobody wants, by their first bytes, are passed over
 * without being kept. Read with pread: a file that is cut or deleted meanwhile does no harm.
 */

#define LINES_PIECE (1u << 20)    /* read at once */
#define LINES_THIN (256u << 10)   /* longer lines are thinned */
#define LINES_LOOK 4096           /* first bytes shown to is_wanted, when there are as many */
#define LINES_KEPT_MAX (8u << 20) /* of a thinned line; longer: is_too_long */

struct line {
	const char *data; /* valid until the next call; not terminated */
	size_t len;
	uint64_t number;  /* from 1 */
	uint64_t end;     /* offset behind its line end */
	uint64_t cut;     /* bytes that were cut away */
	bool is_torn;     /* the file ends before the line does */
	bool is_too_long; /* more than LINES_KEPT_MAX even when thinned: data is empty */
};

struct lines {
	int fd;
	bool (*is_wanted)(const char *line, size_t len); /* NULL: all */
	/* Where it stands: behind the last line given or passed over. */
	uint64_t offset, number;
	/* Its own. */
	char *piece;
	size_t len, at, cap;
	uint64_t base; /* offset of piece[0] */
	bool is_ended;
	struct buf thin;
	struct json_scan *scan;
};

/* Starts at `offset`, behind line `number`. The descriptor stays the caller's. */
void lines_init(struct lines *l, int fd, uint64_t offset, uint64_t number);
/* 1 a line, 0 the end, -1. Empty lines are passed over. */
int lines_next(struct lines *l, struct line *ret, struct err *err);
void lines_done(struct lines *l);

#endif
