#ifndef INDEX_PAIRS_H
#define INDEX_PAIRS_H

#include "index/match.h"

/*
 * Near pairs: two words of the question that stand near each other both in it and in a text, in
 * either order. Adds their part to the sessions' scores.
 */
void pairs_run(struct run *r);

/* Phrases of the question, checked document by document in ascending order within one view. */
struct phrase_check;
struct phrase_check *phrase_check_new(
	struct arena *a, const struct query *q, const struct segment *seg);
bool phrase_check_passes(struct phrase_check *c, uint32_t doc);

#endif
