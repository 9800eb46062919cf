#include "daemon/lines.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

void lines_init(struct lines *l, int fd, uint64_t offset, uint64_t number)
{
	*l = (struct lines){ .fd = fd, .offset = offset, .base = offset, .number = number };
	l->cap = LINES_PIECE + LINES_THIN;
	l->piece = mem_alloc(l->cap);
	l->thin.max = LINES_KEPT_MAX;
}

void lines_done(struct lines *l)
{
	free(l->piece);
	buf_done(&l->thin);
	json_scan_free(l->scan);
	*l = (struct lines){ .fd = -1 };
}

/* Drops what lies before `at` and reads a piece behind the rest, which is at most LINES_THIN. */
static int refill(struct lines *l, struct err *err)
{
	ssize_t n;
	memmove(l->piece, l->piece + l->at, l->len - l->at);
	l->base += l->at;
	l->len -= l->at;
	l->at = 0;
	do
		n = pread(l->fd, l->piece + l->len, MIN(l->cap - l->len, (size_t)LINES_PIECE),
			(off_t)(l->base + l->len));
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return err_set(err, ERR_IO, "it cannot be read at byte %llu: %s",
			(unsigned long long)(l->base + l->len), strerror(errno));
	l->len += (size_t)n;
	l->is_ended = n == 0;
	return 0;
}

static bool is_wanted(const struct lines *l, const char *data, size_t len)
{
	return !l->is_wanted || l->is_wanted(data, MIN(len, (size_t)LINES_LOOK));
}

/* Ends the line at hand: counts it and moves behind it. */
static void finish(struct lines *l, struct line *line, bool is_torn)
{
	line->number = l->number + 1;
	line->end = l->base + l->at;
	line->is_torn = is_torn;
	if (!is_torn) {
		l->number++;
		l->offset = line->end;
	}
}

/* A line that does not fit: goes through the scan piece by piece, or is only passed over. */
static int long_line(struct lines *l, bool is_kept, struct line *ret, struct err *err)
{
	if (!l->scan)
		l->scan = json_scan_new(&l->thin, JSON_SCAN_STRING_MAX);
	buf_cut(&l->thin, 0);
	l->thin.is_full = false;
	const char *end = NULL;
	do {
		const char *from = l->piece + l->at;
		size_t left = l->len - l->at;
		end = memchr(from, '\n', left);
		size_t n = end ? (size_t)(end - from) : left;
		if (is_kept && !l->thin.is_full)
			json_scan_feed(l->scan, from, n);
		l->at += n + (end ? 1 : 0);
		if (!end && refill(l, err))
			return -1;
	} while (!end && !l->is_ended);
	if (is_kept)
		ret->cut = json_scan_end(l->scan);
	ret->is_too_long = l->thin.is_full;
	ret->data = buf_cstr(&l->thin);
	ret->len = ret->is_too_long ? 0 : l->thin.len;
	finish(l, ret, !end);
	return 0;
}

static void short_line(struct lines *l, const char *end, struct line *ret)
{
	const char *from = l->piece + l->at;
	ret->data = from;
	ret->len = end ? (size_t)(end - from) : l->len - l->at;
	l->at += ret->len + (end ? 1 : 0);
	finish(l, ret, !end);
}

/* A line that lies in the piece, but is long enough to be worth thinning. */
static void thin_line(struct lines *l, struct line *ret)
{
	if (!l->scan)
		l->scan = json_scan_new(&l->thin, JSON_SCAN_STRING_MAX);
	buf_cut(&l->thin, 0);
	l->thin.is_full = false;
	json_scan_feed(l->scan, ret->data, ret->len);
	ret->cut = json_scan_end(l->scan);
	ret->data = buf_cstr(&l->thin);
	ret->len = l->thin.len;
}

/*
 * The line that begins at `at`: 1, 0 when nothing is there, -1. *ret_kept is false for one to be
 * passed over.
 */
static int one_line(struct lines *l, struct line *ret, bool *ret_kept, struct err *err)
{
	for (;;) {
		const char *from = l->piece + l->at;
		size_t left = l->len - l->at;
		const char *end = left ? memchr(from, '\n', left) : NULL;
		if (end || (l->is_ended && left)) {
			*ret_kept = is_wanted(l, from, end ? (size_t)(end - from) : left);
			short_line(l, end, ret);
			if (*ret_kept && ret->len > JSON_SCAN_STRING_MAX)
				thin_line(l, ret);
			return 1;
		}
		if (l->is_ended)
			return 0;
		if (left > LINES_THIN) {
			*ret_kept = is_wanted(l, from, left);
			return long_line(l, *ret_kept, ret, err) ? -1 : 1;
		}
		if (refill(l, err))
			return -1;
	}
}

int lines_next(struct lines *l, struct line *ret, struct err *err)
{
	for (;;) {
		bool is_kept = false;
		*ret = (struct line){ 0 };
		int n = one_line(l, ret, &is_kept, err);
		if (n <= 0)
			return n;
		if (ret->is_torn && !ret->len && !ret->is_too_long)
			return 0;
		if (is_kept && (ret->len || ret->is_too_long))
			return 1;
	}
}
