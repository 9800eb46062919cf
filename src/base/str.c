/* Only ASCII has a case here: names of tools, headers, extensions. Text in languages is text/'s business. */
#include "base/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define DISTANCE_MAX 64

static unsigned char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (unsigned char)(c + 32) : (unsigned char)c;
}

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

struct str str_of(const char *s)
{
	return (struct str){ s, s ? strlen(s) : 0 };
}

bool str_eq(struct str a, struct str b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

bool str_is(struct str a, const char *b)
{
	return str_eq(a, str_of(b));
}

bool str_ieq(const char *a, const char *b)
{
	while (*a && lower(*a) == lower(*b)) {
		a++;
		b++;
	}
	return lower(*a) == lower(*b);
}

bool str_starts(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool str_istarts(const char *s, const char *prefix)
{
	while (*prefix && lower(*s) == lower(*prefix)) {
		s++;
		prefix++;
	}
	return !*prefix;
}

bool str_ends(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);

	return n >= m && memcmp(s + n - m, suffix, m) == 0;
}

struct str str_trim(struct str s)
{
	while (s.n && is_space(s.p[0])) {
		s.p++;
		s.n--;
	}
	while (s.n && is_space(s.p[s.n - 1]))
		s.n--;
	return s;
}

/* After the last part rest->p is NULL: an empty rest alone may still be one empty part. */
bool str_split(struct str *rest, char sep, struct str *ret_part)
{
	const char *at;

	if (!rest->p)
		return false;
	at = memchr(rest->p, sep, rest->n);
	if (!at) {
		*ret_part = *rest;
		*rest = (struct str){ 0 };
		return true;
	}
	*ret_part = (struct str){ rest->p, (size_t)(at - rest->p) };
	rest->n -= ret_part->n + 1;
	rest->p = at + 1;
	return true;
}

bool str_line(struct str *rest, struct str *ret_line)
{
	const char *at;
	struct str line;

	if (rest->n == 0)
		return false;
	at = memchr(rest->p, '\n', rest->n);
	line = (struct str){ rest->p, at ? (size_t)(at - rest->p) : rest->n };
	rest->p += line.n + (at != NULL);
	rest->n -= line.n + (at != NULL);
	if (at && line.n && line.p[line.n - 1] == '\r')
		line.n--;
	*ret_line = line;
	return true;
}

const char *str_find(struct str haystack, struct str needle)
{
	if (needle.n == 0)
		return haystack.p;
	return haystack.n ? memmem(haystack.p, haystack.n, needle.p, needle.n) : NULL;
}

const char *str_ifind(struct str haystack, const char *needle)
{
	size_t n = strlen(needle);

	if (n == 0)
		return haystack.p;
	for (size_t i = 0; i + n <= haystack.n; i++) {
		size_t j = 0;
		while (j < n && lower(haystack.p[i + j]) == lower(needle[j]))
			j++;
		if (j == n)
			return haystack.p + i;
	}
	return NULL;
}

bool str_to_i64(const char *s, int64_t *ret)
{
	bool is_negative = s && *s == '-';
	int64_t value = 0;

	if (!s)
		return false;
	s += is_negative || *s == '+';
	if (!*s)
		return false;
	/* Summed below zero, since the negative side reaches one further. */
	for (; *s; s++) {
		if (*s < '0' || *s > '9' || __builtin_mul_overflow(value, 10, &value) ||
			__builtin_sub_overflow(value, *s - '0', &value))
			return false;
	}
	if (!is_negative && value == INT64_MIN)
		return false;
	*ret = is_negative ? value : -value;
	return true;
}

struct str str_digits(char room[STR_DIGITS_MAX], uint64_t value, int least)
{
	size_t at = STR_DIGITS_MAX;

	for (; value || least > 0; value /= 10, least--)
		room[--at] = (char)('0' + value % 10);
	return (struct str){ room + at, STR_DIGITS_MAX - at };
}

bool str_has_control(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] < ' ' || s.p[i] == 0x7f)
			return true;
	return false;
}

bool str_to_double(const char *s, double *ret)
{
	char *end;
	double value;

	/* strtod also takes leading blanks, hexadecimal, "inf" and "nan"; people do not mean those. */
	if (!s || !*s || s[strspn(s, "0123456789+-.eE")] != '\0')
		return false;
	value = strtod(s, &end);
	if (*end || !isfinite(value))
		return false;
	*ret = value;
	return true;
}

/* Optimal string alignment (Damerau-Levenshtein without repeated edits of one place). */
unsigned str_distance(const char *a, const char *b)
{
	size_t n = strnlen(a, DISTANCE_MAX), m = strnlen(b, DISTANCE_MAX);
	unsigned rows[3][DISTANCE_MAX + 1];
	unsigned *before = rows[0], *last = rows[1], *row = rows[2], *recycled;

	for (size_t j = 0; j <= m; j++)
		last[j] = (unsigned)j;
	for (size_t i = 1; i <= n; i++) {
		row[0] = (unsigned)i;
		for (size_t j = 1; j <= m; j++) {
			unsigned cost = a[i - 1] != b[j - 1];

			row[j] = MIN(MIN(last[j] + 1, row[j - 1] + 1), last[j - 1] + cost);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = MIN(row[j], before[j - 2] + 1);
		}
		recycled = before;
		before = last;
		last = row;
		row = recycled;
	}
	return last[m];
}
