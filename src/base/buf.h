#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * A growing byte string with a ceiling. `data` is always followed by a NUL once anything was added. Above `max` nothing
 * more is added and `is_full` is set until buf_cut: the caller decides what that means. `struct buf b = { .max = N }`; max 0 means BUF_MAX.
 */

#define BUF_MAX ((size_t)1 << 31)

struct buf {
	char *data;
	size_t len, cap, max;
	bool is_full;
};

void buf_add(struct buf *b, const void *data, size_t len); /* whole or not at all */
void buf_str(struct buf *b, const char *s);
void buf_char(struct buf *b, char c);
void buf_printf(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *b, const char *format, va_list ap) __attribute__((format(printf, 2, 0)));
/* Makes room for `more` bytes (and a NUL) after len; the caller then writes, adds to len and ends with a NUL. False above max: then there is no room. */
bool buf_reserve(struct buf *b, size_t more) __attribute__((warn_unused_result));
void buf_cut(struct buf *b, size_t len);      /* shortens to len; clears is_full, so that a buffer can be used again */
const char *buf_cstr(const struct buf *b);    /* never NULL */
char *buf_steal(struct buf *b);               /* the caller frees; b is empty after */
void buf_done(struct buf *b);

#endif
