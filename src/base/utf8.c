/*
 * UTF-8 as RFC 3629 defines it: no overlong forms, no surrogates, nothing above U+10FFFF. Most of
 * what passes here is ASCII, so the checks go over eight bytes at a time where they can.
 */
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"

#define REPLACEMENT 0xFFFDu
#define REPLACEMENT_UTF8 "\xEF\xBF\xBD"
#define WORD_HIGH 0x8080808080808080u
#define WORD_ONES 0x0101010101010101u
/* Longest mark of utf8_head_tail, and the limit under which a mark would leave no text. */
#define MARK_MAX 48

/* Of a sequence by its first byte: how many bytes follow, and the range of the second one. */
struct lead {
	unsigned char more, low, high;
};

static struct lead lead_of(unsigned char c)
{
	if (c < 0xC2 || c > 0xF4)
		return (struct lead){ 0, 0, 0 };
	if (c < 0xE0)
		return (struct lead){ 1, 0x80, 0xBF };
	if (c == 0xE0)
		return (struct lead){ 2, 0xA0, 0xBF };
	if (c == 0xED)
		return (struct lead){ 2, 0x80, 0x9F };
	if (c < 0xF0)
		return (struct lead){ 2, 0x80, 0xBF };
	if (c == 0xF0)
		return (struct lead){ 3, 0x90, 0xBF };
	if (c == 0xF4)
		return (struct lead){ 3, 0x80, 0x8F };
	return (struct lead){ 3, 0x80, 0xBF };
}

static bool is_continuation(char c)
{
	return ((unsigned char)c & 0xC0) == 0x80;
}

/* A surrogate in UTF-8's clothes (CESU-8): one mistake, one U+FFFD. */
static bool is_surrogate(const char *p, const char *end)
{
	return end - p >= 3 && (unsigned char)p[0] == 0xED && (unsigned char)p[1] >= 0xA0 &&
	       is_continuation(p[1]) && is_continuation(p[2]);
}

size_t utf8_unit(const char *p, const char *end, bool *ret_is_valid)
{
	unsigned char c = (unsigned char)*p, second;
	struct lead lead;
	size_t n = 1;

	*ret_is_valid = c != 0;
	if (c < 0x80)
		return 1;
	*ret_is_valid = false;
	lead = lead_of(c);
	if (lead.more == 0 || end - p < 2)
		return 1;
	second = (unsigned char)p[1];
	if (second < lead.low || second > lead.high)
		return is_surrogate(p, end) ? 3 : 1;
	for (n = 2; n <= lead.more; n++) {
		if (p + n == end || !is_continuation(p[n]))
			return n;
	}
	*ret_is_valid = true;
	return n;
}

uint32_t utf8_next(const char **p, const char *end)
{
	const unsigned char *s = (const unsigned char *)*p;
	bool is_valid;
	size_t n;

	if (s[0] < 0x80) {
		*p += 1;
		return s[0];
	}
	n = utf8_unit(*p, end, &is_valid);
	*p += is_valid ? n : 1;
	if (!is_valid)
		return REPLACEMENT;
	if (n == 2)
		return (s[0] & 0x1Fu) << 6 | (s[1] & 0x3Fu);
	if (n == 3)
		return (s[0] & 0x0Fu) << 12 | (s[1] & 0x3Fu) << 6 | (s[2] & 0x3Fu);
	return (s[0] & 0x07u) << 18 | (s[1] & 0x3Fu) << 12 | (s[2] & 0x3Fu) << 6 | (s[3] & 0x3Fu);
}

size_t utf8_encode(uint32_t cp, char out[4])
{
	if (cp > 0x10FFFF || (cp >= 0xD800 && cp <= 0xDFFF))
		cp = REPLACEMENT;
	if (cp < 0x80) {
		out[0] = (char)cp;
		return 1;
	}
	if (cp < 0x800) {
		out[0] = (char)(0xC0 | cp >> 6);
		out[1] = (char)(0x80 | (cp & 0x3F));
		return 2;
	}
	if (cp < 0x10000) {
		out[0] = (char)(0xE0 | cp >> 12);
		out[1] = (char)(0x80 | (cp >> 6 & 0x3F));
		out[2] = (char)(0x80 | (cp & 0x3F));
		return 3;
	}
	out[0] = (char)(0xF0 | cp >> 18);
	out[1] = (char)(0x80 | (cp >> 12 & 0x3F));
	out[2] = (char)(0x80 | (cp >> 6 & 0x3F));
	out[3] = (char)(0x80 | (cp & 0x3F));
	return 4;
}

/* The length of the valid start of s. */
static size_t valid_prefix(const char *s, size_t n)
{
	const char *p = s, *end = s + n;
	bool is_valid = true;
	uint64_t word;

	while (p < end) {
		while (end - p >= 8) {
			memcpy(&word, p, 8);
			/* Any high bit, or any zero byte: then it goes byte by byte. */
			if ((word | (word - WORD_ONES)) & WORD_HIGH)
				break;
			p += 8;
		}
		if (p == end)
			break;
		size_t len = utf8_unit(p, end, &is_valid);
		if (!is_valid)
			break;
		p += len;
	}
	return (size_t)(p - s);
}

bool utf8_is_valid(const char *s, size_t n)
{
	return valid_prefix(s, n) == n;
}

struct str utf8_repair(struct arena *a, struct str s)
{
	AUTO(buf_done) struct buf b = { .max = PTRDIFF_MAX };
	const char *end = s.p + s.n;
	bool is_valid;
	size_t n = valid_prefix(s.p, s.n);

	if (n == s.n)
		return s;
	for (const char *p = s.p; p < end;) {
		buf_add(&b, p, n);
		p += n;
		if (p == end)
			break;
		p += utf8_unit(p, end, &is_valid);
		buf_add(&b, REPLACEMENT_UTF8, 3);
		n = valid_prefix(p, (size_t)(end - p));
	}
	return (struct str){ arena_dup(a, b.data, b.len), b.len };
}

size_t utf8_cut(const char *s, size_t n, size_t max)
{
	size_t at = max;

	if (n <= max)
		return n;
	/* At most three steps: in text that is not UTF-8 any border is as good. */
	while (at > 0 && max - at < 3 && is_continuation(s[at]))
		at--;
	return is_continuation(s[at]) ? max : at;
}

struct str utf8_head_tail(struct arena *a, struct str s, size_t max)
{
	AUTO(buf_done) struct buf b = { 0 };
	size_t head, tail;

	if (s.n <= max)
		return s;
	if (max < 2 * MARK_MAX)
		return (struct str){ s.p, utf8_cut(s.p, s.n, max) };
	head = utf8_cut(s.p, s.n, (max - MARK_MAX) / 2);
	tail = s.n - (max - MARK_MAX - head);
	for (int i = 0; i < 3 && tail < s.n && is_continuation(s.p[tail]); i++)
		tail++;
	buf_add(&b, s.p, head);
	buf_printf(&b, " … [%zu bytes cut] … ", tail - head);
	buf_add(&b, s.p + tail, s.n - tail);
	return (struct str){ arena_dup(a, b.data, b.len), b.len };
}
