/*
 * The widths are an approximation that needs no locale and no library: two columns for the blocks
 * of East Asian scripts and emoji, none for combining marks (Unicode 15, EastAsianWidth.txt,
 * condensed).
 */
#include "client/term.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"

#define ELLIPSIS "…"
#define KILO 1000.0

static const char *const style_codes[STYLE_COUNT] = {
	[PLAIN] = NULL,
	[DIM] = "2",
	[BOLD] = "1",
	[REF] = "33",
	[GOOD] = "32",
	[WARN] = "33",
	[BAD] = "31",
	[MARK] = "1;33",
	[NAME] = "36",
};

struct range {
	uint32_t from, to;
};

static const struct range no_columns[] = {
	{ 0x0300, 0x036f },
	{ 0x0483, 0x0489 },
	{ 0x0591, 0x05bd },
	{ 0x0610, 0x061a },
	{ 0x064b, 0x065f },
	{ 0x06d6, 0x06dc },
	{ 0x0900, 0x0902 },
	{ 0x093c, 0x093c },
	{ 0x0941, 0x0948 },
	{ 0x0e31, 0x0e31 },
	{ 0x0e34, 0x0e3a },
	{ 0x1ab0, 0x1aff },
	{ 0x1dc0, 0x1dff },
	{ 0x200b, 0x200f },
	{ 0x202a, 0x202e },
	{ 0x2060, 0x2064 },
	{ 0x20d0, 0x20f0 },
	{ 0xfe00, 0xfe0f },
	{ 0xfe20, 0xfe2f },
	{ 0xfeff, 0xfeff },
	{ 0x1f3fb, 0x1f3ff },
	{ 0xe0001, 0xe01ef },
};

static const struct range two_columns[] = {
	{ 0x1100, 0x115f },
	{ 0x231a, 0x231b },
	{ 0x23e9, 0x23ec },
	{ 0x25fd, 0x25fe },
	{ 0x2614, 0x2615 },
	{ 0x2648, 0x2653 },
	{ 0x26a1, 0x26a1 },
	{ 0x26aa, 0x26ab },
	{ 0x26bd, 0x26be },
	{ 0x26c4, 0x26c5 },
	{ 0x26d4, 0x26d4 },
	{ 0x2705, 0x2705 },
	{ 0x270a, 0x270b },
	{ 0x2728, 0x2728 },
	{ 0x274c, 0x274c },
	{ 0x2753, 0x2755 },
	{ 0x2757, 0x2757 },
	{ 0x2795, 0x2797 },
	{ 0x2b1b, 0x2b1c },
	{ 0x2b50, 0x2b50 },
	{ 0x2e80, 0x303e },
	{ 0x3041, 0xa4cf },
	{ 0xa960, 0xa97f },
	{ 0xac00, 0xd7a3 },
	{ 0xf900, 0xfaff },
	{ 0xfe30, 0xfe6f },
	{ 0xff00, 0xff60 },
	{ 0xffe0, 0xffe6 },
	{ 0x1f300, 0x1f64f },
	{ 0x1f680, 0x1f6ff },
	{ 0x1f900, 0x1f9ff },
	{ 0x1fa70, 0x1faff },
	{ 0x20000, 0x3fffd },
};

static bool is_in(const struct range *ranges, size_t n, uint32_t cp)
{
	size_t low = 0;

	while (low < n) {
		size_t middle = (low + n) / 2;
		if (cp > ranges[middle].to)
			low = middle + 1;
		else
			n = middle;
	}
	return ranges[low].from <= cp && cp <= ranges[low].to;
}

static int cp_columns(uint32_t cp)
{
	if (cp < no_columns[0].from)
		return 1;
	if (cp <= no_columns[ARRAY_LEN(no_columns) - 1].to &&
		is_in(no_columns, ARRAY_LEN(no_columns) - 1, cp))
		return 0;
	return cp <= two_columns[ARRAY_LEN(two_columns) - 1].to &&
			       is_in(two_columns, ARRAY_LEN(two_columns) - 1, cp)
		       ? 2
		       : 1;
}

int term_columns(struct str text)
{
	const char *p = text.p, *end = text.p + text.n;
	int columns = 0;

	while (p < end)
		columns += cp_columns(utf8_next(&p, end));
	return columns;
}

size_t term_cut(struct str text, int columns)
{
	const char *p = text.p, *end = text.p + text.n;

	while (p < end) {
		const char *next = p;
		columns -= cp_columns(utf8_next(&next, end));
		if (columns < 0)
			break;
		p = next;
	}
	return (size_t)(p - text.p);
}

static int ask_width(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize w = { 0 };
	int64_t n;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col)
		return w.ws_col;
	return columns && str_to_i64(columns, &n) && n > 0 && n < 10000 ? (int)n : TERM_WIDTH;
}

void term_init(struct term *t, bool no_color)
{
	const char *asked = getenv("NO_COLOR"), *kind = getenv("TERM");
	int width = ask_width();

	*t = (struct term){ .is_tty = isatty(STDOUT_FILENO), .now = clock_now() };
	t->has_color = t->is_tty && !no_color && !(asked && *asked) &&
		       !(kind && strcmp(kind, "dumb") == 0);
	t->width = MIN(MAX(width, TERM_WIDTH_MIN), TERM_WIDTH_MAX);
}

void term_done(struct term *t)
{
	buf_done(&t->out);
	arena_done(&t->arena);
}

void term_flush(struct term *t)
{
	if (t->out.len)
		file_write_all(STDOUT_FILENO, t->out.data, t->out.len);
	buf_cut(&t->out, 0);
}

