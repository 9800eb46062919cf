/*
 * Merging: what it writes does not depend on where to, and its memory follows the number of
 * documents alone. Allocations of this program are counted: tests/unit/meson.build has them wrapped.
 */

#include <fcntl.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/mem.h"
#include "index/build.h"
#include "index/merge.h"
#include "index/query.h"

#define DOCS 16000
#define PER_SESSION 40
#define TEXT_MAX 400
/* Buffers grow by doubling, and what is written waits for a piece of a megabyte. */
#define SLACK (768u << 10)

static char dir[] = "/tmp/remanence-merge-XXXXXX";
static long held, most_held;

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void __real_free(void *p);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
void __wrap_free(void *p);

static void *counted(void *p)
{
	held += (long)malloc_usable_size(p);
	most_held = MAX(held, most_held);
	return p;
}

void *__wrap_malloc(size_t size)
{
	return counted(__real_malloc(size));
}

void *__wrap_calloc(size_t n, size_t size)
{
	return counted(__real_calloc(n, size));
}

void *__wrap_realloc(void *p, size_t size)
{
	held -= (long)malloc_usable_size(p);
	return counted(__real_realloc(p, size));
}

void __wrap_free(void *p)
{
	held -= (long)malloc_usable_size(p);
	__real_free(p);
}

static int setup(void **state)
{
	return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
	return file_remove_tree(dir, NULL);
}

/* Words that all have, a word of each one's own, and one that has many places in each. */
static struct segment *segment_of(int first, int n)
{
	struct builder *b = builder_new();
	struct doc *docs = mem_alloc((size_t)n * sizeof(*docs));
	char *texts = mem_alloc((size_t)n * TEXT_MAX);
	for (int i = 0; i < n; i++) {
		char *text = texts + (size_t)i * TEXT_MAX;
		const int row = first + i;
		snprintf(text, TEXT_MAX, "the parser%d%s took token%dof%dkind zed%d%s", row % 7,
			row % 3 ? " echo echo and echo, echo or echo" : "", row, row % 11,
			row % 977, row % 5 ? " echo echo echo echo echo echo echo echo" : "");
		docs[i] = (struct doc){ .id = DOC_ID(row % 2 ? DOC_EVENT : DOC_MEMORY, row + 1),
			.columns = { .at = 1700000000000 + row,
				.session = 1 + (uint32_t)(row / PER_SESSION),
				.flags = row % 9 ? 0 : DOC_META },
			.body = str_of(text) };
	}
	struct segment *s = builder_run(b, docs, (size_t)n);
	builder_free(b);
	free(docs);
	free(texts);
	return s;
}

struct sources {
	struct merge_source list[4];
	uint8_t *dead;
};

/* Documents of all four in turn, some of the second removed. */
static struct sources sources_of(int docs)
{
	struct sources s = { .dead = mem_alloc((size_t)docs / 8 + 16) };
	for (int i = 0; i < 4; i++)
		s.list[i].seg = segment_of(i * docs / 4, docs / 4);
	for (int i = 0; i < docs / 4; i += 5)
		s.dead[i / 8] |= (uint8_t)(1 << i % 8);
	s.list[1].dead = s.dead;
	return s;
}

static void sources_done(struct sources *s)
{
	for (int i = 0; i < 4; i++)
		segment_free((struct segment *)(uintptr_t)s->list[i].seg);
	free(s->dead);
}

static struct merge_target merge_to_file(const struct sources *s, const char *path)
{
	struct merge_target t = { .fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600), .dir = dir };
	assert_true(t.fd >= 0);
	assert_int_equal(merge_segments(s->list, 4, &t, NULL), 0);
	close(t.fd);
	return t;
}

/* The most bytes that were held at once while so many documents were merged into a file. */
static long merging_holds(int docs)
{
	AUTO(arena_done) struct arena a = { 0 };
	AUTO(sources_done) struct sources s = sources_of(docs);
	const long before = most_held = held;
	merge_to_file(&s, path_join(&a, dir, "merged"));
	return most_held - before;
}

