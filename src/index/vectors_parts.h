#ifndef INDEX_VECTORS_PARTS_H
#define INDEX_VECTORS_PARTS_H

#include <pthread.h>

#include "index/vectors.h"

/*
 * The vectors from the inside. `lock` guards what scans see; whoever changes holds `change` for all
 * of it and `lock` only for putting the result in place, so that files are written while scans run.
 */

/* 32 bytes, as in the file. Of the branch's hash only eight bits. */
struct vectors_row {
	uint64_t id;
	uint32_t hash, first; /* the first of its vectors; they end where the next row's begin */
	uint32_t project, session, at; /* Unix seconds */
	uint8_t kind, type, status_agent, branch;
};
_Static_assert(sizeof(struct vectors_row) == 32, "the layout of the file");

/* VECTOR_WORDS(dims) words a vector; `at` NULL: there are none. */
struct vectors_bits {
	const uint64_t *at;
	void *map;
	size_t len;
};

/* Rows and vectors: of a file (ascending by id) or of the tail (in order of coming). */
struct vectors_part {
	const struct vectors_row *rows;
	const float *scales;
	const int8_t *at;
	const double *sum; /* of all its vectors */
	size_t dims;
	uint32_t ndocs, nvectors;
	uint8_t *dead; /* bit per row: replaced or removed */
	uint32_t ndead, ndead_vectors;
	/* Of files only. */
	void *map;
	size_t len;
	uint64_t number, hash;
	struct vectors_bits bits;
};

#define VECTORS_FILES_MAX 64u

struct vectors {
	char *dir;
	char *model;
	size_t dims;    /* bytes of a vector */
	uint64_t store; /* changes with what is loaded */
	pthread_mutex_t change;
	pthread_rwlock_t lock;
	struct vectors_part *files[VECTORS_FILES_MAX]; /* by age, the oldest first */
	size_t n;
	struct vectors_part tail;
	size_t rows_cap, vectors_cap;
	struct vectors_row *tail_rows;
	float *tail_scales;
	int8_t *tail_at;
	double *tail_sum;
	uint64_t next_file;
	struct vectors_spans spans;
	bool is_changed; /* since the manifest was written */
	struct vectors_prefilter prefilter;
	struct guess *_Atomic spare; /* of the scan before (vectors_guess.h) */
};

/* vectors_file.c */
#define VECTORS_NAME_MAX 32
void vectors_file_name(uint64_t number, char ret[VECTORS_NAME_MAX]);
/* A row of some part. */
struct vectors_pick {
	const struct vectors_part *part;
	uint32_t row;
};
/* Picks ascending by id. Written beside nothing: the manifest makes it count. */
int vectors_file_write(struct vectors *v, const struct vectors_pick *picks, size_t n,
	struct vectors_part **ret, struct err *err);
/* Of which file to map: hash NULL: it was just written; dims 0: whichever they are. */
struct vectors_file {
	const char *path;
	uint64_t number;
	const uint64_t *hash;
	size_t dims;
};
int vectors_file_map(const struct vectors_file *f, struct vectors_part **ret, struct err *err);
void vectors_part_free(struct vectors_part *p);
/* Unlinks the file; is_secret: its content is overwritten first. Nobody may be scanning it. */
void vectors_file_remove(struct vectors *v, struct vectors_part *p, bool is_secret);

/*
 * vectors_bits.c: the sign bits of a file's vectors about their own mean, as it was when the file
 * was written. The store's mean moves, that of a file does not: guesses that are made of bits are put in terms
 * of the store's mean with what is known of the distance of the two (vectors_guess.c), and what is
 * given is always scored about the store's mean, so that a mean that moves needs nothing rewritten
 * and at worst lets a guess be worse.
 */
void vectors_bits_name(uint64_t number, char ret[VECTORS_NAME_MAX]);
/* Maps the bits that are there. */
void vectors_bits_load(struct vectors *v, struct vectors_part *p);
void vectors_bits_free(struct vectors_part *p);
int vectors_bits_make(struct vectors *v, struct vectors_part *p, struct err *err);
/* Of all its vectors, [dims]. */
void vectors_part_mean(const struct vectors_part *p, float ret[VECTOR_DIMS_MAX]);

/* vectors_manifest.c */
int vectors_manifest_write(struct vectors *v, struct err *err);
/* Maps what it names into v, unlinks the rest. Damage is no error: what it concerns is gone. */
void vectors_manifest_load(struct vectors *v, const char *model, size_t dims);

static inline uint32_t vectors_part_end(const struct vectors_part *p, uint32_t row)
{
	return row + 1 < p->ndocs ? p->rows[row + 1].first : p->nvectors;
}

/* False when it is not there or dead. */
bool vectors_part_find(const struct vectors_part *p, doc_id id, uint32_t *ret);
void vectors_part_kill(struct vectors_part *p, uint32_t row);

static inline bool vectors_row_is_dead(const struct vectors_part *p, uint32_t row)
{
	return p->dead[row >> 3] >> (row & 7) & 1;
}

#endif
