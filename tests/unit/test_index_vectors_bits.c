/* The sign bits that let through what is near: how much of it, and what becomes of them when they are damaged or purged. */

#include "vectors_fixture.h"

#define MANY 12000u
#define SUBJECTS 12u
#define MANY_SESSION 10u
#define ASKED 60u
#define FOUND 20u

static void mix(float *ret, const float *around, float spread)
{
	for (size_t i = 0; i < VECTOR_DIMS; i++)
		ret[i] = around[i] + spread * ((float)unit_below(&state, 2001) / 1000 - 1);
}

static void pack(const float *from, int8_t *at, float *scale)
{
	float v[VECTOR_DIMS];
	double squares = 0;
	for (size_t i = 0; i < VECTOR_DIMS; i++)
		squares += (double)(from[i] * from[i]);
	for (size_t i = 0; i < VECTOR_DIMS; i++)
		v[i] = from[i] / (float)sqrt(squares);
	vector_pack(v, at, scale);
}

static float subjects[SUBJECTS][VECTOR_DIMS], sessions[MANY / MANY_SESSION][VECTOR_DIMS];

/* Subjects come one after the other, so that every file has a mean of its own, far from the store's. */
static void put_many(struct vectors *const stores[2])
{
	static const float zero[VECTOR_DIMS];
	float common[VECTOR_DIMS], own[VECTOR_DIMS];
	state = 21;
	mix(common, zero, .5f);
	for (size_t i = 0; i < SUBJECTS; i++)
		mix(subjects[i], common, .6f);
	for (size_t i = 0; i < MANY; i++) {
		int8_t at[2][VECTOR_DIMS];
		float scales[2], *session = sessions[i / MANY_SESSION];
		if (i % MANY_SESSION == 0)
			mix(session, subjects[(i * SUBJECTS / MANY + unit_below(&state, 3) * SUBJECTS / 4) % SUBJECTS], .5f);
		for (size_t k = 0; k < 2; k++) {
			mix(own, session, .6f);
			pack(own, at[k], &scales[k]);
		}
		struct vectors_doc d = { .id = DOC_ID(DOC_MEMORY, i + 1), .hash = 1, .n = 1 + i % 2, .at = at[0], .scales = scales };
		d.columns = (struct doc_columns){ .at = (int64_t)i * 1000, .project = (uint32_t)(i % 7) + 1,
			.session = (uint32_t)(i / MANY_SESSION) + 1, .kind = 1, .status = MEMORY_ACTIVE, .agent = 1 };
		for (size_t k = 0; k < 2; k++)
			assert_int_equal(vectors_put(stores[k], &d, NULL), 0);
	}
	for (size_t k = 0; k < 2; k++)
		assert_int_equal(vectors_flush(stores[k], NULL), 0);
}

struct question {
	struct search_filter filter;
	size_t first, sessions; /* what is asked about */
};

static double recall(struct vectors *const stores[2], const struct question *about, bool by_session)
{
	size_t found = 0, all = 0;
	float mean[VECTOR_DIMS_MAX];
	vectors_mean(stores[0], 100, mean);
	for (size_t i = 0; i < ASKED; i++) {
		struct vectors_hit want[FOUND], got[FOUND];
		struct vector_query q;
		float own[VECTOR_DIMS], scale;
		int8_t at[VECTOR_DIMS];
		mix(own, sessions[about->first + unit_below(&state, about->sessions)], .6f);
		pack(own, at, &scale);
		vector_query_init(&q, VECTOR_DIMS, at, scale, mean);
		struct vectors_scan s = { .query = &q, .filter = &about->filter, .by_session = by_session, .k = FOUND };
		size_t n = vectors_scan(stores[0], &s, want);
		assert_int_equal(vectors_scan(stores[1], &s, got), n);
		for (size_t k = 0; k < n; k++)
			for (size_t j = 0; j < n; j++)
				found += want[k].id == got[j].id && fabsf(want[k].score - got[j].score) < 1e-6f;
		all += n;
	}
	assert_true(all >= ASKED);
	return (double)found / (double)all;
}

