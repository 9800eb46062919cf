/* `cap` counts the byte for the ending NUL, so len < cap always holds once there is data. */
#include "base/buf.h"

#include <stdio.h>

#include "base/err.h"
#include "base/mem.h"

#define FIRST_CAP 64

static size_t ceiling(const struct buf *b)
{
	return b->max ? b->max : BUF_MAX;
}

bool buf_reserve(struct buf *b, size_t more)
{
	size_t need, cap, max = ceiling(b);

	if (b->is_full || b->len > max || more > max - b->len) {
		b->is_full = true;
		return false;
	}
	need = b->len + more + 1;
	if (need <= b->cap)
		return true;
	cap = MAX(MAX(need, b->cap * 2), FIRST_CAP);
	if (cap > max + 1)
		cap = MAX(need, max + 1);
	b->data = mem_resize(b->data, cap);
	b->cap = cap;
	b->data[b->len] = '\0';
	return true;
}

void buf_add(struct buf *b, const void *data, size_t len)
{
	if (!buf_reserve(b, len))
		return;
	if (len)
		memcpy(b->data + b->len, data, len);
	b->len += len;
	b->data[b->len] = '\0';
}

void buf_str(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void buf_char(struct buf *b, char c)
{
	buf_add(b, &c, 1);
}

void buf_vprintf(struct buf *b, const char *format, va_list ap)
{
	size_t room;
	va_list again;
	int n;

	if (!buf_reserve(b, 0))
		return;
	va_copy(again, ap);
	room = b->cap - b->len;
	n = vsnprintf(b->data + b->len, room, format, ap);
	if (n < 0)
		die("cannot format '%s'", format);
	const bool is_written = (size_t)n < room;
	if (!is_written) /* cut off until it is known to fit */
		b->data[b->len] = '\0';
	if (buf_reserve(b, (size_t)n)) {
		if (!is_written)
			vsnprintf(b->data + b->len, (size_t)n + 1, format, again);
		b->len += (size_t)n;
	} else {
		b->data[b->len] = '\0'; /* it stays whole */
	}
	va_end(again);
}

void buf_printf(struct buf *b, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	buf_vprintf(b, format, ap);
	va_end(ap);
}

void buf_cut(struct buf *b, size_t len)
{
	b->is_full = false;
	if (len >= b->len)
		return;
	b->len = len;
	b->data[len] = '\0';
}

const char *buf_cstr(const struct buf *b)
{
	return b->data ? b->data : "";
}

char *buf_steal(struct buf *b)
{
	char *data = b->data ? b->data : mem_strdup("");

	*b = (struct buf){ .max = b->max };
	return data;
}

void buf_done(struct buf *b)
{
	if (!b)
		return;
	free(b->data);
	*b = (struct buf){ .max = b->max };
}
