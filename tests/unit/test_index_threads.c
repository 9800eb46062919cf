/*
 * Searches beside a writer that puts, removes, flushes, merges and purges, of words and of vectors,
 * and embeds everything anew. Run under the thread sanitizer too.
 */

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/mem.h"
#include "embed/vector.h"
#include "index/query.h"
#include "index/vectors.h"

#define READERS 3
#define ROWS 400
#define ROUNDS 120

static struct index *ix;
static struct vectors *vectors; /* NULL: words alone */
static atomic_bool is_over;
static atomic_int forgotten; /* rows up to this one were removed before */
static atomic_long searches, wrong;

static void check(struct search_result *r, int forgotten_before)
{
	for (size_t i = 0; i < r->n; i++) {
		int64_t row = DOC_ROW(r->hits[i].id);
		/*
		 * Each document's project is its row: a hit whose columns are of another document
		 * is a torn read.
		 */
		if (r->hits[i].columns.project != (uint32_t)row || row <= forgotten_before)
			atomic_fetch_add(&wrong, 1);
		if (i && r->hits[i - 1].score < r->hits[i].score)
			atomic_fetch_add(&wrong, 1);
	}
}

/* Something that depends on the row. */
static void vector_of(int row, int8_t at[VECTOR_DIMS])
{
	for (int i = 0; i < VECTOR_DIMS; i++)
		at[i] = (int8_t)((row * 31 + i * (row % 7 + 1) * 17) % 201 - 100);
}

static const struct vector_query *meaning_of(struct arena *a, int row)
{
	struct vector_query *q = ARENA_NEW(a, struct vector_query);
	int8_t at[VECTOR_DIMS];
	float mean[VECTOR_DIMS_MAX];
	vector_of(row, at);
	vectors_mean(vectors, 100, mean);
	vector_query_init(q, VECTOR_DIMS, at, .0007f, mean);
	return q;
}

static void *read_on(void *arg)
{
	static const char *const questions[] = { "alpha beta", "gamma", "\"alpha beta\"", "",
		"delta -gamma", "alpha beta gamma delta epsilon" };
	struct analyser *an = analyser_new();
	for (unsigned i = 0; !atomic_load(&is_over); i++) {
		AUTO(arena_done) struct arena a = { 0 };
		struct search_result r;
		struct index_stats st;
		struct search s = { .query = query_parse(&a, an,
					    str_of(questions[i % ARRAY_LEN(questions)]), NULL),
			.limit = 50,
			.by_session = i % 5 == 4,
			.vectors = vectors,
			.meaning = vectors ? meaning_of(&a, (int)i) : NULL,
			.is_semantic = vectors && i % 3 == 2 };
		int before = atomic_load(&forgotten);
		if (index_search(ix, &a, &s, &r, NULL) == 0)
			check(&r, before);
		index_stats(ix, &st);
		index_wants_flush(ix);
		atomic_fetch_add(&searches, 1);
	}
	analyser_free(an);
	return NULL;
}

static void put_row(int row)
{
	static const char *const words[] = { "alpha", "beta", "gamma", "delta", "epsilon" };
	char text[200] = "";
	for (int i = 0; i < 12; i++) {
		strcat(text, words[(row * 7 + i * i) % 5]);
		strcat(text, " ");
	}
	struct doc d = { .id = DOC_ID(DOC_MEMORY, row),
		.columns = { .project = (uint32_t)row,
			.session = (uint32_t)(row % 9 + 1),
			.at = row },
		.body = str_of(text) };
	index_put(ix, &d, 1, NULL);
	if (!vectors)
		return;
	int8_t at[VECTOR_DIMS];
	float scale = .0007f;
	vector_of(row, at);
	vectors_put(vectors,
		&(struct vectors_doc){
			.id = d.id, .columns = d.columns, .hash = (uint32_t)row, .n = 1, .at = at, .scales = &scale },
		NULL);
}

static bool is_alive(void *ctx, doc_id id)
{
	return index_has(ix, id);
}

/* As the daemon does it: words first, since they say whether a text still exists. */
static void forget_rows(int first, int last)
{
	for (int row = first; row <= last; row++) {
		doc_id id = DOC_ID(DOC_MEMORY, row);
		index_remove(ix, &id, 1, NULL);
	}
	index_flush(ix, true, NULL);
	if (vectors)
		vectors_purge(vectors, is_alive, NULL, NULL);
}

/* Another model: what there was of vectors goes while searches read it. */
static void embed_anew(int round)
{
	if (!vectors)
		return;
	vectors_load(vectors, round % 2 ? "one model" : "another model", VECTOR_DIMS, NULL);
	for (int i = 0; i < 50; i++)
		put_row(atomic_load(&forgotten) + 1 + i);
	vectors_flush(vectors, NULL);
}

static void *write_on(void *arg)
{
	uint32_t seed = 99;
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < 5; i++) {
			seed = seed * 1664525 + 1013904223;
			put_row(atomic_load(&forgotten) + 1 + (int)((seed >> 8) % ROWS));
		}
		if (round % 3 == 0)
			index_flush(ix, false, NULL);
		if (round % 15 == 7)
			embed_anew(round);
		if (round % 10 != 9)
			continue;
		int last = atomic_load(&forgotten) + 20;
		forget_rows(last - 19, last);
		atomic_store(&forgotten, last);
	}
	atomic_store(&is_over, true);
	return NULL;
}

static void search_and_write(const char *dir)
{
	pthread_t readers[READERS], writer;
	bool needs_rebuild;
	atomic_store(&is_over, false);
	atomic_store(&forgotten, 0);
	atomic_store(&searches, 0);
	assert_int_equal(index_open(dir, &ix, &needs_rebuild, NULL), 0);
	for (int i = 0; i < READERS; i++)
		assert_int_equal(pthread_create(&readers[i], NULL, read_on, NULL), 0);
	assert_int_equal(pthread_create(&writer, NULL, write_on, NULL), 0);
	pthread_join(writer, NULL);
	for (int i = 0; i < READERS; i++)
		pthread_join(readers[i], NULL);
	assert_int_equal(atomic_load(&wrong), 0);
	assert_true(atomic_load(&searches) > 0);
	index_close(ix);
}

static void searches_beside_a_writer_see_whole_snapshots_and_nothing_forgotten(void **state)
{
	char dir[] = "/tmp/remanence-threads-XXXXXX";
	assert_non_null(mkdtemp(dir));
	search_and_write(dir);
	file_remove_tree(dir, NULL);
}

static void searches_by_meaning_beside_forgetting_and_embedding_anew_see_nothing_forgotten(void **state)
{
	char dir[] = "/tmp/remanence-threads-XXXXXX", place[64];
	assert_non_null(mkdtemp(dir));
	snprintf(place, sizeof(place), "%s/vectors", dir);
	vectors = vectors_new(place);
	assert_int_equal(vectors_load(vectors, "one model", VECTOR_DIMS, NULL), 0);
	search_and_write(dir);
	vectors_free(vectors);
	vectors = NULL;
	file_remove_tree(dir, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			searches_beside_a_writer_see_whole_snapshots_and_nothing_forgotten),
		cmocka_unit_test(
			searches_by_meaning_beside_forgetting_and_embedding_anew_see_nothing_forgotten),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