static void bits_let_through_what_is_near(void **unused)
{
	static const struct vectors_prefilter none = { .store_least = UINT32_MAX },
					      few = { 1, 256, 800, 120, VECTORS_GUESS_MARGIN };
	static const struct question questions[] = { { { 0 }, 0, 1200 }, { { .project = 3 }, 0, 1200 },
		{ { .after = (int64_t)MANY * 700 }, 840, 360 }, { { .session = 77 }, 0, 1200 },
		{ { .project = 2, .before = (int64_t)MANY * 100 }, 0, 120 } };
	char other[] = "/tmp/test-vectors-exact-XXXXXX";
	struct vectors_stats st;
	assert_non_null(mkdtemp(other));
	prefilter = &few;
	struct vectors *stores[2] = { vectors_new(other), fresh() };
	prefilter = NULL;
	vectors_set_prefilter(stores[0], &none);
	assert_int_equal(vectors_load(stores[0], "model-a", VECTOR_DIMS, NULL), 0);
	put_many(stores);
	vectors_stats(stores[0], &st);
	assert_int_equal(st.bits, 0);
	vectors_stats(stores[1], &st);
	assert_true(st.files > 1 && st.bits >= st.vectors * 60 && st.bits < st.vectors * 66);
	for (size_t i = 0; i < 2 * ARRAY_LEN(questions); i++) {
		double share = recall(stores, &questions[i / 2], i % 2);
		if (share < .99)
			fail_msg("question %zu%s: recall %.4f", i / 2, i % 2 ? " by session" : "", share);
	}
	vectors_free(stores[0]);
	vectors_free(stores[1]);
	file_remove_tree(other, NULL);
}

/* The only file whose name begins so. */
static const char *only_file(struct arena *a, const char *prefix)
{
	char **names, *found = NULL;
	size_t n;
	assert_int_equal(file_list(a, dir, &names, &n, NULL), 0);
	for (size_t i = 0; i < n; i++) {
		if (strncmp(names[i], prefix, strlen(prefix)))
			continue;
		assert_null(found);
		found = path_join(a, dir, names[i]);
	}
	return found;
}

static struct vectors *fresh_with_bits(void)
{
	struct vectors *v = fresh();
	memset(twins, 0, sizeof(twins));
	for (size_t i = 0; i < DOCS; i++) {
		make(&twins[i], i);
		assert_int_equal(vectors_put(v, &twins[i].d, NULL), 0);
	}
	vectors_set_spans(v, &(struct vectors_spans){ .at = { { 0, 9 } }, .n = 1 });
	assert_int_equal(vectors_flush(v, NULL), 0);
	return v;
}

static void damaged_bits_cost_nothing_but_their_making(void **unused)
{
	prefilter = &all_bits;
	state = 22;
	for (int round = 0; round < 20; round++) {
		AUTO(arena_done) struct arena a = { 0 };
		struct vectors *v = fresh_with_bits();
		struct vectors_spans spans;
		struct vectors_stats st;
		damage(only_file(&a, "bits-"), round & 1);
		v = reopen(v, "model-a");
		vectors_stats(v, &st);
		vectors_spans(v, &spans);
		assert_int_equal(st.docs, DOCS);
		assert_int_equal(st.bits, 0);
		assert_int_equal(spans.n, 1);
		assert_null(only_file(&a, "bits-"));
		compare(v);
		assert_int_equal(vectors_flush(v, NULL), 0);
		vectors_stats(v, &st);
		assert_true(st.bits > 0);
		compare(v);
		vectors_free(v);
	}
	prefilter = NULL;
}

static void purging_overwrites_the_bits(void **unused)
{
	AUTO(arena_done) struct arena a = { 0 };
	AUTO(buf_done) struct buf b = { 0 };
	char other[] = "/tmp/test-vectors-link-XXXXXX";
	prefilter = &all_bits;
	state = 23;
	struct vectors *v = fresh_with_bits();
	assert_non_null(mkdtemp(other));
	const char *bits = only_file(&a, "bits-"), *kept = path_join(&a, other, "bits");
	assert_int_equal(link(bits, kept), 0);
	twins[5].is_there = false;
	assert_int_equal(vectors_purge(v, twin_is_alive, NULL, NULL), 0);
	assert_null(only_file(&a, "bits-"));
	assert_int_equal(file_read(kept, 64 << 20, &b, NULL), 0);
	for (size_t i = 0; i < b.len; i++)
		assert_int_equal(b.data[i], 0);
	compare(v);
	assert_int_equal(vectors_flush(v, NULL), 0);
	assert_non_null(only_file(&a, "bits-"));
	compare(v);
	file_remove_tree(other, NULL);
	vectors_free(v);
	prefilter = NULL;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bits_let_through_what_is_near),
		cmocka_unit_test(damaged_bits_cost_nothing_but_their_making),
		cmocka_unit_test(purging_overwrites_the_bits),
	};
	if (!mkdtemp(dir))
		return 1;
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	file_remove_tree(dir, NULL);
	return failed;
}
