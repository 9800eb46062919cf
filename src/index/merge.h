#ifndef INDEX_MERGE_H
#define INDEX_MERGE_H

#include "index/segment.h"

/* Several segments into one, without the documents that are removed, and without words that only those held. */

struct merge_source {
	const struct segment *seg;
	const uint8_t *dead; /* bit per document, NULL: none */
};

/* fd -1: to memory, into *ret_image. An empty result (no document left) writes nothing and gives *ret_docs 0. */
int merge_segments(const struct merge_source *sources, size_t n, int fd, struct buf *ret_image, uint64_t *ret_len,
	uint32_t *ret_docs, struct err *err);

static inline bool bit_is_set(const uint8_t *bits, uint32_t i)
{
	return bits && (bits[i >> 3] >> (i & 7) & 1);
}

#endif
