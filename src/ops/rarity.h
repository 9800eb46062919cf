#ifndef OPS_RARITY_H
#define OPS_RARITY_H

#include "ops/hits.h"
#include "ops/question.h"

/* How much each word of a question says, by how many memories hold it. */

#define RARITY_LOOKUPS_MAX 12 /* words asked for; the others weigh as these do on average */

struct rarity {
	int64_t project;     /* 0: all */
	uint64_t words;      /* bit per word: those to look up */
	bool absent_is_rare; /* words that no memory holds weigh most; else as the average */
	uint64_t all;        /* out: memories there are */
};

/* What a word weighs that so many of all memories hold. */
double rarity_of(uint64_t all, uint64_t holding);
int rarity_weigh(struct lookup *l, struct rarity *r, struct question *q, struct err *err);

#endif
