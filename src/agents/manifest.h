#ifndef AGENTS_MANIFEST_H
#define AGENTS_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"
#include "base/str.h"

/*
 * The manifest: what installing changed, so that uninstalling gives back the very bytes. One entry
 * per (agent, file). A file that is missing or damaged is an empty manifest: our entries are then
 * still known by their shape.
 */

#define MANIFEST_MAX (64u << 20)
/* bytes kept of a file; of a larger one only our entries can be taken out */
#define MANIFEST_BEFORE_MAX (1u << 20)
#define MANIFEST_ENTRIES_MAX 32

struct manifest_entry {
	const char *agent, *path;
	bool existed;         /* the file was there */
	struct str before;    /* its bytes; p NULL when they were not kept */
	const char *after;    /* SHA-256 of what we left */
	const char **created; /* members that we made */
	size_t ncreated;
};

struct manifest {
	struct manifest_entry entries[MANIFEST_ENTRIES_MAX];
	size_t n;
};

void manifest_read(struct arena *a, const char *path, struct manifest *ret);
/* NULL when absent */
struct manifest_entry *manifest_find(struct manifest *m, const char *agent, const char *path);
/* The entry of this file, made when it is absent; NULL when there are too many. */
struct manifest_entry *manifest_add(struct manifest *m, const char *agent, const char *path);
void manifest_remove(struct manifest *m, struct manifest_entry *e);
/* Writes it, 0600; an empty one is removed. */
int manifest_write(const struct manifest *m, const char *path, struct err *err);

#endif
