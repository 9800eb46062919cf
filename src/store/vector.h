#ifndef STORE_VECTOR_H
#define STORE_VECTOR_H

#include "store/store.h"

/*
 * Vectors of memories that a server made, kept since they were paid for: a lost index, another
 * daemon on the same store or a return to an earlier model asks for none of them again. `embedder`
 * is the model's name with its dimension.
 */
struct paid_vector {
	int64_t memory;
	uint32_t hash; /* of what was embedded */
	uint32_t n, dims;
	const float *scales; /* [n] */
	const int8_t *at;    /* [n][dims] */
};

/* Replaces; a memory that is gone has none. */
int store_vector_put(struct store *s, const char *embedder, const struct paid_vector *v, struct err *err);
/* 1 and *ret in the arena, 0: there is none, -1. */
int store_vector_get(struct store *s, struct arena *a, const char *embedder, int64_t memory,
	struct paid_vector *ret, struct err *err);

#endif
