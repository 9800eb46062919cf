#ifndef OPS_BRANCHES_H
#define OPS_BRANCHES_H

#include "conf/project.h"
#include "ops/ops.h"

/*
 * Whether work of another branch concerns whoever stands here (design, "Branch", in its simple form: no child process, no objects
 * read). A memory that is bound to a branch belongs here when it was born on this branch, on a default one, or on one that is
 * gone from this repository, as branches are after their merge. Where the repository cannot be looked at, other branches stay out.
 */

#define BRANCHES_MAX 48 /* looked up in the repository per call; further ones stay out */

struct branches {
	struct arena *arena;
	const char *current;    /* NULL: unknown */
	const char *common_dir; /* NULL: unknown */
	const char *packed;     /* text of packed-refs, read once */
	bool is_packed_read;
	struct {
		const char *name;
		bool is_gone;
	} seen[BRANCHES_MAX];
	size_t n;
};

/* cwd NULL or gone: unknown. `branch` as the agent says it, or NULL: as the repository says. */
void branches_init(struct branches *b, struct arena *a, const char *cwd, const char *branch);
bool branch_is_default(const char *name);
/* Bound to a branch that does not concern this place. */
bool memory_is_elsewhere(struct branches *b, const struct memory *m);

#endif
