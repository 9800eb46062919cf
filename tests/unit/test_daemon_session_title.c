/* A session's title by rule depends on its first prompts and summaries alone, not on their order of arrival. */
#include "store_fixture.h"

#include "daemon/session_title.h"

#define T0 1795950000000

static struct turn prompt(struct fixture *f, int64_t session, const char *text, int64_t at)
{
	const char *id = arena_printf(&f->arena, "%s-%lld", text, (long long)at);

	return turn_of(f, put_prompt(f, session, id, text, at));
}

static const char *title(struct fixture *f, int64_t session)
{
	struct session s;

	ok(store_session_get(f->s, &f->arena, session, &s, &f->err));
	return s.title;
}

static void the_first_prompt_that_means_something_is_the_title(void **state)
{
	struct fixture *f = *state;
	int64_t session = make_session(f, "s", make_project(f, "/src/app"));
	struct turn hi = prompt(f, session, "hi", T0);

	ok(session_title_make(f->s, &hi, false, &f->err));
	assert_null(title(f, session));
	struct turn t =
		prompt(f, session, "Add a retry with backoff to the webhook dispatcher", T0 + 1000);
	ok(session_title_make(f->s, &t, false, &f->err));
	assert_non_null(strstr(title(f, session), "retry with backoff"));
	t = prompt(f, session, "Rename the queue table of the scheduler", T0 + 2000);
	ok(session_title_make(f->s, &t, true, &f->err));
	assert_non_null(strstr(title(f, session), "retry with backoff"));
}

static void a_prompt_that_comes_late_and_was_earlier_takes_its_place(void **state)
{
	struct fixture *f = *state;
	int64_t session = make_session(f, "s", make_project(f, "/src/app"));
	struct turn t = prompt(f, session, "Rename the queue table of the scheduler", T0 + 2000);

	ok(session_title_make(f->s, &t, false, &f->err));
	assert_non_null(strstr(title(f, session), "queue table"));
	t = prompt(f, session, "Add a retry with backoff to the webhook dispatcher", T0);
	ok(session_title_make(f->s, &t, true, &f->err));
	assert_non_null(strstr(title(f, session), "retry with backoff"));
}

static void without_such_a_prompt_a_summary_names_it(void **state)
{
	struct fixture *f = *state;
	int64_t project = make_project(f, "/src/app"), session = make_session(f, "s", project);
	struct turn t = prompt(f, session, "yes", T0);
	struct memory m = { .rule = "summary",
		.slot = "",
		.kind = KIND_SUMMARY,
		.at = T0,
		.origin = ORIGIN_RULES,
		.title = "The dispatcher retries with backoff",
		.trust = TRUST_REPLY };

	ok(store_turn_memories(f->s, &t, &m, 1, &f->err));
	ok(session_title_make(f->s, &t, false, &f->err));
	assert_string_equal(title(f, session), "The dispatcher retries with backoff");
}

static void later_turns_of_a_long_session_are_not_looked_at(void **state)
{
	struct fixture *f = *state;
	int64_t session = make_session(f, "s", make_project(f, "/src/app"));
	struct turn t = { 0 };

	for (int i = 0; i <= TITLE_PROMPTS; i++)
		t = prompt(f, session, "ok", T0 + i * 1000);
	t = prompt(f, session, "Add a retry with backoff to the webhook dispatcher", T0 + 100000);
	assert_true(t.ordinal > TITLE_PROMPTS);
	ok(session_title_make(f->s, &t, false, &f->err));
	assert_null(title(f, session));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_open, fixture_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(the_first_prompt_that_means_something_is_the_title),
		CASE(a_prompt_that_comes_late_and_was_earlier_takes_its_place),
		CASE(without_such_a_prompt_a_summary_names_it),
		CASE(later_turns_of_a_long_session_are_not_looked_at),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
