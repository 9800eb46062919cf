/* The vectors against comparing everything, across replacing, removing, writing, loading, damage and purging; and fused with words. */

#include "vectors_fixture.h"

#include <pthread.h>
#include <stdatomic.h>

static void a_scan_gives_what_comparing_everything_gives(void **unused)
{
	struct vectors *v = fresh();
	memset(twins, 0, sizeof(twins));
	state = 11;
	for (int round = 0; round < 40; round++) {
		for (int i = 0; i < 60; i++) {
			size_t at = unit_below(&state, DOCS);
			if (unit_below(&state, 5) == 0) {
				vectors_remove(v, DOC_ID(at % 3 == 2 ? DOC_EVENT : DOC_MEMORY, at + 1));
				twins[at].is_there = false;
				continue;
			}
			make(&twins[at], at);
			assert_int_equal(vectors_put(v, &twins[at].d, NULL), 0);
		}
		compare(v);
		if (round % 3 == 2)
			assert_int_equal(vectors_flush(v, NULL), 0);
	}
	vectors_free(v);
}

static void what_was_written_is_there_when_it_is_opened_again(void **unused)
{
	struct vectors *v = fresh();
	struct vectors_spans spans = { .at = { { 7, 20 }, { 0, 5 } }, .n = 2 }, got;
	memset(twins, 0, sizeof(twins));
	state = 12;
	for (int round = 0; round < 30; round++) {
		for (int i = 0; i < 80; i++) {
			size_t at = unit_below(&state, DOCS);
			make(&twins[at], at);
			assert_int_equal(vectors_put(v, &twins[at].d, NULL), 0);
		}
		assert_int_equal(vectors_flush(v, NULL), 0);
	}
	vectors_set_spans(v, &spans);
	assert_int_equal(vectors_flush(v, NULL), 0);
	v = reopen(v, "model-a");
	compare(v);
	vectors_spans(v, &got);
	assert_int_equal(got.n, 2);
	assert_int_equal(got.at[0].low, 7);
	assert_int_equal(got.at[1].high, 5);
	struct vectors_stats st;
	vectors_stats(v, &st);
	assert_true(st.files < 12);
	vectors_free(v);
}

static int by_score(const void *x, const void *y)
{
	float a = *(const float *)x, b = *(const float *)y;
	return (a > b) - (a < b);
}

static void a_sample_that_is_large_enough_is_every_document_that_passes(void **unused)
{
	struct vectors *v = fresh();
	struct vector_query q;
	struct search_filter f = { .classes = 1u << DOC_MEMORY };
	struct vectors_hit hits[DOCS];
	float scores[DOCS];
	int8_t at[VECTOR_DIMS];
	float scale;
	memset(twins, 0, sizeof(twins));
	state = 17;
	for (size_t i = 0; i < DOCS; i++) {
		make(&twins[i], i);
		assert_int_equal(vectors_put(v, &twins[i].d, NULL), 0);
		if (i == DOCS / 2)
			assert_int_equal(vectors_flush(v, NULL), 0);
	}
	random_vector(at, &scale);
	vector_query_init(&q, VECTOR_DIMS, at, scale, NULL);
	size_t n = vectors_scan(v, &(struct vectors_scan){ .query = &q, .filter = &f, .k = DOCS }, hits);
	assert_true(n > 10 && n < DOCS);
	assert_int_equal(vectors_sample(v, &q, &f, DOCS, scores), n);
	qsort(scores, n, sizeof(scores[0]), by_score);
	for (size_t i = 0; i < n; i++)
		assert_true(scores[i] == hits[n - 1 - i].best);
	assert_int_equal(vectors_sample(v, &q, &f, 7, scores), 7);
	q.store++;
	assert_int_equal(vectors_sample(v, &q, &f, DOCS, scores), vectors_store(v) == q.store ? n : 0);
	vectors_free(v);
}

/* How often these bytes lie in any file of the folder. */
static size_t bytes_found(const void *bytes, size_t len)
{
	AUTO(arena_done) struct arena a = { 0 };
	char **names;
	size_t n, found = 0;
	assert_int_equal(file_list(&a, dir, &names, &n, NULL), 0);
	for (size_t i = 0; i < n; i++) {
		AUTO(buf_done) struct buf b = { 0 };
		assert_int_equal(file_read(path_join(&a, dir, names[i]), 64 << 20, &b, NULL), 0);
		found += memmem(b.data, b.len, bytes, len) != NULL;
	}
	return found;
}

