#ifndef INDEX_CODEC_H
#define INDEX_CODEC_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"

/*
 * Numbers as bytes: LEB128 and arrays of values of a fixed number of bits (little endian, at most
 * 57; readable 8 bytes past the end).
 */

#define BITS_MAX 57
#define BITS_PAD 8 /* bytes that must be readable after packed values */

static inline uint64_t load64(const uint8_t *p)
{
	uint64_t v;
	memcpy(&v, p, sizeof(v));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap64(v);
#endif
	return v;
}

static inline void store64(uint8_t *p, uint64_t v)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap64(v);
#endif
	memcpy(p, &v, sizeof(v));
}

static inline uint64_t bits_at(const uint8_t *p, uint64_t bit, unsigned width)
{
	return (load64(p + (bit >> 3)) >> (bit & 7)) & (((uint64_t)1 << width) - 1);
}

static inline uint64_t bits_get(const uint8_t *p, uint64_t i, unsigned width)
{
	return bits_at(p, i * width, width);
}

static inline unsigned bits_width(uint64_t max)
{
	return max ? 64u - (unsigned)__builtin_clzll(max) : 0;
}

/* In plain C: the instruction is not on every processor, and the library's way is slower. */
static inline uint32_t bits_count(uint64_t x)
{
	x -= x >> 1 & 0x5555555555555555u;
	x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
	x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
	return (uint32_t)(x * 0x0101010101010101u >> 56);
}

static inline uint64_t varint_get(const uint8_t **p)
{
	uint64_t v = 0;
	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t b = *(*p)++;
		v |= (uint64_t)(b & 127) << shift;
		if (b < 128)
			break;
	}
	return v;
}

void varint_put(struct buf *b, uint64_t v);
void fixed_put(struct buf *b, uint64_t v, unsigned bytes);
void fixed_fill(struct buf *b, size_t bytes); /* zeros */

static inline uint64_t fixed_get(const uint8_t *p, unsigned bytes)
{
	uint64_t v = 0;
	for (unsigned i = 0; i < bytes; i++)
		v |= (uint64_t)p[i] << (8 * i);
	return v;
}

/* Appends values of any width to a buffer; bits_flush fills up the last byte. */
struct bits_out {
	struct buf *out;
	uint64_t held;
	unsigned n;
};
void bits_word(struct bits_out *b); /* appends the 64 held bits */
static inline void bits_put(struct bits_out *b, uint64_t v, unsigned width)
{
	b->held |= v << b->n;
	b->n += width;
	if (b->n < 64)
		return;
	bits_word(b);
	b->n -= 64;
	/* what did not fit; the value has at most BITS_MAX bits, so that the shift is less than 64 */
	b->held = v >> (width - b->n);
}
void bits_flush(struct bits_out *b);

#endif
