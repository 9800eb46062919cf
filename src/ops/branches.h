#ifndef OPS_BRANCHES_H
#define OPS_BRANCHES_H

#include "conf/project.h"
#include "ops/ops.h"

/*
 * Whether work of another branch concerns whoever stands here (design, "Branch"). A memory that is
 * bound to a branch belongs here when it was born on this branch or on the default one, or when
 * the keeper found that it has arrived at this head. What it has not found out yet stays out.
 * Nothing but small files of `.git` and cached rows is read.
 */

struct branches {
	struct op_call *call;
	int64_t project;
	struct project_identity here;
	const char *current; /* branch; NULL: unknown or detached */
	bool is_read;        /* `visible` was asked for */
	int64_t *visible;    /* arrived here, ascending */
	size_t n;
};

/* cwd NULL or gone: unknown. `branch` as the agent says it, or NULL: as the repository says. */
void branches_init(struct branches *b, struct op_call *call, int64_t project, const char *cwd,
	const char *branch);
/* By name alone: main, master, trunk. */
bool branch_is_default(const char *name);
/* Bound to a branch that does not concern this place. */
bool memory_is_elsewhere(struct branches *b, const struct memory *m);
/*
 * A fact that another one contradicts which was told later on a branch, and which holds here: this
 * branch, or one whose work has arrived. Merging knows nothing of places, so that both are active.
 */
bool fact_is_revised(struct branches *b, const struct memory *m);

#endif
