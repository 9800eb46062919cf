#ifndef STORE_QUERY_IDS_H
#define STORE_QUERY_IDS_H

#include "store/query.h"

/* The first column of a statement's rows, in the arena. The statement bounds itself. For the files of this room. */
int query_ids(struct store *s, struct arena *a, const char *sql, const struct db_arg *args, size_t n, int64_t **ret, size_t *ret_n,
	struct err *err);

/* Patterns of LIKE (with ESCAPE '\'): "anything, a slash, then exactly this", and "exactly this, a slash, then anything". */
char *query_like_ending(struct arena *a, const char *path);
char *query_like_below(struct arena *a, const char *path);

#endif
