/*
 * The tokens of all the texts of a batch are rows of one matrix, with two rows that count as zero
 * between texts, so that a convolution is one product per tap over all the rows and no window
 * reaches into another text. Inputs of products are bytes with a scale of their own per token (and
 * branch); the few numbers of the dense layers are split into two bytes instead, since there errors
 * are no longer averaged over tokens.
 */
#include "embed/use.h"

#include <assert.h>
#include <math.h>

#include "base/arena.h"
#include "base/mem.h"

#define GAP 2    /* rows between texts: the farthest that a window reaches, to either side */
#define CHUNK 64 /* rows of a product whose results are used up while still in the cache */
#define FINE_ZERO \
	8192 /* dense inputs become -8191 … 8191; stored above this, in two times seven bits */
#define FINE_TOP 8191
#define FINE_BITS 7
#define NORM_LEAST 1e-12f

static const size_t branch_left[MODEL_BRANCHES] = { 0, 1, 2 }; /* tokens before, in the window */

/* `wide` squeezed, with a scale per row and branch: 0 for the rows between texts. */
struct squeezed {
	uint8_t (*bytes)[MODEL_WIDE];
	float *scale[MODEL_BRANCHES], *shift[MODEL_BRANCHES];
};

struct batch {
	const struct model *model;
	const struct kernel *kernel;
	struct arena arena; /* gives zeroed memory */
	size_t rows, texts;
	size_t start[USE_BATCH_TEXTS], length[USE_BATCH_TEXTS];
	uint8_t (*row)[MODEL_DIMS];   /* the table's numbers */
	float *row_scale, *row_shift; /* 0 for the rows between texts */
	float (*wide)[MODEL_WIDE];
	struct squeezed near, far; /* before the first and before the second convolution */
	float (*chunk)[MODEL_BRANCH];
};

static void batch_done(struct batch *b)
{
	arena_done(&b->arena);
}

static void squeezed_init(struct squeezed *s, struct batch *b)
{
	s->bytes = arena_alloc(&b->arena, b->rows * sizeof(*s->bytes));
	for (size_t i = 0; i < MODEL_BRANCHES; i++) {
		s->scale[i] = ARENA_ARRAY(&b->arena, float, b->rows);
		s->shift[i] = ARENA_ARRAY(&b->arena, float, b->rows);
	}
}

static void batch_init(struct batch *b, const struct sequence *s, size_t n)
{
	b->texts = n;
	b->rows = GAP;
	for (size_t i = 0; i < n; i++) {
		b->start[i] = b->rows;
		b->length[i] = s[i].n;
		b->rows += s[i].n + GAP;
	}
	assert(n <= USE_BATCH_TEXTS && b->rows <= USE_BATCH_TOKENS + GAP * (n + 1));
	b->row = arena_alloc(&b->arena, b->rows * sizeof(*b->row));
	b->row_scale = ARENA_ARRAY(&b->arena, float, b->rows);
	b->row_shift = ARENA_ARRAY(&b->arena, float, b->rows);
	b->wide = arena_alloc(&b->arena, b->rows * sizeof(*b->wide));
	b->chunk = arena_alloc(&b->arena, CHUNK * sizeof(*b->chunk));
	squeezed_init(&b->near, b);
	squeezed_init(&b->far, b);
}

static void fill_rows(struct batch *b, const struct sequence *s)
{
	const struct model *m = b->model;

	for (size_t i = 0; i < b->texts; i++)
		for (size_t t = 0; t < s[i].n; t++) {
			uint32_t id = s[i].ids[t];
			size_t row = b->start[i] + t;

			assert(id < MODEL_PIECES);
			b->kernel->unpack(m->table + (size_t)id * MODEL_ROW, b->row[row]);
			b->row_scale[row] = m->chunk_scale[id % MODEL_CHUNKS];
			b->row_shift[row] = m->chunk_low[id % MODEL_CHUNKS];
		}
}

static bool is_gap(const struct batch *b, size_t row)
{
	return b->row_scale[row] == 0;
}

