#include "index/format.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"
#include "text/hash.h"

#define BODY_LEVELS 16
#define BODY_EXACT 8   /* levels below this one are not rounded */
#define OTHER_LEVELS 4 /* 0, 1, 2, 3 and more */

static const uint8_t body_levels[BODY_LEVELS] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 24, 32, 64,
	128 };

static struct code_info codes[CODE_COUNT];
static uint8_t code_by_counts[OTHER_LEVELS][OTHER_LEVELS]
			     [BODY_LEVELS]; /* title, rest, level of body */
static pthread_once_t codes_once = PTHREAD_ONCE_INIT;

/* The order of the codes is part of the format: rarer combinations later. */
static unsigned rarity(unsigned title, unsigned rest, unsigned level)
{
	return 2 * level + 5 * title + 4 * rest;
}

static void fill_codes(void)
{
	unsigned n = 0;
	for (unsigned r = 1; n < CODE_COUNT; r++) {
		for (unsigned t = 0; t < OTHER_LEVELS; t++) {
			for (unsigned o = 0; o < OTHER_LEVELS; o++) {
				for (unsigned l = 0; l < BODY_LEVELS; l++) {
					if (rarity(t, o, l) != r)
						continue;
					code_by_counts[t][o][l] = (uint8_t)n;
					codes[n++] = (struct code_info){
						.title = (uint8_t)t,
						.rest = (uint8_t)o,
						.body = body_levels[l],
						.is_exact = t < OTHER_LEVELS - 1 &&
							    o < OTHER_LEVELS - 1 && l < BODY_EXACT,
					};
				}
			}
		}
	}
}

const struct code_info *code_table(void)
{
	pthread_once(&codes_once, fill_codes);
	return codes;
}

uint8_t code_of(unsigned title, unsigned body, unsigned rest)
{
	code_table();
	unsigned level = BODY_LEVELS - 1;
	while (body_levels[level] > body)
		level--;
	return code_by_counts[MIN(title, OTHER_LEVELS - 1u)][MIN(rest, OTHER_LEVELS - 1u)][level];
}

/* Below 16 the number itself; above, three bits after the leading one and the exponent. */
uint8_t length_code(uint32_t words)
{
	if (words < 16)
		return (uint8_t)words;
	unsigned e = 31u - (unsigned)__builtin_clz(words);
	return (uint8_t)(16 + (e - 4) * 8 + ((words >> (e - 3)) & 7));
}

uint32_t length_of(uint8_t code)
{
	if (code < 16)
		return code;
	unsigned e = 4u + (code - 16u) / 8;
	return (8u + (code - 16u) % 8) << (e - 3);
}

uint64_t format_version(void)
{
	const uint64_t parts[] = { SEGMENT_VERSION, sizeof(struct trailer), COLUMN_COUNT,
		FIELD_COUNT, POSTING_BLOCK, DICTIONARY_BLOCK, POSITIONS_BITS,
		hash64(code_table(), CODE_COUNT * sizeof(struct code_info)) };
	return hash64(parts, sizeof(parts));
}
