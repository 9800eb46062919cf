/* Two tellings of one tool call, joined before they are stored. */
#include "unit.h"

#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "daemon/pairs.h"

static struct captured_event telling(const char *id, const char *input, const char *output)
{
	return (struct captured_event){ .kind = EVENT_TOOL,
		.source = SOURCE_TRANSCRIPT,
		.tool_use_id = id,
		.tool = "Bash",
		.exit_code = -1,
		.input = str_of(input),
		.output = str_of(output) };
}

static struct capture capture_of(struct captured_event *e, const char *session)
{
	return (struct capture){ .session = { .agent = AGENT_CLAUDE,
					 .agent_session = session,
					 .cwd = "/w" },
		.events = e,
		.nevents = 1,
		.is_clean = true };
}

static void a_result_joins_its_call(void **state)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct pairs p = { 0 };
	struct captured_event call = telling("t1", "{}", ""), other = telling("t2", "{}", ""),
			      result = telling("t1", "", "ok");
	struct capture c = capture_of(&call, "s"), o = capture_of(&other, "s"),
		       r = capture_of(&result, "s");

	assert_false(pairs_join(&p, &c));
	pairs_add(&p, &a, &c);
	pairs_add(&p, &a, &o);
	assert_true(pairs_join(&p, &r));
	assert_ptr_equal(call.later, &result);
	assert_null(other.later);
	/* A third telling stands for itself. */
	struct captured_event third = telling("t1", "", "more");
	struct capture t = capture_of(&third, "s");
	assert_false(pairs_join(&p, &t));
}

static void what_may_be_another_call_is_not_joined(void **state)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct pairs p = { 0 };
	struct captured_event call = telling("t1", "{}", ""), again = telling("t1", "{}", ""),
			      result = telling("t1", "", "ok");
	struct capture c = capture_of(&call, "s"), same_id = capture_of(&again, "s"),
		       elsewhere = capture_of(&result, "another");

	pairs_add(&p, &a, &c);
	assert_false(pairs_join(&p, &same_id));
	assert_false(pairs_join(&p, &elsewhere));
	assert_null(call.later);
}

static void news_of_the_session_are_not_lost(void **state)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct pairs p = { 0 };
	struct captured_event call = telling("t1", "{}", ""), result = telling("t1", "", "ok");
	struct capture c = capture_of(&call, "s"), r = capture_of(&result, "s");

	pairs_add(&p, &a, &c);
	r.session.title = "a title";
	assert_false(pairs_join(&p, &r));
	r.session.title = NULL;
	r.session.cwd = "/elsewhere";
	assert_false(pairs_join(&p, &r));
	r.session.cwd = NULL;
	assert_true(pairs_join(&p, &r));
}

static void only_the_last_calls_are_looked_at(void **state)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct pairs p = { 0 };
	struct captured_event call = telling("t0", "{}", ""), result = telling("t0", "", "ok"),
			      between[PAIRS_LOOK];
	struct capture c = capture_of(&call, "s"), r = capture_of(&result, "s");

	pairs_add(&p, &a, &c);
	for (size_t i = 0; i < PAIRS_LOOK; i++) {
		between[i] = telling(arena_printf(&a, "b%zu", i), "{}", "");
		struct capture b = capture_of(&between[i], "s");
		pairs_add(&p, &a, &b);
	}
	assert_false(pairs_join(&p, &r));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_result_joins_its_call),
		cmocka_unit_test(what_may_be_another_call_is_not_joined),
		cmocka_unit_test(news_of_the_session_are_not_lost),
		cmocka_unit_test(only_the_last_calls_are_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
