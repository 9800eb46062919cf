#ifndef OBSERVE_REFINE_H
#define OBSERVE_REFINE_H

#include "base/arena.h"
#include "observe/digest.h"
#include "observe/reply.h"
#include "observe/rules.h"

/*
 * From what a model said of a unit to memories: each claim is held against the unit's evidence
 * (ground.h); an item whose files, identifiers, numbers, quotes or commits are not there loses them,
 * or waits for review, or is dropped. An item about the same work as a rule's memory refines it
 * (names it in `refines`) instead of standing beside it. Facts become candidates and go the way of
 * all candidates. Attribution is mended or marked: what the assistant did is not said of the person.
 * Pure.
 */

#define REFINE_RULE "model" /* the rule name of all that a model made */

struct refined {
	struct memory m;     /* rule = REFINE_RULE, slot, origin = model, model, confidence, evidence, files */
	const char *refines; /* "rule/slot" of the rule's memory of this unit that it stands for; NULL */
	size_t removed;      /* claims taken out */
};

struct refine_input {
	const struct rules_input *unit;
	const struct rules_output *made;
	const struct digest *digest;
	const struct reply *reply;
	int number;          /* of the unit in the question, from 1; items with another are left out */
	bool is_only_unit;   /* items without a number are its own */
	const char *model, *version; /* of the prompt */
	double threshold;    /* review.threshold */
};

struct refine_output { /* in the arena */
	struct refined *items;
	size_t n, cap;
	struct fact_candidate *candidates;
	size_t ncandidates, candidates_cap;
	size_t dropped;      /* items without support or said twice */
	size_t claims, unsupported;
};

void refine_run(struct arena *a, const struct refine_input *in, struct refine_output *ret);

#endif
