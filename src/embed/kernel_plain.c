/* Plain C for any processor; also what the others are compared with. */
#include "embed/kernel.h"

#include <math.h>
#include <string.h>

#define KERNEL(name) name##_plain
#define KERNEL_TARGET
#include "embed/kernel_float.h"

#define DEPTH 4 /* weights of a column that lie together */

static bool always(void)
{
	return true;
}

/* One row times one tap of one block of columns. */
static void tap(
	const uint8_t *input, const int8_t *weights, size_t depth, int32_t ret[LAYER_COLUMNS])
{
	memset(ret, 0, LAYER_COLUMNS * sizeof(*ret));
	for (size_t i = 0; i < depth; i += DEPTH, weights += DEPTH * LAYER_COLUMNS)
		for (size_t c = 0; c < LAYER_COLUMNS; c++)
			ret[c] += input[i] * weights[DEPTH * c] +
				  input[i + 1] * weights[DEPTH * c + 1] +
				  input[i + 2] * weights[DEPTH * c + 2] +
				  input[i + 3] * weights[DEPTH * c + 3];
}

static void block_row(const struct product *p, size_t block, size_t row)
{
	const struct layer *l = p->layer;
	float *out = p->out + row * p->out_stride + block * LAYER_COLUMNS;
	float sum[LAYER_COLUMNS] = { 0 };
	int32_t ints[LAYER_COLUMNS];

	for (size_t t = 0; t < l->taps; t++) {
		size_t at = block * l->taps + t, from = row + t * p->step_rows;
		const float both[2] = { p->scale[from], p->shift[from] };

		tap(p->input + row * p->stride + t * p->step,
			l->weights + at * l->depth * LAYER_COLUMNS, l->depth, ints);
		settle_plain(sum, ints, l->scales + at * LAYER_COLUMNS,
			l->sums + at * LAYER_COLUMNS, both);
	}
	memcpy(out, sum, sizeof(sum));
}

static void product_plain(const struct product *p)
{
	for (size_t block = 0; block < p->layer->columns / LAYER_COLUMNS; block++)
		for (size_t row = 0; row < p->rows; row++)
			block_row(p, block, row);
}

static int32_t dot_plain(const int8_t *a, const int8_t *b, size_t n)
{
	int32_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

static void dot_two_plain(const int8_t *a, const int16_t *b, const int16_t *c, size_t n, int32_t ret[2])
{
	int32_t x = 0, y = 0;

	for (size_t i = 0; i < n; i++) {
		x += a[i] * b[i];
		y += a[i] * c[i];
	}
	ret[0] = x;
	ret[1] = y;
}

static uint32_t differ_plain(const uint64_t *a, const uint64_t *b, size_t words)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < words; i++)
		sum += (uint32_t)__builtin_popcountll(a[i] ^ b[i]);
	return sum;
}

const struct kernel kernel_plain = {
	.name = "plain",
	.is_supported = always,
	.product = product_plain,
	.unpack = unpack_plain,
	.norm_wide = norm_wide_plain,
	.bend = bend_plain,
	.squeeze = squeeze_plain,
	.add_features = add_features_plain,
	.dot = dot_plain,
	.dot_two = dot_two_plain,
	.differ = differ_plain,
};

const struct kernel *const kernels[] = {
#if defined(__x86_64__)
	&kernel_vnni,
	&kernel_avx2,
#elif defined(__aarch64__)
	&kernel_neon,
#endif
	&kernel_plain,
	NULL,
};

const struct kernel *kernel_best(void)
{
	for (size_t i = 0; kernels[i]; i++)
		if (kernels[i]->is_supported())
			return kernels[i];
	return &kernel_plain;
}
