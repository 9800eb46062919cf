#ifndef INDEX_SKIP_H
#define INDEX_SKIP_H

#include "index/codec.h"

/* Head of a long posting list and its skip entries, shared by reader and writer. */

/*
 * 4 bytes each: where all positions start, where the tail's start (within them), bytes of the map,
 * bytes of the sessions' list.
 */
#define LIST_HEAD 16u
#define HEAD_TAIL 4u
#define HEAD_MAP 8u
#define HEAD_SESSIONS 12u
#define DENSE_SHARE 16u /* lists of one in so many documents have a map of them instead of gaps */
#define SKIP_ENTRY \
	16u /* last document, end of data, start of positions: 4 bytes each; then a byte each: */
#define SKIP_GAP_BITS 12u
#define SKIP_CODE_BITS 13u
#define SKIP_BEST_CODE \
	14u /* the greatest counts by field that the block holds, as a code: a bound of its scores */
#define SKIP_SHORTEST 15u /* code of the shortest document */

/* Bytes of a map of so many documents: words of 64 bits, little endian, and one more. */
static inline size_t map_bytes(size_t docs)
{
	return (docs / 64 + 1) * 8;
}

/*
 * A block's gaps and its codes are each packed like this: a byte with the number of exceptions, the
 * values' low bits (as many as the skip entry says), then for each exception a byte with its place
 * and its remaining high bits as a varint.
 */
#define EXCEPTIONS_MAX 64u

static inline uint32_t skip_last(const uint8_t *skips, uint32_t block)
{
	return (uint32_t)load64(skips + (size_t)block * SKIP_ENTRY);
}

static inline uint32_t skip_end(const uint8_t *skips, uint32_t block)
{
	return (uint32_t)(load64(skips + (size_t)block * SKIP_ENTRY) >> 32);
}

static inline uint32_t skip_positions(const uint8_t *skips, uint32_t block)
{
	return (uint32_t)load64(skips + (size_t)block * SKIP_ENTRY + 8);
}

#endif
