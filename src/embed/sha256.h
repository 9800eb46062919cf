#ifndef EMBED_SHA256_H
#define EMBED_SHA256_H

#include <stddef.h>

/* SHA-256 (FIPS 180-4), for comparing a model file with its pin. Pure; any thread. */

#define SHA256_HEX 65 /* as lower-case hex, with NUL */

void sha256_hex(const void *data, size_t len, char ret[SHA256_HEX]);

#endif
