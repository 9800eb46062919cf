#ifndef OBSERVE_FACT_MERGE_H
#define OBSERVE_FACT_MERGE_H

#include "base/arena.h"
#include "model/fact.h"

/*
 * Candidates of one topic become facts. A pure function of the candidates in the order of
 * (at, key): neither the order of imports nor their repetition can change the result. What is said
 * of a subject in turn ("npm", then "pnpm") gives one fact for each stretch of time, each followed
 * by the next; counts and evidence of a stretch include what was said to the same effect before.
 */

struct fact_policy {
	double threshold; /* below: pending */
};

struct topic_facts {
	struct topic_fact *items;
	size_t n, cap;
};

/* Halves must have been joined before: a PART_FAILURE here was never solved. */
void fact_merge(struct arena *a, const struct fact_policy *policy,
	const struct fact_candidate *list, size_t n, struct topic_facts *ret);

#endif
