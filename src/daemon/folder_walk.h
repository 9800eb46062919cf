#ifndef DAEMON_FOLDER_WALK_H
#define DAEMON_FOLDER_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

/*
 * What there is in a markdown folder: the files that its globs name, without what .gitignore leaves
 * out (also that of the folders above, up to the git repository) and without hidden files and
 * folders. Links are followed, a folder is entered once.
 *
 * Globs, a line each: "*.md" holds for names anywhere, one with a slash for the path below the
 * root, "!" takes out again; the last that holds decides. One with a slash and no wildcards names
 * a file, hidden and ignored ones too.
 */

#define FOLDER_DEPTH_MAX 32
#define FOLDER_FILES_MAX 200000
#define FOLDER_FOLDERS_MAX 50000

struct walked_file {
	const char *path;    /* below the root */
	int64_t mtime;       /* Unix ms */
	int64_t changed_at;  /* the later of its times of content and of inode, Unix ms */
	int64_t stamp;       /* differs whenever size, times or inode differ; never 0 */
	uint64_t size;
};
struct unwalked {
	const char *path, *reason; /* below the root, "" is the root */
	bool is_folder;
};

struct folder_walk {
	struct arena *arena;
	const char *root, *globs;
	/* Before a folder is read. NULL: nobody wants to know. */
	void (*entered)(void *ctx, const char *path);
	void *ctx;
	struct walked_file *files; /* ascending by path, bytewise */
	size_t n, cap;
	struct unwalked *failed;
	size_t nfailed, failed_cap;
	bool is_cut; /* there is more than the ceilings allow: what was not seen may be there */
};

/* -1: the root cannot be read. */
int folder_walk(struct folder_walk *w, struct err *err);
/* Whether the globs name the file, given by its path below the root. */
bool globs_hold(const char *globs, const char *path, bool *ret_is_named);
int64_t folder_stamp(const void *stat);

#endif
