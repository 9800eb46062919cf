/* Jobs and requests: each is run once, and what a model made stands for the rules' and makes way again. */
#include "store_fixture.h"

#include "base/clock.h"
#include "store/fact.h"
#include "store/job.h"

#define T0 1795950000000

static struct turn make_turn(struct fixture *f, const char *text, int64_t at)
{
	int64_t session = make_session(f, "a", make_project(f, "/src/app"));

	return turn_of(f, put_prompt(f, session, text, text, at));
}

static struct memory rule_memory(const char *slot)
{
	return (struct memory){ .rule = "work",
		.slot = slot,
		.kind = KIND_OBSERVATION,
		.type = TYPE_BUGFIX,
		.title = slot,
		.body = "By the rules.",
		.confidence = .8,
		.trust = TRUST_REPLY,
		.at = T0 };
}

static struct memory model_memory(const char *slot, const char *refines)
{
	return (struct memory){ .rule = MODEL_RULE,
		.slot = slot,
		.kind = KIND_OBSERVATION,
		.type = TYPE_BUGFIX,
		.title = "Better",
		.body = "By the model.",
		.confidence = .9,
		.trust = TRUST_REPLY,
		.origin = ORIGIN_MODEL,
		.model = "m",
		.refines = refines,
		.at = T0 };
}

static struct job put_job(
	struct fixture *f, const char *key, int64_t at, uint64_t input, bool *is_new)
{
	struct job j = { .kind = JOB_OBSERVE, .key = key, .at = at, .input = input };

	ok(store_job_put(f->s, &j, is_new, &f->err));
	return j;
}

static struct job lease(struct fixture *f, int64_t now)
{
	const struct job_lease l = { .kind = JOB_OBSERVE, .now = now, .until = now + 1000 };
	struct job j;

	ok(store_job_lease(f->s, &f->arena, &l, &j, &f->err));
	return j;
}

static void the_same_input_is_never_run_twice(void **state)
{
	struct fixture *f = *state;
	bool is_new, is_held;

	put_job(f, "t1.0", T0, 7, &is_new);
	assert_true(is_new);
	put_job(f, "t1.0", T0, 7, &is_new);
	assert_false(is_new);
	struct job j = lease(f, T0);
	assert_string_equal(j.key, "t1.0");
	assert_int_equal(lease(f, T0).id, 0);
	ok(store_job_end(f->s,
		&(struct job_end){ .job = &j, .state = JOB_STATE_DONE, .is_attempt = true },
		&is_held, &f->err));
	assert_true(is_held);
	put_job(f, "t1.0", T0, 7, &is_new);
	assert_false(is_new);
	assert_int_equal(lease(f, T0).id, 0);
	put_job(f, "t1.0", T0, 8, &is_new);
	assert_true(is_new);
	assert_int_equal(lease(f, T0).id, j.id);
}

static void the_newest_work_is_leased_first(void **state)
{
	struct fixture *f = *state;
	bool is_new;

	put_job(f, "t1.0", T0, 1, &is_new);
	put_job(f, "t3.0", T0 + 2, 1, &is_new);
	put_job(f, "t2.0", T0 + 1, 1, &is_new);
	assert_string_equal(lease(f, T0).key, "t3.0");
	assert_string_equal(lease(f, T0).key, "t2.0");
	assert_string_equal(lease(f, T0).key, "t1.0");
}

static void a_lease_that_ran_out_is_another_ones_and_its_result_is_not_stored(void **state)
{
	struct fixture *f = *state;
	bool is_new, is_held;

	put_job(f, "t1.0", T0, 1, &is_new);
	struct job first = lease(f, T0), second = lease(f, T0 + 5000);
	assert_int_equal(first.id, second.id);
	const struct job_end late = { .job = &first, .state = JOB_STATE_DONE };
	ok(store_job_end(f->s, &late, &is_held, &f->err));
	assert_false(is_held);
	const struct job_end right = { .job = &second, .state = JOB_STATE_DONE };
	ok(store_job_end(f->s, &right, &is_held, &f->err));
	assert_true(is_held);
}

static void a_job_whose_input_changed_while_it_ran_waits_again(void **state)
{
	struct fixture *f = *state;
	bool is_new, is_held;

	put_job(f, "t1.0", T0, 1, &is_new);
	struct job j = lease(f, T0);
	put_job(f, "t1.0", T0, 2, &is_new);
	ok(store_job_end(
		f->s, &(struct job_end){ .job = &j, .state = JOB_STATE_DONE }, &is_held, &f->err));
	assert_false(is_held);
	assert_int_equal(lease(f, T0).input, 2);
}

