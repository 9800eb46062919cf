#ifndef OPS_FEEDBACK_H
#define OPS_FEEDBACK_H

#include "ops/hits.h"

/*
 * What became of a memory each time it was given, as a small prior on its score. Of `given` sessions that were looked at, `used`
 * used it: p = (used + 1) / (given + 4), so that a memory never given has p = 1/4; prior = 0.2 (p - 1/4), held between -0.03 and
 * +0.10. A score is multiplied by 1 + prior: what helped comes a little earlier, what was ignored ten times a little later, and no
 * more than that, since a use may go unseen and what is given often must not win for being given.
 */
#define FEEDBACK_WEIGHT 0.2
#define FEEDBACK_LEAST (-0.03)
#define FEEDBACK_MOST 0.10

int feedback_prior(struct op_call *call, int64_t memory, double *ret, struct err *err);
/* Puts found memories in the order of their scores with the prior; what is equal stays in its order. */
int feedback_order(struct op_call *call, struct found *found, size_t n, struct err *err);

#endif
