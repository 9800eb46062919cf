#ifndef INDEX_SCORE_H
#define INDEX_SCORE_H

#include "index/match.h"

/* Scores of documents, read from the posting lists of a run whose sessions are scored. */

/* Documents that are scored at a time, a multiple of 16, at most 1024; postings that are worth two parts. Only tests change them. */
extern uint32_t score_window, score_parted;

struct scored {
	size_t view;
	uint32_t doc;
	float own, pairs, session; /* session: unweighted */
};
typedef void scored_fn(void *ctx, const struct scored *s);
/*
 * Which documents: those near the best sessions first, so that run->least rises early, then the
 * rest; or all at once. Each part goes by view and number.
 */
enum score_part { SCORE_ALL, SCORE_BEST, SCORE_REST };
/* Whether it is worth doing in two parts. */
bool score_is_parted(const struct run *r);
/*
 * Every live document of the wanted classes (bit per class) that holds a word and reaches
 * run->least, which the callback may raise; without words, every one.
 */
void score_docs(struct run *r, uint32_t classes, enum score_part part, scored_fn *each, void *ctx);
/* Every live document of the wanted classes that holds a word; no score. */
void score_count(struct run *r, uint32_t classes, scored_fn *each, void *ctx);

#endif
