#ifndef INDEX_SCORE_H
#define INDEX_SCORE_H

#include "index/match.h"

/* Scores of sessions and of documents, from the lists of a run. */

/* Fills session_scores: BM25 of each session as one document, near pairs included. */
void score_sessions(struct run *r);

/* Documents that are scored at a time, a multiple of 16; at most 1024. Only tests change it. */
extern uint32_t score_window;

struct scored {
	size_t view;
	uint32_t doc;
	float own, pairs, session; /* session: unweighted */
};
typedef void scored_fn(void *ctx, const struct scored *s);
/*
 * Every live document of the wanted classes (bit per class) that holds a word and reaches
 * run->least, which the callback may raise; without words, every one. By view and number.
 */
void score_docs(struct run *r, uint32_t classes, scored_fn *each, void *ctx);

#endif
