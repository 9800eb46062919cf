#include "wire/environment.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

extern char **environ;

static const char *const left_out[] = { "REMANENCE_HOME=", "REMANENCE_IGNORE=", "REMANENCE_OBSERVER=" };
static const char hex_digits[] = "0123456789abcdef";

static bool is_counted(const char *variable)
{
	if (!str_starts(variable, "REMANENCE_"))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(left_out); i++)
		if (str_starts(variable, left_out[i]))
			return false;
	return true;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static uint64_t fnv(uint64_t hash, const char *s, size_t n)
{
	static const uint64_t prime = 0x100000001b3u;
	for (size_t i = 0; i < n; i++)
		hash = (hash ^ (unsigned char)s[i]) * prime;
	return hash;
}

void wire_environment_hash(char out[WIRE_ENVIRONMENT_HASH])
{
	const char *found[WIRE_ENVIRONMENT_MAX];
	size_t n = 0;
	uint64_t hash = 0xcbf29ce484222325u;
	for (char **e = environ; e && *e && n < WIRE_ENVIRONMENT_MAX; e++)
		if (is_counted(*e))
			found[n++] = *e;
	qsort(found, n, sizeof(found[0]), compare);
	for (size_t i = 0; i < n; i++) {
		hash = fnv(hash, found[i], strlen(found[i]));
		hash = fnv(hash, "\n", 1);
	}
	for (int i = 0; i < WIRE_ENVIRONMENT_HASH - 1; i++)
		out[i] = hex_digits[hash >> (60 - 4 * i) & 15];
	out[WIRE_ENVIRONMENT_HASH - 1] = '\0';
}
