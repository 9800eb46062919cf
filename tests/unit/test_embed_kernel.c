/* The loops against naive ones, and vectors against a brute-force twin; nothing here needs the model file. */
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "embed/kernel.h"
#include "embed/sha256.h"
#include "embed/vector.h"

#define LEFT 2

static uint64_t seed = 42;

static float random_float(void)
{
	return (float)unit_below(&seed, 2000001) / 1000000 - 1;
}

static float *random_floats(struct arena *a, size_t n)
{
	float *p = ARENA_ARRAY(a, float, n);

	for (size_t i = 0; i < n; i++)
		p[i] = random_float();
	return p;
}

static struct layer random_layer(struct arena *a, size_t taps, size_t depth, size_t columns)
{
	int8_t *weights = arena_alloc(a, taps * depth * columns);

	for (size_t i = 0; i < taps * depth * columns; i++)
		weights[i] = (int8_t)((int)unit_below(&seed, 255) - 127);
	return (struct layer){
		.taps = taps,
		.depth = depth,
		.columns = columns,
		.weights = weights,
		.scales = random_floats(a, taps * columns),
		.sums = random_floats(a, taps * columns),
		.bias = random_floats(a, columns),
	};
}

static struct product random_product(
	struct arena *a, const struct layer *l, size_t rows, bool is_window)
{
	size_t inputs = is_window ? l->depth : l->taps * l->depth, all = rows + l->taps;
	uint8_t *input = arena_alloc(a, all * inputs);

	for (size_t i = 0; i < all * inputs; i++)
		input[i] = (uint8_t)unit_below(&seed, 128);
	memset(input, 127, inputs);
	return (struct product){
		.layer = l,
		.input = input,
		.stride = inputs,
		.step = l->depth,
		.step_rows = is_window,
		.scale = random_floats(a, all),
		.shift = random_floats(a, all),
		.rows = rows,
		.out_stride = l->columns + 16,
	};
}

/* By the definition in kernel.h. */
static double naive_product(const struct product *p, size_t row, size_t column)
{
	const struct layer *l = p->layer;
	double sum = 0;

	for (size_t t = 0; t < l->taps; t++) {
		size_t block = column / LAYER_COLUMNS, c = column % LAYER_COLUMNS,
		       at = block * l->taps + t;
		const int8_t *weights = l->weights + at * l->depth * LAYER_COLUMNS;
		size_t from = row + t * p->step_rows;
		int ints = 0;

		for (size_t i = 0; i < l->depth; i++)
			ints += p->input[row * p->stride + t * p->step + i] *
				weights[i / 4 * 64 + c * 4 + i % 4];
		sum += (double)ints * (double)l->scales[at * LAYER_COLUMNS + c] *
			       (double)p->scale[from] +
		       (double)l->sums[at * LAYER_COLUMNS + c] * (double)p->shift[from];
	}
	return sum;
}

static void a_product_is_what_its_definition_says_and_the_same_bits_in_every_kernel(void **state)
{
	static const struct {
		size_t taps, depth, columns, rows;
		bool is_window;
	} shapes[] = {
		{ 1, 4, 16, 1, false },
		{ 5, 64, 32, 3, false },
		{ 2, 256, 64, 9, false },
		{ 3, 256, 48, 23, true },
		{ 5, 256, 256, 17, true },
	};

	for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
		AUTO(arena_done) struct arena a = { 0 };
		struct layer l =
			random_layer(&a, shapes[i].taps, shapes[i].depth, shapes[i].columns);
		struct product p = random_product(&a, &l, shapes[i].rows, shapes[i].is_window);
		size_t size = p.rows * p.out_stride;
		float *plain = p.out = ARENA_ARRAY(&a, float, size);

		kernel_plain.product(&p);
		for (size_t row = 0; row < p.rows; row++)
			for (size_t c = 0; c < l.columns; c++) {
				double naive = naive_product(&p, row, c);

				assert_true(fabs(naive - (double)plain[row * p.out_stride + c]) <
					    1e-4 * (fabs(naive) + 1000));
			}
		for (size_t k = 0; kernels[k]; k++) {
			if (!kernels[k]->is_supported())
				continue;
			p.out = ARENA_ARRAY(&a, float, size);
			kernels[k]->product(&p);
			assert_memory_equal(p.out, plain, size * sizeof(float));
		}
	}
}

struct float_results {
	uint8_t unpacked[MODEL_DIMS], squeezed[MODEL_BRANCH];
	float wide[MODEL_WIDE], bent[MODEL_BRANCH], features[MODEL_FEATURES], scale, shift;
	int32_t dots[4];
	uint32_t differ[MODEL_DIMS / 64];
};

