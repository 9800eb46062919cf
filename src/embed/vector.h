#ifndef EMBED_VECTOR_H
#define EMBED_VECTOR_H

#include <stddef.h>
#include <stdint.h>

/*
 * Vectors as they are stored: bytes and a scale; number I is scale * at[I], and all are unit
 * vectors but for rounding. Those of the builtin embedder have VECTOR_DIMS bytes; those of others are
 * filled up with zeros to a multiple of VECTOR_STEP, which changes no similarity. Similarity is the cosine after the store's mean vector was taken off
 * both sides, which is done here, at query time, so that a mean that moves needs no vector
 * rewritten. Pure; any thread.
 */

#define VECTOR_DIMS 512
#define VECTOR_STEP 32u
#define VECTOR_DIMS_MAX 4096u
/* So many bytes are stored of n numbers. */
#define VECTOR_ROUND(n) (((n) + VECTOR_STEP - 1) / VECTOR_STEP * VECTOR_STEP)

/* The nearest vector of bytes to `from`; all zero gives scale 0. */
void vector_pack(const float from[VECTOR_DIMS], int8_t ret[VECTOR_DIMS], float *ret_scale);
/* The same of n numbers; ret[VECTOR_ROUND(n)]. */
void vector_pack_wide(const float *from, size_t n, int8_t *ret, float *ret_scale);
/*
 * The sum of products; n is a multiple of VECTOR_STEP. Times both scales it is the cosine of two
 * unit vectors.
 */
int32_t vector_dot(const int8_t *a, const int8_t *b, size_t n);
/* Cosine of a and b, whatever their scales; 0 when one is all zero. */
float vector_cosine(const int8_t a[VECTOR_DIMS], const int8_t b[VECTOR_DIMS]);

/*
 * The sign bits of a vector: bit I % 64 of word I / 64 says that number I is at least mean[I]; what is left of
 * the last word is 0. The share of bits in which two vectors differ is about their angle, with that
 * mean taken off, over pi (Charikar 2002): good for guessing which are near, not for a score.
 */
#define VECTOR_WORDS(dims) (((dims) + 63) / 64)
#define VECTOR_WORDS_MAX VECTOR_WORDS(VECTOR_DIMS_MAX)
void vector_signs(const int8_t *at, float scale, const float *mean, size_t dims, uint64_t *ret);
/* The function that counts the bits in which two arrays of words differ, for this processor. */
typedef uint32_t vector_differ_fn(const uint64_t *a, const uint64_t *b, size_t words);
vector_differ_fn *vector_differ(void);

/*
 * at[n][dims] and their scales; dims 0 stands for VECTOR_DIMS. `wanted` has a bit per vector (bit I % 64 of word I / 64),
 * or is NULL for all.
 */
struct vector_set {
	const int8_t *at;
	const float *scales;
	size_t n;
	const uint64_t *wanted;
	size_t dims;
};

/*
 * Adds the set's vectors to sum and their number to *count; a mean is sum / count. Sums of several
 * sets may be added.
 */
void vector_add(const struct vector_set *set, double *sum, uint64_t *count);

/* A question's vector with the mean taken off, made ready once for any number of scans. */
struct vector_query {
	int16_t centred[VECTOR_DIMS_MAX], mean[VECTOR_DIMS_MAX];
	size_t dims;
	uint64_t store; /* which vectors it may be compared with; see index/vectors.h */
	float centred_scale, mean_scale;
	float centred_dot_mean, centred_length, mean_squared;
};

/* dims: a multiple of VECTOR_STEP. mean may be NULL: then plain cosines. */
void vector_query_init(
	struct vector_query *q, size_t dims, const int8_t *at, float scale, const float *mean);

/* The question's numbers as they were before the mean was taken off, but for rounding; ret[dims]. */
void vector_query_numbers(const struct vector_query *q, float *ret);

struct vector_hit {
	size_t at; /* place in the set */
	float score; /* cosine, -1 … 1 */
};

/* The k best of the wanted ones, best first, ties by place. Returns how many (k or fewer); hits[k]. */
size_t vector_scan(
	const struct vector_set *set, const struct vector_query *q, size_t k, struct vector_hit *hits);
/* The score that vector_scan gives to one vector. */
float vector_score(const struct vector_query *q, const int8_t *at, float scale);

#endif