static void purging_leaves_no_byte_of_what_is_gone(void **unused)
{
	struct vectors *v = fresh();
	memset(twins, 0, sizeof(twins));
	state = 13;
	for (size_t i = 0; i < DOCS; i++) {
		make(&twins[i], i);
		assert_int_equal(vectors_put(v, &twins[i].d, NULL), 0);
		if (i == 200)
			assert_int_equal(vectors_flush(v, NULL), 0);
	}
	assert_int_equal(vectors_flush(v, NULL), 0);
	assert_true(bytes_found(twins[5].at, VECTOR_DIMS) > 0);
	/* A hard link shows what the unlinked file still holds. */
	AUTO(arena_done) struct arena a = { 0 };
	char **names, other[] = "/tmp/test-vectors-link-XXXXXX";
	size_t n;
	assert_non_null(mkdtemp(other));
	assert_int_equal(file_list(&a, dir, &names, &n, NULL), 0);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(link(path_join(&a, dir, names[i]), path_join(&a, other, names[i])), 0);
	twins[5].is_there = twins[250].is_there = false;
	assert_int_equal(vectors_purge(v, twin_is_alive, NULL, NULL), 0);
	assert_int_equal(bytes_found(twins[5].at, VECTOR_DIMS), 0);
	assert_int_equal(bytes_found(twins[250].at, VECTOR_DIMS), 0);
	for (size_t i = 0; i < n; i++) {
		AUTO(buf_done) struct buf b = { 0 };
		assert_int_equal(file_read(path_join(&a, other, names[i]), 64 << 20, &b, NULL), 0);
		assert_null(memmem(b.data, b.len, twins[5].at, VECTOR_DIMS));
	}
	compare(v);
	v = reopen(v, "model-a");
	compare(v);
	file_remove_tree(other, NULL);
	vectors_free(v);
}

static void a_damaged_file_counts_as_not_embedded(void **unused)
{
	state = 14;
	for (int round = 0; round < 30; round++) {
		AUTO(arena_done) struct arena a = { 0 };
		struct vectors *v = fresh();
		struct vectors_spans spans = { .at = { { 0, 9 } }, .n = 1 };
		struct vectors_stats st;
		char **names;
		size_t n;
		memset(twins, 0, sizeof(twins));
		for (size_t i = 0; i < 20; i++) {
			make(&twins[i], i);
			assert_int_equal(vectors_put(v, &twins[i].d, NULL), 0);
		}
		vectors_set_spans(v, &spans);
		assert_int_equal(vectors_flush(v, NULL), 0);
		assert_int_equal(file_list(&a, dir, &names, &n, NULL), 0);
		assert_int_equal(n, 2);
		damage(path_join(&a, dir, names[(size_t)round % n]), round & 2);
		v = reopen(v, "model-a");
		vectors_spans(v, &spans);
		vectors_stats(v, &st);
		assert_int_equal(spans.n, 0);
		assert_int_equal(st.docs, 0);
		for (size_t i = 0; i < 20; i++)
			assert_int_equal(vectors_put(v, &twins[i].d, NULL), 0);
		compare(v);
		vectors_free(v);
	}
}

static void vectors_of_another_model_are_not_compared(void **unused)
{
	struct vectors *v = fresh();
	struct vectors_spans spans = { .at = { { 0, 9 } }, .n = 1 };
	struct vectors_stats st;
	state = 15;
	make(&twins[0], 0);
	assert_int_equal(vectors_put(v, &twins[0].d, NULL), 0);
	vectors_set_spans(v, &spans);
	assert_int_equal(vectors_flush(v, NULL), 0);
	v = reopen(v, NULL);
	vectors_stats(v, &st);
	assert_int_equal(st.docs, 1);
	v = reopen(v, "model-b");
	vectors_stats(v, &st);
	vectors_spans(v, &spans);
	assert_int_equal(st.docs, 0);
	assert_int_equal(spans.n, 0);
	assert_int_equal(bytes_found(twins[0].at, VECTOR_DIMS), 0);
	vectors_free(v);
}

