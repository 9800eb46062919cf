/* The table of operations and the check of parameters. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "spec/spec.h"

/* The normal form of `params`, or the error's text after "! ". */
static const char *checked(const char *op, const char *params)
{
	static char text[4096];
	AUTO(json_free_ptr) json *given = NULL;
	AUTO(buf_done) struct buf out = { 0 };
	struct err err = { 0 };

	assert_int_equal(json_parse(params, strlen(params), &given, &err), 0);
	if (op_params_check(op_spec_find(op), given, &out, &err) == 0)
		snprintf(text, sizeof text, "%s", out.data);
	else
		snprintf(text, sizeof text, "! %s; %s", err.text, err.hint);
	return text;
}

static void every_row_of_the_table_is_well_formed(void **state)
{
	for (size_t i = 0; i < op_specs_n; i++) {
		const struct op_spec *op = &op_specs[i];
		assert_non_null(op->summary);
		assert_non_null(op->group);
		assert_ptr_equal(op_spec_find(op->name), op);
		for (const struct param *p = op->params; p->name; p++) {
			assert_non_null(p->help);
			assert_ptr_equal(op_param_find(op, p->name), p);
			assert_true((p->type == PARAM_CHOICE) == (p->choices != NULL));
			if (p->type == PARAM_INT || p->type == PARAM_REAL)
				assert_true(p->min < p->max);
			if (p->choices && p->standard)
				assert_true(op_choice_find(p->choices, p->standard, NULL));
			/* Nothing follows what takes all words that are left. */
			if ((p->flags & PARAM_POSITIONAL) &&
				(p->flags & (PARAM_MANY | PARAM_JOINED)))
				for (const struct param *q = p + 1; q->name; q++)
					assert_false(q->flags & PARAM_POSITIONAL);
		}
	}
}

static void each_option_leads_back_to_its_parameter(void **state)
{
	char option[OPTION_NAME_MAX];

	for (size_t i = 0; i < op_specs_n; i++)
		for (const struct param *p = op_specs[i].params; p->name; p++)
			assert_ptr_equal(
				op_param_find(&op_specs[i], op_param_option(p, option)), p);
}

static void tools_are_found_by_the_name_that_agents_know(void **state)
{
	assert_string_equal(op_spec_find("get_observations")->name, "get");
	assert_null(op_spec_find("get_observation"));
}

static void near_misses_lead_to_the_right_command(void **state)
{
	static const char *const rows[][2] = { { "serach", "search" }, { "find", "search" },
		{ "rm", "forget" }, { "sess", "sessions" }, { "statuss", "status" },
		{ "rememeber", "remember" } };

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_string_equal(op_spec_nearest(rows[i][0]), rows[i][1]);
	assert_null(op_spec_nearest("frobnicate"));
}

static void parameters_come_out_in_normal_form(void **state)
{
	static const char *const rows[][3] = {
		{ "search", "{}", "{\"limit\":20}" },
		{ "search", "{\"query\":[\"a\",\"b\"],\"limit\":\"5\"}",
			"{\"query\":\"a b\",\"limit\":5}" },
		{ "search", "{\"q\":7,\"maxResults\":3.0,\"scope\":\"ALL\"}",
			"{\"query\":\"7\",\"scope\":\"all\",\"limit\":3}" },
		{ "search", "{\"query\":\"x\",\"count\":1,\"file\":null,\"type\":\"\"}",
			"{\"query\":\"x\",\"limit\":20,\"count\":true}" },
		{ "search", "{\"asOf\":\"2026-11-29\",\"after\":\"2026-11-01..2026-11-15\"}",
			"{\"after\":\"2026-11-01..2026-11-15\",\"as_of\":\"2026-11-29\",\"limit\":"
			"20}" },
		{ "get", "{\"refs\":12}", "{\"refs\":[\"12\"]}" },
		{ "get", "{\"ids\":[12,\"#13\",\"E345, s7\"]}",
			"{\"refs\":[\"12\",\"13\",\"e345\",\"s7\"]}" },
		{ "get", "{\"ref\":\"12 13\"}", "{\"refs\":[\"12\",\"13\"]}" },
		{ "timeline", "{\"ref\":\"s7\",\"before-n\":\"2\"}",
			"{\"ref\":\"s7\",\"before_n\":2}" },
		{ "recall", "{\"query\":\"why\",\"file\":\"a.c\"}",
			"{\"question\":\"why\",\"files\":[\"a.c\"],\"budget\":2000}" },
		{ "remember", "{\"text\":\"x\",\"type\":\"Decision\"}",
			"{\"text\":\"x\",\"category\":\"decision\"}" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_string_equal(checked(rows[i][0], rows[i][1]), rows[i][2]);
}

static void what_cannot_be_meant_is_answered_with_the_right_form(void **state)
{
	static const char *const rows[][3] = {
		{ "search", "{\"qurey\":\"x\"}",
			"! search has no parameter 'qurey'; is 'query' meant?" },
		{ "search", "{\"limit\":0}",
			"! limit is '0', but takes a whole number from 1 to 100000; " },
		{ "search", "{\"limit\":\"many\"}",
			"! limit is 'many', but takes a whole number from 1 to 100000; " },
		{ "search", "{\"limit\":2.5}",
			"! limit is '2.5', but takes a whole number from 1 to 100000; " },
		{ "search", "{\"scope\":\"x\"}",
			"! scope is 'x', but takes one of memories|messages|sessions|all; " },
		{ "search", "{\"before\":\"soon\"}",
			"! before is 'soon', but takes a time such as 2026-11-29, yesterday, 7d or "
			"2h; " },
		{ "search", "{\"query\":{\"a\":1}}", "! query takes a single value; " },
		{ "get", "{}",
			"! get needs refs: memories (12), events (e345), sessions (s7); see "
			"`remanence get --help`" },
		{ "get", "{\"refs\":[\"x9\"]}",
			"! refs is 'x9', but takes a memory (12), an event (e345) or a session "
			"(s7); " },
		{ "get", "{\"refs\":[-4]}",
			"! refs is '-4', but takes a memory (12), an event (e345) or a session "
			"(s7); " },
		{ "stop", "{\"now\":true}", "! stop has no parameter 'now'; it takes none" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_string_equal(checked(rows[i][0], rows[i][1]), rows[i][2]);
}

static void a_refused_call_leaves_nothing_behind(void **state)
{
	AUTO(buf_done) struct buf out = { 0 };
	struct err err = { 0 };

	assert_int_equal(op_params_check(op_spec_find("get"), NULL, &out, &err), -1);
	assert_int_equal(out.len, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_of_the_table_is_well_formed),
		cmocka_unit_test(each_option_leads_back_to_its_parameter),
		cmocka_unit_test(tools_are_found_by_the_name_that_agents_know),
		cmocka_unit_test(near_misses_lead_to_the_right_command),
		cmocka_unit_test(parameters_come_out_in_normal_form),
		cmocka_unit_test(what_cannot_be_meant_is_answered_with_the_right_form),
		cmocka_unit_test(a_refused_call_leaves_nothing_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
