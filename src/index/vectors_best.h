#ifndef INDEX_VECTORS_BEST_H
#define INDEX_VECTORS_BEST_H

#include "index/vectors_parts.h"

/* What a scan has found so far: the best so many hits, and of sessions their nearest documents. One thread. */

/* The worst of them on top. */
struct best {
	struct vectors_hit *at; /* [max], the caller's */
	size_t n, max;
};

void best_offer(struct best *b, struct vectors_hit hit);
/* Puts the best first; nothing may be offered after that. */
void best_sort(struct best *b);

#define NEAREST_DOCS 3 /* that a session's mean is of */

struct nearest {
	uint32_t session;
	uint32_t n;
	doc_id id;
	float best[NEAREST_DOCS]; /* descending */
};

/* By the session's number; empty: all zero. */
struct nearests {
	struct nearest *at;
	size_t size, n;
};

void nearests_add(struct nearests *t, const struct vectors_row *row, float score);
/* NULL: nothing of that session was added. */
const struct nearest *nearests_find(const struct nearests *t, uint32_t session);
float nearest_score(const struct nearest *s);
void nearests_done(struct nearests *t);

#endif
