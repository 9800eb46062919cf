#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/* Strings: comparing, cutting, numbers, and UTF-8 on the level of code points. Nothing here depends on the locale. */

/* A piece of somebody else's bytes; not terminated. */
struct str {
	const char *p;
	size_t n;
};

#define STR(literal) ((struct str){ (literal), sizeof(literal) - 1 })
struct str str_of(const char *s); /* NULL gives an empty one */
bool str_eq(struct str a, struct str b);
bool str_is(struct str a, const char *b);
bool str_ieq(const char *a, const char *b);            /* ASCII case ignored */
bool str_starts(const char *s, const char *prefix);
bool str_istarts(const char *s, const char *prefix);
bool str_ends(const char *s, const char *suffix);
struct str str_trim(struct str s);                     /* ASCII white space at both ends */
/* Takes the next part up to `sep` off *rest; false when nothing is left. Empty parts are given: "a," has two parts and "" has one. */
bool str_split(struct str *rest, char sep, struct str *ret_part);
/* The next line without "\n" or "\r\n"; false at the end. */
bool str_line(struct str *rest, struct str *ret_line);
const char *str_find(struct str haystack, struct str needle);  /* NULL when absent */
const char *str_ifind(struct str haystack, const char *needle); /* ASCII case ignored */
bool str_to_i64(const char *s, int64_t *ret);          /* the whole string, decimal */
bool str_to_double(const char *s, double *ret);
/* Decimal, at least so many digits, at the end of the room; a tenth of what a format takes. */
#define STR_DIGITS_MAX 20
struct str str_digits(char room[STR_DIGITS_MAX], uint64_t value, int least);
/* Below a space, or DEL. */
bool str_has_control(struct str s);
/* Glob over the whole of `s`, as in .gitignore: *, ? and [a-z] [!x] stop at slashes, ** does not, "**" and a slash stand for any folders or none, \\ quotes. */
#define STR_GLOB_MAX 1024 /* bytes of a pattern; a longer one matches nothing */
bool str_glob(const char *pattern, const char *s);
unsigned str_distance(const char *a, const char *b);   /* edits (insert, delete, replace, swap) for "did you mean"; up to 64 bytes each */

/* One code point at *p (not past end); advances *p; invalid bytes give U+FFFD and advance by one. */
uint32_t utf8_next(const char **p, const char *end);
/* The length of the code point at p or, when *ret_is_valid is false, of the bad part there that stands for one U+FFFD. */
size_t utf8_unit(const char *p, const char *end, bool *ret_is_valid);
size_t utf8_encode(uint32_t cp, char out[4]);
bool utf8_is_valid(const char *s, size_t n);           /* also false for NUL bytes */
/* A valid copy: bad bytes, lone surrogates and NUL become U+FFFD (RFC 3629; one per maximal bad part). Gives the input back when already valid. */
struct str utf8_repair(struct arena *a, struct str s);
size_t utf8_cut(const char *s, size_t n, size_t max);  /* the longest length <= max that ends at a code point border */
/* Head and tail with " … [N bytes cut] … " between when longer than max. */
struct str utf8_head_tail(struct arena *a, struct str s, size_t max);

#endif
