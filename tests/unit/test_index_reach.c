/* Which documents may reach a sum, against adding one by one. */

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "index/reach.h"

#define WORDS_MAX 70
#define MAP_WORDS 40

static uint64_t seed = 88172645463325252u;

static uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static uint64_t maps[WORDS_MAX][MAP_WORDS];

static bool has(const uint64_t *map, uint32_t doc)
{
	return map[doc / 64] >> doc % 64 & 1;
}

static void shares_are_never_too_little(void **state)
{
	assert_int_equal(reach_share(0, 5), 0);
	assert_int_equal(reach_share(0, 0), 0);
	assert_int_equal(reach_share(5, 5), REACH_FULL);
	assert_int_equal(reach_share(1e-30F, 0), REACH_FULL);
	for (int i = 0; i < 10000; i++) {
		const float missing = (float)(1 + rnd() % 100000) / 977,
			    most = (float)(rnd() % 100000) / 977;
		assert_true((float)reach_share(most, missing) / (float)REACH_FULL * missing >=
			    MIN(most, missing) * 0.99999F);
	}
}

static void the_sums_of_all_documents_are_those_of_each(void **state)
{
	for (int round = 0; round < 2000; round++) {
		struct reach_word words[WORDS_MAX];
		uint64_t found[REACH_WORDS];
		const size_t n = rnd() % WORDS_MAX;
		const uint32_t first = (uint32_t)(rnd() % 20),
			       width = 1 + (uint32_t)(rnd() % REACH_WORDS);
		for (size_t w = 0; w < n; w++) {
			for (uint32_t i = 0; i < MAP_WORDS; i++)
				maps[w][i] = rnd() % 3 ? rnd() & rnd() : rnd();
			words[w] = (struct reach_word){ maps[w],
				(uint32_t)(rnd() % (n < 8 ? 36 : 6)) };
		}
		reach_find(words, n, first, width, found);
		for (uint32_t doc = 0; doc < width * 64; doc++) {
			uint32_t sum = 0;
			for (size_t w = 0; w < n; w++)
				sum += has(maps[w], first * 64 + doc) ? words[w].share : 0;
			assert_int_equal(has(found, doc), sum >= REACH_FULL);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_are_never_too_little),
		cmocka_unit_test(the_sums_of_all_documents_are_those_of_each),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
