/* What stands on disk: recovery point, damage, forgetting. */

#include <fcntl.h>
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
#include "index/query.h"

static char dir[] = "/tmp/remanence-files-XXXXXX";
static struct analyser *an;

static int setup(void **state)
{
	an = analyser_new();
	return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
	analyser_free(an);
	return file_remove_tree(dir, NULL);
}

static struct index *open_index(bool wants_rebuild)
{
	struct index *ix;
	bool needs_rebuild;
	struct err err;
	assert_int_equal(index_open(dir, &ix, &needs_rebuild, &err), 0);
	assert_int_equal(needs_rebuild, wants_rebuild);
	return ix;
}

static void put(struct index *ix, int64_t row, const char *text)
{
	struct doc d = { .id = DOC_ID(DOC_MEMORY, row), .body = str_of(text) };
	assert_int_equal(index_put(ix, &d, 1, NULL), 0);
}

static uint64_t found(struct index *ix, const char *text)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct search s = {
		.query = query_parse(&a, an, str_of(text), NULL), .limit = 10, .wants_total = true
	};
	struct search_result r;
	assert_int_equal(index_search(ix, &a, &s, &r, NULL), 0);
	return r.match == MATCH_SPELLING ? 0 : r.total;
}

static void fill(struct index *ix)
{
	char text[100];
	for (int i = 0; i < 40; i++) {
		snprintf(text, sizeof(text), "marmalade zed%c%c alpha%d beta", 'a' + i / 10,
			'a' + i % 10, i % 7);
		put(ix, i + 1, text);
		if (i % 15 == 14)
			assert_int_equal(index_flush(ix, false, NULL), 0);
	}
	doc_id gone = DOC_ID(DOC_MEMORY, 3);
	assert_int_equal(index_remove(ix, &gone, 1, NULL), 0);
	index_set_seq(ix, 77);
	assert_int_equal(index_flush(ix, false, NULL), 0);
}

static void start_over(void)
{
	file_remove_tree(dir, NULL);
	struct index *ix = open_index(true);
	fill(ix);
	index_close(ix);
}

static void a_new_index_asks_to_be_filled(void **state)
{
	struct index *ix = open_index(true);
	assert_int_equal(index_seq(ix), 0);
	index_close(ix);
}

static void what_was_flushed_is_there_again(void **state)
{
	start_over();
	struct index *ix = open_index(false);
	assert_int_equal(index_seq(ix), 77);
	assert_int_equal(found(ix, "marmalade"), 39);
	assert_int_equal(found(ix, "zedac"), 0);
	assert_int_equal(found(ix, "zedaf"), 1);
	index_close(ix);
}

static void what_was_not_flushed_is_asked_for_again(void **state)
{
	start_over();
	struct index *ix = open_index(false);
	put(ix, 500, "marmalade late");
	index_set_seq(ix, 78);
	assert_int_equal(found(ix, "late"), 1);
	index_close(ix);
	ix = open_index(false);
	assert_int_equal(index_seq(ix), 77);
	assert_int_equal(found(ix, "late"), 0);
	index_close(ix);
}

static void replaced_documents_are_found_by_their_new_words_only(void **state)
{
	start_over();
	struct index *ix = open_index(false);
	put(ix, 10, "rewritten completely");
	assert_int_equal(found(ix, "zedaj"), 0);
	assert_int_equal(found(ix, "rewritten"), 1);
	assert_int_equal(found(ix, "marmalade"), 38);
	index_close(ix);
}

static void damage_once(const char *path, uint32_t seed)
{
	AUTO(buf_done) struct buf b = { 0 };
	assert_int_equal(file_read(path, 1 << 24, &b, NULL), 0);
	switch (seed % 3) {
	case 0:
		assert_int_equal(truncate(path, (off_t)((seed >> 2) % b.len)), 0);
		break;
	case 1: {
		int fd = open(path, O_WRONLY);
		off_t at = (off_t)((seed >> 2) % b.len);
		char c = (char)(b.data[at] ^ (1 << (seed >> 29)));
		assert_int_equal(pwrite(fd, &c, 1, at), 1);
		close(fd);
		break;
	}
	default:
		assert_int_equal(unlink(path), 0);
	}
}

static void any_damage_leads_to_an_empty_index_that_asks_to_be_filled(void **state)
{
	uint32_t seed = 12345;
	for (int round = 0; round < 60; round++) {
		AUTO(arena_done) struct arena a = { 0 };
		char **names;
		size_t n;
		start_over();
		assert_int_equal(file_list(&a, dir, &names, &n, NULL), 0);
		assert_true(n >= 2);
		seed = seed * 1664525 + 1013904223;
		damage_once(path_join(&a, dir, names[(seed >> 8) % n]), seed * 2654435761u);
		struct index *ix = open_index(true);
		assert_int_equal(index_seq(ix), 0);
		assert_int_equal(found(ix, "marmalade"), 0);
		fill(ix);
		assert_int_equal(found(ix, "marmalade"), 39);
		index_close(ix);
		ix = open_index(false);
		assert_int_equal(found(ix, "marmalade"), 39);
		index_close(ix);
	}
}

