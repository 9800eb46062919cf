#ifndef OBSERVE_REFINE_H
#define OBSERVE_REFINE_H

#include "base/arena.h"
#include "observe/digest.h"
#include "observe/mode.h"
#include "observe/reply.h"
#include "observe/rules.h"

/*
 * From what a model said of a unit to memories: each claim is held against the unit's evidence
 * (ground.h); an item whose files, identifiers, numbers, quotes or commits are not there loses the
 * sentences that name them, or waits for review, or is dropped. An item about the same work as a
 * rule's memory refines it (names it in `refines`) instead of standing beside it: it is the rule's
 * memory with what the model said better, so that nothing gets worse. Facts become candidates and go
 * the way of all candidates. Attribution is mended: what the assistant did is not said of the
 * person. Pure.
 */

#define REFINE_RULE MODEL_RULE /* the rule name of all that a model made */

struct refined {
	/*
	 * rule = REFINE_RULE, slot "<part>.<n>" or "<part>.summary", origin = model, model, confidence,
	 * evidence, files; tally is a JSON object with the prompt's version and what was checked;
	 * refines is set too.
	 */
	struct memory m;
	const char *refines; /* "rule/slot" of the rule's memory of this unit that it stands for; NULL */
	size_t removed;      /* sentences, facts and files taken out */
};

struct refine_input {
	const struct rules_input *unit;
	const struct rules_output *made;
	const struct digest *digest;
	int part;            /* of the unit, as in digest_input */
	const struct reply *reply;
	const struct mode *mode; /* NULL: the types of ours */
	const char *const *similar; /* titles of memories that exist already, as they were told; NULL */
	size_t nsimilar;
	int number;          /* of the unit in the question, from 1; items with another are left out */
	bool is_only_unit;   /* items without a number are its own */
	const char *model, *version; /* of the prompt */
	double threshold;    /* review.threshold */
};

/* What was wrong with a reply: for `observer eval` and the canary. */
struct refine_counts {
	size_t items;       /* looked at */
	size_t claims, unsupported;
	size_t removed;     /* sentences, facts and files taken out */
	size_t attribution; /* sentences that said of the person what the assistant did; mended */
	size_t off_list;    /* types and concepts that the mode does not have */
	size_t duplicates;  /* told twice, or known before; dropped */
	size_t about_us;    /* about the observer; dropped */
	size_t generic;     /* titles that any unit could have */
	size_t unfounded;   /* items without support; dropped */
	size_t no_better;   /* than the rule's memory, which stays; dropped */
};

struct refine_output { /* in the arena */
	struct refined *items;
	size_t n, cap;
	struct fact_candidate *candidates;
	size_t ncandidates, candidates_cap;
	size_t dropped; /* items that came to nothing: the sum of the reasons */
	size_t claims, unsupported;
	struct refine_counts counts;
};

void refine_run(struct arena *a, const struct refine_input *in, struct refine_output *ret);

/* The summary of a session out of its reply (JOB_SUMMARY). */
struct refine_session_input {
	const struct session *session;
	const struct memory *summaries; /* as given to digest_session */
	size_t n;
	const struct digest *digest;
	const struct reply *reply;
	const char *model, *version;
	double threshold;
};

#define REFINE_SESSION_SLOT "session"
/* False: there is none in it. Otherwise a memory of the session and of no turn, slot REFINE_SESSION_SLOT. */
bool refine_session(struct arena *a, const struct refine_session_input *in, struct memory *ret);

#endif
