#ifndef DAEMON_JOURNAL_H
#define DAEMON_JOURNAL_H

#include "daemon/writer.h"
#include "store/folder.h"

/*
 * The search log's memory: a search is noted at once and written with others later, so that no
 * answer waits for it and an idle store is not written to for each. Any thread.
 */

#define JOURNAL_MAX 4096 /* waiting; further ones are dropped */
#define JOURNAL_HOLD_US 2000000 /* each write to the store has its readers map it anew */

struct journal;
struct journal *journal_new(struct writer *writer);
void journal_free(struct journal *j); /* what was not flushed is lost; NULL is fine */
void journal_add(struct journal *j, const struct search_record *r);
/* Writes what waits, once the first has waited JOURNAL_HOLD_US, or now. */
void journal_flush(struct journal *j, bool is_now);
/* Something is being forgotten: no text of what waits is written. */
void journal_forget(struct journal *j);

#endif
