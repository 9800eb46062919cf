#ifndef WIRE_SPOOL_H
#define WIRE_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

/*
 * The spool: a folder with tmp/, new/ and bad/. One file per hook call: a header line and the
 * hook's input as it came. A file is acknowledged once it is renamed into new/. Names sort by time:
 * "<ms, 13 digits>-<pid>-<random hex>".
 *
 *   remanence-spool 1 <agent> <event> <unix ms, 13 digits> <payload bytes, 12 digits> <cwd, percent-encoded>\n<payload>
 */

#define SPOOL_HEADER_MAX 6000
#define SPOOL_NAME_MAX 64
#define SPOOL_WORD_MAX 64 /* agent and event: letters, digits, '-' and '_' only; others are replaced by '_' */

struct spool_header {
	char agent[SPOOL_WORD_MAX], event[SPOOL_WORD_MAX];
	int64_t at;
	uint64_t payload_len;
	char cwd[4096];
};

/* Formats a header line. Returns its length; never fails (a cwd too long is cut). */
size_t spool_header_print(const struct spool_header *h, char out[SPOOL_HEADER_MAX]);
/*
 * Reads a header from the first bytes of a file. Returns the header's length, or 0 when these bytes
 * are no header.
 */
size_t spool_header_parse(const char *data, size_t len, struct spool_header *ret);
/*
 * Percent encoding of paths, in headers of requests too. Encoding cuts what does not fit and
 * returns the length; decoding is false for a bad escape, a NUL or too long a text.
 */
size_t spool_percent_encode(const char *s, char *out, size_t size);
bool spool_percent_decode(const char *s, size_t len, char *out, size_t size);
/* A fresh unique name. */
void spool_name(int64_t at, char out[SPOOL_NAME_MAX]);

#endif
