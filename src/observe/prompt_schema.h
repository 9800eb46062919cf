#ifndef OBSERVE_PROMPT_SCHEMA_H
#define OBSERVE_PROMPT_SCHEMA_H

#include "base/arena.h"
#include "observe/mode.h"

/*
 * JSON schemas of the answers: every member required and no other, as strict servers want it, and
 * nothing without an end.
 */

/* `units`: so many are answered, no more and no less. `longest`: bytes of the longest of them. */
char *schema_observe(struct arena *a, const struct mode *mode, size_t units, size_t longest);
char *schema_session(struct arena *a);

#endif
