#ifndef OBSERVE_CLEAN_BYTES_H
#define OBSERVE_CLEAN_BYTES_H

#include "base/arena.h"
#include "base/str.h"

/*
 * Bytes that are no text: terminal escapes, overwritten lines, base64, binary. Each gives its input
 * back when there are none.
 */

#define BASE64_MIN \
	256 /* letters of base64 in a row, line breaks apart; shorter ones may be anything */

struct str bytes_strip_terminal(struct arena *a, struct str text);
struct str bytes_strip_base64(struct arena *a, struct str text);
/* Replaces the whole text by "[binary, N bytes]" when it is mostly unprintable. */
struct str bytes_strip_binary(struct arena *a, struct str text);

#endif
