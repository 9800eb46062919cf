#ifndef CONF_PROJECT_H
#define CONF_PROJECT_H

#include <stdbool.h>

#include "base/arena.h"

/*
 * Which project a working folder belongs to, read from `.git` files directly (no child process,
 * nothing hashed). A project is a set of aliases; the store decides which project they name
 * (design, "Project"). Worktrees share the git common folder; submodules are projects of their own.
 * A folder that is gone belongs to the repository that still stands above it (the home folder's
 * does not count), else it counts by its lexical path, or by the repository above when it lay in a
 * usual folder of linked work trees (".claude/worktrees/").
 */

struct project_identity {
	/*
	 * top of the work tree, or the folder itself without git; for a worktree: the main work
	 * tree's root when known
	 */
	const char *root;
	/* top of the work tree stood in, when it is a linked worktree; else NULL */
	const char *worktree;
	const char *common_dir; /* absolute, symlinks resolved; NULL without git */
	/*
	 * "host/owner/name" lower-cased, no scheme, userinfo, port or ".git"; origin first, else
	 * the first remote; NULL
	 */
	const char *remote;
	const char *path;       /* lexical path of root */
	const char *branch;     /* "main"; NULL when detached or without git */
	const char *commit;     /* head commit, 40 hex, or NULL */
	const char *name;       /* what people are shown: last part of root */
	bool is_default_branch; /* branch is the remote's head, or main/master/trunk when unknown */
};

/*
 * cwd must be absolute (a relative one is taken as below "/"). Never fails: without git the folder
 * itself is the project. Results are in `a`.
 */
void project_identify(struct arena *a, const char *cwd, struct project_identity *ret);

/*
 * Is this the branch that a repository's work ends on: what its remote's head names, else main,
 * master or trunk. common_dir NULL: by its name alone.
 */
bool project_branch_is_default(struct arena *a, const char *common_dir, const char *branch);

/*
 * A remote URL in normal form, or NULL: "git@github.com:Owner/Repo.git" and
 * "https://user:pw@github.com/Owner/Repo" both give "github.com/owner/repo".
 */
char *project_normalise_remote(struct arena *a, const char *url);

#endif
