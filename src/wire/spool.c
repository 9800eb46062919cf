/*
 * Written by every hook, so nothing here uses stdio, the locale or the heap. The payload's length
 * is padded to a fixed width: a hook that streams writes the header first and corrects the number
 * in place when it knows it.
 */
#include "wire/spool.h"

#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define SPOOL_MAGIC "remanence-spool 1 "
#define AT_DIGITS 13
#define LENGTH_DIGITS 12
#define DECIMAL 10
#define RANDOM_BYTES 8
#define ENCODED_MAX 3 /* "%2F" */

static const char hex_digits[] = "0123456789abcdef";

/* Decimal digits, padded with zeros to `width`. Returns the end. */
static char *put_number(char *to, uint64_t value, int width)
{
	char digits[24];
	int n = 0;

	do {
		digits[n++] = (char)('0' + value % DECIMAL);
		value /= DECIMAL;
	} while (value);
	while (n < width)
		digits[n++] = '0';
	while (n)
		*to++ = digits[--n];
	return to;
}

static bool is_alnum(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* A word of the header: what is no letter or digit becomes '_', an empty word too. */
static char *put_word(char *to, const char *word)
{
	char *end = to + SPOOL_WORD_MAX - 1;

	if (!*word)
		*to++ = '_';
	for (; *word && to < end; word++)
		*to++ = (char)(is_alnum((unsigned char)*word) || *word == '-' ? *word : '_');
	return to;
}

static bool is_plain_in_path(unsigned char c)
{
	return is_alnum(c) || (c && strchr("/-._~+,=@", c));
}

size_t spool_percent_encode(const char *s, char *out, size_t size)
{
	size_t n = 0;

	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;
		if (n + ENCODED_MAX >= size)
			break;
		if (is_plain_in_path(c)) {
			out[n++] = (char)c;
		} else {
			out[n++] = '%';
			out[n++] = hex_digits[c >> 4];
			out[n++] = hex_digits[c & 15];
		}
	}
	out[n] = '\0';
	return n;
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

bool spool_percent_decode(const char *s, size_t len, char *out, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		char c = s[i];
		if (c == '%') {
			int high = i + 2 < len ? hex_value(s[i + 1]) : -1;
			int low = high < 0 ? -1 : hex_value(s[i + 2]);
			if (low < 0)
				return false;
			c = (char)(high << 4 | low);
			i += 2;
		}
		if (!c || n + 1 >= size)
			return false;
		out[n++] = c;
	}
	out[n] = '\0';
	return true;
}

size_t spool_header_print(const struct spool_header *h, char out[SPOOL_HEADER_MAX])
{
	char *p = out;

	memcpy(p, SPOOL_MAGIC, sizeof SPOOL_MAGIC - 1);
	p = put_word(p + sizeof SPOOL_MAGIC - 1, h->agent);
	*p++ = ' ';
	p = put_word(p, h->event);
	*p++ = ' ';
	p = put_number(p, h->at > 0 ? (uint64_t)h->at : 0, AT_DIGITS);
	*p++ = ' ';
	p = put_number(p, h->payload_len, LENGTH_DIGITS);
	*p++ = ' ';
	p += spool_percent_encode(h->cwd, p, (size_t)(out + SPOOL_HEADER_MAX - p) - 1);
	*p++ = '\n';
	return (size_t)(p - out);
}

/* The next word up to a space, or up to the line's end for the last. */
struct words {
	const char *p, *end;
};

static bool next_word(struct words *w, const char **ret, size_t *ret_len)
{
	if (w->p > w->end)
		return false;
	const char *space = memchr(w->p, ' ', (size_t)(w->end - w->p));
	const char *stop = space ? space : w->end;
	*ret = w->p;
	*ret_len = (size_t)(stop - w->p);
	w->p = stop + 1;
	return true;
}

static bool take_word(struct words *w, char out[SPOOL_WORD_MAX])
{
	const char *word;
	size_t len;

	if (!next_word(w, &word, &len) || !len || len >= SPOOL_WORD_MAX)
		return false;
	for (size_t i = 0; i < len; i++)
		if (!is_alnum((unsigned char)word[i]) && word[i] != '-' && word[i] != '_')
			return false;
	memcpy(out, word, len);
	out[len] = '\0';
	return true;
}

static bool take_number(struct words *w, uint64_t *ret)
{
	const char *word;
	size_t len;
	uint64_t value = 0;

	if (!next_word(w, &word, &len) || !len || len > 18)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (word[i] < '0' || word[i] > '9')
			return false;
		value = value * DECIMAL + (uint64_t)(word[i] - '0');
	}
	*ret = value;
	return true;
}

size_t spool_header_parse(const char *data, size_t len, struct spool_header *ret)
{
	struct spool_header h = { 0 };
	const char *line_end = memchr(data, '\n', len < SPOOL_HEADER_MAX ? len : SPOOL_HEADER_MAX);
	uint64_t at;

	if (!line_end || (size_t)(line_end - data) < sizeof SPOOL_MAGIC - 1)
		return 0;
	if (memcmp(data, SPOOL_MAGIC, sizeof SPOOL_MAGIC - 1) != 0)
		return 0;
	struct words w = { data + sizeof SPOOL_MAGIC - 1, line_end };
	if (!take_word(&w, h.agent) || !take_word(&w, h.event))
		return 0;
	if (!take_number(&w, &at) || !take_number(&w, &h.payload_len) || w.p > line_end + 1)
		return 0;
	if (w.p <= line_end &&
		!spool_percent_decode(w.p, (size_t)(line_end - w.p), h.cwd, sizeof h.cwd))
		return 0;
	h.at = (int64_t)at;
	*ret = h;
	return (size_t)(line_end - data) + 1;
}

/* Random bytes without waiting: early in a boot the clock must do. */
static void fill_random(unsigned char *bytes, size_t n)
{
	struct timespec t;

	if (getrandom(bytes, n, GRND_NONBLOCK) == (ssize_t)n)
		return;
	clock_gettime(CLOCK_MONOTONIC, &t);
	for (size_t i = 0; i < n; i++)
		bytes[i] = (unsigned char)((uint64_t)t.tv_nsec >> (i * 4 % 32));
}

void spool_name(int64_t at, char out[SPOOL_NAME_MAX])
{
	unsigned char bytes[RANDOM_BYTES];
	char *p = put_number(out, at > 0 ? (uint64_t)at : 0, AT_DIGITS);

	*p++ = '-';
	p = put_number(p, (uint64_t)getpid(), 1);
	*p++ = '-';
	fill_random(bytes, sizeof bytes);
	for (size_t i = 0; i < sizeof bytes; i++) {
		*p++ = hex_digits[bytes[i] >> 4];
		*p++ = hex_digits[bytes[i] & 15];
	}
	*p = '\0';
}
