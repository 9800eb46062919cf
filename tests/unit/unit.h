#ifndef TESTS_UNIT_H
#define TESTS_UNIT_H

/* What every unit test includes: cmocka with the headers it needs, and numbers that are random but the same each time. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* xorshift64*: a seed that is printed on failure would be no better than one that never changes. */
static inline uint64_t unit_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * UINT64_C(2685821657736338717);
}

static inline size_t unit_below(uint64_t *state, size_t limit)
{
	return (size_t)(unit_random(state) >> 11) % limit;
}

#endif
