/*
 * Two kinds: AVX2, where a multiply of bytes sums two products in 16 bits (at most 2 * 127 * 127,
 * so nothing saturates), and AVX-512 with VNNI, which sums four in 32 bits. Tiles of rows share the
 * loaded weights; the weights of a block of 16 columns stay in the first-level cache while all rows
 * go by.
 */
#include "embed/kernel.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <math.h>
#include <string.h>

#define TARGET_AVX2 __attribute__((target("avx2")))
#define TARGET_VNNI __attribute__((target("avx2,avx512f,avx512bw,avx512vl,avx512vnni")))
#define ALWAYS_INLINE static inline __attribute__((always_inline))

#define UNROLLED _Pragma("GCC unroll 8")

#define KERNEL(name) name##_avx2
#define KERNEL_TARGET TARGET_AVX2
#include "embed/kernel_float.h"

#define DEPTH 4
#define STEP (DEPTH * LAYER_COLUMNS) /* bytes of weights for four inputs of a block */
#define ROWS_AVX2 4
#define ROWS_VNNI 8

static bool has_avx2(void)
{
	return __builtin_cpu_supports("avx2");
}

static bool has_vnni(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("avx512f") &&
	       __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
	       __builtin_cpu_supports("avx512vnni");
}

ALWAYS_INLINE int32_t load_four(const uint8_t *p)
{
	int32_t four;

	memcpy(&four, p, sizeof(four));
	return four;
}

TARGET_AVX2 ALWAYS_INLINE void add_tap(float *out, __m256i ints, const float *scales,
	const float *sums, const float scale_shift[2])
{
	__m256 v = _mm256_mul_ps(_mm256_cvtepi32_ps(ints), _mm256_loadu_ps(scales));
	__m256 s = _mm256_mul_ps(_mm256_loadu_ps(sums), _mm256_set1_ps(scale_shift[1]));

	v = _mm256_mul_ps(v, _mm256_set1_ps(scale_shift[0]));
	_mm256_storeu_ps(out, _mm256_add_ps(_mm256_add_ps(_mm256_loadu_ps(out), v), s));
}

/* `rows` is a constant in each call, so that the sums stay in registers. */
TARGET_AVX2 ALWAYS_INLINE void tile_avx2(
	const struct product *p, size_t block, size_t row, const size_t rows)
{
	const struct layer *l = p->layer;
	const __m256i ones = _mm256_set1_epi16(1);
	float sum[ROWS_AVX2][LAYER_COLUMNS] = { 0 };

	for (size_t t = 0; t < l->taps; t++) {
		size_t at = block * l->taps + t;
		const int8_t *weights = l->weights + at * l->depth * LAYER_COLUMNS;
		const uint8_t *input = p->input + row * p->stride + t * p->step;
		__m256i left[ROWS_AVX2] = { 0 }, right[ROWS_AVX2] = { 0 };

		for (size_t i = 0; i < l->depth; i += DEPTH, weights += STEP) {
			__m256i w0 = _mm256_loadu_si256((const void *)weights);
			__m256i w1 = _mm256_loadu_si256((const void *)(weights + STEP / 2));

			UNROLLED
			for (size_t r = 0; r < rows; r++) {
				__m256i in =
					_mm256_set1_epi32(load_four(input + r * p->stride + i));
				__m256i x = _mm256_madd_epi16(_mm256_maddubs_epi16(in, w0), ones);
				__m256i y = _mm256_madd_epi16(_mm256_maddubs_epi16(in, w1), ones);

				left[r] = _mm256_add_epi32(left[r], x);
				right[r] = _mm256_add_epi32(right[r], y);
			}
		}
		UNROLLED
		for (size_t r = 0; r < rows; r++) {
			size_t from = row + r + t * p->step_rows;
			const float *scales = l->scales + at * LAYER_COLUMNS;
			const float *sums = l->sums + at * LAYER_COLUMNS;
			const float both[2] = { p->scale[from], p->shift[from] };

			add_tap(sum[r], left[r], scales, sums, both);
			add_tap(sum[r] + 8, right[r], scales + 8, sums + 8, both);
		}
	}
	UNROLLED
	for (size_t r = 0; r < rows; r++)
		memcpy(p->out + (row + r) * p->out_stride + block * LAYER_COLUMNS, sum[r],
			sizeof(sum[r]));
}

TARGET_AVX2 static void product_avx2(const struct product *p)
{
	for (size_t block = 0; block < p->layer->columns / LAYER_COLUMNS; block++) {
		size_t row = 0;

		for (; row + ROWS_AVX2 <= p->rows; row += ROWS_AVX2)
			tile_avx2(p, block, row, ROWS_AVX2);
		for (; row + 2 <= p->rows; row += 2)
			tile_avx2(p, block, row, 2);
		for (; row < p->rows; row++)
			tile_avx2(p, block, row, 1);
	}
}

