/* SHA-1 as in FIPS 180-4, over git's object form. */
#include "base/blob_id.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"

#define BLOCK 64
#define LENGTH_AT 56
#define WORDS 5
#define ROUNDS 80

struct sha1 {
	uint32_t h[WORDS];
	unsigned char block[BLOCK];
	size_t used;
	uint64_t bytes;
};

static uint32_t rotate(uint32_t x, unsigned n)
{
	return x << n | x >> (32 - n);
}

static uint32_t mix(unsigned round, uint32_t b, uint32_t c, uint32_t d)
{
	if (round < 20)
		return ((b & c) | (~b & d)) + 0x5a827999u;
	if (round < 40)
		return (b ^ c ^ d) + 0x6ed9eba1u;
	if (round < 60)
		return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdcu;
	return (b ^ c ^ d) + 0xca62c1d6u;
}

static void take_block(struct sha1 *s, const unsigned char *p)
{
	uint32_t w[ROUNDS], v[WORDS];

	for (unsigned i = 0; i < 16; i++)
		w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16 |
		       (uint32_t)p[4 * i + 2] << 8 | p[4 * i + 3];
	for (unsigned i = 16; i < ROUNDS; i++)
		w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
	memcpy(v, s->h, sizeof(v));
	for (unsigned i = 0; i < ROUNDS; i++) {
		uint32_t next = rotate(v[0], 5) + mix(i, v[1], v[2], v[3]) + v[4] + w[i];
		v[4] = v[3];
		v[3] = v[2];
		v[2] = rotate(v[1], 30);
		v[1] = v[0];
		v[0] = next;
	}
	for (unsigned i = 0; i < WORDS; i++)
		s->h[i] += v[i];
}

static void add(struct sha1 *s, const void *data, size_t len)
{
	const unsigned char *p = data;

	s->bytes += len;
	while (len) {
		if (!s->used && len >= BLOCK) {
			take_block(s, p);
			p += BLOCK;
			len -= BLOCK;
			continue;
		}
		size_t n = MIN(len, BLOCK - s->used);
		memcpy(s->block + s->used, p, n);
		s->used += n;
		p += n;
		len -= n;
		if (s->used == BLOCK) {
			take_block(s, s->block);
			s->used = 0;
		}
	}
}

static void finish(struct sha1 *s, char out[BLOB_ID_SIZE])
{
	unsigned char length[8];
	uint64_t bits = s->bytes * 8;

	for (unsigned i = 0; i < sizeof(length); i++)
		length[i] = (unsigned char)(bits >> (56 - 8 * i));
	add(s, "\x80", 1);
	while (s->used != LENGTH_AT)
		add(s, "", 1);
	add(s, length, sizeof(length));
	for (unsigned i = 0; i < WORDS; i++)
		snprintf(out + 8 * i, 9, "%08x", s->h[i]);
}

void blob_id(const void *data, size_t len, char out[BLOB_ID_SIZE])
{
	struct sha1 s = { .h = { 0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u,
				  0xc3d2e1f0u } };
	char head[32];
	int n = snprintf(head, sizeof(head), "blob %zu", len);

	add(&s, head, (size_t)n + 1);
	add(&s, data, len);
	finish(&s, out);
}

int blob_id_file(const char *path, size_t max, char out[BLOB_ID_SIZE], struct err *err)
{
	AUTO(buf_done) struct buf text = { 0 };

	if (file_read(path, max, &text, err))
		return -1;
	blob_id(buf_cstr(&text), text.len, out);
	return 0;
}
