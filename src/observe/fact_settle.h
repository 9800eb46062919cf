#ifndef OBSERVE_FACT_SETTLE_H
#define OBSERVE_FACT_SETTLE_H

#include "observe/fact_merge.h"
#include "store/fact.h"

/*
 * Brings the facts of topics whose candidates changed up to date. Inside the caller's transaction,
 * on the writer thread. Bounded: whoever calls it calls again while *ret_n is above 0.
 */
#define MERGE_VERSION 2           /* raised when merging or the formula of confidence changes */
#define SETTLE_MAX 128            /* topics in one go */
#define TOPIC_CANDIDATES_MAX 2000 /* the latest; earlier ones are not looked at */

int facts_settle(struct store *s, const struct fact_policy *policy, size_t *ret_n, struct err *err);

#endif
