/*
 * With c = query - mean, the centred cosine of a vector v is (c·v - c·mean) / (|c| |v - mean|), and
 * |v - mean|² = |v|² - 2 v·mean + |mean|²: two products per vector, taken in one pass over its
 * bytes. |v| is 1 by definition of the embedder. The query's side has 14 bits, which costs nothing.
 */
#include "embed/vector.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "embed/kernel.h"

#define BYTE_TOP 127
#define FINE_TOP 8191 /* products with 2048 bytes still fit in 32 bits */
#define SQUARE_LEAST 1e-9f

_Static_assert(VECTOR_DIMS == MODEL_DIMS, "vectors are what the model makes");

static float largest(const float *x, size_t n)
{
	float top = 0;

	for (size_t i = 0; i < n; i++)
		top = MAX(top, fabsf(x[i]));
	return top;
}

void vector_pack_wide(const float *from, size_t n, int8_t *ret, float *ret_scale)
{
	float top = largest(from, n), factor = top > 0 ? BYTE_TOP / top : 0;

	for (size_t i = 0; i < n; i++)
		ret[i] = (int8_t)lrintf(from[i] * factor);
	memset(ret + n, 0, VECTOR_ROUND(n) - n);
	*ret_scale = top / BYTE_TOP;
}

void vector_pack(const float from[VECTOR_DIMS], int8_t ret[VECTOR_DIMS], float *ret_scale)
{
	vector_pack_wide(from, VECTOR_DIMS, ret, ret_scale);
}

int32_t vector_dot(const int8_t *a, const int8_t *b, size_t n)
{
	return kernel_best()->dot(a, b, n);
}

float vector_cosine(const int8_t a[VECTOR_DIMS], const int8_t b[VECTOR_DIMS])
{
	double both = vector_dot(a, b, VECTOR_DIMS);
	double lengths = (double)vector_dot(a, a, VECTOR_DIMS) * vector_dot(b, b, VECTOR_DIMS);

	return lengths > 0 ? (float)(both / sqrt(lengths)) : 0;
}

void vector_signs(const int8_t *at, float scale, const float *mean, size_t dims, uint64_t *ret)
{
	memset(ret, 0, VECTOR_WORDS(dims) * sizeof(*ret));
	for (size_t i = 0; i < dims; i++)
		ret[i / 64] |= (uint64_t)(scale * (float)at[i] >= mean[i]) << i % 64;
}

vector_differ_fn *vector_differ(void)
{
	return kernel_best()->differ;
}

static bool is_wanted(const struct vector_set *set, size_t i)
{
	return !set->wanted || set->wanted[i / 64] >> i % 64 & 1;
}

static size_t dims_of(const struct vector_set *set)
{
	return set->dims ? set->dims : VECTOR_DIMS;
}

void vector_add(const struct vector_set *set, double *sum, uint64_t *count)
{
	size_t dims = dims_of(set);

	for (size_t i = 0; i < set->n; i++) {
		const int8_t *v = set->at + i * dims;

		if (!is_wanted(set, i))
			continue;
		for (size_t j = 0; j < dims; j++)
			sum[j] += (double)(set->scales[i] * (float)v[j]);
		++*count;
	}
}

static void fine_pack(const float *from, size_t n, int16_t *ret, float *ret_scale)
{
	float fine = (float)MIN((size_t)FINE_TOP, INT32_MAX / (BYTE_TOP * n));
	float top = largest(from, n), factor = top > 0 ? fine / top : 0;

	for (size_t i = 0; i < n; i++)
		ret[i] = (int16_t)lrintf(from[i] * factor);
	*ret_scale = top / fine;
}

void vector_query_init(
	struct vector_query *q, size_t dims, const int8_t *at, float scale, const float *mean)
{
	float centred[VECTOR_DIMS_MAX] = { 0 };
	static const float zero[VECTOR_DIMS_MAX];
	double squares = 0, mean_squares = 0, dot = 0;

	mean = mean ? mean : zero;
	for (size_t i = 0; i < dims; i++) {
		centred[i] = scale * (float)at[i] - mean[i];
		squares += (double)centred[i] * (double)centred[i];
		mean_squares += (double)mean[i] * (double)mean[i];
		dot += (double)centred[i] * (double)mean[i];
	}
	fine_pack(centred, dims, q->centred, &q->centred_scale);
	fine_pack(mean, dims, q->mean, &q->mean_scale);
	q->dims = dims;
	q->store = 0;
	q->centred_length = (float)sqrt(squares);
	q->mean_squared = (float)mean_squares;
	q->centred_dot_mean = (float)dot;
}

void vector_query_numbers(const struct vector_query *q, float *ret)
{
	for (size_t i = 0; i < q->dims; i++)
		ret[i] = (float)q->centred[i] * q->centred_scale + (float)q->mean[i] * q->mean_scale;
}

static float score(
	const struct vector_query *q, const struct kernel *k, const int8_t *at, float scale)
{
	int32_t dots[2];
	float dot, squared;

	k->dot_two(at, q->centred, q->mean, q->dims, dots);
	dot = (float)dots[0] * (q->centred_scale * scale) - q->centred_dot_mean;
	squared = 1 - 2 * ((float)dots[1] * (q->mean_scale * scale)) + q->mean_squared;
	if (q->centred_length <= 0 || squared < SQUARE_LEAST || scale <= 0)
		return 0;
	return dot / (q->centred_length * sqrtf(squared));
}

float vector_score(const struct vector_query *q, const int8_t *at, float scale)
{
	return score(q, kernel_best(), at, scale);
}

static bool is_worse(struct vector_hit a, struct vector_hit b)
{
	return a.score < b.score || (a.score == b.score && a.at > b.at);
}

/* hits[n] is a heap with the worst one on top; puts `hit` in at the top and lets it sink. */
static void sink(struct vector_hit *hits, size_t n, struct vector_hit hit)
{
	size_t i = 0, child;

	while ((child = 2 * i + 1) < n) {
		if (child + 1 < n && is_worse(hits[child + 1], hits[child]))
			child++;
		if (!is_worse(hits[child], hit))
			break;
		hits[i] = hits[child];
		i = child;
	}
	hits[i] = hit;
}

static void rise(struct vector_hit *hits, size_t i, struct vector_hit hit)
{
	for (; i > 0 && is_worse(hit, hits[(i - 1) / 2]); i = (i - 1) / 2)
		hits[i] = hits[(i - 1) / 2];
	hits[i] = hit;
}

size_t vector_scan(const struct vector_set *set, const struct vector_query *q, size_t k,
	struct vector_hit *hits)
{
	const struct kernel *kernel = kernel_best();
	size_t n = 0;

	for (size_t i = 0; i < set->n && k > 0; i++) {
		struct vector_hit hit = { .at = i };

		if (!is_wanted(set, i))
			continue;
		hit.score = score(q, kernel, set->at + i * dims_of(set), set->scales[i]);
		if (n < k)
			rise(hits, n++, hit);
		else if (is_worse(hits[0], hit))
			sink(hits, n, hit);
	}
	for (size_t left = n; left > 1; left--) {
		struct vector_hit worst = hits[0];

		sink(hits, left - 1, hits[left - 1]);
		hits[left - 1] = worst;
	}
	return n;
}