static void squeeze_branch(struct batch *b, struct squeezed *s, size_t branch, size_t row)
{
	size_t at = branch * MODEL_BRANCH;

	b->kernel->squeeze(b->wide[row] + at, s->bytes[row] + at, &s->scale[branch][row],
		&s->shift[branch][row]);
}

static void project(struct batch *b)
{
	const struct layer *l = &b->model->layers[LAYER_PROJECT];
	struct product p = {
		.layer = l,
		.stride = MODEL_DIMS,
		.step = l->depth,
		.out_stride = MODEL_WIDE,
	};

	for (size_t at = 0; at < b->rows; at += CHUNK) {
		p.input = b->row[at];
		p.scale = b->row_scale + at;
		p.shift = b->row_shift + at;
		p.rows = MIN(CHUNK, b->rows - at);
		p.out = b->wide[at];
		b->kernel->product(&p);
	}
	for (size_t row = 0; row < b->rows; row++) {
		if (is_gap(b, row))
			continue;
		b->kernel->norm_wide(b->wide[row], l->bias, b->model->norm_wide);
		for (size_t branch = 0; branch < MODEL_BRANCHES; branch++)
			squeeze_branch(b, &b->near, branch, row);
	}
}

/*
 * One branch of a convolution with its residual; the result goes into `wide` and, squeezed, into
 * `to` (unless NULL).
 */
static void convolve(
	struct batch *b, size_t branch, int layer, const struct squeezed *from, struct squeezed *to)
{
	const struct layer *l = &b->model->layers[layer + (int)branch];
	size_t left = branch_left[branch], at = branch * MODEL_BRANCH, end = b->rows - GAP;
	struct product p = {
		.layer = l,
		.stride = MODEL_WIDE,
		.step = MODEL_WIDE,
		.step_rows = 1,
		.out = b->chunk[0],
		.out_stride = MODEL_BRANCH,
	};

	for (size_t first = GAP; first < end; first += CHUNK) {
		p.rows = MIN(CHUNK, end - first);
		p.input = from->bytes[first - left] + at;
		p.scale = from->scale[branch] + first - left;
		p.shift = from->shift[branch] + first - left;
		b->kernel->product(&p);
		for (size_t row = first; row < first + p.rows; row++) {
			if (is_gap(b, row))
				continue;
			b->kernel->bend(b->wide[row] + at, b->chunk[row - first], l->bias);
			if (to)
				squeeze_branch(b, to, branch, row);
		}
	}
}

/* Seven high and seven low bits of each number, as two rows of bytes. */
static void split(
	const float *x, size_t n, uint8_t *high, uint8_t *low, float scale[2], float shift[2])
{
	float top = 0, factor;

	for (size_t i = 0; i < n; i++)
		top = MAX(top, fabsf(x[i]));
	factor = top > 0 ? FINE_TOP / top : 0;
	for (size_t i = 0; i < n; i++) {
		int v = (int)lrintf(x[i] * factor) + FINE_ZERO;

		high[i] = (uint8_t)(v >> FINE_BITS);
		low[i] = (uint8_t)(v & ((1 << FINE_BITS) - 1));
	}
	scale[1] = top / FINE_TOP;
	scale[0] = scale[1] * (1 << FINE_BITS);
	shift[0] = -FINE_ZERO * scale[1];
	shift[1] = 0;
}

/* out[text][columns] += in[text][inputs] times the layer. */
static void dense(struct batch *b, enum model_layer layer, const float *in, float *out)
{
	const struct layer *l = &b->model->layers[layer];
	size_t inputs = l->taps * l->depth, rows = 2 * b->texts;
	uint8_t *bytes = arena_alloc(&b->arena, rows * inputs);
	float *parts = ARENA_ARRAY(&b->arena, float, rows * l->columns);
	float scale[2 * USE_BATCH_TEXTS], shift[2 * USE_BATCH_TEXTS];
	struct product p = {
		.layer = l,
		.input = bytes,
		.stride = inputs,
		.step = l->depth,
		.scale = scale,
		.shift = shift,
		.rows = rows,
		.out = parts,
		.out_stride = l->columns,
	};

	for (size_t i = 0; i < b->texts; i++)
		split(in + i * inputs, inputs, bytes + 2 * i * inputs, bytes + (2 * i + 1) * inputs,
			scale + 2 * i, shift + 2 * i);
	b->kernel->product(&p);
	for (size_t i = 0; i < b->texts; i++)
		for (size_t c = 0; c < l->columns; c++)
			out[i * l->columns + c] +=
				parts[2 * i * l->columns + c] + parts[(2 * i + 1) * l->columns + c];
}

