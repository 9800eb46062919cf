#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/blob_id.h"
#include "base/mem.h"
#include "conf/git.h"

static void contents_have_the_names_that_git_gives_them(void **state)
{
	char id[BLOB_ID_SIZE];
	char big[1000];

	blob_id("", 0, id);
	assert_string_equal(id, "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
	blob_id("hello\n", 6, id);
	assert_string_equal(id, "ce013625030ba8dba906f756967f9e9ca394464a");
	/* As `git hash-object` says of a thousand times "a": more than one block, and an end that needs another one. */
	memset(big, 'a', sizeof(big));
	blob_id(big, sizeof(big), id);
	assert_string_equal(id, "a50be72b20f0e3f078d252e8e56b11b4bec67509");
	for (size_t n = 40; n < 70; n++) {
		char other[BLOB_ID_SIZE];
		blob_id(big, n, id);
		blob_id(big, n + 1, other);
		assert_string_not_equal(id, other);
	}
}

static void a_history_is_read_whole_or_in_part(void **state)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct git_log log = { 0 };
	char text[] = "C1111111111111111111111111111111111111111 1700000100 second: with spaces\n"
		      "\n"
		      ":100644 100644 aaaa bbbb M\tsrc/a.c\n"
		      ":100644 100644 cccc cccc R100\told name.c\tnew name.c\n"
		      "C2222222222222222222222222222222222222222 1700000000 first\n"
		      "\n"
		      ":000000 100644 0000 aaaa A\tsrc/a.c\n"
		      ":100644 1006";

	git_log_parse(&a, text, &log);
	assert_int_equal(log.n, 2);
	assert_int_equal(log.commits[0].at, 1700000100000);
	assert_string_equal(log.commits[0].subject, "second: with spaces");
	assert_int_equal(log.nchanges, 3);
	assert_string_equal(log.changes[0].blob, "bbbb");
	assert_null(log.changes[0].renamed);
	assert_string_equal(log.changes[1].path, "old name.c");
	assert_string_equal(log.changes[1].renamed, "new name.c");
	assert_int_equal(log.changes[2].commit, 1);
	char nonsense[] = ":\nC\n: : : : :\tx\n:a\tb\n\n";
	git_log_parse(&a, nonsense, &log);
	assert_int_equal(log.n, 2);
}

static void outside_a_repository_git_is_an_error_with_a_reason(void **state)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct git_log log;
	struct err err = { 0 };
	char folder[] = "/tmp/rem-git-XXXXXX";

	assert_non_null(mkdtemp(folder));
	assert_int_equal(git_log(&a, &(struct git_log_query){ .root = folder, .max = 1 }, &log, &err), -1);
	assert_non_null(strstr(err.text, folder));
	assert_int_equal(rmdir(folder), 0);
	assert_int_equal(git_log(&a, &(struct git_log_query){ .root = folder, .max = 1 }, &log, &err), -1);
	assert_non_null(strstr(err.text, "is gone"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(contents_have_the_names_that_git_gives_them),
		cmocka_unit_test(a_history_is_read_whole_or_in_part),
		cmocka_unit_test(outside_a_repository_git_is_an_error_with_a_reason),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