static void run_floats(const struct kernel *k, struct arena *a, struct float_results *r)
{
	const float both[2] = { 0.2f, -6 };
	uint8_t row[MODEL_ROW];
	int8_t bytes[2][MODEL_DIMS];
	int16_t fine[2][MODEL_DIMS];
	const float *wide[2], *features[2];

	seed = 7;
	for (size_t i = 0; i < MODEL_ROW; i++)
		row[i] = (uint8_t)unit_random(&seed);
	for (size_t i = 0; i < 2; i++) {
		wide[i] = random_floats(a, MODEL_WIDE);
		features[i] = random_floats(a, MODEL_FEATURES);
		for (size_t j = 0; j < MODEL_DIMS; j++) {
			bytes[i][j] = (int8_t)((int)unit_below(&seed, 255) - 127);
			fine[i][j] = (int16_t)((int)unit_below(&seed, 16383) - 8191);
		}
	}
	memset(r, 0, sizeof(*r));
	k->unpack(row, r->unpacked);
	memcpy(r->wide, random_floats(a, MODEL_WIDE), sizeof(r->wide));
	k->norm_wide(r->wide, random_floats(a, MODEL_WIDE), wide);
	memcpy(r->bent, random_floats(a, MODEL_BRANCH), sizeof(r->bent));
	k->bend(r->bent, random_floats(a, MODEL_BRANCH), wide[0]);
	k->squeeze(r->bent, r->squeezed, &r->scale, &r->shift);
	k->add_features(r->features, r->unpacked, both, r->wide, features);
	r->dots[0] = k->dot(bytes[0], bytes[1], MODEL_DIMS);
	r->dots[1] = k->dot(bytes[0], bytes[1], 32);
	k->dot_two(bytes[0], fine[0], fine[1], MODEL_DIMS, r->dots + 2);
	for (size_t i = 0; i < MODEL_DIMS / 64; i++) {
		uint64_t words[2][MODEL_DIMS / 16];

		memcpy(words, fine, sizeof(words[0]) * 2);
		r->differ[i] = k->differ(words[0], words[1], i * 4 + 1);
	}
}

static void loops_over_floats_give_the_same_bits_in_every_kernel(void **state)
{
	AUTO(arena_done) struct arena a = { 0 };
	static struct float_results plain, other;

	run_floats(&kernel_plain, &a, &plain);
	for (size_t k = 0; kernels[k]; k++) {
		if (!kernels[k]->is_supported())
			continue;
		run_floats(kernels[k], &a, &other);
		assert_memory_equal(&plain, &other, sizeof(plain));
	}
}

static void squeezed_numbers_are_within_half_a_step(void **state)
{
	float x[MODEL_BRANCH], scale, shift;
	uint8_t bytes[MODEL_BRANCH];

	for (int round = 0; round < 100; round++) {
		for (size_t i = 0; i < MODEL_BRANCH; i++)
			x[i] = random_float() * (float)round;
		kernel_plain.squeeze(x, bytes, &scale, &shift);
		for (size_t i = 0; i < MODEL_BRANCH; i++) {
			assert_true(bytes[i] <= 127);
			assert_true(
				fabsf(scale * bytes[i] + shift - x[i]) <= 0.501f * scale + 1e-5f);
		}
	}
}

