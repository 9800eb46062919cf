/* Every allocation of the program passes here, so that running out of memory has one behaviour. */
#include "base/mem.h"

#include "base/err.h"

void *mem_alloc(size_t size)
{
	void *p = calloc(1, size ? size : 1);

	if (!p)
		die("out of memory (%zu bytes)", size);
	return p;
}

void *mem_resize(void *p, size_t size)
{
	void *resized = realloc(p, size ? size : 1);

	if (!resized)
		die("out of memory (%zu bytes)", size);
	return resized;
}

char *mem_strdup(const char *s)
{
	return mem_dup(s, strlen(s));
}

void *mem_dup(const void *p, size_t size)
{
	char *copy = mem_resize(NULL, size + 1);

	if (size)
		memcpy(copy, p, size);
	copy[size] = '\0';
	return copy;
}
