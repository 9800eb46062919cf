#include "index/reach.h"

#include <math.h>
#include <string.h>

#define PLANES 5 /* bits of a share below REACH_FULL */
#define USUAL 8u

_Static_assert(1u << PLANES == REACH_FULL, "a share that is not enough has so many bits");

uint32_t reach_share(float most, float missing)
{
	if (most <= 0)
		return 0;
	if (most >= missing)
		return REACH_FULL;
	return 1 + (uint32_t)(most / missing * (float)REACH_FULL);
}

/* Numbers of so many bits, one for each document; what comes to REACH_FULL stays there. */
struct sums {
	uint64_t planes[PLANES][REACH_WORDS], carry[REACH_WORDS], full[REACH_WORDS];
};

/* The carries into a plane's bits. */
static inline __attribute__((always_inline)) void add_carry(
	uint64_t *restrict plane, uint64_t *restrict carry, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const uint64_t had = plane[i];
		plane[i] = had ^ carry[i];
		carry[i] &= had;
	}
}

/* The carries and the map's bits. */
static inline __attribute__((always_inline)) void add_both(uint64_t *restrict plane,
	uint64_t *restrict carry, const uint64_t *restrict map, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const uint64_t had = plane[i], sum = had ^ map[i];
		plane[i] = sum ^ carry[i];
		carry[i] = (had & map[i]) | (carry[i] & sum);
	}
}

static inline __attribute__((always_inline)) void add_word(
	struct sums *s, const uint64_t *map, uint32_t share, uint32_t n)
{
	memset(s->carry, 0, n * sizeof(uint64_t));
	for (unsigned b = (unsigned)__builtin_ctz(share); b < PLANES; b++)
		if (share >> b & 1)
			add_both(s->planes[b], s->carry, map, n);
		else
			add_carry(s->planes[b], s->carry, n);
	for (uint32_t i = 0; i < n; i++)
		s->full[i] |= s->carry[i];
}

static inline __attribute__((always_inline)) void find_in(const struct reach_word *words,
	size_t nwords, uint32_t first, uint32_t n, uint64_t ret[REACH_WORDS])
{
	struct sums s;
	for (unsigned b = 0; b < PLANES; b++)
		memset(s.planes[b], 0, n * sizeof(uint64_t));
	memset(s.full, 0, n * sizeof(uint64_t));
	for (size_t w = 0; w < nwords; w++) {
		const uint64_t *map = words[w].map + first;
		if (words[w].share >= REACH_FULL)
			for (uint32_t i = 0; i < n; i++)
				s.full[i] |= map[i];
		else if (words[w].share > 0)
			add_word(&s, map, words[w].share, n);
	}
	memcpy(ret, s.full, n * sizeof(uint64_t));
}

/* Nearly always it is a window's eight words: loops that the compiler knows need no ends. */
void reach_find(const struct reach_word *words, size_t nwords, uint32_t first, uint32_t n,
	uint64_t ret[REACH_WORDS])
{
	if (n == USUAL)
		find_in(words, nwords, first, USUAL, ret);
	else
		find_in(words, nwords, first, n, ret);
}
