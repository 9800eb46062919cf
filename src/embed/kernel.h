#ifndef EMBED_KERNEL_H
#define EMBED_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "embed/model.h"

/*
 * The loops that take the time, once in plain C and once for each kind of processor that has
 * something better; chosen when first asked for. All give the same numbers to the bit: products are
 * summed as integers, and what is done in floating point is done in the same order everywhere.
 * Pure; any thread.
 */

#define SQUEEZE_TOP 127 /* the byte that stands for the largest number; 0 for the least */

/*
 * out[r][c] = sum over the layer's taps t and inputs i of number(r, t, i) * weight(t, i, c), without
 * bias, where s = r + t * step_rows and
 * number(r, t, i) = scale[s] * input[r * stride + t * step + i] + shift[s].
 * Bytes of input are at most 127.
 */
struct product {
	const struct layer *layer;
	const uint8_t *input;
	size_t stride, step, step_rows;
	const float *scale, *shift;
	size_t rows;
	float *out;
	size_t out_stride; /* in numbers */
};

struct kernel {
	const char *name;
	bool (*is_supported)(void);
	void (*product)(const struct product *p);
	/* 512 numbers of six bits, one a byte. */
	void (*unpack)(const uint8_t row[MODEL_ROW], uint8_t ret[MODEL_DIMS]);
	/* x = layer norm of x + bias, over MODEL_WIDE numbers. norm: gain and shift. */
	void (*norm_wide)(float *x, const float *bias, const float *const norm[2]);
	/* x = max(y + bias, 0) + x, over MODEL_BRANCH numbers. */
	void (*bend)(float *x, const float *y, const float *bias);
	/* MODEL_BRANCH numbers as bytes: scale * byte + shift is nearest. */
	void (*squeeze)(const float *x, uint8_t *ret, float *ret_scale, float *ret_shift);
	/* sum += layer norm of (scale * row + shift, x), over MODEL_FEATURES numbers. */
	void (*add_features)(float *sum, const uint8_t *row, const float scale_shift[2],
		const float *x, const float *const norm[2]);
	/*
	 * The sums of products of two int8 arrays, and of an int8 array with two int16 ones; n is a
	 * multiple of 32. The caller sees to it that the sums fit.
	 */
	int32_t (*dot)(const int8_t *a, const int8_t *b, size_t n);
	void (*dot_two)(const int8_t *a, const int16_t *b, const int16_t *c, size_t n, int32_t ret[2]);
	/* In how many bits two arrays of words differ. */
	uint32_t (*differ)(const uint64_t *a, const uint64_t *b, size_t words);
};

/* The best one that this processor can run. */
const struct kernel *kernel_best(void);
/* All that were compiled in, best first, for tests and benchmarks; NULL ends. Ask is_supported before use. */
extern const struct kernel *const kernels[];

extern const struct kernel kernel_plain;
#if defined(__x86_64__)
extern const struct kernel kernel_avx2, kernel_vnni;
#elif defined(__aarch64__)
extern const struct kernel kernel_neon;
#endif

#endif
