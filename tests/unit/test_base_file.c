/* file.c, path.c and log.c, in a folder of their own. */
#include "unit.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"

static struct arena mem;
static char *top;

static int make_top(void **state)
{
	const char *tmp = getenv("TMPDIR");

	umask(022);
	top = arena_printf(&mem, "%s/unit-XXXXXX", tmp ? tmp : "/tmp");
	return mkdtemp(top) ? 0 : -1;
}

static int remove_top(void **state)
{
	int rc = file_remove_tree(top, NULL) < 0 || file_exists(top);

	arena_done(&mem);
	return rc;
}

static char *at(const char *name)
{
	return path_join(&mem, top, name);
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_mode & 07777;
}

static void assert_holds(const char *path, const char *text)
{
	AUTO(buf_done) struct buf b = { 0 };
	struct err err = { 0 };

	if (file_read(path, 1 << 20, &b, &err) < 0)
		fail_msg("%s", err.text);
	assert_string_equal(buf_cstr(&b), text);
}

static void a_file_is_written_whole_with_the_mode_asked_for(void **state)
{
	struct err err = { 0 };
	char **names;
	size_t n;

	assert_int_equal(file_mkdirs(at("w/x//y/"), 0700, &err), 0);
	assert_int_equal(mode_of(at("w/x")), 0700);
	assert_int_equal(file_mkdirs(at("w/x/y"), 0700, &err), 0);
	assert_int_equal(file_write(at("w/f"), "one", 3, 0666, &err), 0);
	assert_int_equal(mode_of(at("w/f")), 0666);
	assert_int_equal(chmod(at("w/f"), 0640), 0);
	assert_int_equal(file_write_durable(at("w/f"), "two", 3, 0600, &err), 0);
	assert_int_equal(mode_of(at("w/f")), 0640);
	assert_holds(at("w/f"), "two");
	assert_int_equal(file_list(&mem, at("w"), &names, &n, &err), 0);
	assert_int_equal(n, 2);
	assert_string_equal(names[0], "f");
	assert_string_equal(names[1], "x");
}

