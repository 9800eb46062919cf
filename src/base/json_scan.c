/*
 * The scan knows one thing about JSON: where strings begin and end. A quote ends a string unless an
 * odd number of backslashes stands before it, so memchr finds the ends and nothing else is looked
 * at; what is between is copied in runs. Only a string that is long, or that spans two pieces, is
 * followed byte by byte: its start goes to `out`, and once that is string_max, only its last bytes
 * are kept (in `tail`) until its end and so its size is known.
 */
#include "base/json_scan.h"

#include <stdbool.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/str.h"

/* Shorter strings of base64 letters are left alone: hashes, ids, words. */
#define BASE64_MIN 4096
#define BASE64_PREFIX_MAX 128 /* "data:image/png;base64," stands within this */
#define MARK_MAX 48
#define ESCAPE_MAX 6 /* of \u1234 */

struct json_scan {
	struct buf *out;
	size_t string_max, base64_min, head_max, tail_max;
	uint64_t cut; /* bytes cut from this value */
	bool is_in_string;
	bool is_escaped;  /* the last piece ended in a backslash that escapes what comes */
	bool is_followed; /* the string is followed: the members below are valid */
	bool is_over;     /* it is longer than string_max */
	bool is_base64;   /* only base64 letters so far, behind base64_at */
	size_t base64_at; /* offset in the string */
	size_t at;        /* where its content begins in out */
	uint64_t size;    /* of its content so far */
	char *tail;       /* room for twice tail_max */
	size_t tail_len;
};

struct json_scan *json_scan_new(struct buf *out, size_t string_max)
{
	struct json_scan *s = mem_alloc(sizeof(*s));
	size_t budget = string_max > 2 * MARK_MAX ? string_max - MARK_MAX : string_max / 2;

	s->out = out;
	s->string_max = string_max;
	s->base64_min = MIN(string_max, BASE64_MIN);
	s->head_max = budget / 2;
	s->tail_max = budget - s->head_max;
	s->tail = mem_alloc(2 * s->tail_max);
	return s;
}

void json_scan_free(struct json_scan *s)
{
	if (!s)
		return;
	free(s->tail);
	free(s);
}

/* Shortens the output without forgetting that it once was full. */
static void cut_out(struct json_scan *s, size_t len)
{
	bool was_full = s->out->is_full;

	buf_cut(s->out, len);
	s->out->is_full = was_full;
}

static bool is_base64_letter(unsigned char c)
{
	return ((c | 0x20u) >= 'a' && (c | 0x20u) <= 'z') || (c >= '/' && c <= '9') || c == '+' ||
	       c == '=' || c == '-' || c == '_';
}

/* In blocks without a branch, which compilers turn into vector code. */
static bool is_base64_text(const char *p, size_t n)
{
	const unsigned char *s = (const unsigned char *)p;
	size_t i = 0;

	for (; i + 64 <= n; i += 64) {
		unsigned char bad = 0;

		for (size_t j = 0; j < 64; j++) {
			unsigned char c = s[i + j];
			unsigned char is_letter = (unsigned char)((c | 0x20) - 'a') < 26;
			unsigned char is_digit = (unsigned char)(c - '/') < 11;
			unsigned char is_other = (c == '+') | (c == '=') | (c == '-') | (c == '_');

			bad |= !(is_letter | is_digit | is_other);
		}
		if (bad)
			return false;
	}
	for (; i < n; i++) {
		if (!is_base64_letter(s[i]))
			return false;
	}
	return true;
}

/* Decides, once the string is long enough, whether it is a candidate: bare letters, or behind "base64,". */
static void judge_base64(struct json_scan *s)
{
	struct str text = { s->out->data + s->at, s->out->len - s->at };
	struct str start = { text.p, MIN(text.n, BASE64_PREFIX_MAX) };
	const char *prefix = str_find(start, STR("base64,"));

	s->base64_at = prefix ? (size_t)(prefix - text.p) + strlen("base64,") : 0;
	s->is_base64 = is_base64_text(text.p + s->base64_at, text.n - s->base64_at);
}

/* Number of backslashes that end right before text[n]. */
static size_t backslashes_before(const char *text, size_t n)
{
	size_t run = 0;

	while (run < n && text[n - run - 1] == '\\')
		run++;
	return run;
}

static bool is_surrogate_escape(const char *p, char low, char high)
{
	char digit = p[3] | 0x20;

	return p[0] == '\\' && p[1] == 'u' && (p[2] | 0x20) == 'd' && digit >= low && digit <= high;
}

/* Whether the escape of a high surrogate ends at text[n]: then its other half is behind the border. */
static bool ends_in_high_surrogate(const char *text, size_t n)
{
	return n >= ESCAPE_MAX && is_surrogate_escape(text + n - ESCAPE_MAX, '8', 'b') &&
	       backslashes_before(text, n - ESCAPE_MAX) % 2 == 0;
}

/* The longest start of the string's text, of at most max < n bytes, that ends between two characters. */
static size_t head_border(const char *text, size_t n, size_t max)
{
	size_t head = utf8_cut(text, n, max);

	/* The escape, if any, that begins within the last bytes: cut before it when it is not whole. */
	for (size_t back = 1; back < ESCAPE_MAX && back <= head; back++) {
		size_t at = head - back;

		if (text[at] != '\\')
			continue;
		if (backslashes_before(text, at) % 2 == 0 &&
			back < (text[at + 1] == 'u' ? ESCAPE_MAX : 2))
			head = at;
		break;
	}
	return ends_in_high_surrogate(text, head) ? head - ESCAPE_MAX : head;
}

