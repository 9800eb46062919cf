#ifndef INDEX_FUSE_H
#define INDEX_FUSE_H

#include "index/snapshot.h"

/*
 * Words and meaning as one order. What either finds are candidates; a candidate's score is the
 * weighted sum of both, each as a share of the best of its kind, so that neither scale matters. The
 * best must be worth it: where it holds one word of six, or is hardly near, it counts for less.
 * Fusing ranks instead of scores was measured worse than words alone.
 */

#define FUSE_CANDIDATES 200u /* of each kind */
#define FUSE_DEPTH 1000u     /* further down (offset and limit) the order is that of words alone */

/* Is there meaning to ask, in words, and not for what lies too far down? */
bool fuse_is_wanted(const struct search *q);
void fuse_search(struct snapshot *snap, struct room *room, struct arena *a, const struct search *q,
	struct search_result *ret);

/* search.c */
void search_words(struct snapshot *snap, struct room *room, struct arena *a,
	const struct search *q, struct search_result *ret);

#endif