static void the_same_text_is_not_embedded_again(void **unused)
{
	struct vectors *v = fresh();
	struct doc_columns columns;
	state = 16;
	memset(twins, 0, sizeof(twins));
	make(&twins[0], 0);
	twins[0].d.columns.status = MEMORY_ACTIVE;
	columns = twins[0].d.columns;
	assert_int_equal(vectors_put(v, &twins[0].d, NULL), 0);
	assert_false(vectors_keep(v, twins[0].d.id, twins[0].d.hash + 1, &columns));
	assert_true(vectors_keep(v, twins[0].d.id, twins[0].d.hash, &columns));
	twins[0].d.columns.project = columns.project = 2;
	assert_true(vectors_keep(v, twins[0].d.id, twins[0].d.hash, &columns));
	compare(v);
	assert_int_equal(vectors_flush(v, NULL), 0);
	twins[0].d.columns.project = columns.project = 3;
	assert_true(vectors_keep(v, twins[0].d.id, twins[0].d.hash, &columns));
	compare(v);
	vectors_free(v);
}

static void a_vector_takes_what_was_promised(void **unused)
{
	struct vectors *v = fresh();
	struct vectors_stats st;
	state = 17;
	static struct twin t;
	for (size_t i = 0; i < 4000; i++) {
		make(&t, i);
		t.d.n = 1;
		assert_int_equal(vectors_put(v, &t.d, NULL), 0);
	}
	assert_int_equal(vectors_flush(v, NULL), 0);
	vectors_stats(v, &st);
	assert_int_equal(st.vectors, 4000);
	assert_true(st.bytes / 4000 <= 550);
	assert_int_equal(st.bits, 0);
	vectors_free(v);
}

/* --- Sign bits. --- */

static void with_bits(void (*test)(void **))
{
	prefilter = &all_bits;
	test(NULL);
	prefilter = NULL;
}

static void a_scan_with_bits_gives_what_comparing_everything_gives(void **unused)
{
	with_bits(a_scan_gives_what_comparing_everything_gives);
	with_bits(what_was_written_is_there_when_it_is_opened_again);
}

/* --- With words. --- */

static struct index *words_open(const char *folder)
{
	struct index *ix;
	bool needs_rebuild;
	assert_int_equal(index_open(folder, &ix, &needs_rebuild, NULL), 0);
	return ix;
}

static void put_both(struct index *ix, struct vectors *v, size_t i, const char *text)
{
	struct doc d = { .id = twins[i].d.id, .columns = twins[i].d.columns, .body = str_of(text) };
	assert_int_equal(index_put(ix, &d, 1, NULL), 0);
	assert_int_equal(vectors_put(v, &twins[i].d, NULL), 0);
}

struct asked {
	struct arena a;
	struct search_result r;
};

static void ask(struct asked *k, struct index *ix, struct vectors *v, const struct vector_query *q, const char *text)
{
	struct analyser *an = analyser_new();
	k->a = (struct arena){ 0 };
	struct search s = { .query = query_parse(&k->a, an, str_of(text), NULL), .limit = 10, .vectors = v, .meaning = q };
	assert_int_equal(index_search(ix, &k->a, &s, &k->r, NULL), 0);
	analyser_free(an);
}

static void meaning_finds_what_shares_no_word(void **unused)
{
	struct vectors *v = fresh();
	char folder[] = "/tmp/test-vectors-words-XXXXXX";
	assert_non_null(mkdtemp(folder));
	struct index *ix = words_open(folder);
	struct vector_query q;
	struct asked k;
	state = 18;
	memset(twins, 0, sizeof(twins));
	for (size_t i = 0; i < 30; i++) {
		make(&twins[i], i);
		twins[i].d.columns.status = i % 3 == 2 ? 0 : MEMORY_ACTIVE;
		put_both(ix, v, i, i == 4 ? "alpha beta" : "gamma delta");
	}
	vector_query_init(&q, VECTOR_DIMS, twins[0].at[0], twins[0].scales[0], NULL);
	ask(&k, ix, v, &q, "omega");
	assert_int_equal(k.r.match, MATCH_MEANING);
	assert_int_equal(k.r.hits[0].id, twins[0].d.id);
	assert_true(k.r.hits[0].by_meaning && k.r.hits[0].similarity > .99f);
	arena_done(&k.a);
	/* Words still count, and their hit says how its score came about. */
	ask(&k, ix, v, &q, "alpha");
	assert_int_equal(k.r.match, MATCH_EXACT);
	bool is_there = false;
	for (size_t i = 0; i < k.r.n; i++) {
		const struct hit *h = &k.r.hits[i];
		assert_true(fabs(h->score - h->own - h->session - h->pairs - h->meaning - h->prior) < 1e-4);
		is_there |= h->id == twins[4].d.id && !h->by_meaning;
	}
	assert_true(is_there);
	arena_done(&k.a);
	/* Exact phrases and exclusions are about words. */
	ask(&k, ix, v, &q, "\"alpha beta\"");
	assert_int_equal(k.r.n, 1);
	arena_done(&k.a);
	/* What is removed is not given, though its vector is still there. */
	assert_int_equal(index_remove(ix, &twins[0].d.id, 1, NULL), 0);
	ask(&k, ix, v, &q, "omega");
	for (size_t i = 0; i < k.r.n; i++)
		assert_true(k.r.hits[i].id != twins[0].d.id);
	arena_done(&k.a);
	index_close(ix);
	file_remove_tree(folder, NULL);
	vectors_free(v);
}

