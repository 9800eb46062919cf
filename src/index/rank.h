#ifndef INDEX_RANK_H
#define INDEX_RANK_H

#include "base/arena.h"
#include "index/index.h"

/*
 * The best so many of what is offered: a heap whose root is the worst that is kept. Ties go to the
 * highest id.
 */

struct ranked {
	double key;
	doc_id id;
	size_t view;
	uint32_t doc;
	float own, session, pairs, prior;
};

struct rank {
	struct ranked *items;
	size_t n, max;
};

void rank_start(struct rank *r, struct arena *a, size_t max);
bool rank_is_full(const struct rank *r);
void rank_offer(struct rank *r, const struct ranked *item);
void rank_sort(struct rank *r); /* best first; ends the heap */
bool ranked_is_better(const struct ranked *a, const struct ranked *b);

#endif
