#ifndef TEXT_HASH_H
#define TEXT_HASH_H

#include <stddef.h>
#include <stdint.h>

/*
 * Content hashes: XXH3 (the only place that includes xxhash). Not cryptographic; never a security
 * boundary.
 */

#define HASH_HEX 33 /* 128 bits as hex, with NUL */

uint64_t hash64(const void *data, size_t len);
void hash_hex(const void *data, size_t len, char ret[HASH_HEX]);

#endif
