/* Errors are formatted into a side buffer first, because a caller may quote the error it extends. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

const struct err_info err_codes[ERR_CODE_COUNT] = {
	[ERR_NONE] = { "none", 0, 200, 0, 0 },
	[ERR_USAGE] = { "usage", 2, 400, -32602, 0 },
	[ERR_FORBIDDEN] = { "forbidden", 2, 403, -32001, 0 },
	[ERR_NOT_FOUND] = { "not_found", 4, 404, -32002, 0 },
	[ERR_TOO_LARGE] = { "too_large", 2, 413, -32003, 0 },
	[ERR_BUSY] = { "busy", 5, 503, -32004, 1 },
	[ERR_UNAVAILABLE] = { "unavailable", 5, 503, -32005, 1 },
	[ERR_IO] = { "io", 6, 500, -32006, 0 },
	[ERR_STORE] = { "storage", 6, 500, -32007, 0 },
	[ERR_UPSTREAM] = { "upstream", 7, 502, -32008, 1 },
	[ERR_INTERNAL] = { "internal", 70, 500, -32603, 0 },
};

/* Formats into `to` of `size` bytes; what does not fit is cut at a code point border. */
static __attribute__((format(printf, 3, 0))) void format_cut(
	char *to, size_t size, const char *format, va_list ap)
{
	char text[ERR_TEXT_MAX + 8];
	int n = vsnprintf(text, sizeof(text), format, ap);
	size_t len = n < 0 ? 0 : strlen(text);

	len = utf8_cut(text, len, size - 1);
	memcpy(to, text, len);
	to[len] = '\0';
}

int err_set(struct err *err, enum err_code code, const char *format, ...)
{
	va_list ap;

	if (!err)
		return -1;
	va_start(ap, format);
	format_cut(err->text, sizeof(err->text), format, ap);
	va_end(ap);
	err->code = code;
	err->hint[0] = '\0';
	return -1;
}

int err_hint(struct err *err, const char *format, ...)
{
	va_list ap;

	if (!err)
		return -1;
	va_start(ap, format);
	format_cut(err->hint, sizeof(err->hint), format, ap);
	va_end(ap);
	return -1;
}

int err_prefix(struct err *err, const char *format, ...)
{
	char text[ERR_TEXT_MAX + 8];
	va_list ap;
	size_t len;

	if (!err)
		return -1;
	va_start(ap, format);
	format_cut(text, ERR_TEXT_MAX, format, ap);
	va_end(ap);
	len = strlen(text);
	snprintf(text + len, sizeof(text) - len, ": %s", err->text);
	len = utf8_cut(text, strlen(text), ERR_TEXT_MAX - 1);
	memcpy(err->text, text, len);
	err->text[len] = '\0';
	return -1;
}

enum err_code err_code_of(const char *name)
{
	for (int i = 0; i < ERR_CODE_COUNT; i++) {
		if (name && strcmp(err_codes[i].name, name) == 0)
			return (enum err_code)i;
	}
	return ERR_INTERNAL;
}

void die(const char *format, ...)
{
	va_list ap;

	fputs("fatal: ", stderr);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	abort();
}
