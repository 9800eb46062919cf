#ifndef DAEMON_KEEP_H
#define DAEMON_KEEP_H

#include "conf/git.h"
#include "conf/project.h"
#include "daemon/keeper.h"
#include "store/stale.h"

/*
 * The work of one round of the keeper (keep_files.c, keep_branches.c). Reads through one reader,
 * asks disk and git, and collects what is to be written; the keeper writes it in one transaction
 * afterwards.
 */

enum keep_kind {
	KEEP_DONE,
	KEEP_BASE,
	KEEP_DUE,
	KEEP_STATE,
	KEEP_SUSPECT,
	KEEP_BRANCH,
	KEEP_UNBOUND,
	KEEP_CHECKOUT
};

struct keep_change {
	enum keep_kind kind;
	int64_t memory, project, size;
	const char *path, *text; /* hash, reason */
	struct stale_due due;
	struct file_state state;
	struct branch_memory branch;
	struct checkout checkout;
	int64_t *visible;
	size_t nvisible;
};

struct keep_project {
	int64_t id;
	const char *root;             /* NULL: unknown or gone */
	struct project_identity here; /* of root */
	bool has_git, has_new_branch;
	int64_t *visible; /* arrived at root's head, ascending */
	size_t nvisible;
};

struct keep {
	struct arena *arena;
	struct store *store;
	int64_t now;
	int calls; /* of git, so far */
	struct keep_change *changes;
	size_t n, cap;
	struct keep_project **projects;
	size_t nprojects, projects_cap;
	bool is_unfinished; /* the bound was met: another round is needed */
};

void keep_add(struct keep *k, struct keep_change change);
struct keep_project *keep_project(struct keep *k, int64_t id);
/* False when this round has asked git often enough. */
bool keep_may_ask(struct keep *k);
/* Absolute path of a file of memories; NULL when it cannot be told. */
const char *keep_place(struct keep *k, const struct keep_project *p, const char *path);
int keep_apply(struct store *s, const struct keep *k, struct err *err);

/* What new memories rest on; their files become due. */
int keep_memories(struct keep *k, const struct stale_due *due, size_t n, struct err *err);
/* Looks at one file and judges the memories about it. */
int keep_file(struct keep *k, const struct file_state *before, bool is_forced, struct err *err);
/*
 * Which bound memories have arrived at the heads of this project's work trees, where those moved
 * or `is_new`.
 */
int keep_branches(struct keep *k, int64_t project, bool is_new, struct err *err);

#endif
