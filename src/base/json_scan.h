#ifndef BASE_JSON_SCAN_H
#define BASE_JSON_SCAN_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/*
 * Thinning of JSON text before it is parsed: a streaming scan that copies its input, but cuts every string longer than
 * `string_max` to head and tail with a mark of its true size between (escapes and UTF-8 respected), and replaces base64
 * payloads (long strings of base64 letters only) by a mark. Works on pieces of any size, so that a line of 1 GB needs no
 * more memory than what it is thinned to. Output that would exceed `out->max` sets out->is_full. Between the first piece
 * of a value and json_scan_end nobody else changes `out`. A newline is nothing special: the caller ends values at them.
 */

#define JSON_SCAN_STRING_MAX (64u << 10)

struct json_scan; /* heap, opaque */
struct json_scan *json_scan_new(struct buf *out, size_t string_max);
void json_scan_feed(struct json_scan *s, const char *data, size_t len);
/* Ends the current value and makes ready for the next. Returns the number of input bytes that were cut away. */
uint64_t json_scan_end(struct json_scan *s);
void json_scan_free(struct json_scan *s);

#endif
