#ifndef INDEX_POSTINGS_H
#define INDEX_POSTINGS_H

#include "index/segment.h"

/*
 * Reads one posting list, a block at a time. On the caller's stack or in its arena; nothing to end.
 */

struct postings {
	const struct segment *seg;
	struct term_ref ref;
	const uint8_t *skips, *data, *tail, *positions;
	const uint8_t *map;      /* a bit per document of the segment, removed ones too; NULL: none */
	const uint8_t *sessions; /* see session_list.h; NULL: none */
	uint32_t blocks, next; /* full blocks; the block to decode next (== blocks: the tail) */
	uint32_t n;            /* documents in hand */
	uint32_t docs[POSTING_BLOCK];
	uint8_t codes[POSTING_BLOCK];
	const uint8_t *block_positions;
	uint32_t noffsets;               /* that are known */
	uint32_t offsets[POSTING_BLOCK]; /* first bit of each posting's positions */
};

void postings_start(struct postings *p, const struct segment *s, const struct term_ref *ref);
/* Decodes the next block into docs and codes; false at the end. */
bool postings_next(struct postings *p);
/* The same, documents alone. */
bool postings_next_docs(struct postings *p);
/* The least number that a document behind the block in hand can have; UINT32_MAX when there is none. */
uint32_t postings_ahead(const struct postings *p);
/* Drops the block in hand; the next one is the first that can hold `doc` or what follows it. */
void postings_skip(struct postings *p, uint32_t doc);
/* What a full block can hold: no document before `first`, no counts above the code's, no text shorter. */
struct block_bound {
	uint32_t first;
	uint8_t code, shortest;
};
struct block_bound postings_bound(const struct postings *p, uint32_t block);
/*
 * Goes forward to the block that may hold `doc` and returns its place in it, or -1 when the list
 * has it not. Documents must be asked in ascending order.
 */
int postings_find(struct postings *p, uint32_t doc);
/*
 * The code of a document, or -1 when the list has it not. Documents must be asked in ascending
 * order. Where there is a map only codes are unpacked, beside the block in hand.
 */
struct coded {
	uint32_t block;     /* whose codes these are; UINT32_MAX: none yet */
	uint32_t doc, rank; /* which was asked for last, its place in the block */
	uint8_t codes[POSTING_BLOCK];
};
int postings_code(struct postings *p, struct coded *c, uint32_t doc);
/*
 * Neighbours of a list that has a map, from `from` on and before `end`, up to 64 at a time: a bit for each that has the
 * term, from `base` on, and their codes in order. False: there are no more, or they are in hand or in the tail.
 */
struct mapped {
	uint32_t from, end, base;
	uint64_t bits;
	const uint8_t *codes;
};
bool postings_mapped(struct postings *p, struct coded *c, struct mapped *m);
/* Positions of posting i of the block in hand, ascending; at most POSITIONS_MAX. */
size_t postings_positions(struct postings *p, uint32_t i, uint32_t *ret);

#endif
