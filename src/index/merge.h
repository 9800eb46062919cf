#ifndef INDEX_MERGE_H
#define INDEX_MERGE_H

#include "index/segment.h"

/*
 * Several segments into one, without the documents that are removed, and without words that only
 * those held. Of memory it takes at most MERGE_DOC_BYTES for each document, and as much more as the
 * longest posting list takes packed, without positions; the rest is read and written piece by piece.
 */

#define MERGE_SOURCES_MAX 256u
#define MERGE_DOC_BYTES 16u

struct merge_source {
	const struct segment *seg;
	const uint8_t *dead; /* bit per document, NULL: none */
};

struct merge_target {
	int fd;           /* -1: to memory */
	const char *dir;  /* of the file: for what has to wait until its place is known */
	struct buf image; /* then this is it */
	uint64_t len;
	uint32_t docs; /* 0: no document is left, nothing was written */
};
/* At most MERGE_SOURCES_MAX. */
int merge_segments(
	const struct merge_source *sources, size_t n, struct merge_target *target, struct err *err);

static inline bool bit_is_set(const uint8_t *bits, uint32_t i)
{
	return bits && (bits[i >> 3] >> (i & 7) & 1);
}

#endif
