#ifndef STORE_STALE_H
#define STORE_STALE_H

#include "store/store.h"

/*
 * Whether memories still hold: what the files that they rest on were then and are now, and where
 * the work of other branches has arrived. Written by the daemon's keeper alone, which looks at the
 * disk and asks git; everybody else only reads what it found.
 */

#define STALE_REASON_MAX 200         /* bytes */
#define STALE_RENAMED " renamed to " /* in the reason, between the old name and the new path */

/* Bound to the branch that it was born on, unless that is a default one. */
bool memory_is_bound_to_branch(const struct memory *m);
/* Is what is said of this kind bound to a branch at all? */
bool memory_type_binds(enum memory_type type);
/*
 * What it says is no longer certain when its files change: not how a person wants things, nor how
 * a tool is used.
 */
bool memory_rests_on_files(const struct memory *m);

/*
 * Memories that were written since the keeper looked at them, oldest first. A stamp tells whether
 * it was written again.
 */
struct stale_due {
	int64_t memory, stamp;
};
int store_stale_due(struct store *s, struct arena *a, size_t max, struct stale_due **ret,
	size_t *ret_n, struct err *err);
int store_stale_done(struct store *s, const struct stale_due *d, struct err *err);

/* A file as it was last seen. */
struct file_state {
	int64_t project;
	const char *path;    /* as memories name it */
	int64_t size, mtime; /* size -1: gone; mtime in microseconds */
	const char *hash;    /* blob id; NULL: too large, or gone */
	int64_t seen_at;     /* 0: never */
};
int store_file_state_get(struct store *s, struct arena *a, int64_t project, const char *path,
	struct file_state *ret, struct err *err);
/* Has it looked at: makes the row when there is none, and its next look due. */
int store_file_state_due(struct store *s, int64_t project, const char *path, struct err *err);
int store_file_state_put(struct store *s, const struct file_state *f, struct err *err);
/* Those that were not looked at since `before`, longest first. */
int store_file_states_old(struct store *s, struct arena *a, int64_t before, size_t max,
	struct file_state **ret, size_t *ret_n, struct err *err);

/* What memories knew of a file when they were made, newest first. */
struct file_base {
	int64_t memory, at;
	int64_t from; /* when its turn began */
	enum memory_kind kind;
	enum memory_type type;
	enum file_role role;
	const char *hash;   /* NULL: unknown */
	int64_t size;       /* -1: unknown */
	const char *branch; /* that it is bound to, or NULL */
	const char *reason; /* why it is suspect by this file, or NULL */
};
int store_file_bases(struct store *s, struct arena *a, int64_t project, const char *path,
	size_t max, struct file_base **ret, size_t *ret_n, struct err *err);
int store_file_base_set(struct store *s, int64_t memory, const char *path, const char *hash,
	int64_t size, struct err *err);

/* Suspect by this file, or no longer (reason NULL). */
int store_suspect_set(struct store *s, int64_t memory, const char *path, const char *reason,
	int64_t at, struct err *err);
/* Why a memory is suspect (files that are gone first); NULL when it is not. */
int store_suspect(
	struct store *s, struct arena *a, int64_t memory, const char **ret_reason, struct err *err);
/*
 * The files of a memory that were looked at, as they were then: for seeing by stat whether they
 * still are.
 */
int store_memory_states(struct store *s, struct arena *a, int64_t memory, size_t max,
	struct file_state **ret, size_t *ret_n, struct err *err);

/*
 * Adds to names[0] what the file was called before, as far as the keeper followed its renamings;
 * at most max names in all.
 */
int store_older_names(struct store *s, struct arena *a, int64_t project, const char **names,
	size_t max, size_t *io_n, struct err *err);
/* Where a session stood, and where a project lies; NULL when unknown. */
int store_session_cwd(
	struct store *s, struct arena *a, int64_t session, const char **ret, struct err *err);
int store_project_root(
	struct store *s, struct arena *a, int64_t project, const char **ret, struct err *err);

/* Memories that are bound to a branch. */
struct branch_memory {
	int64_t memory, project, at, from; /* from: when its turn began */
	const char *branch;
	const char *landed; /* first later commit on its branch that touches its files, or NULL */
	const char *tip;    /* of its branch when it was last asked; NULL: never */
};
int store_branch_memories(struct store *s, struct arena *a, int64_t project, size_t max,
	struct branch_memory **ret, size_t *ret_n, struct err *err);
int store_branch_memory_put(struct store *s, const struct branch_memory *b, struct err *err);
int store_branch_memory_drop(struct store *s, int64_t memory, struct err *err);

/* A work tree that somebody looked from, and which bound memories have arrived at its head. */
struct checkout {
	int64_t project;
	const char *root, *head; /* head: for which `visible` was found */
	int64_t asked_at;
};
int store_checkouts(struct store *s, struct arena *a, int64_t project, size_t max,
	struct checkout **ret, size_t *ret_n, struct err *err);
/* Somebody looks from here; what was found for its head stays. */
int store_checkout_note(struct store *s, const struct checkout *c, struct err *err);
int store_checkout_put(struct store *s, const struct checkout *c, const int64_t *visible, size_t n,
	struct err *err);
/* Ascending. *ret_is_known is false when this head was not asked about: then nothing is given. */
int store_visible(struct store *s, struct arena *a, const char *root, const char *head,
	bool *ret_is_known, int64_t **ret, size_t *ret_n, struct err *err);

#endif
