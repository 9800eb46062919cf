/* The vectors against comparing everything, across replacing, removing, writing, loading, damage and purging; and fused with words. */

#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "index/query.h"
#include "index/vectors.h"
#include "model/names.h"
#include "unit.h"

#define DOCS 300
#define PIECES_MAX 4
#define K 40
#define SESSIONS 20u

struct twin {
	bool is_there;
	struct vectors_doc d;
	int8_t at[PIECES_MAX][VECTOR_DIMS];
	float scales[PIECES_MAX];
};

static uint64_t state;
static char dir[] = "/tmp/test-vectors-XXXXXX";
static struct twin twins[DOCS];
/* Every file has bits, and everything is near enough to be compared. */
static const struct vectors_prefilter all_bits = { 1, 1, DOCS, DOCS, 2000 };
static const struct vectors_prefilter *prefilter;

static void random_vector(int8_t at[VECTOR_DIMS], float *scale)
{
	float v[VECTOR_DIMS];
	double squares = 0;
	for (size_t i = 0; i < VECTOR_DIMS; i++) {
		v[i] = (float)unit_below(&state, 2001) / 1000 - 1 + (i < 16 ? .8f : 0);
		squares += (double)(v[i] * v[i]);
	}
	for (size_t i = 0; i < VECTOR_DIMS; i++)
		v[i] /= (float)sqrt(squares);
	vector_pack(v, at, scale);
}

static void make(struct twin *t, size_t i)
{
	bool is_event = i % 3 == 2;
	*t = (struct twin){ .is_there = true };
	t->d = (struct vectors_doc){
		.id = DOC_ID(is_event ? DOC_EVENT : DOC_MEMORY, i + 1),
		.columns = { .at = (int64_t)(unit_below(&state, 1000) * 1000), .project = (uint32_t)unit_below(&state, 3) + 1,
			.session = (uint32_t)unit_below(&state, SESSIONS), .kind = (uint8_t)(1 + unit_below(&state, 2)),
			.status = (uint8_t)(is_event ? 0 : unit_below(&state, 5) ? MEMORY_ACTIVE : MEMORY_PENDING), .agent = 1 },
		.hash = (uint32_t)unit_random(&state),
		.n = (uint32_t)(1 + unit_below(&state, PIECES_MAX)),
	};
	for (uint32_t k = 0; k < t->d.n; k++)
		random_vector(t->at[k], &t->scales[k]);
	t->d.at = t->at[0];
	t->d.scales = t->scales;
}

static struct vectors *fresh(void)
{
	struct vectors *v;
	assert_int_equal(file_remove_tree(dir, NULL), 0);
	v = vectors_new(dir);
	if (prefilter)
		vectors_set_prefilter(v, prefilter);
	assert_int_equal(vectors_load(v, "model-a", VECTOR_DIMS, NULL), 0);
	return v;
}

static struct vectors *reopen(struct vectors *v, const char *model)
{
	vectors_free(v);
	v = vectors_new(dir);
	if (prefilter)
		vectors_set_prefilter(v, prefilter);
	assert_int_equal(vectors_load(v, model, VECTOR_DIMS, NULL), 0);
	return v;
}

static bool twin_passes(const struct twin *t, const struct search_filter *f)
{
	bool is_memory = DOC_CLASS(t->d.id) == DOC_MEMORY;
	if (!t->is_there || (f->classes && !(f->classes >> DOC_CLASS(t->d.id) & 1)))
		return false;
	if (is_memory && t->d.columns.status != MEMORY_ACTIVE)
		return false;
	return (!f->project || f->project == t->d.columns.project) && (!f->after || t->d.columns.at >= f->after);
}

static int hit_order(const void *x, const void *y)
{
	const struct vectors_hit *a = x, *b = y;
	return a->score != b->score ? (a->score > b->score ? -1 : 1) : (a->id > b->id ? -1 : a->id < b->id);
}

static float twin_score(const struct twin *t, const struct vector_query *q)
{
	float best = -1;
	for (uint32_t k = 0; k < t->d.n; k++)
		best = fmaxf(best, vector_score(q, t->at[k], t->scales[k]));
	return best;
}

static int float_order(const void *x, const void *y)
{
	float a = *(const float *)x, b = *(const float *)y;
	return a > b ? -1 : a < b;
}

