#ifndef INDEX_REACH_H
#define INDEX_REACH_H

#include <stddef.h>
#include <stdint.h>

/*
 * Which documents may get enough from the words that they hold: the most that each word can add is
 * rounded up to a share of what is missing, and the shares are summed for 64 documents at a time,
 * bit by bit, as an adder does. Pure; any thread.
 */

#define REACH_WORDS 17u /* of 64 documents, that a window of 1024 may lie in */
#define REACH_FULL 32u  /* the share that is enough */

struct reach_word {
	const uint64_t *map; /* a bit per document */
	uint32_t share;      /* REACH_FULL or more: is enough alone; 0: adds nothing */
};

/* `most` as a share of `missing`, never too little; missing 0: whatever adds anything is enough. */
uint32_t reach_share(float most, float missing);
/* Fills the map's words [first, first + n) of documents whose shares come to REACH_FULL; n at most REACH_WORDS. */
void reach_find(const struct reach_word *words, size_t nwords, uint32_t first, uint32_t n, uint64_t ret[REACH_WORDS]);

#endif
