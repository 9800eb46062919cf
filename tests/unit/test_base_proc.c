/* proc.c, with a real shell. */
#include "unit.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/proc.h"
#include "base/str.h"

#define LONG_MS 20000

static int shell(
	const char *script, const char *input, int timeout_ms, struct buf *out, struct buf *errors)
{
	const char *const argv[] = { "sh", "-c", script, NULL };
	struct proc_run r = { .argv = argv,
		.input = input,
		.input_len = input ? strlen(input) : 0,
		.timeout_ms = timeout_ms };
	struct err err = { 0 };
	int status = -2;

	if (proc_run(&r, out, errors, &status, &err) < 0)
		fail_msg("%s", err.text);
	return status;
}

static void a_child_gets_its_input_and_gives_both_outputs_and_its_status(void **state)
{
	AUTO(buf_done) struct buf out = { 0 };
	AUTO(buf_done) struct buf errors = { 0 };

	assert_int_equal(shell("cat; echo oops >&2; exit 3", "hello", LONG_MS, &out, &errors), 3);
	assert_string_equal(out.data, "hello");
	assert_string_equal(errors.data, "oops\n");
	assert_int_equal(shell("cat", NULL, LONG_MS, NULL, NULL), 0);
	assert_int_equal(shell("kill -TERM $$", NULL, LONG_MS, NULL, NULL), 128 + SIGTERM);
}

static void more_than_a_pipe_holds_flows_both_ways(void **state)
{
	AUTO(buf_done) struct buf out = { 0 };
	char *input = mem_alloc(3000001);

	memset(input, 'x', 3000000);
	assert_int_equal(shell("cat", input, LONG_MS, &out, NULL), 0);
	assert_int_equal(out.len, 3000000);
	free(input);
}

static void output_above_its_ceiling_is_dropped_and_the_child_still_ends(void **state)
{
	AUTO(buf_done) struct buf out = { .max = 1000 };

	assert_int_equal(shell("head -c 1000000 /dev/zero; exit 4", NULL, LONG_MS, &out, NULL), 4);
	assert_int_equal(out.len, 1000);
	assert_true(out.is_full);
}

static void a_child_that_reads_nothing_does_not_kill_us(void **state)
{
	char *input = mem_alloc(1000001);

	memset(input, 'x', 1000000);
	assert_int_equal(shell("exec <&-; sleep 0.05", input, LONG_MS, NULL, NULL), 0);
	free(input);
}

static void time_over_kills_the_child_and_its_group(void **state)
{
	AUTO(buf_done) struct buf out = { 0 };
	uint64_t start = clock_mono_us();
	int64_t pid;

	assert_int_equal(shell("sleep 100 & echo $!; wait", NULL, 300, &out, NULL), -1);
	assert_true(clock_mono_us() - start < 10000000);
	buf_cut(&out, out.len - 1);
	assert_true(str_to_i64(out.data, &pid));
	/* Killed; it may wait as a zombie for whoever inherits it. */
	for (int i = 0; i < 500 && kill((pid_t)pid, 0) == 0; i++) {
		AUTO(buf_done) struct buf stat = { 0 };
		AUTO(arena_done) struct arena a = { 0 };

		if (file_read(arena_printf(&a, "/proc/%d/stat", (int)pid), 4096, &stat, NULL) < 0 ||
			strstr(stat.data, ") Z"))
			return;
		poll(NULL, 0, 10);
	}
	assert_int_equal(kill((pid_t)pid, 0), -1);
}

static void a_grandchild_that_holds_the_pipe_is_not_waited_for(void **state)
{
	AUTO(buf_done) struct buf out = { 0 };
	uint64_t start = clock_mono_us();

	assert_int_equal(shell("sleep 100 & echo done", NULL, LONG_MS, &out, NULL), 0);
	assert_string_equal(out.data, "done\n");
	assert_true(clock_mono_us() - start < 10000000);
}

