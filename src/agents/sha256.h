#ifndef AGENTS_SHA256_H
#define AGENTS_SHA256_H

#include <stddef.h>

/*
 * SHA-256 (FIPS 180-4), for the hashes by which Codex trusts a hook and for knowing our own edits
 * again.
 */

#define SHA256_HEX 65 /* with NUL */

void sha256_hex(const void *data, size_t len, char ret[SHA256_HEX]);

#endif
