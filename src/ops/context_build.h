#ifndef OPS_CONTEXT_BUILD_H
#define OPS_CONTEXT_BUILD_H

#include "ops/frame.h"
#include "ops/hits.h"
#include "ops/question.h"

/* What the parts of context building share (context.c, context_start.c, context_prompt.c). */

struct context_build {
	struct op_call *call;
	const struct context_request *q;
	struct lookup l;
	struct frame *frame;
	struct titles *titles;
	struct branches branches;
};

/* Rows of these ids that may be given: there, active, visible from this branch. Compacted in place; files are not loaded. */
int context_load(struct context_build *b, const int64_t *ids, size_t n, struct memory **ret, size_t *ret_n, struct err *err);
/* " [branch x]" for work of a branch that is not this one, or "" */
const char *context_branch(struct context_build *b, const struct memory *m);
/* " [by ada]" for what a colleague shared, or "" */
const char *context_author(struct context_build *b, const struct memory *m);
/* " [suspect: a.c changed in 4 commits since]", or "" */
const char *context_suspect(struct context_build *b, const struct memory *m);
/* " (src/a.c, src/b.c, +3)", or "" */
const char *context_files(struct context_build *b, struct memory *m);
/* Reliable enough to be stated: not resting on tool output or outside content alone. */
bool context_is_trusted(const struct memory *m);
const char *context_label(const struct memory *m); /* "bugfix", "note" … */

/* The session start, in sections. */
int context_start(struct context_build *b, struct err *err);
/* With a prompt. */
int context_prompt(struct context_build *b, struct err *err);
/* Before a file is read, and before it is changed (context_file.c). */
int context_file(struct context_build *b, struct err *err);
int context_edit(struct context_build *b, struct err *err);
/* Before a command runs, and after one failed (context_action.c). */
int context_command(struct context_build *b, struct err *err);
int context_failure(struct context_build *b, struct err *err);
/* What solved the errors that are told in this text, into the section that is open. */
int context_errors(struct context_build *b, const char *text, struct err *err);

/* Leaves out what this session did itself or was given already, since its last compaction. */
int context_sift(struct context_build *b, struct memory *list, size_t *n, struct err *err);
/* A memory as one line, with the beginning of its text where there is room. False when nothing was added. */
bool context_give(struct context_build *b, struct memory *m);

#endif
