/* The breaker: when a provider is asked, and when it is left alone. */
#include "unit.h"

#include "daemon/breaker.h"

#define T0 1000000

static void it_opens_after_failures_in_a_row_and_a_probe_closes_it(void **state)
{
	struct breaker b = { 0 };
	int64_t at;

	(void)state;
	for (int i = 0; i < BREAKER_FAILURES - 1; i++)
		assert_false(breaker_failed(&b, T0, 1, CALL_SERVER, "500"));
	assert_int_equal(breaker_ask(&b, T0, &at), PERMIT_YES);
	assert_true(breaker_failed(&b, T0, 1, CALL_SERVER, "500"));
	assert_int_equal(breaker_ask(&b, T0 + 1, &at), PERMIT_NO);
	assert_int_equal(at, T0 + BREAKER_OPEN_MS);
	assert_int_equal(breaker_ask(&b, at, &at), PERMIT_PROBE);
	/* One probe at a time. */
	assert_int_equal(breaker_ask(&b, T0 + 2 * BREAKER_OPEN_MS, &at), PERMIT_NO);
	breaker_succeeded(&b);
	assert_int_equal(breaker_ask(&b, T0 + 2 * BREAKER_OPEN_MS, &at), PERMIT_YES);
}

static void each_probe_that_fails_doubles_the_wait_up_to_a_limit(void **state)
{
	struct breaker b = { 0 };
	int64_t now = T0, at, last = 0;

	(void)state;
	for (int i = 0; i < BREAKER_FAILURES; i++)
		breaker_failed(&b, now, 1, CALL_NETWORK, "away");
	for (int i = 0; i < 12; i++) {
		assert_int_equal(breaker_ask(&b, now, &at), PERMIT_NO);
		assert_true(at - now >= last);
		assert_true(at - now <= BREAKER_OPEN_MAX_MS);
		last = at - now;
		now = at;
		assert_int_equal(breaker_ask(&b, now, &at), PERMIT_PROBE);
		breaker_failed(&b, now, 1, CALL_NETWORK, "away");
	}
	assert_int_equal(last, BREAKER_OPEN_MAX_MS);
}

static void a_success_between_failures_begins_anew(void **state)
{
	struct breaker b = { 0 };
	int64_t at;

	(void)state;
	for (int i = 0; i < 10; i++) {
		breaker_failed(&b, T0, 1, CALL_TIMEOUT, "slow");
		breaker_succeeded(&b);
	}
	assert_int_equal(breaker_ask(&b, T0, &at), PERMIT_YES);
}

static void a_rate_limit_holds_as_long_as_the_server_says_and_counts_against_nobody(void **state)
{
	struct breaker b = { 0 };
	int64_t at;

	(void)state;
	breaker_limited(&b, T0, 1, 2500);
	assert_int_equal(breaker_ask(&b, T0, &at), PERMIT_NO);
	assert_int_equal(at, T0 + 2500);
	assert_int_equal(b.failures, 0);
	assert_int_equal(breaker_ask(&b, at, &at), PERMIT_YES);
}

static void a_pause_is_news_once_and_ends_with_a_probe(void **state)
{
	struct breaker b = { 0 };
	int64_t at;

	(void)state;
	assert_true(breaker_paused(&b, T0, CALL_QUOTA, "used up"));
	assert_false(breaker_paused(&b, T0, CALL_QUOTA, "used up"));
	assert_int_equal(breaker_ask(&b, T0, &at), PERMIT_NO);
	assert_int_equal(at, T0 + BREAKER_PAUSE_MS);
	assert_int_equal(breaker_ask(&b, at, &at), PERMIT_PROBE);
	/* The same again: still paused, longer, and no news. */
	assert_false(breaker_paused(&b, T0 + BREAKER_PAUSE_MS, CALL_QUOTA, "used up"));
	assert_int_equal(breaker_ask(&b, T0 + BREAKER_PAUSE_MS, &at), PERMIT_NO);
	assert_int_equal(at, T0 + 3 * BREAKER_PAUSE_MS);
	assert_true(breaker_paused(&b, at, CALL_AUTH, "refused"));
	assert_false(breaker_is_usable(&b));
}

static void a_probe_that_came_to_nothing_leaves_it_as_it_was(void **state)
{
	struct breaker b = { 0 };
	int64_t at;

	(void)state;
	for (int i = 0; i < BREAKER_FAILURES; i++)
		breaker_failed(&b, T0, 1, CALL_NETWORK, "away");
	assert_int_equal(breaker_ask(&b, T0 + BREAKER_OPEN_MS, &at), PERMIT_PROBE);
	breaker_undo(&b);
	assert_int_equal(b.state, BREAKER_OPEN);
	assert_int_equal(breaker_ask(&b, T0 + BREAKER_OPEN_MS, &at), PERMIT_PROBE);
}

static void waits_double_up_to_a_limit_and_differ_by_chance(void **state)
{
	(void)state;
	assert_int_equal(backoff(1000, 60000, 0, 0), 500);
	assert_int_equal(backoff(1000, 60000, 0, 1), 1000);
	assert_int_equal(backoff(1000, 60000, 3, 1), 8000);
	assert_int_equal(backoff(1000, 60000, 1000, 1), 60000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_opens_after_failures_in_a_row_and_a_probe_closes_it),
		cmocka_unit_test(each_probe_that_fails_doubles_the_wait_up_to_a_limit),
		cmocka_unit_test(a_success_between_failures_begins_anew),
		cmocka_unit_test(a_rate_limit_holds_as_long_as_the_server_says_and_counts_against_nobody),
		cmocka_unit_test(a_pause_is_news_once_and_ends_with_a_probe),
		cmocka_unit_test(a_probe_that_came_to_nothing_leaves_it_as_it_was),
		cmocka_unit_test(waits_double_up_to_a_limit_and_differ_by_chance),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