/*
 * The first place in the tail that is surely between two characters. The tail begins anywhere: perhaps
 * within a run of backslashes of unknown parity, within \u1234, or within UTF-8. Behind the first
 * letter that is not a backslash, a backslash begins an escape; and at most four digits of an escape
 * that began earlier can follow that letter.
 */
static size_t tail_border(const char *text, size_t n)
{
	size_t at = 0, steps = 0;

	while (at < n && text[at] == '\\')
		at++;
	if (at < n)
		at++;
	while (at < n && text[at] != '\\' && steps++ < 4)
		at++;
	while (at < n && ((unsigned char)text[at] & 0xC0) == 0x80)
		at++;
	if (n - at >= ESCAPE_MAX && is_surrogate_escape(text + at, 'c', 'f'))
		at += ESCAPE_MAX;
	return at;
}

static void tail_add(struct json_scan *s, const char *p, size_t n)
{
	size_t kept;

	if (n >= s->tail_max) {
		memcpy(s->tail, p + n - s->tail_max, s->tail_max);
		s->tail_len = s->tail_max;
		return;
	}
	if (s->tail_len + n > 2 * s->tail_max) {
		kept = s->tail_max - n;
		memmove(s->tail, s->tail + s->tail_len - kept, kept);
		s->tail_len = kept;
	}
	memcpy(s->tail + s->tail_len, p, n);
	s->tail_len += n;
}

static void string_begin(struct json_scan *s)
{
	s->is_followed = true;
	s->is_over = s->is_base64 = false;
	s->at = s->out->len;
	s->size = 0;
	s->tail_len = 0;
}

/* The string has outgrown string_max: what is in `out` behind the head moves to the tail. */
static void string_overflow(struct json_scan *s)
{
	const char *text = s->out->data + s->at;
	size_t n = s->out->len - s->at, head = head_border(text, n, s->head_max);

	tail_add(s, text + head, n - head);
	cut_out(s, s->at + head);
	s->is_over = true;
}

static void string_add(struct json_scan *s, const char *p, size_t n)
{
	size_t before = s->out->len - s->at, taken = 0;

	if (s->out->is_full || n == 0)
		return;
	s->size += n;
	if (!s->is_over) {
		taken = MIN(n, s->string_max - before);
		buf_add(s->out, p, taken);
		if (s->out->is_full)
			return;
		if (before < s->base64_min && before + taken >= s->base64_min)
			judge_base64(s);
		else if (s->is_base64)
			s->is_base64 = is_base64_text(p, taken);
		if (taken == n)
			return;
		string_overflow(s);
	}
	if (s->is_base64)
		s->is_base64 = is_base64_text(p + taken, n - taken);
	tail_add(s, p + taken, n - taken);
}

static void string_end(struct json_scan *s)
{
	size_t head = s->out->len - s->at, start, tail;

	s->is_followed = false;
	if (s->out->is_full)
		return;
	if (s->is_base64 && s->size > s->base64_at) {
		uint64_t size = s->size - s->base64_at;

		/* Behind a prefix longer than the head nothing is left to cut back to. */
		cut_out(s, s->at + MIN(s->base64_at, head));
		buf_printf(s->out, "[base64 of %ju bytes]", (uintmax_t)size);
		s->cut += size;
		return;
	}
	if (!s->is_over)
		return;
	start = s->tail_len > s->tail_max ? s->tail_len - s->tail_max : 0;
	start += tail_border(s->tail + start, s->tail_len - start);
	tail = s->tail_len - start;
	buf_printf(s->out, " … [cut from %ju bytes] … ", (uintmax_t)s->size);
	buf_add(s->out, s->tail + start, tail);
	s->cut += s->size - head - tail;
}

/* The quote that ends the string in p..end; NULL when it goes on, and then whether the next byte is escaped. */
static const char *find_end(struct json_scan *s, const char *p, const char *end)
{
	const char *quote;

	if (s->is_escaped && p < end) {
		p++;
		s->is_escaped = false;
	}
	for (const char *from = p; (quote = memchr(from, '"', (size_t)(end - from)));
		from = quote + 1) {
		if (backslashes_before(p, (size_t)(quote - p)) % 2 == 0)
			return quote;
	}
	if (p < end)
		s->is_escaped = backslashes_before(p, (size_t)(end - p)) % 2 == 1;
	return NULL;
}

void json_scan_feed(struct json_scan *s, const char *data, size_t len)
{
	const char *p = data, *end = data + len, *run = data, *quote;

	while (p < end && !s->out->is_full) {
		if (!s->is_in_string) {
			quote = memchr(p, '"', (size_t)(end - p));
			if (!quote)
				break;
			p = quote + 1;
			s->is_in_string = true;
		}
		quote = find_end(s, p, end);
		if (quote && !s->is_followed && (size_t)(quote - p) < s->base64_min) {
			s->is_in_string = false;
			p = quote + 1;
			continue;
		}
		if (!s->is_followed) {
			buf_add(s->out, run, (size_t)(p - run));
			string_begin(s);
		}
		string_add(s, p, (size_t)((quote ? quote : end) - p));
		run = p = quote ? quote : end;
		if (quote) {
			string_end(s);
			s->is_in_string = false;
			p++;
		}
	}
	if (!s->out->is_full)
		buf_add(s->out, run, (size_t)(end - run));
}

uint64_t json_scan_end(struct json_scan *s)
{
	uint64_t cut;

	if (s->is_followed)
		string_end(s);
	cut = s->cut;
	s->cut = 0;
	s->is_in_string = s->is_escaped = false;
	return cut;
}