static void a_symlink_is_followed_and_stays(void **state)
{
	struct err err = { 0 };
	struct stat st;

	file_mkdirs(at("l/real"), 0700, &err);
	assert_int_equal(symlink("real/f", at("l/link")), 0);
	assert_int_equal(symlink("link", at("l/again")), 0);
	assert_int_equal(file_write(at("l/again"), "one", 3, 0600, &err), 0);
	assert_holds(at("l/real/f"), "one");
	assert_int_equal(file_write(at("l/again"), "two", 3, 0600, &err), 0);
	assert_holds(at("l/real/f"), "two");
	assert_int_equal(lstat(at("l/again"), &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(symlink("loop", at("l/loop")), 0);
	assert_int_equal(file_write(at("l/loop"), "x", 1, 0600, &err), -1);
}

static void what_is_not_a_regular_file_is_refused_at_once(void **state)
{
	AUTO(buf_done) struct buf b = { 0 };
	struct err err = { 0 };

	assert_int_equal(mkfifo(at("fifo"), 0600), 0);
	assert_int_equal(file_read(at("fifo"), 100, &b, &err), -1);
	assert_int_equal(err.code, ERR_IO);
	assert_int_equal(file_append(at("fifo"), "x", 1, 0600, &err), -1);
	assert_int_equal(file_write(at("fifo"), "x", 1, 0600, &err), -1);
	assert_int_equal(file_read(top, 100, &b, &err), -1);
	assert_int_equal(file_read("/dev/zero", 100, &b, &err), -1);
	assert_int_equal(file_read(at("none"), 100, &b, &err), -1);
	assert_int_equal(err.code, ERR_NOT_FOUND);
	assert_int_equal(b.len, 0);
}

static void reading_stops_at_its_limit(void **state)
{
	AUTO(buf_done) struct buf b = { 0 };
	struct err err = { 0 };

	assert_int_equal(file_write(at("limit"), "0123456789", 10, 0600, &err), 0);
	assert_int_equal(file_read(at("limit"), 9, &b, &err), -1);
	assert_int_equal(err.code, ERR_TOO_LARGE);
	assert_int_equal(b.len, 0);
	assert_int_equal(file_read(at("limit"), 10, &b, &err), 0);
	assert_int_equal(file_read(at("limit"), 10, &b, &err), 0);
	assert_int_equal(b.len, 20);
	buf_cut(&b, 0);
	assert_int_equal(file_read("/proc/self/status", 1 << 16, &b, &err), 0);
	assert_true(b.len > 100);
	assert_int_equal(file_read("/proc/self/status", 50, &b, &err), -1);
	assert_int_equal(err.code, ERR_TOO_LARGE);
	buf_cut(&b, 0);
	assert_int_equal(file_write(at("empty"), "", 0, 0600, &err), 0);
	assert_int_equal(file_read(at("empty"), 0, &b, &err), 0);
	assert_int_equal(b.len, 0);
}

static void appending_makes_the_file_and_keeps_its_mode(void **state)
{
	struct err err = { 0 };

	assert_int_equal(file_append(at("app"), "a", 1, 0666, &err), 0);
	assert_int_equal(mode_of(at("app")), 0666);
	assert_int_equal(chmod(at("app"), 0600), 0);
	assert_int_equal(file_append(at("app"), "b", 1, 0666, &err), 0);
	assert_int_equal(mode_of(at("app")), 0600);
	assert_holds(at("app"), "ab");
	assert_int_equal(file_append(at("none/app"), "b", 1, 0666, &err), -1);
	assert_int_equal(err.code, ERR_NOT_FOUND);
}

static void a_tree_is_removed_without_following_symlinks(void **state)
{
	struct err err = { 0 };

	file_mkdirs(at("t/a/b/c"), 0700, &err);
	file_mkdirs(at("outside"), 0700, &err);
	file_write(at("outside/kept"), "kept", 4, 0600, &err);
	file_write(at("t/a/b/f"), "12345", 5, 0600, &err);
	assert_int_equal(symlink(at("outside"), at("t/a/out")), 0);
	assert_int_equal(symlink("/nowhere", at("t/a/b/dangling")), 0);
	assert_int_equal(file_tree_bytes(at("t")), 5);
	assert_int_equal(file_tree_bytes(at("none")), 0);
	assert_int_equal(file_remove_tree(at("t"), &err), 0);
	assert_false(file_exists(at("t")));
	assert_holds(at("outside/kept"), "kept");
	assert_int_equal(file_remove_tree(at("t"), &err), 0);
	assert_int_equal(symlink(at("outside"), at("direct")), 0);
	assert_int_equal(file_remove_tree(at("direct"), &err), 0);
	assert_holds(at("outside/kept"), "kept");
}

static void a_folder_that_is_not_there_lists_as_empty(void **state)
{
	struct err err = { 0 };
	char **names;
	size_t n = 9;

	assert_int_equal(file_list(&mem, at("none"), &names, &n, &err), 0);
	assert_int_equal(n, 0);
	file_write(at("plain"), "", 0, 0600, &err);
	assert_int_equal(file_list(&mem, at("plain"), &names, &n, &err), -1);
	assert_int_equal(file_mkdirs(at("plain/x"), 0700, &err), -1);
}

static void paths_are_cleaned_and_compared_as_text(void **state)
{
	static const struct {
		const char *cwd, *path, *clean;
	} rows[] = {
		{ "/a", "b", "/a/b" },
		{ "/a/b", "../c", "/a/c" },
		{ "/a", "/x//y/./z/", "/x/y/z" },
		{ "/a", "../../..", "/" },
		{ "/", "", "/" },
		{ "/a", ".", "/a" },
		{ "/a", "..b/...", "/a/..b/..." },
		{ "/a", "/..", "/" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_string_equal(path_clean(&mem, rows[i].cwd, rows[i].path), rows[i].clean);
	assert_string_equal(path_parent(&mem, "/a/b"), "/a");
	assert_string_equal(path_parent(&mem, "/a"), "/");
	assert_string_equal(path_parent(&mem, "/"), "/");
	assert_string_equal(path_parent(&mem, "a"), ".");
	assert_string_equal(path_parent(&mem, "a//b/"), "a");
	assert_string_equal(path_base("/a/b.c"), "b.c");
	assert_string_equal(path_base("b"), "b");
	assert_string_equal(path_join(&mem, "/a/", "b"), "/a/b");
	assert_string_equal(path_join(&mem, "", "b"), "b");
	assert_string_equal(path_join(&mem, "/a", "/b"), "/b");
	assert_string_equal(path_below("/a", "/a/b/c"), "b/c");
	assert_string_equal(path_below("/a/", "/a/b"), "b");
	assert_string_equal(path_below("/", "/a"), "a");
	assert_string_equal(path_below("/a", "/a"), "");
	assert_null(path_below("/a", "/ab"));
	assert_null(path_below("/a/b", "/a"));
}

static void *log_many(void *name)
{
	for (int i = 0; i < 3000; i++)
		log_info("thread %s says line %d of a log that is long enough to rotate, with "
			 "a\nnewline",
			(const char *)name, i);
	return NULL;
}

static void log_lines_of_threads_never_mix_and_the_log_rotates(void **state)
{
	AUTO(buf_done) struct buf b = { 0 };
	pthread_t threads[4];
	struct err err = { 0 };
	struct str rest, line;
	size_t n = 0;

	assert_int_equal(log_open(at("log"), &err), 0);
	log_debug("not shown");
	for (size_t i = 0; i < ARRAY_LEN(threads); i++)
		pthread_create(&threads[i], NULL, log_many, (void *)"t");
	for (size_t i = 0; i < ARRAY_LEN(threads); i++)
		pthread_join(threads[i], NULL);
	log_close();
	assert_int_equal(mode_of(at("log")), 0600);
	assert_false(file_exists(at("log.2")));
	assert_int_equal(file_read(at("log.1"), LOG_FILE_MAX, &b, &err), 0);
	assert_int_equal(file_read(at("log"), LOG_FILE_MAX, &b, &err), 0);
	for (rest = (struct str){ b.data, b.len }; str_line(&rest, &line); n++) {
		assert_non_null(str_find(line, STR("Z info thread t says line ")));
		assert_true(memcmp(line.p + line.n - 9, "a newline", 9) == 0);
	}
	assert_int_equal(n, 12000);
}

static void a_log_line_too_long_is_cut(void **state)
{
	AUTO(buf_done) struct buf b = { 0 };
	struct err err = { 0 };

	assert_int_equal(log_open(at("long"), &err), 0);
	log_error("%5000d", 1);
	log_warn("next");
	log_close();
	assert_int_equal(file_read(at("long"), 1 << 20, &b, &err), 0);
	assert_true(b.len < 2200);
	assert_non_null(strstr(b.data, "warn next\n"));
	assert_int_equal(log_open(at("none/log"), &err), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_written_whole_with_the_mode_asked_for),
		cmocka_unit_test(a_symlink_is_followed_and_stays),
		cmocka_unit_test(what_is_not_a_regular_file_is_refused_at_once),
		cmocka_unit_test(reading_stops_at_its_limit),
		cmocka_unit_test(appending_makes_the_file_and_keeps_its_mode),
		cmocka_unit_test(a_tree_is_removed_without_following_symlinks),
		cmocka_unit_test(a_folder_that_is_not_there_lists_as_empty),
		cmocka_unit_test(paths_are_cleaned_and_compared_as_text),
		cmocka_unit_test(log_lines_of_threads_never_mix_and_the_log_rotates),
		cmocka_unit_test(a_log_line_too_long_is_cut),
	};

	return cmocka_run_group_tests(tests, make_top, remove_top);
}