static void what_merging_holds_grows_by_a_few_bytes_a_document(void **state)
{
	const long less = merging_holds(DOCS), more = merging_holds(8 * DOCS);
	const long documents = 7 * DOCS;
	print_message("%d documents %ld bytes, %d documents %ld\n", DOCS, less, 8 * DOCS, more);
	assert_true(more - less < documents * (long)MERGE_DOC_BYTES + SLACK);
}

static void a_file_gets_the_same_bytes_as_memory(void **state)
{
	AUTO(arena_done) struct arena a = { 0 };
	AUTO(sources_done) struct sources s = sources_of(4 * DOCS);
	const char *path = path_join(&a, dir, "merged");
	struct merge_target file = merge_to_file(&s, path), memory = { .fd = -1 };
	AUTO(buf_done) struct buf written = { 0 };
	assert_int_equal(merge_segments(s.list, 4, &memory, NULL), 0);
	assert_int_equal(file_read(path, BUF_MAX, &written, NULL), 0);
	assert_int_equal(written.len, memory.image.len);
	assert_int_equal(file.len, written.len);
	assert_memory_equal(written.data, memory.image.data, written.len);
	buf_done(&memory.image);
}

static void no_file_is_left_of_what_had_to_wait(void **state)
{
	AUTO(arena_done) struct arena a = { 0 };
	char **names;
	size_t n;
	assert_int_equal(file_list(&a, dir, &names, &n, NULL), 0);
	for (size_t i = 0; i < n; i++)
		assert_string_equal(names[i], "merged");
}

static void a_place_that_cannot_be_written_is_an_error(void **state)
{
	AUTO(sources_done) struct sources s = sources_of(4 * DOCS);
	struct merge_target t = { .fd = open("/dev/null", O_WRONLY), .dir = "/dev/null" };
	struct err err = { 0 };
	assert_int_equal(merge_segments(s.list, 4, &t, &err), -1);
	assert_int_equal(err.code, ERR_IO);
	assert_non_null(strstr(err.text, "cannot write the index"));
	close(t.fd);
}

static struct index *index_in(const char *where)
{
	struct index *ix;
	bool needs_rebuild;
	assert_int_equal(index_open(where, &ix, &needs_rebuild, NULL), 0);
	return ix;
}

static void put_and_flush(struct index *ix, int first, int n)
{
	for (int i = first; i < first + n; i++) {
		struct doc d = { .id = DOC_ID(DOC_MEMORY, i + 1), .body = str_of("alpha beta") };
		assert_int_equal(index_put(ix, &d, 1, NULL), 0);
	}
	index_set_seq(ix, (uint64_t)(first + n));
	assert_int_equal(index_flush(ix, false, NULL), 0);
}

static struct index_stats stats_of(struct index *ix)
{
	struct index_stats s;
	index_stats(ix, &s);
	return s;
}

static void segments_stop_growing_at_their_ceiling_and_are_all_purged(void **state)
{
	AUTO(arena_done) struct arena a = { 0 };
	const char *where = path_join(&a, dir, "index");
	struct index *ix = index_in(where);
	segment_docs_max = 100;
	for (int i = 0; i < 10; i++)
		put_and_flush(ix, i * 40, 40);
	assert_int_equal(stats_of(ix).docs, 400);
	assert_true(stats_of(ix).segments >= 4);
	for (int i = 0; i < 400; i += 10) {
		doc_id gone = DOC_ID(DOC_MEMORY, i + 1);
		assert_int_equal(index_remove(ix, &gone, 1, NULL), 0);
	}
	assert_int_equal(stats_of(ix).removed, 40);
	assert_int_equal(index_flush(ix, true, NULL), 0);
	assert_int_equal(stats_of(ix).removed, 0);
	assert_int_equal(stats_of(ix).docs, 360);
	assert_true(stats_of(ix).segments >= 4);
	index_close(ix);
	ix = index_in(where);
	assert_int_equal(stats_of(ix).docs, 360);
	assert_int_equal(index_seq(ix), 400);
	index_close(ix);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_merging_holds_grows_by_a_few_bytes_a_document),
		cmocka_unit_test(a_file_gets_the_same_bytes_as_memory),
		cmocka_unit_test(no_file_is_left_of_what_had_to_wait),
		cmocka_unit_test(a_place_that_cannot_be_written_is_an_error),
		cmocka_unit_test(segments_stop_growing_at_their_ceiling_and_are_all_purged),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
