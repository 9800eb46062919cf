#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>
#include <string.h>

/*
 * Memory freed by scope: one arena per request, job or parsed line. Everything that a function returns in pointers lives in
 * the caller's arena. Not shared between threads. `struct arena a = {0}` is an empty, valid arena.
 */

#define ARENA_BLOCK 8192

struct arena_block;
struct arena {
	struct arena_block *blocks;
	size_t used; /* bytes handed out, for limits and tests */
};

void *arena_alloc(struct arena *a, size_t size);               /* zeroed, 16-byte aligned */
void *arena_dup(struct arena *a, const void *p, size_t size);  /* a copy, followed by a NUL */
char *arena_str(struct arena *a, const char *s);               /* NULL stays NULL */
char *arena_printf(struct arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *arena_vprintf(struct arena *a, const char *format, va_list ap) __attribute__((format(printf, 2, 0)));
void arena_reset(struct arena *a); /* frees all but one block, for loops */
void arena_done(struct arena *a);

#define ARENA_NEW(a, type) ((type *)arena_alloc((a), sizeof(type)))
#define ARENA_ARRAY(a, type, n) ((type *)arena_alloc((a), sizeof(type) * (size_t)(n)))

/* A growing list in an arena (old copies stay until the arena ends): ARENA_PUSH(a, list, n, cap, item). */
#define ARENA_PUSH(a, list, n, cap, item)                                                             \
	do {                                                                                          \
		if ((n) == (cap)) {                                                                   \
			size_t arena_cap_ = (cap) ? (size_t)(cap) * 2 : 8;                            \
			void *arena_new_ = arena_alloc((a), sizeof(*(list)) * arena_cap_);            \
			if (n)                                                                        \
				memcpy(arena_new_, (list), sizeof(*(list)) * (size_t)(n));            \
			(list) = arena_new_;                                                          \
			(cap) = arena_cap_;                                                           \
		}                                                                                     \
		(list)[(n)++] = (item);                                                               \
	} while (0)

#endif
