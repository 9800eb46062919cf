/*
 * 64-bit ARM. Inputs are at most 127, so they are signed bytes too: products of four inputs are summed
 * in one step where the compiler may use the dot product instructions (ARMv8.2), else in pairs of 16
 * bits (at most 2 * 127 * 127) and then in 32.
 */
#include "embed/kernel.h"

#if defined(__aarch64__)

#include <arm_neon.h>
#include <math.h>
#include <string.h>

#define KERNEL(name) name##_neon
#define KERNEL_TARGET
#include "embed/kernel_float.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define DEPTH 4
#define STEP (DEPTH * LAYER_COLUMNS) /* bytes of weights for four inputs of a block */
#define QUADS (LAYER_COLUMNS / 4)    /* registers of four columns in a block */
#define ROWS 4

static bool always(void)
{
	return true;
}

/* Four columns times four inputs, which `in` holds four times. */
ALWAYS_INLINE int32x4_t add_products(int32x4_t sum, int8x16_t weights, int8x16_t in)
{
#if defined(__ARM_FEATURE_DOTPROD)
	return vdotq_s32(sum, weights, in);
#else
	int16x8_t low = vmull_s8(vget_low_s8(weights), vget_low_s8(in));
	int16x8_t high = vmull_high_s8(weights, in);

	return vpadalq_s16(sum, vpaddq_s16(low, high));
#endif
}

ALWAYS_INLINE int8x16_t load_four(const uint8_t *p)
{
	uint32_t four;

	memcpy(&four, p, sizeof(four));
	return vreinterpretq_s8_u32(vdupq_n_u32(four));
}

/* `rows` is a constant in each call, so that the sums stay in registers. */
ALWAYS_INLINE void tile(const struct product *p, size_t block, size_t row, const size_t rows)
{
	const struct layer *l = p->layer;
	float sum[ROWS][LAYER_COLUMNS] = { 0 };

	for (size_t t = 0; t < l->taps; t++) {
		size_t at = block * l->taps + t;
		const int8_t *weights = l->weights + at * l->depth * LAYER_COLUMNS;
		const uint8_t *input = p->input + row * p->stride + t * p->step;
		int32x4_t ints[ROWS][QUADS] = { 0 };

		for (size_t i = 0; i < l->depth; i += DEPTH, weights += STEP)
#pragma GCC unroll 4
			for (size_t r = 0; r < rows; r++) {
				int8x16_t in = load_four(input + r * p->stride + i);

#pragma GCC unroll 4
				for (size_t q = 0; q < QUADS; q++)
					ints[r][q] = add_products(
						ints[r][q], vld1q_s8(weights + 16 * q), in);
			}
		for (size_t r = 0; r < rows; r++) {
			size_t from = row + r + t * p->step_rows;
			const float both[2] = { p->scale[from], p->shift[from] };

			settle_neon(sum[r], (const int32_t *)(const void *)ints[r],
				l->scales + at * LAYER_COLUMNS, l->sums + at * LAYER_COLUMNS, both);
		}
	}
	for (size_t r = 0; r < rows; r++)
		memcpy(p->out + (row + r) * p->out_stride + block * LAYER_COLUMNS, sum[r],
			sizeof(sum[r]));
}

static void product_neon(const struct product *p)
{
	for (size_t block = 0; block < p->layer->columns / LAYER_COLUMNS; block++) {
		size_t row = 0;

		for (; row + ROWS <= p->rows; row += ROWS)
			tile(p, block, row, ROWS);
		for (; row < p->rows; row++)
			tile(p, block, row, 1);
	}
}

static int32_t dot_neon(const int8_t *a, const int8_t *b, size_t n)
{
	int32x4_t sum = vdupq_n_s32(0);

	for (size_t i = 0; i < n; i += 16) {
		int8x16_t x = vld1q_s8(a + i), y = vld1q_s8(b + i);

		sum = vpadalq_s16(sum, vmull_s8(vget_low_s8(x), vget_low_s8(y)));
		sum = vpadalq_s16(sum, vmull_high_s8(x, y));
	}
	return vaddvq_s32(sum);
}

ALWAYS_INLINE int32x4_t add_wide(int32x4_t sum, int16x8_t a, const int16_t *b)
{
	int16x8_t y = vld1q_s16(b);

	sum = vmlal_s16(sum, vget_low_s16(a), vget_low_s16(y));
	return vmlal_high_s16(sum, a, y);
}

static void dot_two_neon(
	const int8_t *a, const int16_t *b, const int16_t *c, size_t n, int32_t ret[2])
{
	int32x4_t sum0 = vdupq_n_s32(0), sum1 = sum0;

	for (size_t i = 0; i < n; i += 8) {
		int16x8_t v = vmovl_s8(vld1_s8(a + i));

		sum0 = add_wide(sum0, v, b + i);
		sum1 = add_wide(sum1, v, c + i);
	}
	ret[0] = vaddvq_s32(sum0);
	ret[1] = vaddvq_s32(sum1);
}

static uint32_t differ_neon(const uint64_t *a, const uint64_t *b, size_t words)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < words; i++)
		sum += (uint32_t)__builtin_popcountll(a[i] ^ b[i]);
	return sum;
}

const struct kernel kernel_neon = {
	.name = "neon",
	.is_supported = always,
	.product = product_neon,
	.unpack = unpack_neon,
	.norm_wide = norm_wide_neon,
	.bend = bend_neon,
	.squeeze = squeeze_neon,
	.add_features = add_features_neon,
	.dot = dot_neon,
	.dot_two = dot_two_neon,
	.differ = differ_neon,
};

#endif
