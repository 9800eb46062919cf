#ifndef OBSERVE_CONFIDENCE_H
#define OBSERVE_CONFIDENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "model/memory.h"

/*
 * How sure a fact is, one formula for all origins:
 *
 *   who said it      person 1, prompt .55, reply .42, tool output .35, outside .15
 * + words            said for good +.15; may have been meant once only −.2
 * + outcome          seen to work +.15, seen to fail −.25
 * + repetition       .1 for each doubling of the sessions, .04 for each doubling of the times; +.3 at most
 * − contradiction    .1 for each time that the opposite was said, .2 at most
 * − ungrounded       .1 for each name, number or quote that its evidence lacks, .4 at most
 *
 * between 0 and .99 (1 is a person's own word). Below `review.threshold` it waits for a person.
 * Age is not in the stored number, which must not depend on the day of an import; whoever shows or
 * weighs a fact asks confidence_aged: −.05 for each half year since it was last said, .2 at most.
 */

struct confidence {
	enum trust trust;
	int strength, outcome;
	int64_t times, sessions, turns, contradictions, unsupported;
};

double confidence_of(const struct confidence *c);
/* The parts, as the members of one JSON object, with what they were counted from. */
char *confidence_parts(struct arena *a, const struct confidence *c, int64_t first, int64_t last);
double confidence_age_cost(int64_t last, int64_t now);
double confidence_aged(const struct memory *m, int64_t now);

#endif
