#ifndef INDEX_SYNONYMS_H
#define INDEX_SYNONYMS_H

#include "base/str.h"

/* Words of the trade that mean the same, mostly short forms and what they are short for. */

#define SYNONYMS_MAX 5 /* of one word */

/* The others of the folded word's row; how many. */
size_t synonyms_of(struct str word, struct str ret[SYNONYMS_MAX]);

#endif
