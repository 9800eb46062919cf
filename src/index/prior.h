#ifndef INDEX_PRIOR_H
#define INDEX_PRIOR_H

#include "index/segment.h"

/*
 * What a document gets whatever is asked, as a share of its score: for being new, pinned, sure, of
 * the time that the question names.
 */

/* Of neighbouring documents: what bounds their priors. */
#define PRIOR_DOCS 128u
struct prior_range {
	uint32_t oldest, newest; /* seconds */
	uint16_t kinds;          /* of memories, a bit each */
	uint8_t confidence;      /* the highest */
	bool is_pinned;          /* one of them */
};
/* One for every PRIOR_DOCS documents; malloc'ed. */
struct prior_range *prior_ranges(const struct segment *seg);

double prior_of(const struct search *in, const struct segment *seg, uint32_t doc);
/* No document of [from, to) has more. */
double prior_most(const struct search *in, const struct segment *seg, uint32_t from, uint32_t to);
/* No document at all has more. */
double prior_highest(const struct search *in);

#endif
