#ifndef STORE_CONTRACT_H
#define STORE_CONTRACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/store.h"

/*
 * The SQL contract of the markdown service: on PostgreSQL a schema of its own beside the store's, with tables of chunks, files
 * and searches and the functions search() and stats(), for other programs (docs/postgresql.md). Chunks and files go with the
 * store's rows that they are copies of, in the same transaction. One embedder's vectors are in it; of several daemons with
 * different embedders one keeps it.
 *
 * All of this is for a connection of its own (store_open with DB_WRITE), outside of a transaction unless it says otherwise.
 */

#define CONTRACT_SCHEMA "claude_memory"
#define CONTRACT_MARK "remanence contract 1 of " /* its comment, and the store's schema */
#define CONTRACT_SEEN_MS (5 * 60 * 1000)      /* its keeper says so often that it is there */
#define CONTRACT_TAKEOVER_MS (15 * 60 * 1000) /* after that long without a word another daemon may become it */
#define CONTRACT_HNSW_DIMS_MAX 2000	      /* of pgvector's index; searches look at all rows beyond */

struct contract_wish {
	const char *keeper;   /* the daemon: the same after a restart */
	const char *embedder; /* NULL: none is known; what is there is kept up without new vectors */
	uint32_t dims;
	bool may_change; /* this embedder's vectors are complete: they may take the place of another's */
};

struct contract_state {
	bool is_on;
	bool is_same;        /* the vectors in it are those of the wish */
	bool was_made;       /* tables or vectors are new: all is to be looked at */
	uint32_t dims;       /* of its vectors */
	char extension[64];  /* the schema that pgvector is in */
	char why[ERR_TEXT_MAX], hint[ERR_TEXT_MAX]; /* not on: one sentence each */
};

/* How it stands, for status and doctor. */
struct contract_report {
	bool is_wanted, is_on;
	uint32_t dims;
	char why[ERR_TEXT_MAX], hint[ERR_TEXT_MAX]; /* wanted and not on */
	char trouble[ERR_TEXT_MAX];                 /* what holds it up, or "" */
};

/* There is a markdown folder. For any connection. */
int contract_wanted(struct store *s, bool *ret, struct err *err);
/* Makes the schema, or its column of vectors anew, where it may; nothing of another program is touched. */
int contract_ready(struct store *s, const struct contract_wish *w, struct contract_state *ret, struct err *err);

/* Both are other numbers when files or chunks may be: of the folders, and of the schema, which what is taken back leaves at once. */
struct contract_mark {
	int64_t wanted, shown;
};
int contract_mark(struct store *s, struct contract_mark *ret, struct err *err);
/* Chunks above `after` that are not, or not so, in the schema; ascending. */
int contract_stale(struct store *s, struct arena *a, int64_t after, size_t max, int64_t **ret, size_t *ret_n, struct err *err);
/* Chunks above `after` that have no vector there; ascending. */
int contract_bare(struct store *s, struct arena *a, int64_t after, size_t max, int64_t **ret, size_t *ret_n, struct err *err);
/* Writes a chunk as it is; within a transaction. vector[dims], NULL: none is known, one that is there stays if the text did. */
struct contract_chunk {
	int64_t memory;
	const char *content, *extension;
	const float *vector;
	uint32_t dims;
};
int contract_put(struct store *s, const struct contract_chunk *c, struct err *err);
/* Files and the record of searches, once the chunks are there. A transaction of its own. */
int contract_files(struct store *s, struct err *err);
int contract_searches(struct store *s, struct err *err);
/* What was forgotten goes here too, where this role may. For any connection that writes, of either kind. */
int contract_scrub(struct store *s, struct err *err);
/* The index over vectors, when there are any and it is not there. ERR_BUSY: others' transactions were in the way. */
int contract_index(struct store *s, struct err *err);

#endif
