#ifndef OPS_READY_H
#define OPS_READY_H

#include "store/folder.h"

/*
 * Markdown folders that need not be named: what Claude Code remembers by itself for each project
 * (~/.claude/projects/FOLDER/memory), and the instructions of known projects and of the user
 * (CLAUDE.md, AGENTS.md). They are only read.
 */

#define READY_MEMORY "claude-memory/"
#define READY_INSTRUCTIONS "instructions/"
#define READY_COUNTER "sync.ready" /* store counter: 1 when they are followed, those of new projects too */
#define READY_PROJECTS_MAX 10000

/* Those that exist and are not followed yet; ids are 0. */
int ready_find(struct store *s, struct arena *a, const char *user_home, struct folder **ret, size_t *ret_n, struct err *err);

#endif
