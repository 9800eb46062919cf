#ifndef INDEX_COMPLETE_H
#define INDEX_COMPLETE_H

#include "index/match.h"

/* How well the best of the documents matches, by the words that it holds. */

typedef bool wanted_fn(void *ctx, size_t view, uint32_t doc);
/*
 * MATCH_EXACT when a wanted document holds all words of the question as they stand, MATCH_STEM when
 * one holds them in some form, else MATCH_NEAREST. The callback sees a view's documents in order.
 */
enum match_rung complete_match(struct run *r, uint32_t classes, wanted_fn *is_wanted, void *ctx);

#endif
