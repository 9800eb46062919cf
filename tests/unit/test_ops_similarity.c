#include "unit.h"

#include "ops/similarity.h"

static void it_grows_with_the_cosine_and_stays_between_0_and_1(void **state)
{
	static const char *const providers[] = { "builtin", "openai", "ollama", "none", NULL };

	for (size_t p = 0; p < sizeof(providers) / sizeof(providers[0]); p++) {
		double last = 0;
		for (int i = -100; i <= 100; i++) {
			double s = similarity_of_cosine(providers[p], i / 100.);
			assert_true(s >= last && s >= 0 && s <= 1);
			last = s;
		}
		assert_true(last == 1);
	}
}

static void relevant_is_seven_tenths(void **state)
{
	assert_true(similarity_of_cosine("builtin", .0999) < .7);
	assert_true(similarity_of_cosine("builtin", .1001) > .7);
	assert_true(similarity_of_cosine("ollama", .7) == .7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_grows_with_the_cosine_and_stays_between_0_and_1),
		cmocka_unit_test(relevant_is_seven_tenths),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
