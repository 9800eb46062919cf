/* Project identity, on repositories that git itself made in a scratch folder. */

#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "conf/project.h"

static char scratch[] = "/tmp/remanence-project-XXXXXX";
static struct arena a;

static void sh(const char *script)
{
	char *line = arena_printf(&a,
		"cd '%s' && export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null "
		"GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@t GIT_COMMITTER_NAME=t "
		"GIT_COMMITTER_EMAIL=t@t && "
		"git() { command git -c init.defaultBranch=main -c protocol.file.allow=always "
		"\"$@\"; } && %s",
		scratch, script);
	assert_int_equal(system(line), 0);
}

static const char *in(const char *path)
{
	return path_join(&a, scratch, path);
}

static struct project_identity identify(const char *path)
{
	struct project_identity p;
	project_identify(&a, in(path), &p);
	return p;
}

static int make(void **state)
{
	assert_non_null(mkdtemp(scratch));
	sh("git init -q app && cd app && mkdir -p src/deep && git commit -q --allow-empty -m one "
	   "&& "
	   "git remote add upstream https://example.org/other/app && "
	   "git remote add origin git@example.org:Owner/App.git");
	sh("mkdir plain && mkdir 'odd name\n\"q\" é'");
	return 0;
}

static int clean(void **state)
{
	file_remove_tree(scratch, NULL);
	arena_done(&a);
	return 0;
}

static void a_subfolder_belongs_to_the_repository_above(void **state)
{
	struct project_identity p = identify("app/src/deep");
	assert_string_equal(p.root, in("app"));
	assert_string_equal(p.path, in("app"));
	assert_string_equal(p.common_dir, in("app/.git"));
	assert_string_equal(p.remote, "example.org/owner/app");
	assert_string_equal(p.name, "app");
	assert_string_equal(p.branch, "main");
	assert_int_equal(strlen(p.commit), 40);
	assert_true(p.is_default_branch);
	assert_null(p.worktree);
}

static void a_folder_without_git_is_a_project_of_its_own(void **state)
{
	struct project_identity p = identify("plain/");
	assert_string_equal(p.root, in("plain"));
	assert_string_equal(p.name, "plain");
	assert_null(p.common_dir);
	assert_null(p.branch);
	assert_string_equal(identify("odd name\n\"q\" é").name, "odd name\n\"q\" é");
}

static void a_linked_work_tree_shares_the_main_one(void **state)
{
	sh("cd app && git worktree add -q -b topic ../tree && mkdir ../tree/sub");
	struct project_identity p = identify("tree/sub");
	assert_string_equal(p.root, in("app"));
	assert_string_equal(p.worktree, in("tree"));
	assert_string_equal(p.common_dir, in("app/.git"));
	assert_string_equal(p.branch, "topic");
	assert_false(p.is_default_branch);
	assert_string_equal(p.remote, "example.org/owner/app");
}

static void a_submodule_is_a_project_of_its_own(void **state)
{
	sh("git init -q lib && cd lib && git commit -q --allow-empty -m one && cd .. && "
	   "git init -q outer && cd outer && git submodule --quiet add ../lib part");
	struct project_identity p = identify("outer/part");
	assert_string_equal(p.root, in("outer/part"));
	assert_string_equal(p.common_dir, in("outer/.git/modules/part"));
	assert_null(p.worktree);
	sh("cd outer/part && git worktree add -q ../../part-tree");
	p = identify("part-tree");
	assert_string_equal(p.root, in("outer/part"));
	assert_string_equal(p.worktree, in("part-tree"));
}

static void a_packed_branch_has_its_commit(void **state)
{
	struct project_identity before = identify("app");
	sh("cd app && git pack-refs --all && test ! -e .git/refs/heads/main");
	assert_string_equal(identify("app").commit, before.commit);
}

static void a_detached_head_has_a_commit_and_no_branch(void **state)
{
	sh("git clone -q app detached && cd detached && git checkout -q --detach");
	struct project_identity p = identify("detached");
	assert_null(p.branch);
	assert_non_null(p.commit);
	assert_false(p.is_default_branch);
	assert_null(p.remote);
}

static void the_remote_says_which_branch_is_the_default(void **state)
{
	sh("cd app && git update-ref refs/remotes/origin/develop HEAD && "
	   "git symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/develop");
	assert_false(identify("app").is_default_branch);
	sh("cd app && git checkout -q -b develop");
	assert_true(identify("app").is_default_branch);
	sh("cd app && git checkout -q main && git symbolic-ref -d refs/remotes/origin/HEAD");
}

