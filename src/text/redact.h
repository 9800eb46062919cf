#ifndef TEXT_REDACT_H
#define TEXT_REDACT_H

#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

/*
 * Secrets out of text: one table of patterns (cloud keys, forge and chat tokens, private key blocks, JWT, passwords in URLs
 * and assignments, .env shapes), an entropy check for values assigned to secret-sounding names, and the user's own patterns.
 * What is found becomes "[redacted:<name>]". Safe from several threads once made.
 */

struct redactor;
/* extra: the user's regular expressions (PCRE2), NULL-terminated, may be NULL; a bad one is an ERR_USAGE that names it. */
int redactor_new(const char *const *extra, struct redactor **ret, struct err *err);
void redactor_free(struct redactor *r);
/* Gives the input back (same pointer) when nothing was found. *count grows by what was replaced. */
struct str redact(const struct redactor *r, struct arena *a, struct str text, uint64_t *count);

#endif