/* With its rounding spelt out, which keeps the compiler from fusing it with the addition after it. */
TARGET_VNNI ALWAYS_INLINE __m512 times(__m512 a, __m512 b)
{
	return _mm512_mul_round_ps(a, b, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

TARGET_VNNI ALWAYS_INLINE void tile_vnni(
	const struct product *p, size_t block, size_t row, const size_t rows)
{
	const struct layer *l = p->layer;
	__m512 sum[ROWS_VNNI] = { 0 };

	for (size_t t = 0; t < l->taps; t++) {
		size_t at = block * l->taps + t;
		const int8_t *weights = l->weights + at * l->depth * LAYER_COLUMNS;
		const uint8_t *input = p->input + row * p->stride + t * p->step;
		__m512 scales = _mm512_loadu_ps(l->scales + at * LAYER_COLUMNS);
		__m512 sums = _mm512_loadu_ps(l->sums + at * LAYER_COLUMNS);
		__m512i ints[ROWS_VNNI] = { 0 };

		for (size_t i = 0; i < l->depth; i += DEPTH, weights += STEP) {
			__m512i w = _mm512_loadu_si512((const void *)weights);

			UNROLLED
			for (size_t r = 0; r < rows; r++)
				ints[r] = _mm512_dpbusd_epi32(ints[r],
					_mm512_set1_epi32(load_four(input + r * p->stride + i)), w);
		}
		UNROLLED
		for (size_t r = 0; r < rows; r++) {
			size_t from = row + r + t * p->step_rows;
			__m512 v = times(_mm512_cvtepi32_ps(ints[r]), scales);
			__m512 s = times(sums, _mm512_set1_ps(p->shift[from]));

			v = times(v, _mm512_set1_ps(p->scale[from]));
			sum[r] = _mm512_add_ps(_mm512_add_ps(sum[r], v), s);
		}
	}
	UNROLLED
	for (size_t r = 0; r < rows; r++)
		_mm512_storeu_ps(
			p->out + (row + r) * p->out_stride + block * LAYER_COLUMNS, sum[r]);
}

TARGET_VNNI static void product_vnni(const struct product *p)
{
	for (size_t block = 0; block < p->layer->columns / LAYER_COLUMNS; block++) {
		size_t row = 0;

		for (; row + ROWS_VNNI <= p->rows; row += ROWS_VNNI)
			tile_vnni(p, block, row, ROWS_VNNI);
		for (; row + 2 <= p->rows; row += 2)
			tile_vnni(p, block, row, 2);
		for (; row < p->rows; row++)
			tile_vnni(p, block, row, 1);
	}
}

TARGET_AVX2 ALWAYS_INLINE int32_t lanes_sum(__m256i v)
{
	__m128i s = _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));

	s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0x4e));
	s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0xb1));
	return _mm_cvtsi128_si32(s);
}

TARGET_AVX2 ALWAYS_INLINE __m256i load_wide(const int8_t *p)
{
	return _mm256_cvtepi8_epi16(_mm_loadu_si128((const void *)p));
}

TARGET_AVX2 static int32_t dot_avx2(const int8_t *a, const int8_t *b, size_t n)
{
	__m256i sum0 = _mm256_setzero_si256(), sum1 = sum0;

	for (size_t i = 0; i < n; i += 32) {
		__m256i x = _mm256_madd_epi16(load_wide(a + i), load_wide(b + i));
		__m256i y = _mm256_madd_epi16(load_wide(a + i + 16), load_wide(b + i + 16));

		sum0 = _mm256_add_epi32(sum0, x);
		sum1 = _mm256_add_epi32(sum1, y);
	}
	return lanes_sum(_mm256_add_epi32(sum0, sum1));
}

TARGET_AVX2 static void dot_two_avx2(
	const int8_t *a, const int16_t *b, const int16_t *c, size_t n, int32_t ret[2])
{
	__m256i sum0 = _mm256_setzero_si256(), sum1 = sum0;

	for (size_t i = 0; i < n; i += 16) {
		__m256i v = load_wide(a + i);
		__m256i x = _mm256_madd_epi16(v, _mm256_loadu_si256((const void *)(b + i)));
		__m256i y = _mm256_madd_epi16(v, _mm256_loadu_si256((const void *)(c + i)));

		sum0 = _mm256_add_epi32(sum0, x);
		sum1 = _mm256_add_epi32(sum1, y);
	}
	ret[0] = lanes_sum(sum0);
	ret[1] = lanes_sum(sum1);
}

/* Every processor with AVX2 counts bits by itself. */
#define TARGET_COUNT __attribute__((target("avx2,popcnt")))

TARGET_COUNT ALWAYS_INLINE uint64_t differ_some(const uint64_t *a, const uint64_t *b, const size_t words)
{
	uint64_t sum = 0;

	UNROLLED
	for (size_t i = 0; i < words; i++)
		sum += (uint64_t)__builtin_popcountll(a[i] ^ b[i]);
	return sum;
}

#define DIFFER_STEP 8 /* words of the builtin embedder's vectors */

TARGET_COUNT static uint32_t differ_avx2(const uint64_t *a, const uint64_t *b, size_t words)
{
	uint64_t sum = 0;

	for (; words >= DIFFER_STEP; words -= DIFFER_STEP, a += DIFFER_STEP, b += DIFFER_STEP)
		sum += differ_some(a, b, DIFFER_STEP);
	return (uint32_t)(sum + differ_some(a, b, words));
}

#define FLOAT_PART                                                                   \
	.unpack = unpack_avx2, .norm_wide = norm_wide_avx2, .bend = bend_avx2,       \
	.squeeze = squeeze_avx2, .add_features = add_features_avx2, .dot = dot_avx2, \
	.dot_two = dot_two_avx2, .differ = differ_avx2

const struct kernel kernel_avx2 = {
	.name = "avx2",
	.is_supported = has_avx2,
	.product = product_avx2,
	FLOAT_PART,
};

const struct kernel kernel_vnni = {
	.name = "avx512-vnni",
	.is_supported = has_vnni,
	.product = product_vnni,
	FLOAT_PART,
};

#endif