static void drop_negative(float *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		x[i] = x[i] > 0 ? x[i] : 0;
}

/*
 * The sum over a text's tokens is projected; since that is linear, it is done once per text and not
 * per token.
 */
static float *sum_tokens(struct batch *b)
{
	const float *bias = b->model->layers[LAYER_SUM].bias;
	float *sums = ARENA_ARRAY(&b->arena, float, b->texts *MODEL_FEATURES);
	float *ret = ARENA_ARRAY(&b->arena, float, b->texts *MODEL_DIMS);

	for (size_t i = 0; i < b->texts; i++)
		for (size_t row = b->start[i]; row < b->start[i] + b->length[i]; row++) {
			const float both[2] = { b->row_scale[row], b->row_shift[row] };

			b->kernel->add_features(sums + i * MODEL_FEATURES, b->row[row], both,
				b->wide[row], b->model->norm_features);
		}
	dense(b, LAYER_SUM, sums, ret);
	for (size_t i = 0; i < b->texts; i++) {
		float n = (float)b->length[i], factor = 1 / sqrtf(n);

		for (size_t c = 0; c < MODEL_DIMS; c++)
			ret[i * MODEL_DIMS + c] = (ret[i * MODEL_DIMS + c] + n * bias[c]) * factor;
	}
	return ret;
}

/* Puts the unit vector in the direction of tanh(z) into ret. */
static void finish(const float *z, float ret[MODEL_DIMS])
{
	float squares = 0, factor;

	for (size_t i = 0; i < MODEL_DIMS; i++) {
		ret[i] = tanhf(z[i]);
		squares += ret[i] * ret[i];
	}
	factor = 1 / sqrtf(MAX(squares, NORM_LEAST));
	for (size_t i = 0; i < MODEL_DIMS; i++)
		ret[i] *= factor;
}

static void dense_layers(struct batch *b, const float *sums, float (*ret)[MODEL_DIMS])
{
	size_t hidden = b->texts * MODEL_HIDDEN, wide = b->texts * MODEL_DIMS;
	float *y0 = ARENA_ARRAY(&b->arena, float, hidden),
	      *y1 = ARENA_ARRAY(&b->arena, float, hidden);
	float *y2 = ARENA_ARRAY(&b->arena, float, wide), *z = ARENA_ARRAY(&b->arena, float, wide);

	dense(b, LAYER_D0, sums, y0);
	drop_negative(y0, hidden);
	dense(b, LAYER_P1, sums, y1);
	dense(b, LAYER_D1, y0, y1);
	drop_negative(y1, hidden);
	dense(b, LAYER_D2, y1, y2);
	drop_negative(y2, wide);
	dense(b, LAYER_P3, y1, z);
	dense(b, LAYER_D3, y2, z);
	for (size_t i = 0; i < b->texts; i++)
		finish(z + i * MODEL_DIMS, ret[i]);
}

void use_embed(const struct model *m, const struct kernel *k, const struct sequence *s, size_t n,
	float (*ret)[MODEL_DIMS])
{
	AUTO(batch_done) struct batch b = { .model = m, .kernel = k };

	if (n == 0)
		return;
	batch_init(&b, s, n);
	fill_rows(&b, s);
	project(&b);
	for (size_t i = 0; i < MODEL_BRANCHES; i++)
		convolve(&b, i, LAYER_NEAR, &b.near, &b.far);
	for (size_t i = 0; i < MODEL_BRANCHES; i++)
		convolve(&b, i, LAYER_FAR, &b.far, NULL);
	dense_layers(&b, sum_tokens(&b), ret);
}