static void what_a_daemon_that_died_had_leased_waits_again(void **state)
{
	struct fixture *f = *state;
	struct model_call c = {
		.job = 1, .kind = JOB_OBSERVE, .at = T0, .provider = "p", .model = "m", .units = 1
	};
	int64_t counts[CALL_OUTCOME_COUNT];
	bool is_new;

	put_job(f, "t1.0", T0, 1, &is_new);
	lease(f, T0);
	ok(store_call_put(f->s, &c, &f->err));
	ok(store_jobs_release(f->s, T0 + 1, &f->err));
	assert_true(lease(f, T0).id > 0);
	ok(store_call_outcomes(f->s, 0, counts, &f->err));
	assert_int_equal(counts[CALL_ABORTED], 1);
}

static void dead_jobs_wait_again_when_told(void **state)
{
	struct fixture *f = *state;
	int64_t counts[JOB_STATE_COUNT], n;
	bool is_new, is_held;

	put_job(f, "t1.0", T0, 1, &is_new);
	struct job j = lease(f, T0), got;
	const struct job_end e = {
		.job = &j, .state = JOB_STATE_DEAD, .error = "no", .is_attempt = true
	};
	ok(store_job_end(f->s, &e, &is_held, &f->err));
	ok(store_job_get(f->s, &f->arena, j.id, &got, &f->err));
	assert_string_equal(got.last_error, "no");
	ok(store_job_counts(f->s, JOB_OBSERVE, counts, &f->err));
	assert_int_equal(counts[JOB_STATE_DEAD], 1);
	ok(store_job_retry(f->s, 0, &n, &f->err));
	assert_int_equal(n, 1);
	assert_int_equal(lease(f, T0).id, j.id);
	ok(store_job_drop(f->s, j.id, &f->err));
	assert_int_equal(store_job_drop(f->s, j.id, &f->err), -1);
	assert_int_equal(f->err.code, ERR_NOT_FOUND);
}

static enum memory_status status_of(struct fixture *f, int64_t id, int64_t *by)
{
	struct memory m;

	ok(store_memory_get(f->s, &f->arena, id, &m, &f->err));
	*by = m.superseded_by;
	return m.status;
}

static void a_models_memory_stands_for_the_rules_and_makes_way_again(void **state)
{
	struct fixture *f = *state;
	struct turn t = make_turn(f, "fix it", T0);
	struct memory rules[] = { rule_memory("1"), rule_memory("2") }, got;
	struct memory model = model_memory("0.a", "work/1");
	int64_t by;

	ok(store_turn_memories(f->s, &t, rules, 2, &f->err));
	ok(store_model_memories(f->s, &t, 0, &model, 1, &f->err));
	assert_int_equal(status_of(f, rules[0].id, &by), MEMORY_SUPERSEDED);
	assert_int_equal(by, model.id);
	assert_int_equal(status_of(f, rules[1].id, &by), MEMORY_ACTIVE);
	/* The rules run again: nothing changes. */
	struct memory again[] = { rule_memory("1"), rule_memory("2") };
	ok(store_turn_memories(f->s, &t, again, 2, &f->err));
	assert_int_equal(status_of(f, rules[0].id, &by), MEMORY_SUPERSEDED);
	/* Rejected by a person, and approved again. */
	ok(store_memory_get(f->s, &f->arena, model.id, &got, &f->err));
	got.status = MEMORY_REJECTED;
	ok(store_memory_put(f->s, &got, &f->err));
	assert_int_equal(status_of(f, rules[0].id, &by), MEMORY_ACTIVE);
	assert_int_equal(by, 0);
	got.status = MEMORY_ACTIVE;
	ok(store_memory_put(f->s, &got, &f->err));
	assert_int_equal(status_of(f, rules[0].id, &by), MEMORY_SUPERSEDED);
	/* Forgotten. */
	const struct forget_plan p = { .memories = &model.id, .nmemories = 1 };
	ok(store_forget(f->s, &p, &f->err));
	assert_int_equal(status_of(f, rules[0].id, &by), MEMORY_ACTIVE);
}

