#ifndef INDEX_SPELL_H
#define INDEX_SPELL_H

#include "index/match.h"

/*
 * The question with each word that nothing holds replaced by the nearest word of the dictionaries;
 * NULL when there is none.
 */
const struct query *spell_correct(
	struct arena *a, const struct snapshot *snap, const struct query *q);

/* The words that were put in the place of others, with blanks between. */
const char *spell_said(struct arena *a, const struct query *q, const struct query *fixed);

#endif
