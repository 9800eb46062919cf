/* The writer keeps no stack: whether a comma is due shows in the last byte that was written. */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"

#define SMALL_REAL 1e9
#define REPLACEMENT_UTF8 "\xEF\xBF\xBD"

/* The letter behind the backslash of the short escapes (RFC 8259, section 7). */
static const char short_escapes[128] = {
	['"'] = '"',
	['\\'] = '\\',
	['\b'] = 'b',
	['\f'] = 'f',
	['\n'] = 'n',
	['\r'] = 'r',
	['\t'] = 't',
};

static bool is_plain(unsigned char c)
{
	return c >= ' ' && c < 0x80 && c != '"' && c != '\\';
}

/* Writes one character that cannot be copied as it is; returns its length in the input. */
static size_t write_special(struct buf *out, const char *p, const char *end)
{
	unsigned char c = (unsigned char)*p;
	bool is_valid;
	size_t n;

	if (c == 0 || c >= 0x80) {
		n = utf8_unit(p, end, &is_valid);
		if (is_valid)
			buf_add(out, p, n);
		else
			buf_add(out, REPLACEMENT_UTF8, 3);
		return n;
	}
	if (short_escapes[c])
		buf_add(out, (char[]){ '\\', short_escapes[c] }, 2);
	else
		buf_printf(out, "\\u%04x", c);
	return 1;
}

static void write_string(struct buf *out, struct str s)
{
	const char *p = s.p, *end = s.p + s.n, *run;

	buf_char(out, '"');
	while (p < end) {
		for (run = p; p < end && is_plain((unsigned char)*p); p++)
			continue;
		if (p > run)
			buf_add(out, run, (size_t)(p - run));
		if (p < end)
			p += write_special(out, p, end);
	}
	buf_char(out, '"');
}

/* What stands before any value: a comma, and the key. */
static void begin_item(struct jw *w, const char *key)
{
	struct buf *out = w->out;
	char last = out->len ? out->data[out->len - 1] : '[';

	if (w->depth > 0 && last != '{' && last != '[')
		buf_char(out, ',');
	if (key) {
		write_string(out, str_of(key));
		buf_char(out, ':');
	}
}

static void open_level(struct jw *w, const char *key, char opener)
{
	begin_item(w, key);
	buf_char(w->out, opener);
	w->depth++;
}

void jw_object(struct jw *w, const char *key)
{
	open_level(w, key, '{');
}

void jw_array(struct jw *w, const char *key)
{
	open_level(w, key, '[');
}

void jw_end(struct jw *w, char closer)
{
	assert(w->depth > 0);
	w->depth--;
	buf_char(w->out, closer);
}

void jw_slice(struct jw *w, const char *key, struct str value)
{
	begin_item(w, key);
	write_string(w->out, value);
}

void jw_str(struct jw *w, const char *key, const char *value)
{
	if (value)
		jw_slice(w, key, str_of(value));
	else
		jw_null(w, key);
}

void jw_printf(struct jw *w, const char *key, const char *format, ...)
{
	AUTO(buf_done) struct buf text = { 0 };
	va_list ap;

	va_start(ap, format);
	buf_vprintf(&text, format, ap);
	va_end(ap);
	jw_slice(w, key, (struct str){ buf_cstr(&text), text.len });
}

static void write_digits(struct buf *out, uint64_t value, int least)
{
	char room[STR_DIGITS_MAX];
	const struct str digits = str_digits(room, value, least);
	buf_add(out, digits.p, digits.n);
}

void jw_int(struct jw *w, const char *key, int64_t value)
{
	begin_item(w, key);
	if (value < 0)
		buf_char(w->out, '-');
	write_digits(w->out, value < 0 ? -(uint64_t)value : (uint64_t)value, 1);
}

/* Numbers whose digits an integer holds, exactly enough. */
static bool write_small(struct buf *out, double value, int decimals)
{
	static const uint64_t powers[] = { 1, 10, 100, 1000, 10000 };
	if (decimals < 0 || decimals >= (int)ARRAY_LEN(powers) || !(fabs(value) < SMALL_REAL))
		return false;
	const uint64_t power = powers[decimals],
		       scaled = (uint64_t)nearbyint(fabs(value) * (double)power);
	if (signbit(value))
		buf_char(out, '-');
	write_digits(out, scaled / power, 1);
	if (decimals) {
		buf_char(out, '.');
		write_digits(out, scaled % power, decimals);
	}
	return true;
}

void jw_real(struct jw *w, const char *key, double value, int decimals)
{
	begin_item(w, key);
	if (!isfinite(value))
		buf_str(w->out, "null");
	else if (!write_small(w->out, value, decimals))
		buf_printf(w->out, "%.*f", decimals, value);
}

void jw_bool(struct jw *w, const char *key, bool value)
{
	begin_item(w, key);
	buf_str(w->out, value ? "true" : "false");
}

void jw_null(struct jw *w, const char *key)
{
	begin_item(w, key);
	buf_str(w->out, "null");
}

void jw_raw(struct jw *w, const char *key, struct str json_text)
{
	begin_item(w, key);
	buf_add(w->out, json_text.p, json_text.n);
}

char *json_list(struct arena *a, const char *const *items, size_t n)
{
	AUTO(buf_done) struct buf out = { 0 };
	struct jw w = { .out = &out };

	if (!n)
		return NULL;
	jw_array(&w, NULL);
	for (size_t i = 0; i < n; i++)
		jw_str(&w, NULL, items[i]);
	jw_end(&w, ']');
	return arena_dup(a, out.data, out.len);
}