static void a_bare_repository_is_named_without_its_ending(void **state)
{
	sh("git clone -q --bare app bare.git && cd bare.git && git worktree add -q ../of-bare");
	struct project_identity p = identify("bare.git");
	assert_string_equal(p.name, "bare");
	assert_string_equal(p.common_dir, in("bare.git"));
	p = identify("of-bare");
	assert_string_equal(p.name, "bare");
	assert_string_equal(p.common_dir, in("bare.git"));
	assert_string_equal(p.worktree, in("of-bare"));
}

static void a_folder_that_is_gone_counts_by_where_it_lay(void **state)
{
	assert_string_equal(identify("app/gone/deeper").root, in("app"));
	assert_string_equal(identify("nowhere/x").root, in("nowhere/x"));
	struct project_identity p = identify("left/repo/.claude/worktrees/wt1/src");
	assert_string_equal(p.root, in("left/repo"));
	assert_string_equal(p.worktree, in("left/repo/.claude/worktrees/wt1"));
	assert_string_equal(p.name, "repo");
	project_identify(&a, "/Users/someone/work/tool", &p);
	assert_string_equal(p.root, "/Users/someone/work/tool");
	project_identify(&a, NULL, &p);
	assert_string_equal(p.root, "/");
}

static void a_repository_reached_by_a_link_has_the_same_common_folder(void **state)
{
	sh("ln -s app link");
	struct project_identity p = identify("link/src");
	assert_string_equal(p.root, in("link"));
	assert_string_equal(p.common_dir, in("app/.git"));
}

static void broken_git_files_do_no_harm(void **state)
{
	sh("mkdir -p broken/a broken/b broken/c/.git && echo 'gitdir: /nonexistent' > "
	   "broken/a/.git && "
	   "head -c 100000 /dev/zero > broken/b/.git");
	assert_null(identify("broken/a").common_dir);
	assert_null(identify("broken/b").common_dir);
	assert_null(identify("broken/c").common_dir);
}

static void remotes_have_one_form(void **state)
{
	static const struct {
		const char *url, *expected;
	} rows[] = {
		{ "git@github.com:Owner/Repo.git", "github.com/owner/repo" },
		{ "https://user:pw@github.com/Owner/Repo", "github.com/owner/repo" },
		{ "https://github.com/Owner/Repo.git/", "github.com/owner/repo" },
		{ "ssh://git@github.com:22/Owner/Repo.git", "github.com/owner/repo" },
		{ "ssh://git@ssh.github.com:443/Owner/Repo.git", "github.com/owner/repo" },
		{ "git://host.example//a//b.git", "host.example/a/b" },
		{ "host.example:group/sub/repo", "host.example/group/sub/repo" },
		{ "https://[::1]:8080/a/b", "[::1]/a/b" },
		{ "https://user:p@ss@host.example/a/b", "host.example/a/b" },
		{ "/srv/git/repo.git", NULL },
		{ "../lib", NULL },
		{ "file:///srv/git/repo.git", NULL },
		{ "C:\\work\\repo", NULL },
		{ "https://github.com", NULL },
		{ "https:///x", NULL },
		{ "", NULL },
		{ NULL, NULL },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *got = project_normalise_remote(&a, rows[i].url);
		if (rows[i].expected)
			assert_string_equal(got, rows[i].expected);
		else
			assert_null(got);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_subfolder_belongs_to_the_repository_above),
		cmocka_unit_test(a_folder_without_git_is_a_project_of_its_own),
		cmocka_unit_test(a_linked_work_tree_shares_the_main_one),
		cmocka_unit_test(a_submodule_is_a_project_of_its_own),
		cmocka_unit_test(a_packed_branch_has_its_commit),
		cmocka_unit_test(a_detached_head_has_a_commit_and_no_branch),
		cmocka_unit_test(the_remote_says_which_branch_is_the_default),
		cmocka_unit_test(a_bare_repository_is_named_without_its_ending),
		cmocka_unit_test(a_folder_that_is_gone_counts_by_where_it_lay),
		cmocka_unit_test(a_repository_reached_by_a_link_has_the_same_common_folder),
		cmocka_unit_test(broken_git_files_do_no_harm),
		cmocka_unit_test(remotes_have_one_form),
	};
	return cmocka_run_group_tests(tests, make, clean);
}