static void files_that_an_interrupted_flush_left_are_removed(void **state)
{
	AUTO(arena_done) struct arena a = { 0 };
	start_over();
	const char *stray = path_join(&a, dir, "segment-999999");
	assert_int_equal(file_write(stray, "half", 4, 0600, NULL), 0);
	struct index *ix = open_index(false);
	assert_false(file_exists(stray));
	assert_int_equal(found(ix, "marmalade"), 39);
	index_close(ix);
}

static bool files_hold(const char *word)
{
	AUTO(arena_done) struct arena a = { 0 };
	char **names;
	size_t n;
	bool holds = false;
	assert_int_equal(file_list(&a, dir, &names, &n, NULL), 0);
	for (size_t i = 0; i < n; i++) {
		AUTO(buf_done) struct buf b = { 0 };
		assert_int_equal(file_read(path_join(&a, dir, names[i]), 1 << 24, &b, NULL), 0);
		holds |= memmem(b.data, b.len, word, strlen(word)) != NULL;
	}
	return holds;
}

static void forgetting_leaves_no_word_in_any_file(void **state)
{
	start_over();
	struct index *ix = open_index(false);
	put(ix, 700, "xylophonesecret");
	assert_int_equal(index_flush(ix, false, NULL), 0);
	assert_true(files_hold("xylophonesecret"));
	doc_id id = DOC_ID(DOC_MEMORY, 700);
	assert_int_equal(index_remove(ix, &id, 1, NULL), 0);
	assert_int_equal(found(ix, "xylophonesecret"), 0);
	assert_int_equal(index_flush(ix, true, NULL), 0);
	assert_false(files_hold("xylophonesecret"));
	struct index_stats st;
	index_stats(ix, &st);
	assert_int_equal(st.removed, 0);
	assert_int_equal(found(ix, "marmalade"), 39);
	index_close(ix);
}

static void forgetting_everything_leaves_nothing(void **state)
{
	start_over();
	struct index *ix = open_index(false);
	for (int i = 1; i <= 40; i++) {
		doc_id id = DOC_ID(DOC_MEMORY, i);
		assert_int_equal(index_remove(ix, &id, 1, NULL), 0);
	}
	assert_int_equal(index_flush(ix, true, NULL), 0);
	assert_false(files_hold("marmalade"));
	index_close(ix);
	ix = open_index(false);
	assert_int_equal(found(ix, "marmalade"), 0);
	assert_int_equal(index_seq(ix), 77);
	index_close(ix);
}

static void clearing_empties_files_and_sequence(void **state)
{
	start_over();
	struct index *ix = open_index(false);
	assert_int_equal(index_clear(ix, NULL), 0);
	assert_int_equal(found(ix, "marmalade"), 0);
	assert_int_equal(index_seq(ix), 0);
	assert_false(files_hold("marmalade"));
	fill(ix);
	assert_int_equal(found(ix, "marmalade"), 39);
	index_close(ix);
}

static void an_unwritable_folder_is_an_error_and_loses_nothing_in_memory(void **state)
{
	start_over();
	struct index *ix = open_index(false);
	struct err err;
	put(ix, 900, "marmalade again");
	file_remove_tree(dir, NULL);
	assert_int_equal(index_flush(ix, false, &err), -1);
	assert_int_equal(err.code, ERR_IO);
	assert_int_equal(found(ix, "marmalade"), 40);
	assert_int_equal(file_mkdirs(dir, 0700, NULL), 0);
	index_close(ix);
}

static void segments_stay_few(void **state)
{
	file_remove_tree(dir, NULL);
	struct index *ix = open_index(true);
	for (int i = 0; i < 300; i++) {
		put(ix, i + 1, "alpha beta gamma");
		assert_int_equal(index_flush(ix, false, NULL), 0);
	}
	struct index_stats st;
	index_stats(ix, &st);
	assert_true(st.segments <= 10);
	assert_int_equal(found(ix, "beta"), 300);
	index_close(ix);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_index_asks_to_be_filled),
		cmocka_unit_test(what_was_flushed_is_there_again),
		cmocka_unit_test(what_was_not_flushed_is_asked_for_again),
		cmocka_unit_test(replaced_documents_are_found_by_their_new_words_only),
		cmocka_unit_test(any_damage_leads_to_an_empty_index_that_asks_to_be_filled),
		cmocka_unit_test(files_that_an_interrupted_flush_left_are_removed),
		cmocka_unit_test(forgetting_leaves_no_word_in_any_file),
		cmocka_unit_test(forgetting_everything_leaves_nothing),
		cmocka_unit_test(clearing_empties_files_and_sequence),
		cmocka_unit_test(an_unwritable_folder_is_an_error_and_loses_nothing_in_memory),
		cmocka_unit_test(segments_stay_few),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
