#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Allocation that cannot fail: out of memory ends the process in one place. And the cleanup attribute. */

/* Runs `ender(&var)` when the variable leaves its scope: AUTO(buf_done) struct buf b = {0}; */
#define AUTO(ender) __attribute__((cleanup(ender)))

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

void *mem_alloc(size_t size);              /* zeroed */
void *mem_resize(void *p, size_t size);    /* as realloc */
char *mem_strdup(const char *s);
void *mem_dup(const void *p, size_t size); /* a copy, followed by a NUL */

/* For AUTO(mem_free_ptr): frees what the pointer variable holds. */
static inline void mem_free_ptr(void *p)
{
	free(*(void **)p);
}

/* Makes room for `need` elements in a growing array: MEM_GROW(items, cap, need). */
#define MEM_GROW(array, cap, need)                                                                  \
	do {                                                                                        \
		if ((size_t)(need) > (size_t)(cap)) {                                               \
			(cap) = MAX((size_t)(need), (size_t)(cap) * 2 + 8);                         \
			(array) = mem_resize((array), sizeof(*(array)) * (size_t)(cap));            \
		}                                                                                   \
	} while (0)

#endif