static void sha256_gives_the_digests_of_the_standard(void **state)
{
	static const struct {
		const char *text, *digest;
	} cases[] = {
		{ "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
		{ "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
		{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
			"248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
	};
	char hex[SHA256_HEX], *million = mem_alloc(1000000);

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		sha256_hex(cases[i].text, strlen(cases[i].text), hex);
		assert_string_equal(hex, cases[i].digest);
	}
	memset(million, 'a', 1000000);
	sha256_hex(million, 1000000, hex);
	assert_string_equal(
		hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
	free(million);
}

/* n vectors around a common direction, as real ones are. */
static struct vector_set random_set(struct arena *a, size_t n)
{
	int8_t *at = arena_alloc(a, n * VECTOR_DIMS);
	float *scales = ARENA_ARRAY(a, float, n), *common = random_floats(a, VECTOR_DIMS);

	for (size_t i = 0; i < n; i++) {
		float v[VECTOR_DIMS];
		double squares = 0;

		for (size_t j = 0; j < VECTOR_DIMS; j++) {
			v[j] = common[j] * 0.5f + random_float();
			squares += (double)v[j] * (double)v[j];
		}
		for (size_t j = 0; j < VECTOR_DIMS; j++)
			v[j] /= (float)sqrt(squares);
		vector_pack(v, at + i * VECTOR_DIMS, &scales[i]);
	}
	return (struct vector_set){ .at = at, .scales = scales, .n = n };
}

static double centred_cosine(const struct vector_set *s, size_t i, size_t j, const float *mean)
{
	double both = 0, left = 0, right = 0;

	for (size_t d = 0; d < VECTOR_DIMS; d++) {
		double x = (double)s->scales[i] * s->at[i * VECTOR_DIMS + d] -
			   (mean ? (double)mean[d] : 0);
		double y = (double)s->scales[j] * s->at[j * VECTOR_DIMS + d] -
			   (mean ? (double)mean[d] : 0);

		both += x * y;
		left += x * x;
		right += y * y;
	}
	return both / sqrt(left * right);
}

static void set_mean(const struct vector_set *set, float mean[VECTOR_DIMS])
{
	double sum[VECTOR_DIMS] = { 0 };
	uint64_t count = 0;

	vector_add(set, sum, &count);
	assert_int_equal(count, set->n);
	for (size_t i = 0; i < VECTOR_DIMS; i++)
		mean[i] = (float)(sum[i] / (double)count);
}

static void a_score_is_the_cosine_with_the_mean_taken_off(void **state)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct vector_set set = random_set(&a, 60);
	float mean[VECTOR_DIMS], *means[] = { NULL, mean };
	struct vector_query q;

	set_mean(&set, mean);
	for (size_t m = 0; m < 2; m++)
		for (size_t i = 0; i < set.n; i += 7) {
			vector_query_init(&q, VECTOR_DIMS, set.at + i * VECTOR_DIMS, set.scales[i], means[m]);
			for (size_t j = 0; j < set.n; j++) {
				double got = (double)vector_score(
					&q, set.at + j * VECTOR_DIMS, set.scales[j]);

				assert_true(
					fabs(got - centred_cosine(&set, i, j, means[m])) < 0.003);
			}
		}
	for (size_t i = 0; i < set.n; i++)
		assert_true(fabs((double)vector_cosine(set.at, set.at + i * VECTOR_DIMS) -
				    centred_cosine(&set, 0, i, NULL)) < 1e-5);
}

static int by_score(const void *x, const void *y)
{
	const struct vector_hit *a = x, *b = y;

	if (a->score != b->score)
		return a->score < b->score ? 1 : -1;
	return a->at < b->at ? -1 : a->at > b->at;
}

static void a_scan_gives_the_best_of_the_wanted_in_order_as_sorting_all_does(void **state)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct vector_set set = random_set(&a, 300);
	uint64_t wanted[5];
	struct vector_hit all[300], hits[300];
	float mean[VECTOR_DIMS];
	struct vector_query q;

	memcpy((int8_t *)(uintptr_t)set.at + 5 * VECTOR_DIMS, set.at + 9 * VECTOR_DIMS,
		VECTOR_DIMS); /* a tie */
	((float *)(uintptr_t)set.scales)[5] = set.scales[9];
	set_mean(&set, mean);
	for (int round = 0; round < 40; round++) {
		size_t n = 0, k = unit_below(&seed, 40), found;

		for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
			wanted[i] = round % 3 ? unit_random(&seed) : UINT64_MAX;
		set.wanted = round % 5 ? wanted : NULL;
		vector_query_init(&q, VECTOR_DIMS, set.at + (size_t)round * VECTOR_DIMS, set.scales[round], mean);
		for (size_t i = 0; i < set.n; i++)
			if (!set.wanted || wanted[i / 64] >> i % 64 & 1)
				all[n++] = (struct vector_hit){ i,
					vector_score(&q, set.at + i * VECTOR_DIMS, set.scales[i]) };
		qsort(all, n, sizeof(*all), by_score);
		found = vector_scan(&set, &q, k, hits);
		assert_int_equal(found, MIN(k, n));
		for (size_t i = 0; i < found; i++) {
			assert_int_equal(hits[i].at, all[i].at);
			assert_true(hits[i].score == all[i].score);
		}
	}
}

static void a_vector_of_zeros_is_similar_to_nothing(void **state)
{
	float zero[VECTOR_DIMS] = { 0 };
	int8_t at[VECTOR_DIMS];
	float scale;
	struct vector_query q;

	vector_pack(zero, at, &scale);
	assert_true(scale == 0);
	vector_query_init(&q, VECTOR_DIMS, at, scale, NULL);
	assert_true(vector_score(&q, at, scale) == 0);
	assert_true(vector_cosine(at, at) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_product_is_what_its_definition_says_and_the_same_bits_in_every_kernel),
		cmocka_unit_test(loops_over_floats_give_the_same_bits_in_every_kernel),
		cmocka_unit_test(squeezed_numbers_are_within_half_a_step),
		cmocka_unit_test(sha256_gives_the_digests_of_the_standard),
		cmocka_unit_test(a_score_is_the_cosine_with_the_mean_taken_off),
		cmocka_unit_test(a_scan_gives_the_best_of_the_wanted_in_order_as_sorting_all_does),
		cmocka_unit_test(a_vector_of_zeros_is_similar_to_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