/* C0 and C1 controls, DEL: nothing that a terminal would obey. */
static bool is_control(uint32_t cp)
{
	return cp < 0x20 || (cp >= 0x7f && cp < 0xa0) || (cp >= 0x202a && cp <= 0x202e) ||
	       (cp >= 0x2066 && cp <= 0x2069);
}

static void put_safe(struct buf *out, struct str text)
{
	const char *p = text.p, *end = text.p + text.n;
	char bytes[4];

	while (p < end) {
		uint32_t cp = utf8_next(&p, end);
		if (is_control(cp))
			buf_char(out, ' ');
		else
			buf_add(out, bytes, utf8_encode(cp, bytes));
	}
}

void term_slice(struct term *t, enum style style, struct str text)
{
	bool is_styled = t->has_color && style_codes[style] && text.n;

	if (is_styled)
		buf_printf(&t->out, "\033[%sm", style_codes[style]);
	put_safe(&t->out, text);
	if (is_styled)
		buf_str(&t->out, "\033[0m");
}

void term_put(struct term *t, enum style style, const char *text)
{
	term_slice(t, style, str_of(text));
}

void term_printf(struct term *t, enum style style, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	term_put(t, style, arena_vprintf(&t->arena, format, ap));
	va_end(ap);
}

void term_newline(struct term *t)
{
	while (t->out.len && t->out.data[t->out.len - 1] == ' ')
		buf_cut(&t->out, t->out.len - 1);
	buf_char(&t->out, '\n');
}

void term_indent(struct term *t, int columns)
{
	while (columns-- > 0)
		buf_char(&t->out, ' ');
}

void term_cell(struct term *t, enum style style, const char *text, int width, bool to_right)
{
	struct str s = str_of(text);
	int columns = term_columns(s);
	bool is_cut = columns > width;

	if (is_cut) {
		s.n = term_cut(s, width - 1);
		columns = term_columns(s) + 1;
	}
	if (to_right)
		term_indent(t, width - columns);
	term_slice(t, style, s);
	if (is_cut)
		term_put(t, style, ELLIPSIS);
	if (!to_right)
		term_indent(t, width - columns);
}

/* Bytes of `line` that fit `columns`, cut before a word where there is one. */
static size_t wrap_point(struct str line, int columns)
{
	size_t fits = term_cut(line, columns), at = fits;

	if (fits == line.n)
		return fits;
	while (at > 0 && line.p[at] != ' ')
		at--;
	return at > fits / 3 ? at : MAX(fits, (size_t)1);
}

/* The sign of a list item and its space: what follows is indented below the item's text. */
static int item_sign(struct str line)
{
	static const char *const signs[] = { "- ", "* ", "• ", "+ " };

	for (size_t i = 0; i < ARRAY_LEN(signs); i++)
		if (line.n > strlen(signs[i]) && memcmp(line.p, signs[i], strlen(signs[i])) == 0)
			return 2;
	return 0;
}

static void wrap_line(struct term *t, enum style style, struct str line, int indent)
{
	int own = 0;

	while (line.n && (*line.p == ' ' || *line.p == '\t')) {
		own += *line.p == '\t' ? 4 : 1;
		line.p++;
		line.n--;
	}
	own = MIN(own, t->width / 3);
	int room = MAX(t->width - indent - own, TERM_WIDTH_MIN / 2), hanging = item_sign(line);
	do {
		size_t n = wrap_point(line, room);
		term_indent(t, n ? indent + own : 0);
		term_slice(t, style, (struct str){ line.p, n });
		term_newline(t);
		line.p += n;
		line.n -= n;
		while (line.n && *line.p == ' ') {
			line.p++;
			line.n--;
		}
		own += hanging;
		room -= hanging;
		hanging = 0;
	} while (line.n);
}

void term_wrap(struct term *t, enum style style, const char *text, int indent)
{
	struct str rest = str_of(text), line;

	while (rest.n && (rest.p[rest.n - 1] == '\n' || rest.p[rest.n - 1] == ' '))
		rest.n--;
	while (str_line(&rest, &line))
		wrap_line(t, style, line, indent);
}

char *term_bytes(struct arena *a, int64_t bytes)
{
	static const char *const units[] = { "B", "KB", "MB", "GB", "TB" };
	double value = (double)bytes;
	size_t unit = 0;

	while (value >= KILO && unit + 1 < ARRAY_LEN(units)) {
		value /= KILO;
		unit++;
	}
	return arena_printf(a, unit && value < 10 ? "%.1f %s" : "%.0f %s", value, units[unit]);
}

char *term_count(struct arena *a, int64_t n)
{
	char *digits = arena_printf(a, "%lld", (long long)n), *out = arena_alloc(a, 32), *to = out;
	size_t len = strlen(digits), start = *digits == '-';

	for (size_t i = 0; i < len; i++) {
		if (i > start && (len - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = '\0';
	return out;
}

char *term_span(struct arena *a, int64_t ms)
{
	static const struct {
		int64_t ms;
		const char *unit;
	} units[] = { { 86400000, "d" }, { 3600000, "h" }, { 60000, "min" }, { 1000, "s" } };

	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (ms >= 2 * units[i].ms || (ms >= units[i].ms && i + 1 == ARRAY_LEN(units)))
			return arena_printf(
				a, "%lld %s", (long long)(ms / units[i].ms), units[i].unit);
	return arena_printf(a, "%lld ms", (long long)ms);
}
