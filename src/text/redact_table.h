#ifndef TEXT_REDACT_TABLE_H
#define TEXT_REDACT_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

/*
 * The table of secrets. A row is tried only where one of its anchors stands, so that a text without
 * any costs one pass. Its pattern is matched at the anchor (or `back` bytes before it) and what
 * group 1 holds, or the whole match, is replaced by "[redacted:<name>]", if the row's check of the
 * value agrees. Constant data.
 */

#define REDACT_ANCHOR_MIN 3 /* bytes; shorter ones would hit everywhere */

/* What a value found must look like besides matching. */
enum value_check {
	VALUE_ANY,
	VALUE_RANDOM, /* a machine made it: digits among letters, not words, enough entropy */
	VALUE_PASSWORD, /* a person may have made it: anything but code, placeholders and type names */
	VALUE_URL       /* a password inside a URL: anything but placeholders and variables */
};

struct redact_row {
	const char *name;
	const char *anchors; /* separated by spaces; ASCII case is ignored when finding them */
	const char *pattern; /* PCRE2; bytes, not code points */
	enum value_check check;
	unsigned char back;
};

extern const struct redact_row redact_rows[]; /* ends with a NULL name */

/* Is this value, found where a secret would stand, one? `is_quoted`: it stood between quotes. */
bool redact_value_is_secret(enum value_check check, struct str value, bool is_quoted);

#endif
