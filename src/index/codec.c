#include "index/codec.h"

#include "base/mem.h"

void varint_put(struct buf *b, uint64_t v)
{
	char bytes[10];
	size_t n = 0;
	for (; v >= 128; v >>= 7)
		bytes[n++] = (char)(v | 128);
	bytes[n++] = (char)v;
	buf_add(b, bytes, n);
}

void fixed_put(struct buf *b, uint64_t v, unsigned bytes)
{
	char out[8];
	for (unsigned i = 0; i < bytes; i++, v >>= 8)
		out[i] = (char)v;
	buf_add(b, out, bytes);
}

void fixed_fill(struct buf *b, size_t bytes)
{
	static const char zeros[256];
	for (; bytes > 0; bytes -= MIN(bytes, sizeof(zeros)))
		buf_add(b, zeros, MIN(bytes, sizeof(zeros)));
}

void bits_word(struct bits_out *b)
{
	fixed_put(b->out, b->held, 8);
}

void bits_flush(struct bits_out *b)
{
	fixed_put(b->out, b->held, (b->n + 7) / 8);
	b->held = 0;
	b->n = 0;
}
