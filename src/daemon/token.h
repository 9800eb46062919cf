#ifndef DAEMON_TOKEN_H
#define DAEMON_TOKEN_H

#include <stdbool.h>

#include "base/err.h"

/*
 * The token that requests over TCP must carry (RFC 6750): 32 random bytes in hexadecimal, in
 * run/token of the data folder, mode 0600. Whoever can read that file is the person. It is made
 * once and kept, so that scripts go on; a file that others may have read, that is not ours or that
 * holds something else is replaced. Never logged.
 */

#define TOKEN_BYTES 32
#define TOKEN_TEXT_MAX (2 * TOKEN_BYTES + 1)

struct token {
	char text[TOKEN_TEXT_MAX];
};

int token_open(const char *path, struct token *ret, struct err *err);
/* In a time that does not tell where the two differ. NULL does not match. */
bool token_matches(const struct token *t, const char *given);

#endif
