#ifndef DAEMON_SESSION_TITLE_H
#define DAEMON_SESSION_TITLE_H

#include "store/store.h"

/*
 * A session's title by rule: the first request that means something alone, else the first title
 * among its first summaries. It depends on those alone, whatever the order that they
 * came in; the agent's own title, where it gives one, is shown instead. On the writer thread, after
 * the memories of a turn were written.
 */

#define TITLE_PROMPTS 12 /* the first of a session; "hi" and "continue" are no titles */
#define TITLE_SUMMARIES 4

int session_title_make(struct store *s, const struct turn *t, bool has_title, struct err *err);

#endif
