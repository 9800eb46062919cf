#include "unit.h"

#include <stdlib.h>

#include "base/mem.h"
#include "conf/settings.h"
#include "observe/ask.h"

static void an_answer_may_be_half_as_long_as_its_unit_and_have_its_form(void **state)
{
	assert_int_equal(ask_answer_tokens(1, 0), ASK_TOKENS_FORM);
	assert_int_equal(ask_answer_tokens(1, 1200), ASK_TOKENS_FORM + 150);
	assert_int_equal(ask_answer_tokens(1, 1u << 20), ASK_TOKENS_FORM + ASK_TOKENS_TEXT);
	assert_int_equal(ask_answer_tokens(3, 6000), 3 * ASK_TOKENS_FORM + 750);
	assert_int_equal(ask_answer_tokens(2, 1u << 20), 2 * (ASK_TOKENS_FORM + ASK_TOKENS_TEXT));
	/* A summary of a session tells of no unit. */
	assert_int_equal(ask_answer_tokens(0, 0), ASK_TOKENS_FORM);
}

static void a_context_holds_the_longest_question_and_its_answer_in_steps(void **state)
{
	struct settings *s = NULL;
	int64_t tokens;

	assert_int_equal(setenv("REMANENCE_OBSERVER_MAX_CHARS", "6000", 1), 0);
	assert_int_equal(settings_load("/nonexistent/settings.json", &s, NULL, NULL), 0);
	tokens = ask_context_tokens(s);
	assert_int_equal(tokens % 2048, 0);
	assert_in_range(tokens, 6000 / 3 + ask_answer_tokens(1, 6000), 16384);
	settings_free(s);
	unsetenv("REMANENCE_OBSERVER_MAX_CHARS");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			an_answer_may_be_half_as_long_as_its_unit_and_have_its_form),
		cmocka_unit_test(a_context_holds_the_longest_question_and_its_answer_in_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
