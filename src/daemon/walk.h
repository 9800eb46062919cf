#ifndef DAEMON_WALK_H
#define DAEMON_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/*
 * Finding transcripts: folders are walked to their leaves, links to folders followed once, files
 * found listed newest first.
 */

#define WALK_DEPTH_MAX 32
#define WALK_FILES_MAX 1000000
#define WALK_FOLDERS_MAX 200000

struct found_file {
	const char *path;
	int64_t mtime; /* Unix ms */
	uint64_t size;
	bool is_named; /* given by its own name, not found in a folder */
};
struct passed_over {
	const char *path, *reason;
};

struct walk {
	struct arena *arena;
	const char *ending; /* files found in folders must end so: ".jsonl" */
	struct found_file *files;
	size_t n, cap;
	struct passed_over *passed;
	size_t npassed, passed_cap;
	/* Its own: folders seen. */
	struct folder_key *seen;
	size_t nseen, seen_cap;
};
struct folder_key {
	uint64_t device, inode;
};

/* a file or folder; what cannot be used goes to `passed` */
void walk_add(struct walk *w, const char *path);
/* newest first; the same file twice is kept once */
void walk_sort(struct walk *w);
void walk_done(struct walk *w); /* the lists stay in the arena */

#endif
