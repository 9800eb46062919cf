#ifndef AGENTS_LINE_LOOK_H
#define AGENTS_LINE_LOOK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

/*
 * A look at the first bytes of a line of JSON without parsing it, to drop lines that nobody needs.
 * Looks at LINE_LOOK_MAX bytes at most.
 */

#define LINE_LOOK_MAX 4096

/*
 * The raw text (escapes as they are) of the string at the top member `key`, or at its member
 * `inner` when that is not NULL and comes first in it. False when it does not stand in these bytes.
 */
bool line_look(const char *line, size_t len, const char *key, const char *inner, struct str *ret);

#endif
