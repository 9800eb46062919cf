#ifndef STORE_QUERY_CHUNK_H
#define STORE_QUERY_CHUNK_H

#include "store/store.h"

/* Where chunks come from: the files of indexed markdown folders. Read only. */

struct chunk_place {
	int64_t memory;
	const char *namespace, *root, *path, *section; /* path: of the file, below its folder's root */
	const char *title;                      /* of the file, NULL: none */
	const char *metadata;                   /* of its front matter as a JSON object, NULL: none */
	const char *checksum;
	int64_t index, position;                /* in the section, in the file; from 0 */
	int64_t first_line, last_line;          /* from 1 */
};

/* *ret is false when the memory is no chunk of a known file. */
int query_chunk(struct store *s, struct arena *a, int64_t memory, struct chunk_place *ret,
	bool *ret_found, struct err *err);
/* Of several, in the order asked; one that is no chunk of a known file has `memory` 0. */
int query_chunks(struct store *s, struct arena *a, const int64_t *memories, size_t n,
	struct chunk_place *ret, struct err *err);
/* All namespaces, by name. */
int query_namespaces(
	struct store *s, struct arena *a, const char ***ret, size_t *ret_n, struct err *err);
/* Chunks of the files whose path, below the root or absolute, is or ends in `file`. */
int query_chunks_of_file(struct store *s, struct arena *a, const char *file, size_t max, int64_t **ret, size_t *ret_n, struct err *err);

struct source_totals {
	int64_t files, chunks;
	int64_t synced_at; /* the latest; 0: never */
};
int query_source_totals(struct store *s, struct source_totals *ret, struct err *err);

#endif
