#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "daemon/walk.h"

static char root[64];

static const char *below(struct arena *a, const char *name)
{
	return path_join(a, root, name);
}

static void write_at(struct arena *a, const char *name, time_t mtime)
{
	struct err err = { 0 };
	const struct timespec times[2] = { { .tv_sec = mtime }, { .tv_sec = mtime } };
	assert_int_equal(file_write(below(a, name), "{}\n", 3, 0600, &err), 0);
	assert_int_equal(utimensat(AT_FDCWD, below(a, name), times, 0), 0);
}

static int set_up(void **state)
{
	strcpy(root, "/tmp/remanence-walk-XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int tear_down(void **state)
{
	return file_remove_tree(root, NULL);
}

static void files_are_found_newest_first_and_only_with_their_ending(void **state)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct walk w = { .arena = &a, .ending = ".jsonl" };
	struct err err = { 0 };
	assert_int_equal(file_mkdirs(below(&a, "x/y"), 0700, &err), 0);
	write_at(&a, "old.jsonl", 1000);
	write_at(&a, "x/y/new.jsonl", 3000);
	write_at(&a, "x/middle.jsonl", 2000);
	write_at(&a, "x/notes.txt", 4000);
	walk_add(&w, root);
	walk_add(&w, below(&a, "old.jsonl"));
	walk_sort(&w);
	walk_done(&w);
	assert_int_equal(w.n, 3);
	assert_string_equal(path_base(w.files[0].path), "new.jsonl");
	assert_string_equal(path_base(w.files[1].path), "middle.jsonl");
	assert_string_equal(path_base(w.files[2].path), "old.jsonl");
	assert_int_equal(w.npassed, 0);
}

static void links_that_lead_in_circles_are_followed_once(void **state)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct walk w = { .arena = &a, .ending = ".jsonl" };
	struct err err = { 0 };
	assert_int_equal(file_mkdirs(below(&a, "deep"), 0700, &err), 0);
	write_at(&a, "deep/one.jsonl", 1000);
	assert_int_equal(symlink(root, below(&a, "deep/up")), 0);
	assert_int_equal(symlink("nowhere", below(&a, "deep/broken.jsonl")), 0);
	walk_add(&w, root);
	walk_sort(&w);
	walk_done(&w);
	assert_int_equal(w.n, 1);
	assert_int_equal(w.npassed, 1);
}

static void what_is_no_file_is_passed_over_with_a_reason(void **state)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct walk w = { .arena = &a, .ending = ".jsonl" };
	assert_int_equal(mkfifo(below(&a, "pipe.jsonl"), 0600), 0);
	walk_add(&w, below(&a, "pipe.jsonl"));
	walk_add(&w, below(&a, "missing.jsonl"));
	walk_done(&w);
	assert_int_equal(w.n, 0);
	assert_int_equal(w.npassed, 2);
	assert_non_null(strstr(w.passed[0].reason, "FIFO"));
	assert_non_null(strstr(w.passed[1].reason, "no such"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			files_are_found_newest_first_and_only_with_their_ending, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			links_that_lead_in_circles_are_followed_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			what_is_no_file_is_passed_over_with_a_reason, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
