/*
 * Searches beside a writer that puts, removes, flushes, merges and purges. Run under the thread
 * sanitizer too.
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
#include "index/query.h"

#define READERS 3
#define ROWS 400
#define ROUNDS 120

static struct index *ix;
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
			.by_session = i % 5 == 4 };
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
		if (round % 10 != 9)
			continue;
		int last = atomic_load(&forgotten) + 20;
		for (int row = last - 19; row <= last; row++) {
			doc_id id = DOC_ID(DOC_MEMORY, row);
			index_remove(ix, &id, 1, NULL);
		}
		index_flush(ix, true, NULL);
		atomic_store(&forgotten, last);
	}
	atomic_store(&is_over, true);
	return NULL;
}

static void searches_beside_a_writer_see_whole_snapshots_and_nothing_forgotten(void **state)
{
	char dir[] = "/tmp/remanence-threads-XXXXXX";
	pthread_t readers[READERS], writer;
	bool needs_rebuild;
	assert_non_null(mkdtemp(dir));
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
	file_remove_tree(dir, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			searches_beside_a_writer_see_whole_snapshots_and_nothing_forgotten),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