/* --- Threads. --- */

static atomic_bool is_over;
static atomic_long wrong;

static void *scan_on(void *arg)
{
	struct vectors *v = arg;
	static const struct search_filter any = { 0 };
	uint64_t own = 99;
	for (size_t i = 0; !atomic_load(&is_over); i++) {
		struct vectors_hit hits[K];
		struct vector_query q;
		int8_t at[VECTOR_DIMS];
		float mean[VECTOR_DIMS_MAX];
		for (size_t k = 0; k < VECTOR_DIMS; k++)
			at[k] = (int8_t)((int)unit_below(&own, 200) - 100);
		vectors_mean(v, 0, mean);
		vector_query_init(&q, VECTOR_DIMS, at, .0007f, mean);
		struct vectors_scan s = { .query = &q, .filter = &any, .by_session = i % 2, .k = K };
		size_t n = vectors_scan(v, &s, hits);
		for (size_t k = 1; k < n; k++)
			atomic_fetch_add(&wrong, hits[k - 1].score < hits[k].score);
	}
	return NULL;
}

static void change_beside_scans(void **unused)
{
	struct vectors *v = fresh();
	pthread_t threads[2];
	state = 19;
	atomic_store(&is_over, false);
	memset(twins, 0, sizeof(twins));
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, scan_on, v), 0);
	for (int i = 0; i < 1200; i++) {
		size_t at = unit_below(&state, DOCS);
		make(&twins[at], at);
		assert_int_equal(vectors_put(v, &twins[at].d, NULL), 0);
		if (i % 40 == 7)
			vectors_remove(v, twins[at].d.id);
		if (i % 97 == 5)
			assert_int_equal(vectors_flush(v, NULL), 0);
		if (i % 301 == 300) {
			twins[at].is_there = false;
			assert_int_equal(vectors_purge(v, twin_is_alive, NULL, NULL), 0);
		}
	}
	atomic_store(&is_over, true);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(atomic_load(&wrong), 0);
	vectors_free(v);
}

static void scans_run_beside_every_change(void **unused)
{
	change_beside_scans(NULL);
	with_bits(change_beside_scans);
}

/* --- Other dimensions. --- */

#define WIDE_DOCS 60

static void wide_vector(float *v, size_t n)
{
	double squares = 0;
	for (size_t i = 0; i < n; i++) {
		v[i] = (float)unit_below(&state, 2001) / 1000 - 1 + (i < 16 ? .8f : 0);
		squares += (double)(v[i] * v[i]);
	}
	for (size_t i = 0; i < n; i++)
		v[i] /= (float)sqrt(squares);
}

static double exact_cosine(const float *a, const float *b, size_t n)
{
	double dot = 0;
	for (size_t i = 0; i < n; i++)
		dot += (double)a[i] * (double)b[i];
	return dot;
}

static void put_wide(struct vectors *v, const float *texts, size_t n)
{
	int8_t at[VECTOR_DIMS_MAX];
	float scale;
	for (size_t i = 0; i < WIDE_DOCS; i++) {
		vector_pack_wide(texts + i * n, n, at, &scale);
		struct vectors_doc d = { .id = DOC_ID(DOC_MEMORY, i + 1), .columns = { .status = MEMORY_ACTIVE, .kind = 1 },
			.hash = 1, .n = 1, .at = at, .scales = &scale };
		assert_int_equal(vectors_put(v, &d, NULL), 0);
	}
}

static void assert_nearest(struct vectors *v, const float *texts, size_t n)
{
	struct search_filter filter = { 0 };
	static struct vector_query q;
	int8_t at[VECTOR_DIMS_MAX];
	float scale;
	for (size_t i = 0; i < WIDE_DOCS; i += 7) {
		struct vectors_hit hits[3];
		vector_pack_wide(texts + i * n, n, at, &scale);
		vector_query_init(&q, VECTOR_ROUND(n), at, scale, NULL);
		struct vectors_scan scan = { .query = &q, .filter = &filter, .k = 3 };
		assert_int_equal(vectors_scan(v, &scan, hits), 3);
		assert_int_equal(DOC_ROW(hits[0].id), i + 1);
		for (size_t k = 0; k < 3; k++) {
			const float *other = texts + (DOC_ROW(hits[k].id) - 1) * n;
			assert_true(fabs((double)hits[k].score - exact_cosine(texts + i * n, other, n)) < .01);
		}
	}
}

