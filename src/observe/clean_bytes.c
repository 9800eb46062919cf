#include "observe/clean_bytes.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

#define ESC '\033'
#define SEQUENCE_MAX 1024 /* bytes of a terminal sequence; a longer one is none */
#define BINARY_SAMPLE 4096
#define BINARY_SHARE 10    /* one in ten bytes unprintable makes a text binary */
#define BASE64_LINE_MIN 60 /* letters before a line break that lets a run go on */
#define STRETCH (BASE64_LINE_MIN / 2)

static struct str take(struct arena *a, struct buf *b)
{
	struct str ret = { arena_dup(a, buf_cstr(b), b->len), b->len };

	buf_done(b);
	return ret;
}

/*
 * After the escape sequence that starts at p (ECMA-48): CSI, OSC and other strings, or two bytes.
 */
static const char *sequence_end(const char *p, const char *end)
{
	const char *limit = p + MIN(end - p, SEQUENCE_MAX);

	if (++p >= end)
		return end;
	if (*p == '[') {
		for (p++; p < limit && (unsigned char)*p >= 0x20 && (unsigned char)*p <= 0x3f; p++)
			;
		return p < end ? p + 1 : end;
	}
	if (!strchr("]PX^_", *p) || !*p)
		return p + 1;
	for (const char *q = p + 1; q < limit; q++) {
		if (*q == '\a')
			return q + 1;
		if (*q == ESC)
			return q + 1 < end && q[1] == '\\' ? q + 2 : q;
	}
	return p + 1;
}

/*
 * A carriage return that no line feed follows: what stands before it on the line was overwritten.
 */
static void overwrite_line(struct buf *out)
{
	size_t n = out->len;

	while (n > 0 && out->data[n - 1] != '\n')
		n--;
	buf_cut(out, n);
}

static void strip_byte(struct buf *out, const char **p, const char *end)
{
	if (**p == ESC) {
		*p = sequence_end(*p, end);
		return;
	}
	if (**p == '\b' && out->len)
		buf_cut(out, out->len - 1);
	if (**p == '\r') {
		const char *after = *p + 1;

		while (after < end && *after == '\r')
			after++;
		if (after < end && *after != '\n' && *after != ESC)
			overwrite_line(out);
	}
	++*p;
}

struct str bytes_strip_terminal(struct arena *a, struct str text)
{
	struct buf out = { 0 };
	const char *p = text.p, *end = text.p + text.n, *run = p;

	if (!text.n ||
		(!memchr(p, ESC, text.n) && !memchr(p, '\r', text.n) && !memchr(p, '\b', text.n)))
		return text;
	while (p < end) {
		if (*p != ESC && *p != '\r' && *p != '\b') {
			p++;
			continue;
		}
		buf_add(&out, run, (size_t)(p - run));
		strip_byte(&out, &p, end);
		run = p;
	}
	buf_add(&out, run, (size_t)(end - run));
	return take(a, &out);
}

static inline bool is_base64(char c)
{
	unsigned u = (unsigned char)c;

	return (u | 32) - 'a' < 26u || u - '0' < 10u || c == '+' || c == '/' || c == '=' ||
	       c == '-' || c == '_';
}

static size_t line_break(const char *p, const char *end)
{
	if (p < end && *p == '\n')
		return 1;
	if (end - p >= 2 && ((p[0] == '\\' && p[1] == 'n') || (p[0] == '\r' && p[1] == '\n')))
		return 2;
	return 0;
}

/* The end of the run of base64 letters at p, over line breaks between long lines. */
static const char *run_end(const char *p, const char *end)
{
	const char *line = p;

	for (;;) {
		size_t n;

		while (p < end && is_base64(*p))
			p++;
		n = line_break(p, end);
		if (!n || p - line < BASE64_LINE_MIN || p + n >= end || !is_base64(p[n]))
			return p;
		line = p += n;
	}
}

/*
 * Words, paths and rulers are long runs of the same letters too; base64 mixes all kinds and repeats
 * little.
 */
static bool looks_base64(const char *p, const char *end)
{
	size_t upper = 0, lower = 0, digit = 0, dashes = 0, n = (size_t)(end - p);

	for (const char *q = p; q < end; q++) {
		upper += isupper((unsigned char)*q) != 0;
		lower += islower((unsigned char)*q) != 0;
		digit += isdigit((unsigned char)*q) != 0;
		dashes += *q == '-' || *q == '_' || *q == '=';
	}
	return upper * 8 > n && lower * 8 > n && digit * 40 > n && dashes * 8 < n;
}

/* Start of the run that holds the letter at `at`, not before `from`. */
static const char *run_start(const char *at, const char *from)
{
	while (at > from && is_base64(at[-1]))
		at--;
	return at;
}

/*
 * Every line of BASE64_LINE_MIN letters holds a whole stretch between two multiples of its half:
 * only there is looked.
 */
struct str bytes_strip_base64(struct arena *a, struct str text)
{
	struct buf out = { 0 };
	const char *end = text.p + text.n, *done = text.p;

	for (size_t i = 0; i + STRETCH <= text.n; i += STRETCH) {
		const char *at = text.p + i, *start, *stop;

		if (at < done || !is_base64(at[0]) || !is_base64(at[STRETCH / 2]) ||
			!is_base64(at[STRETCH - 1]))
			continue;
		start = run_start(at, done);
		stop = run_end(start, end);
		if (stop - start < BASE64_MIN || !looks_base64(start, stop)) {
			i = MAX(i, (size_t)(stop - text.p) / STRETCH * STRETCH);
			continue;
		}
		buf_add(&out, done, (size_t)(start - done));
		buf_printf(&out, "[base64, %zu bytes]", (size_t)(stop - start));
		done = stop;
	}
	if (done == text.p)
		return text;
	buf_add(&out, done, (size_t)(end - done));
	return take(a, &out);
}

/* U+FFFD stands for a byte that was none of UTF-8 (or NUL) before it reached us. */
struct str bytes_strip_binary(struct arena *a, struct str text)
{
	size_t n = MIN(text.n, BINARY_SAMPLE), bad = 0;
	char *mark;

	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)text.p[i];

		if ((c < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != ESC && c != '\b') ||
			c == 0x7f)
			bad++;
		else if (c == 0xef && i + 2 < text.n && memcmp(text.p + i, "\xef\xbf\xbd", 3) == 0)
			bad += 2;
	}
	if (n < 16 || bad * BINARY_SHARE < n)
		return text;
	mark = arena_printf(a, "[binary, %zu bytes]", text.n);
	return str_of(mark);
}