static void one_that_waits_for_a_person_stands_for_nothing(void **state)
{
	struct fixture *f = *state;
	struct turn t = make_turn(f, "fix it", T0);
	struct memory rule = rule_memory("1"), model = model_memory("0.a", "work/1");
	int64_t by;

	model.status = MEMORY_PENDING;
	ok(store_turn_memories(f->s, &t, &rule, 1, &f->err));
	ok(store_model_memories(f->s, &t, 0, &model, 1, &f->err));
	assert_int_equal(status_of(f, rule.id, &by), MEMORY_ACTIVE);
}

static void a_part_that_changed_loses_what_a_model_made_of_it(void **state)
{
	struct fixture *f = *state;
	struct turn t = make_turn(f, "fix it", T0);
	struct memory rule = rule_memory("1"), first = model_memory("0.a", "work/1"),
		      second = model_memory("1.a", NULL), got;
	struct job jobs[] = { { .kind = JOB_OBSERVE, .key = "t1.0", .turn = t.id, .input = 1 },
		{ .kind = JOB_OBSERVE, .key = "t1.1", .turn = t.id, .input = 2 } };
	int64_t by;
	bool is_new;

	ok(store_turn_memories(f->s, &t, &rule, 1, &f->err));
	ok(store_turn_jobs(f->s, &t, jobs, 2, &is_new, &f->err));
	assert_true(is_new);
	ok(store_model_memories(f->s, &t, 0, &first, 1, &f->err));
	ok(store_model_memories(f->s, &t, 1, &second, 1, &f->err));
	ok(store_turn_jobs(f->s, &t, jobs, 2, &is_new, &f->err));
	assert_false(is_new);
	ok(store_memory_get(f->s, &f->arena, first.id, &got, &f->err));
	jobs[0].input = 3;
	ok(store_turn_jobs(f->s, &t, jobs, 1, &is_new, &f->err));
	assert_int_equal(store_memory_get(f->s, &f->arena, first.id, &got, &f->err), -1);
	assert_int_equal(store_memory_get(f->s, &f->arena, second.id, &got, &f->err), -1);
	assert_int_equal(status_of(f, rule.id, &by), MEMORY_ACTIVE);
}

static size_t candidates_of(struct fixture *f, int64_t project, int64_t topic)
{
	struct fact_candidate *list;
	size_t n;

	ok(store_topic_candidates(f->s, &f->arena, project, topic, 10, &list, &n, &f->err));
	return n;
}

static void candidates_of_rules_and_model_are_replaced_apart(void **state)
{
	struct fixture *f = *state;
	struct turn t = make_turn(f, "use tabs", T0);
	const struct fact_candidate rule = { .rule = "preference",
		.slot = "1",
		.title = "Use tabs",
		.topic = 5,
		.at = T0 },
				    model = { .rule = MODEL_RULE,
					    .slot = "1",
					    .title = "Use tabs",
					    .topic = 5,
					    .at = T0 };

	ok(store_turn_candidates(f->s, &t, &rule, 1, &f->err));
	ok(store_model_candidates(f->s, &t, 0, &model, 1, &f->err));
	assert_int_equal(candidates_of(f, t.project, 5), 2);
	ok(store_turn_candidates(f->s, &t, NULL, 0, &f->err));
	assert_int_equal(candidates_of(f, t.project, 5), 1);
	ok(store_model_candidates(f->s, &t, 0, NULL, 0, &f->err));
	assert_int_equal(candidates_of(f, t.project, 5), 0);
}

static void a_session_has_one_memory_of_a_model(void **state)
{
	struct fixture *f = *state;
	struct turn t = make_turn(f, "fix it", T0);
	struct memory m = model_memory("session", NULL), again = model_memory("session", NULL);

	m.session = again.session = t.session;
	m.project = again.project = t.project;
	again.title = "Another title";
	ok(store_session_memory(f->s, &m, &f->err));
	ok(store_session_memory(f->s, &again, &f->err));
	assert_int_equal(m.id, again.id);
}

