#ifndef CONF_GIT_H
#define CONF_GIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

/*
 * What only git itself can say, asked through a child process that is bounded in time and output.
 * Never on a hook's asking path. Nothing in a repository's own configuration is run (no pager,
 * file monitor, external diff or signature check), no lock is taken and nothing is fetched.
 * Without git, or outside a repository, every call fails with ERR_UNAVAILABLE or ERR_NOT_FOUND.
 */

#define GIT_TIMEOUT_MS 2000       /* of one call, unless told */
#define GIT_OUTPUT_MAX (8u << 20) /* bytes; beyond, the oldest of a history is missing */
#define GIT_PATHS_MAX 32          /* that one history is limited to */

struct git_commit {
	const char *hash; /* 40 hex digits */
	int64_t at;       /* when it was committed, Unix ms */
	const char *subject;
};

/* What one commit did to one file. Merges say nothing of files. */
struct git_change {
	size_t commit;       /* which of the commits */
	char status;         /* 'A', 'M', 'D', 'R', … */
	const char *blob;    /* content afterwards, 40 hex digits; zeros when gone */
	const char *path;    /* from the top of the work tree; before a renaming */
	const char *renamed; /* its new path, or NULL */
};

struct git_log {
	struct git_commit *commits; /* newest first */
	size_t n;
	struct git_change *changes;
	size_t nchanges;
	bool is_whole; /* nothing was cut off at the old end */
};

struct git_log_query {
	const char *root;         /* top of the work tree */
	const char *rev;          /* NULL: HEAD */
	int64_t since;            /* Unix ms; 0: from the beginning */
	const char *const *paths; /* only these files; none: all */
	size_t npaths, max;       /* commits */
	const char *without;      /* not what is reachable from here; NULL: everything */
	bool only_deletions, finds_renames;
};

int git_log(struct arena *a, const struct git_log_query *q, struct git_log *ret, struct err *err);
/* The history's lines to its structs; `text` stays where it is and is written to. */
void git_log_parse(struct arena *a, char *text, struct git_log *ret);
/* Any command: argv after `git -C root`, ends with NULL. Output into *out (up to its max). */
int git_run(const char *root, const char *const *argv, int timeout_ms, struct buf *out,
	struct err *err);

#endif
