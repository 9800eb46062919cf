/* Mentions: exact, replaced with their turn, gone with it. */
#include "store_fixture.h"

#include "store/entity.h"

static int64_t make_turn(struct fixture *f, int64_t session, const char *name, int64_t at)
{
	const struct captured_event e = { .kind = EVENT_PROMPT,
		.source = SOURCE_TRANSCRIPT,
		.id = name,
		.turn = name,
		.at = at,
		.text = STR("a question") };
	struct event event;
	int64_t id;

	put_event(f, session, &e, NULL, &id);
	ok(store_event_get(f->s, &f->arena, id, &event, &f->err));
	return event.turn;
}

static void mention(struct fixture *f, int64_t turn, const struct mention *list, size_t n)
{
	const struct turn t = { .id = turn };

	ok(store_turn_mentions(f->s, &t, list, n, &f->err));
}

static struct entity_count *counts(struct fixture *f, int64_t project, size_t wanted)
{
	const struct entity_query q = { .project = project, .kind = -1, .max = 100 };
	struct entity_count *list;
	size_t n;
	int64_t total;

	ok(store_entity_list(f->s, &f->arena, &q, &list, &n, &total, &f->err));
	assert_int_equal(n, wanted);
	assert_int_equal(total, wanted);
	return list;
}

static void mentions_of_a_turn_are_replaced_and_entities_without_any_go(void **state)
{
	struct fixture *f = *state;
	int64_t session = make_session(f, "one", make_project(f, "/src/app"));
	int64_t a = make_turn(f, session, "t1", 1000), b = make_turn(f, session, "t2", 5000);
	const struct mention first[] = { { ENTITY_TOOL, "pytest", 3, 1000, 1500 },
		{ ENTITY_LIBRARY, "numpy", 1, 1200, 1200 } };
	const struct mention second[] = { { ENTITY_TOOL, "pytest", 2, 5000, 5001 } };

	for (int i = 0; i < 3; i++) {
		mention(f, a, first, 2);
		mention(f, b, second, 1);
	}
	const struct entity_count *list = counts(f, 0, 2);
	assert_string_equal(list[0].name, "pytest");
	assert_int_equal(list[0].mentions, 5);
	assert_int_equal(list[0].sessions, 1);
	assert_int_equal(list[0].first_at, 1000);
	assert_int_equal(list[0].last_at, 5001);
	mention(f, a, second, 1);
	assert_int_equal(counts(f, 0, 1)[0].mentions, 4);
	ok(mentions_drop(f->s, a, &f->err));
	ok(mentions_drop(f->s, b, &f->err));
	counts(f, 0, 0);
	struct store_stats stats;
	ok(store_stats(f->s, 0, &stats, &f->err));
	assert_int_equal(stats.entities, 0);
}

static void one_name_may_be_of_two_kinds_and_projects_count_apart(void **state)
{
	struct fixture *f = *state;
	int64_t p = make_project(f, "/src/app"), q = make_project(f, "/src/other");
	int64_t a = make_turn(f, make_session(f, "one", p), "t1", 1000);
	int64_t b = make_turn(f, make_session(f, "two", q), "t1", 2000);
	const struct mention tool = { ENTITY_TOOL, "x", 1, 1000, 1000 },
			     library = { ENTITY_LIBRARY, "x", 7, 1000, 1000 };
	struct store_stats stats;

	mention(f, a, &tool, 1);
	mention(f, b, &library, 1);
	counts(f, 0, 2);
	assert_int_equal(counts(f, p, 1)[0].kind, ENTITY_TOOL);
	assert_int_equal(counts(f, q, 1)[0].mentions, 7);
	ok(store_stats(f->s, q, &stats, &f->err));
	assert_int_equal(stats.entities, 1);
}

static void neighbours_are_counted_by_turns_that_mention_both(void **state)
{
	struct fixture *f = *state;
	int64_t session = make_session(f, "one", make_project(f, "/src/app"));
	const struct mention list[] = { { ENTITY_TOOL, "a", 9, 1, 1 },
		{ ENTITY_TOOL, "b", 1, 1, 1 }, { ENTITY_TOOL, "c", 1, 1, 1 } };
	struct entity_neighbour *found;
	struct entity_moment *moments;
	size_t n;

	mention(f, make_turn(f, session, "t1", 1000), list, 3);
	mention(f, make_turn(f, session, "t2", 2000), list, 2);
	mention(f, make_turn(f, session, "t3", 3000), list + 1, 2);
	const struct entity_query q = { .kind = -1, .name = "a", .max = 1 };
	struct entity_count *a;
	ok(store_entity_list(f->s, &f->arena, &q, &a, &n, NULL, &f->err));
	ok(store_entity_neighbours(f->s, &f->arena, a->id, 0, 10, &found, &n, &f->err));
	assert_int_equal(n, 2);
	assert_string_equal(found[0].name, "b");
	assert_int_equal(found[0].together, 2);
	assert_int_equal(found[0].turns, 3);
	assert_int_equal(found[1].together, 1);
	ok(store_entity_moments(f->s, &f->arena, a->id, 0, 10, &moments, &n, &f->err));
	assert_int_equal(n, 2);
	assert_int_equal(moments[0].n, 9);
}

static void a_forgotten_session_takes_its_mentions_along(void **state)
{
	struct fixture *f = *state;
	int64_t project = make_project(f, "/src/app");
	int64_t gone = make_session(f, "one", project), kept = make_session(f, "two", project);
	const struct mention list[] = { { ENTITY_SERVICE, "redis", 1, 1, 1 },
		{ ENTITY_TOOL, "git", 1, 1, 1 } };
	const struct forget_query q = { .session = gone };
	struct forget_plan plan;

	mention(f, make_turn(f, gone, "t1", 1000), list, 2);
	mention(f, make_turn(f, kept, "t1", 2000), list + 1, 1);
	ok(store_forget_plan(f->s, &f->arena, &q, &plan, &f->err));
	ok(store_forget(f->s, &plan, &f->err));
	const struct entity_count *left = counts(f, 0, 1);
	assert_string_equal(left[0].name, "git");
	assert_int_equal(left[0].mentions, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			mentions_of_a_turn_are_replaced_and_entities_without_any_go, fixture_open,
			fixture_close),
		cmocka_unit_test_setup_teardown(
			one_name_may_be_of_two_kinds_and_projects_count_apart, fixture_open,
			fixture_close),
		cmocka_unit_test_setup_teardown(neighbours_are_counted_by_turns_that_mention_both,
			fixture_open, fixture_close),
		cmocka_unit_test_setup_teardown(
			a_forgotten_session_takes_its_mentions_along, fixture_open, fixture_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
