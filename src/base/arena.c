/*
 * A chain of blocks, the head of which is filled; blocks double up to BLOCK_MAX, so that a large
 * request costs few calls of malloc. What is larger than a quarter of a block gets one of its own,
 * put behind the head, so that the head goes on being filled.
 */
#include "base/arena.h"

#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "base/mem.h"

#define ALIGNMENT 16
#define BLOCK_MAX ((size_t)256 << 10)

struct arena_block {
	struct arena_block *next;
	size_t used;
	size_t size;
	_Alignas(ALIGNMENT) char data[];
};

static struct arena_block *block_new(size_t size)
{
	struct arena_block *b = mem_resize(NULL, sizeof(*b) + size);

	b->next = NULL;
	b->used = 0;
	b->size = size;
	return b;
}

static void *take(struct arena_block *b, size_t size)
{
	void *p = b->data + b->used;

	b->used += size;
	return p;
}

/* The bytes are not cleared. */
static void *alloc_raw(struct arena *a, size_t wanted)
{
	struct arena_block *head = a->blocks, *b;
	size_t size = (wanted + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1), block_size;

	if (wanted > PTRDIFF_MAX)
		die("allocation of %zu bytes", wanted);
	a->used += wanted;
	if (head && head->size - head->used >= size)
		return take(head, size);

	block_size =
		head && head->size >= ARENA_BLOCK ? MIN(head->size * 2, BLOCK_MAX) : ARENA_BLOCK;
	if (size <= block_size / 4) {
		b = block_new(block_size);
		b->next = head;
		a->blocks = b;
		return take(b, size);
	}
	b = block_new(size);
	if (head) {
		b->next = head->next;
		head->next = b;
	} else {
		a->blocks = b;
	}
	return take(b, size);
}

void *arena_alloc(struct arena *a, size_t size)
{
	return memset(alloc_raw(a, size), 0, size);
}

void *arena_dup(struct arena *a, const void *p, size_t size)
{
	char *copy = alloc_raw(a, size + 1);

	if (size)
		memcpy(copy, p, size);
	copy[size] = '\0';
	return copy;
}

char *arena_str(struct arena *a, const char *s)
{
	return s ? arena_dup(a, s, strlen(s)) : NULL;
}

char *arena_vprintf(struct arena *a, const char *format, va_list ap)
{
	char text[256];
	va_list again;
	char *p;
	int n;

	va_copy(again, ap);
	n = vsnprintf(text, sizeof(text), format, ap);
	if (n < 0)
		die("cannot format '%s'", format);
	if ((size_t)n < sizeof(text)) {
		p = arena_dup(a, text, (size_t)n);
	} else {
		p = alloc_raw(a, (size_t)n + 1);
		vsnprintf(p, (size_t)n + 1, format, again);
	}
	va_end(again);
	return p;
}

char *arena_printf(struct arena *a, const char *format, ...)
{
	va_list ap;
	char *p;

	va_start(ap, format);
	p = arena_vprintf(a, format, ap);
	va_end(ap);
	return p;
}

/* Keeps the first block of an ordinary size; those made for one large piece are not worth keeping. */
void arena_reset(struct arena *a)
{
	struct arena_block *kept = NULL;

	for (struct arena_block *b = a->blocks, *next; b; b = next) {
		next = b->next;
		if (!kept && b->size >= ARENA_BLOCK && b->size <= BLOCK_MAX)
			kept = b;
		else
			free(b);
	}
	if (kept) {
		kept->next = NULL;
		kept->used = 0;
	}
	a->blocks = kept;
	a->used = 0;
}

void arena_done(struct arena *a)
{
	if (!a)
		return;
	for (struct arena_block *b = a->blocks, *next; b; b = next) {
		next = b->next;
		free(b);
	}
	*a = (struct arena){ 0 };
}