static void vectors_of_any_dimension_are_found_and_kept(void **unused)
{
	static const size_t dims[] = { 40, 100, 384, 768, 1000, 3072, VECTOR_DIMS_MAX };
	state = 11;
	for (size_t d = 0; d < ARRAY_LEN(dims); d++) {
		size_t n = dims[d];
		float *texts = mem_alloc(WIDE_DOCS * n * sizeof(float));
		char model[32];
		for (size_t i = 0; i < WIDE_DOCS; i++)
			wide_vector(texts + i * n, n);
		snprintf(model, sizeof(model), "wide-%zu", n);
		assert_int_equal(file_remove_tree(dir, NULL), 0);
		struct vectors *v = vectors_new(dir);
		assert_int_equal(vectors_load(v, model, VECTOR_ROUND(n), NULL), 0);
		put_wide(v, texts, n);
		assert_nearest(v, texts, n);
		assert_int_equal(vectors_flush(v, NULL), 0);
		vectors_free(v);
		v = vectors_new(dir);
		assert_int_equal(vectors_load(v, NULL, 0, NULL), 0);
		assert_int_equal(vectors_dims(v), VECTOR_ROUND(n));
		assert_nearest(v, texts, n);
		vectors_free(v);
		free(texts);
	}
}

static void a_question_of_another_model_finds_nothing(void **unused)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct search_filter filter = { 0 };
	static struct vector_query q;
	struct vectors_hit hits[3];
	struct vectors *v = fresh();
	float *texts = mem_alloc(WIDE_DOCS * VECTOR_DIMS * sizeof(float)), wanted_score = 0;
	uint64_t wanted = DOC_ID(DOC_MEMORY, 1);
	for (size_t i = 0; i < WIDE_DOCS; i++)
		wide_vector(texts + i * VECTOR_DIMS, VECTOR_DIMS);
	put_wide(v, texts, VECTOR_DIMS);
	int8_t at[VECTOR_DIMS_MAX] = { 1 };
	struct vectors_scan scan = { .query = &q, .filter = &filter, .k = 3, .wanted = &wanted, .nwanted = 1,
		.wanted_scores = &wanted_score };
	vector_query_init(&q, 768, at, 1, NULL);
	assert_int_equal(vectors_scan(v, &scan, hits), 0);
	assert_true(isnan(wanted_score));
	vector_query_init(&q, VECTOR_DIMS, at, 1, NULL);
	q.store = vectors_store(v);
	assert_int_equal(vectors_scan(v, &scan, hits), 3);
	assert_int_equal(vectors_flush(v, NULL), 0);
	assert_string_equal(vectors_model_of(&a, dir), "model-a");
	assert_int_equal(vectors_load(v, "model-b", VECTOR_DIMS, NULL), 0);
	assert_int_equal(vectors_scan(v, &scan, hits), 0);
	assert_null(vectors_model_of(&a, "/nonexistent"));
	vectors_free(v);
	free(texts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vectors_of_any_dimension_are_found_and_kept),
		cmocka_unit_test(a_question_of_another_model_finds_nothing),
		cmocka_unit_test(a_scan_gives_what_comparing_everything_gives),
		cmocka_unit_test(a_sample_that_is_large_enough_is_every_document_that_passes),
		cmocka_unit_test(what_was_written_is_there_when_it_is_opened_again),
		cmocka_unit_test(purging_leaves_no_byte_of_what_is_gone),
		cmocka_unit_test(a_damaged_file_counts_as_not_embedded),
		cmocka_unit_test(vectors_of_another_model_are_not_compared),
		cmocka_unit_test(the_same_text_is_not_embedded_again),
		cmocka_unit_test(a_vector_takes_what_was_promised),
		cmocka_unit_test(a_scan_with_bits_gives_what_comparing_everything_gives),
		cmocka_unit_test(meaning_finds_what_shares_no_word),
		cmocka_unit_test(scans_run_beside_every_change),
	};
	if (!mkdtemp(dir))
		return 1;
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	file_remove_tree(dir, NULL);
	return failed;
}
