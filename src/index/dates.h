#ifndef INDEX_DATES_H
#define INDEX_DATES_H

#include "base/str.h"
#include "index/query_parts.h"

/*
 * Days: as words of a document, and as periods that a question names ("last tuesday", "three weeks
 * ago", "in may", "hier", "il y a deux jours"). In local time.
 */

#define DATE_WORDS_MAX 64

/* "2026-11-29 2026-11 sunday november"; empty for time 0. */
struct str date_words(int64_t at, char ret[DATE_WORDS_MAX]);

/*
 * Looks for a period among the question's words and notes it in the question. Its words are no
 * longer looked for, unless there are no others.
 */
void period_find(struct query *q);

/* The period as times, [*ret_from, *ret_to), seen from now. False: the question names none. */
bool period_times(const struct query *q, int64_t now, int64_t *ret_from, int64_t *ret_to);

#endif
