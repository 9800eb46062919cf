/*
 * The loops over floating point numbers, written with the compiler's own vectors of eight and
 * compiled once for each kind of processor: the including file defines KERNEL(name), which makes
 * the name, and KERNEL_TARGET. Eight lanes are summed separately and then in one fixed order, and
 * no target has fused multiply-add, so that every kind of processor gives the same bits.
 */

typedef float f8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t i8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef uint8_t b8 __attribute__((vector_size(8), aligned(1), may_alias));
typedef uint8_t b32 __attribute__((vector_size(32), aligned(1), may_alias));

#define LANES 8
#define AT(type, p) (*(const type *)(const void *)(p))
#define PUT(type, p) (*(type *)(void *)(p))
#define LANE_SUM(v) \
	((((v)[0] + (v)[4]) + ((v)[2] + (v)[6])) + (((v)[1] + (v)[5]) + ((v)[3] + (v)[7])))
#define PICK(mask, a, b) ((f8)(((i8)(a) & (i8)(mask)) | ((i8)(b) & ~(i8)(mask))))
#define NORM_EPSILON 1e-12f
/* Adding it leaves the nearest integer to x in the low bits of the sum, for |x| below 2^22. */
#define ROUND_MAGIC 12582912.0f

/* Adds what the integers of one tap stand for to the sums of a row's block: see struct product. */
KERNEL_TARGET __attribute__((unused)) static inline void KERNEL(settle)(float *sum,
	const int32_t *ints, const float *scales, const float *sums, const float scale_shift[2])
{
	for (size_t c = 0; c < LAYER_COLUMNS; c += LANES) {
		f8 v = __builtin_convertvector(AT(i8, ints + c), f8) * AT(f8, scales + c);
		f8 s = AT(f8, sums + c) * scale_shift[1];

		v = v * scale_shift[0];
		PUT(f8, sum + c) = AT(f8, sum + c) + v + s;
	}
}

KERNEL_TARGET static void KERNEL(unpack)(const uint8_t row[MODEL_ROW], uint8_t ret[MODEL_DIMS])
{
	const size_t half = MODEL_DIMS / 2, quarter = MODEL_DIMS / 4;

	for (size_t i = 0; i < quarter; i += sizeof(b32)) {
		b32 low0 = AT(b32, row + i), low1 = AT(b32, row + quarter + i);
		b32 high = AT(b32, row + half + i);

		PUT(b32, ret + i) = (low0 & 15) | ((high & 3) << 4);
		PUT(b32, ret + quarter + i) = (low1 & 15) | ((high & 12) << 2);
		PUT(b32, ret + half + i) = (low0 >> 4) | (high & 48);
		PUT(b32, ret + half + quarter + i) = (low1 >> 4) | ((high & 192) >> 2);
	}
}

KERNEL_TARGET static void KERNEL(norm_wide)(float *x, const float *bias, const float *const norm[2])
{
	f8 sum = { 0 }, squares = { 0 };
	float mean, factor;

	for (size_t i = 0; i < MODEL_WIDE; i += LANES) {
		f8 v = AT(f8, x + i) + AT(f8, bias + i);

		PUT(f8, x + i) = v;
		sum += v;
	}
	mean = LANE_SUM(sum) / MODEL_WIDE;
	for (size_t i = 0; i < MODEL_WIDE; i += LANES) {
		f8 v = AT(f8, x + i) - mean;

		squares += v * v;
	}
	factor = 1 / sqrtf(LANE_SUM(squares) / MODEL_WIDE + NORM_EPSILON);
	for (size_t i = 0; i < MODEL_WIDE; i += LANES)
		PUT(f8, x + i) =
			(AT(f8, x + i) - mean) * factor * AT(f8, norm[0] + i) + AT(f8, norm[1] + i);
}

KERNEL_TARGET static void KERNEL(bend)(float *x, const float *y, const float *bias)
{
	for (size_t i = 0; i < MODEL_BRANCH; i += LANES) {
		f8 v = AT(f8, y + i) + AT(f8, bias + i);

		PUT(f8, x + i) = AT(f8, x + i) + (f8)((i8)v & (i8)(v > 0.0f));
	}
}

KERNEL_TARGET static void KERNEL(squeeze)(
	const float *x, uint8_t *ret, float *ret_scale, float *ret_shift)
{
	f8 low = AT(f8, x), high = low;
	float bottom, top, factor;

	for (size_t i = LANES; i < MODEL_BRANCH; i += LANES) {
		f8 v = AT(f8, x + i);

		low = PICK(v < low, v, low);
		high = PICK(v > high, v, high);
	}
	bottom = low[0];
	top = high[0];
	for (int i = 1; i < LANES; i++) {
		bottom = low[i] < bottom ? low[i] : bottom;
		top = high[i] > top ? high[i] : top;
	}
	factor = top > bottom ? SQUEEZE_TOP / (top - bottom) : 0;
	for (size_t i = 0; i < MODEL_BRANCH; i += LANES) {
		f8 v = (AT(f8, x + i) - bottom) * factor + ROUND_MAGIC;

		PUT(b8, ret + i) = __builtin_convertvector((i8)v & 0xff, b8);
	}
	*ret_scale = (top - bottom) / SQUEEZE_TOP;
	*ret_shift = bottom;
}

KERNEL_TARGET static void KERNEL(add_features)(float *sum, const uint8_t *row,
	const float scale_shift[2], const float *x, const float *const norm[2])
{
	float numbers[MODEL_FEATURES], mean, factor;
	f8 total = { 0 }, squares = { 0 };

	for (size_t i = 0; i < MODEL_DIMS; i += LANES)
		PUT(f8, numbers + i) =
			__builtin_convertvector(AT(b8, row + i), f8) * scale_shift[0] +
			scale_shift[1];
	memcpy(numbers + MODEL_DIMS, x, MODEL_WIDE * sizeof(*x));
	for (size_t i = 0; i < MODEL_FEATURES; i += LANES)
		total += AT(f8, numbers + i);
	mean = LANE_SUM(total) / MODEL_FEATURES;
	for (size_t i = 0; i < MODEL_FEATURES; i += LANES) {
		f8 v = AT(f8, numbers + i) - mean;

		squares += v * v;
	}
	factor = 1 / sqrtf(LANE_SUM(squares) / MODEL_FEATURES + NORM_EPSILON);
	for (size_t i = 0; i < MODEL_FEATURES; i += LANES)
		PUT(f8, sum + i) = AT(f8, sum + i) +
				   ((AT(f8, numbers + i) - mean) * factor * AT(f8, norm[0] + i) +
					   AT(f8, norm[1] + i));
}