static void a_child_starts_with_a_clean_slate(void **state)
{
	AUTO(buf_done) struct buf out = { 0 };
	int fd = open("/dev/null", O_RDONLY);
	const char *const argv[] = { "/bin/sh", "-c", "pwd; echo $A$HOME; ls /proc/self/fd | wc -l",
		NULL };
	const char *const env[] = { "A=b", "PATH=/usr/bin:/bin", NULL };
	struct proc_run r = { .argv = argv, .cwd = "/usr", .timeout_ms = LONG_MS, .env = env };
	struct err err = { 0 };
	int status = -2;

	assert_true(fd >= 0);
	assert_int_equal(proc_run(&r, &out, NULL, &status, &err), 0);
	close(fd);
	/* Three descriptors, and the one with which ls reads the folder. */
	assert_string_equal(out.data, "/usr\nb\n4\n");
}

static void a_program_that_cannot_run_is_an_error(void **state)
{
	const char *const argv[] = { "/nowhere/program", NULL };
	const char *const true_argv[] = { "true", NULL };
	struct proc_run r = { .argv = argv, .timeout_ms = LONG_MS };
	struct err err = { 0 };
	int status = -2;

	assert_int_equal(proc_run(&r, NULL, NULL, &status, &err), -1);
	assert_int_equal(err.code, ERR_NOT_FOUND);
	assert_int_equal(status, -2);
	r = (struct proc_run){ .argv = true_argv, .cwd = "/nowhere", .timeout_ms = LONG_MS };
	assert_int_equal(proc_run(&r, NULL, NULL, &status, &err), -1);
	assert_int_equal(proc_daemon(argv, NULL, &err), -1);
	assert_int_equal(err.code, ERR_NOT_FOUND);
}

static void a_daemon_has_no_terminal_no_folder_and_no_descriptors_of_ours(void **state)
{
	AUTO(arena_done) struct arena a = { 0 };
	AUTO(buf_done) struct buf out = { 0 };
	const char *tmp = getenv("TMPDIR");
	char *path = arena_printf(&a, "%s/daemon-XXXXXX", tmp ? tmp : "/tmp");
	char *script;
	struct err err = { 0 };

	assert_non_null(mkdtemp(path));
	script = arena_printf(&a,
		"(pwd; umask; ls -l /proc/self/fd | grep -c null; echo $A) >%s/x; mv %s/x %s/done",
		path, path, path);
	const char *const argv[] = { "/bin/sh", "-c", script, NULL };
	const char *const env[] = { "A=b", "PATH=/usr/bin:/bin", NULL };

	assert_int_equal(proc_daemon(argv, env, &err), 0);
	for (int i = 0; i < 1000 && file_read(path_join(&a, path, "done"), 4096, &out, &err) < 0;
		i++)
		poll(NULL, 0, 10);
	assert_non_null(out.data);
	assert_memory_equal(out.data, "/\n0077\n", 7);
	assert_non_null(strstr(out.data, "\nb\n"));
	file_remove_tree(path, NULL);
}

static void our_own_path_is_known(void **state)
{
	AUTO(buf_done) struct buf out = { 0 };

	assert_int_equal(proc_self_path(&out), 0);
	assert_string_equal(path_base(out.data), "test_base_proc");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_child_gets_its_input_and_gives_both_outputs_and_its_status),
		cmocka_unit_test(more_than_a_pipe_holds_flows_both_ways),
		cmocka_unit_test(output_above_its_ceiling_is_dropped_and_the_child_still_ends),
		cmocka_unit_test(a_child_that_reads_nothing_does_not_kill_us),
		cmocka_unit_test(time_over_kills_the_child_and_its_group),
		cmocka_unit_test(a_grandchild_that_holds_the_pipe_is_not_waited_for),
		cmocka_unit_test(a_child_starts_with_a_clean_slate),
		cmocka_unit_test(a_program_that_cannot_run_is_an_error),
		cmocka_unit_test(a_daemon_has_no_terminal_no_folder_and_no_descriptors_of_ours),
		cmocka_unit_test(our_own_path_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