static void costs_are_summed_by_day_project_and_model(void **state)
{
	struct fixture *f = *state;
	int64_t project = make_project(f, "/src/app"), now = clock_now();
	struct model_call calls[] = {
		{ .at = now,
			.project = project,
			.provider = "p",
			.model = "m",
			.units = 3,
			.bytes_in = 400,
			.bytes_out = 40,
			.bytes_shared = 200,
			.tokens_in = -1,
			.tokens_out = -1,
			.outcome = CALL_OK },
		{ .at = now,
			.project = project,
			.provider = "p",
			.model = "n",
			.units = 1,
			.tokens_in = 50,
			.tokens_out = 5,
			.cost = .5,
			.outcome = CALL_TIMEOUT },
	};
	struct cost_query q = { .by = COST_DAY };
	struct cost_row *rows, all;
	struct cost_saved saved;
	size_t n;

	for (size_t i = 0; i < ARRAY_LEN(calls); i++)
		ok(store_call_put(f->s, &calls[i], &f->err));
	ok(store_cost(f->s, &f->arena, &q, &rows, &n, &f->err));
	assert_int_equal(n, 1);
	assert_int_equal(rows[0].tokens_in, 150);
	assert_int_equal(rows[0].tokens_out, 15);
	assert_int_equal(rows[0].failed, 1);
	assert_string_equal(rows[0].name, clock_day(&f->arena, now));
	q.by = COST_PROJECT;
	ok(store_cost(f->s, &f->arena, &q, &rows, &n, &f->err));
	assert_int_equal(n, 1);
	assert_string_equal(rows[0].name, "app");
	q.by = COST_MODEL;
	ok(store_cost(f->s, &f->arena, &q, &rows, &n, &f->err));
	assert_int_equal(n, 2);
	ok(store_cost_total(f->s, clock_day_start(now), 0, &all, &f->err));
	assert_int_equal(all.calls, 2);
	assert_float_equal(all.cost, .5, .0001);
	ok(store_cost_saved(f->s, 0, &saved, &f->err));
	assert_int_equal(saved.requests, 2);
	assert_int_equal(saved.shared_tokens, 50);
}

static void raw_replies_are_bounded_and_pruned(void **state)
{
	struct fixture *f = *state;
	AUTO(buf_done) struct buf big = { 0 };
	struct model_call c = { .at = T0, .provider = "p", .model = "m" }, *list;
	size_t n;

	while (big.len < CALL_REPLY_MAX + 1000)
		buf_str(&big, "reply ");
	c.reply = buf_cstr(&big);
	ok(store_call_put(f->s, &c, &f->err));
	ok(store_call_list(f->s, &f->arena, 0, 10, &list, &n, &f->err));
	assert_int_equal(n, 1);
	assert_int_equal(strlen(list[0].reply), CALL_REPLY_MAX);
	ok(store_calls_prune(f->s, T0 + 1, &f->err));
	ok(store_call_list(f->s, &f->arena, 0, 10, &list, &n, &f->err));
	assert_null(list[0].reply);
}

static void turns_from_before_there_was_a_model_are_looked_at_again(void **state)
{
	struct fixture *f = *state;
	struct turn t = make_turn(f, "fix it", T0);
	struct job job = { .kind = JOB_OBSERVE, .key = "t1.0", .turn = t.id, .input = 1 };
	int64_t n;
	bool is_new;

	ok(store_turn_memories(f->s, &t, NULL, 0, &f->err));
	ok(store_turns_without_job(f->s, 10, &n, &f->err));
	assert_int_equal(n, 1);
	ok(store_turn_memories(f->s, &t, NULL, 0, &f->err));
	ok(store_turn_jobs(f->s, &t, &job, 1, &is_new, &f->err));
	ok(store_turns_without_job(f->s, 10, &n, &f->err));
	assert_int_equal(n, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_open, fixture_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_same_input_is_never_run_twice),
		TEST(the_newest_work_is_leased_first),
		TEST(a_lease_that_ran_out_is_another_ones_and_its_result_is_not_stored),
		TEST(a_job_whose_input_changed_while_it_ran_waits_again),
		TEST(what_a_daemon_that_died_had_leased_waits_again),
		TEST(dead_jobs_wait_again_when_told),
		TEST(a_models_memory_stands_for_the_rules_and_makes_way_again),
		TEST(one_that_waits_for_a_person_stands_for_nothing),
		TEST(a_part_that_changed_loses_what_a_model_made_of_it),
		TEST(candidates_of_rules_and_model_are_replaced_apart),
		TEST(a_session_has_one_memory_of_a_model),
		TEST(costs_are_summed_by_day_project_and_model),
		TEST(raw_replies_are_bounded_and_pruned),
		TEST(turns_from_before_there_was_a_model_are_looked_at_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
