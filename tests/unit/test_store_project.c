/* Which project a folder is: worktrees and clones are one, folders of one name are not. */
#include "store_fixture.h"

static int64_t resolve(
	struct fixture *f, const char *common_dir, const char *remote, const char *path)
{
	const struct project_identity p = { .root = path,
		.path = path,
		.common_dir = common_dir,
		.remote = remote,
		.name = path_base(path) };
	int64_t id;

	ok(store_project_resolve(f->s, &p, &id, &f->err));
	return id;
}

static void worktrees_and_clones_are_one_project(void **state)
{
	struct fixture *f = *state;
	int64_t a = resolve(f, "/src/app/.git", "github.com/me/app", "/src/app");

	assert_int_equal(resolve(f, "/src/app/.git", "github.com/me/app", "/src/app-worktree"), a);
	assert_int_equal(resolve(f, "/home/clone/.git", "github.com/me/app", "/home/clone"), a);
	assert_int_equal(resolve(f, NULL, NULL, "/home/clone"), a);
	assert_int_equal(resolve(f, NULL, NULL, "/src/app/gone/below"), a);
}

static void folders_of_one_name_are_two_projects(void **state)
{
	struct fixture *f = *state;
	int64_t a = resolve(f, NULL, NULL, "/one/app"), b = resolve(f, NULL, NULL, "/two/app");

	assert_int_not_equal(a, b);
	/* A folder without git does not swallow what lies below it. */
	assert_int_not_equal(resolve(f, NULL, NULL, "/one/app/below"), a);
}

static void a_known_path_with_another_remote_is_a_new_project(void **state)
{
	struct fixture *f = *state;
	int64_t a = resolve(f, "/src/app/.git", "github.com/me/app", "/src/app");
	int64_t b = resolve(f, "/src/app/.git", "github.com/me/other", "/src/app");

	assert_int_not_equal(a, b);
	assert_int_equal(resolve(f, NULL, NULL, "/src/app"), b);
	assert_int_equal(resolve(f, "/new/.git", "github.com/me/app", "/new"), a);
	/* A remote that is added later changes nothing. */
	int64_t c = resolve(f, "/src/plain/.git", NULL, "/src/plain");
	assert_int_equal(resolve(f, "/src/plain/.git", "github.com/me/plain", "/src/plain"), c);
}

static void two_projects_that_are_one_are_merged(void **state)
{
	struct fixture *f = *state;
	int64_t a = resolve(f, NULL, NULL, "/src/app"),
		b = resolve(f, "/clone/.git", "github.com/me/app", "/clone"), found, seq, later;
	struct captured_session c = { .agent = AGENT_CODEX, .agent_session = "s" };
	struct memory m = { .project = b,
		.kind = KIND_NOTE,
		.title = "Note",
		.origin = ORIGIN_PERSON },
		      got;
	struct session session;
	int64_t s;

	assert_int_not_equal(a, b);
	ok(store_session_put(f->s, &c, b, &s, &f->err));
	ok(store_memory_put(f->s, &m, &f->err));
	ok(store_change_last(f->s, &seq, &f->err));
	assert_int_equal(resolve(f, "/src/app/.git", "github.com/me/app", "/src/app"), a);
	ok(store_session_get(f->s, &f->arena, s, &session, &f->err));
	assert_int_equal(session.project, a);
	ok(store_memory_get(f->s, &f->arena, m.id, &got, &f->err));
	assert_int_equal(got.project, a);
	ok(store_change_last(f->s, &later, &f->err));
	assert_int_equal(later, seq + 2);
	/* The number that it had still finds it. */
	char number[24];
	snprintf(number, sizeof(number), "%lld", (long long)b);
	ok(store_project_find(f->s, number, &found, &f->err));
	assert_int_equal(found, a);
	ok(store_project_find(f->s, "/clone", &found, &f->err));
	assert_int_equal(found, a);
}

static void projects_are_found_by_name_path_and_number(void **state)
{
	struct fixture *f = *state;
	int64_t a = resolve(f, "/src/app/.git", "github.com/me/app", "/src/app"), found, made;

	ok(store_project_find(f->s, "app", &found, &f->err));
	assert_int_equal(found, a);
	ok(store_project_find(f->s, "APP", &found, &f->err));
	assert_int_equal(found, a);
	ok(store_project_find(f->s, "github.com/me/app", &found, &f->err));
	assert_int_equal(found, a);
	ok(store_project_find(f->s, "/src/app/lib/deep", &found, &f->err));
	assert_int_equal(found, a);
	ok(store_project_find(f->s, "nothing", &found, &f->err));
	assert_int_equal(found, 0);
	ok(store_project_create(f->s, "side", &made, &f->err));
	ok(store_project_find(f->s, "side", &found, &f->err));
	assert_int_equal(found, made);
}

static void a_session_learns_and_never_unlearns(void **state)
{
	struct fixture *f = *state;
	int64_t p = make_project(f, "/src/app"), a, b;
	struct captured_session c = { .agent = AGENT_CLAUDE,
		.agent_session = "s",
		.title = "First title",
		.started_at = 2000 };
	struct captured_session d = { .agent = AGENT_CLAUDE,
		.agent_session = "s",
		.branch = "main",
		.model = "m",
		.started_at = 1000,
		.ended_at = 9000,
		.end_reason = "other" };
	struct captured_session e = { .agent = AGENT_CLAUDE,
		.agent_session = "s",
		.title = "Better title",
		.branch = "late" };
	struct session s;

	ok(store_session_put(f->s, &c, p, &a, &f->err));
	ok(store_session_put(f->s, &d, p, &b, &f->err));
	ok(store_session_put(f->s, &e, p, &b, &f->err));
	assert_int_equal(a, b);
	ok(store_session_get(f->s, &f->arena, a, &s, &f->err));
	assert_string_equal(s.title, "Better title");
	assert_string_equal(s.branch, "main");
	assert_string_equal(s.end_reason, "other");
	assert_int_equal(s.started_at, 1000);
	assert_int_equal(s.ended_at, 9000);
	assert_string_equal(s.project_name, "app");
	ok(store_session_find(f->s, AGENT_NONE, "s", &b, &f->err));
	assert_int_equal(b, a);
	ok(store_session_find(f->s, AGENT_CODEX, "s", &b, &f->err));
	assert_int_equal(b, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			worktrees_and_clones_are_one_project, fixture_open, fixture_close),
		cmocka_unit_test_setup_teardown(
			folders_of_one_name_are_two_projects, fixture_open, fixture_close),
		cmocka_unit_test_setup_teardown(a_known_path_with_another_remote_is_a_new_project,
			fixture_open, fixture_close),
		cmocka_unit_test_setup_teardown(
			two_projects_that_are_one_are_merged, fixture_open, fixture_close),
		cmocka_unit_test_setup_teardown(
			projects_are_found_by_name_path_and_number, fixture_open, fixture_close),
		cmocka_unit_test_setup_teardown(
			a_session_learns_and_never_unlearns, fixture_open, fixture_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