/* The answer by looking at each twin. */
static size_t oracle(const struct vectors_scan *s, struct vectors_hit *hits)
{
	static float scores[SESSIONS][DOCS];
	size_t counts[SESSIONS] = { 0 }, n = 0;
	doc_id best[SESSIONS] = { 0 };
	for (size_t i = 0; i < DOCS; i++) {
		const struct twin *t = &twins[i];
		uint32_t session = t->d.columns.session;
		if (!twin_passes(t, s->filter))
			continue;
		float score = twin_score(t, s->query);
		if (!s->by_session) {
			hits[n++] = (struct vectors_hit){ t->d.id, session, score, score };
			continue;
		}
		bool is_best = true;
		for (size_t k = 0; k < counts[session]; k++)
			is_best &= score > scores[session][k];
		best[session] = is_best ? t->d.id : best[session];
		scores[session][counts[session]++] = score;
	}
	for (uint32_t i = 1; s->by_session && i < SESSIONS; i++) {
		float sum = 0;
		size_t m = MIN(counts[i], (size_t)3);
		if (!m)
			continue;
		qsort(scores[i], counts[i], sizeof(float), float_order);
		for (size_t k = 0; k < m; k++)
			sum += scores[i][k];
		hits[n++] = (struct vectors_hit){ best[i], i, scores[i][0], (scores[i][0] + sum / (float)m) / 2 };
	}
	qsort(hits, n, sizeof(*hits), hit_order);
	return MIN(n, s->k);
}

static void compare(struct vectors *v)
{
	static const struct search_filter filters[] = { { 0 }, { .project = 2 }, { .classes = 1u << DOC_EVENT },
		{ .after = 500000, .project = 1 } };
	for (size_t i = 0; i < 2 * ARRAY_LEN(filters); i++) {
		struct vectors_hit got[K], want[DOCS];
		struct vector_query q;
		int8_t at[VECTOR_DIMS];
		float scale, mean[VECTOR_DIMS_MAX], score;
		random_vector(at, &scale);
		vectors_mean(v, 0, mean);
		vector_query_init(&q, VECTOR_DIMS, at, scale, mean);
		struct vectors_scan s = { .query = &q, .filter = &filters[i / 2], .by_session = i % 2, .k = K };
		size_t n = oracle(&s, want);
		uint64_t wanted = n ? s.by_session ? want[n - 1].session : want[n - 1].id : 0;
		s.wanted = &wanted;
		s.nwanted = n ? 1 : 0;
		s.wanted_scores = &score;
		assert_int_equal(vectors_scan(v, &s, got), n);
		for (size_t k = 0; k < n; k++) {
			assert_int_equal(got[k].id, want[k].id);
			assert_true(fabsf(got[k].score - want[k].score) < 1e-6f);
		}
		if (n)
			assert_true(fabsf(score - want[n - 1].score) < 1e-6f);
	}
}

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

static bool twin_is_alive(void *ctx, doc_id id)
{
	return twins[DOC_ROW(id) - 1].is_there;
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

static void damage(const char *path, bool cuts)
{
	struct stat st;
	uint8_t byte;
	int fd = open(path, O_RDWR);
	assert_int_equal(fstat(fd, &st), 0);
	off_t at = (off_t)unit_below(&state, (size_t)st.st_size);
	if (cuts) {
		assert_int_equal(ftruncate(fd, at), 0);
	} else {
		assert_int_equal(pread(fd, &byte, 1, at), 1);
		byte ^= (uint8_t)(1u << unit_below(&state, 8));
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	}
	close(fd);
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
		cmocka_unit_test(what_was_written_is_there_when_it_is_opened_again),
		cmocka_unit_test(purging_leaves_no_byte_of_what_is_gone),
		cmocka_unit_test(a_damaged_file_counts_as_not_embedded),
		cmocka_unit_test(vectors_of_another_model_are_not_compared),
		cmocka_unit_test(the_same_text_is_not_embedded_again),
		cmocka_unit_test(a_vector_takes_what_was_promised),
		cmocka_unit_test(a_scan_with_bits_gives_what_comparing_everything_gives),
		cmocka_unit_test(bits_let_through_what_is_near),
		cmocka_unit_test(damaged_bits_cost_nothing_but_their_making),
		cmocka_unit_test(purging_overwrites_the_bits),
		cmocka_unit_test(meaning_finds_what_shares_no_word),
		cmocka_unit_test(scans_run_beside_every_change),
	};
	if (!mkdtemp(dir))
		return 1;
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	file_remove_tree(dir, NULL);
	return failed;
}
