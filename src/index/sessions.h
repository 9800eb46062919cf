#ifndef INDEX_SESSIONS_H
#define INDEX_SESSIONS_H

#include "index/match.h"

/*
 * Scores of sessions: BM25 of each as one document. A term's occurrences are added list by list and
 * block by block, as they are read; then the term's share is given out.
 */

struct session_sums;
/* Also makes run->session_scores, all 0. NULL when there is no session. */
struct session_sums *sessions_start(struct run *r);
/* Documents of one segment, ascending, and how often each holds the term in hand. */
void sessions_add(struct session_sums *s, const struct view *v, const uint32_t *docs, const float *tf, uint32_t n);
/* Adds the term's share to the sessions that hold it, and empties the sums. Returns its idf. */
double sessions_give(struct run *r, struct session_sums *s, double weight);

#endif
