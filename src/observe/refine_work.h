#ifndef OBSERVE_REFINE_WORK_H
#define OBSERVE_REFINE_WORK_H

#include "observe/refine.h"
#include "observe/refine_text.h"
#include "observe/turn_view.h"

/* What the parts of refine share: one reply's items of one unit. */

struct refine_work {
	struct arena *a;
	const struct refine_input *in;
	struct refine_output *out;
	struct grounds g;
	struct turn_view v;
	bool *is_refined; /* by memory of in->made */
	size_t claims, unsupported; /* of g.counts before the item at hand */
	size_t ordinal;   /* for slots */
};

/* refine_item.c */
void refine_observation(struct refine_work *w, const struct reply_item *item);
void refine_summary(struct refine_work *w, const struct reply_item *item);
/* refine_fact.c */
void refine_fact(struct refine_work *w, const struct reply_item *item);
/* refine_memory.c: what a memory rests on, and how sure it is. */
void refine_evidence(struct refine_work *w, struct memory *m);
void refine_files(struct refine_work *w, const struct reply_item *item, struct memory *m, size_t *removed);
/* With the model, the tally and the status; `base` is the confidence that it has when all holds. */
void refine_finish(struct refine_work *w, struct memory *m, double base, size_t removed);
char *refine_tally(struct arena *a, const char *version, size_t claims, size_t unsupported, size_t removed);
/* Event of the unit by id; NULL. */
const struct event *refine_event(const struct refine_work *w, int64_t id);

#endif
