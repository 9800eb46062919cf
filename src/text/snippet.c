#include "text/snippet.h"

#include <string.h>
#include <utf8proc.h>

#include "base/buf.h"
#include "base/mem.h"

#define SNIPPET_TEXT_MAX (256u << 10) /* bytes that are looked through */
#define SPANS_MAX 2000u               /* matched words that are considered */
#define ELLIPSIS "…"

/*
 * The next grapheme cluster of s at *at; its columns: those of its widest character, two when it is
 * shown as an emoji.
 */
static size_t next_cluster(struct str s, size_t at, unsigned *ret_columns)
{
	const char *p = s.p + at, *end = s.p + s.n;
	utf8proc_int32_t state = 0, before = 0;
	unsigned columns = 0;
	while (p < end) {
		const char *next = p;
		utf8proc_int32_t cp = (utf8proc_int32_t)utf8_next(&next, end);
		if (p > s.p + at && utf8proc_grapheme_break_stateful(before, cp, &state))
			break;
		unsigned w = cp == 0xfe0f ? 2 : (unsigned)MAX(0, utf8proc_charwidth(cp));
		columns = MAX(columns, w);
		before = cp;
		p = next;
	}
	*ret_columns = columns;
	return (size_t)(p - s.p) - at;
}

static bool is_plain(struct str s, size_t at)
{
	/* An ASCII letter before another ASCII byte is a cluster of its own. */
	return (unsigned char)s.p[at] >= ' ' && (unsigned char)s.p[at] < 0x7f && at + 1 < s.n &&
	       (unsigned char)s.p[at + 1] < 0x80;
}

static size_t cluster_at(struct str s, size_t at, unsigned *ret_columns)
{
	*ret_columns = 1;
	return is_plain(s, at) ? 1 : next_cluster(s, at, ret_columns);
}

size_t grapheme_cut(struct str text, size_t chars)
{
	size_t at = 0;
	unsigned columns;
	while (at < text.n && chars-- > 0)
		at += cluster_at(text, at, &columns);
	return at;
}

size_t text_columns(struct str text)
{
	size_t sum = 0;
	unsigned columns;
	for (size_t at = 0; at < text.n; sum += columns)
		at += cluster_at(text, at, &columns);
	return sum;
}

/* Eight bytes. */
static bool is_all_ascii(const char *p)
{
	uint64_t eight;
	memcpy(&eight, p, sizeof(eight));
	return !(eight & 0x8080808080808080u);
}

size_t text_tokens(struct str text)
{
	size_t ascii = 0, quarters = 0;
	for (const char *p = text.p, *end = text.p + text.n; p < end;) {
		if (end - p >= 8 && is_all_ascii(p)) {
			ascii += 8;
			p += 8;
			continue;
		}
		if ((unsigned char)*p < 0x80) {
			ascii++;
			p++;
			continue;
		}
		/*
		 * A letter with a mark makes about half a token, a sign of a script without spaces
		 * about one.
		 */
		quarters += utf8_next(&p, end) < 0x1100 ? 2 : 4;
	}
	return (ascii + quarters + 3) / 4;
}

static bool is_blank(uint32_t cp)
{
	return cp <= ' ' || cp == 0x7f || (cp >= 0x80 && cp < 0xa0) || cp == 0xa0 || cp == 0x2028 ||
	       cp == 0x2029 || cp == 0x3000;
}

/* White space and control characters to single blanks, none at the ends. */
static struct str squeeze(struct arena *a, struct str s)
{
	char *out = arena_alloc(a, s.n + 1);
	size_t n = 0;
	bool has_gap = false;
	for (const char *p = s.p, *end = s.p + s.n; p < end;) {
		const char *start = p;
		uint32_t cp = utf8_next(&p, end);
		if (is_blank(cp)) {
			has_gap = n > 0;
			continue;
		}
		if (has_gap)
			out[n++] = ' ';
		has_gap = false;
		memcpy(out + n, start, (size_t)(p - start));
		n += (size_t)(p - start);
	}
	return (struct str){ out, n };
}

char *text_one_line(struct arena *a, struct str text, size_t width)
{
	/*
	 * Long texts need not be squeezed whole: no cluster that counts is longer than this on
	 * average.
	 */
	text.n = utf8_cut(text.p, text.n, (width + 16) * 64);
	struct str line = squeeze(a, text);
	size_t fits = 0, used = 0;
	bool is_cut = false;
	for (size_t at = 0; at < line.n;) {
		unsigned columns;
		size_t n = cluster_at(line, at, &columns);
		used += columns;
		at += n;
		if (used > width) {
			is_cut = true;
			break;
		}
		if (used < width) /* leaves a column for the ellipsis */
			fits = at;
	}
	if (!is_cut)
		return arena_dup(a, line.p, line.n);
	while (fits > 0 && line.p[fits - 1] == ' ')
		fits--;
	return width ? arena_printf(a, "%.*s" ELLIPSIS, (int)fits, line.p) : arena_str(a, "");
}

struct span {
	uint32_t start, end, term;
};

struct spans {
	const struct snippet_terms *wanted;
	struct arena *a;
	struct span *items;
	size_t n, cap;
};

static void take_term(void *ctx, const struct term *t)
{
	struct spans *s = ctx;
	for (size_t i = 0; i < s->wanted->n && s->n < SPANS_MAX; i++) {
		if (s->wanted->terms[i].n != t->len ||
			memcmp(s->wanted->terms[i].p, t->text, t->len) != 0)
			continue;
		struct span *last = s->n ? &s->items[s->n - 1] : NULL;
		if (last && t->start < last->end) { /* a word and its stem, a whole and its parts */
			last->end = MAX(last->end, t->end);
			return;
		}
		struct span span = { t->start, t->end, (uint32_t)i };
		ARENA_PUSH(s->a, s->items, s->n, s->cap, span);
		return;
	}
}

/* Different words count most, then how many there are. */
static size_t value_of(const struct spans *s, size_t from, size_t to)
{
	size_t different = 0;
	for (size_t i = from; i < to; i++) {
		bool is_new = true;
		for (size_t k = from; k < i && is_new; k++)
			is_new = s->items[k].term != s->items[i].term;
		different += is_new;
	}
	return different * 16 + MIN(to - from, (size_t)15);
}

/* Spans [*ret_from, *ret_to) of the best window of `width` bytes; the first among equals. */
static void best_window(const struct spans *s, size_t width, size_t *ret_from, size_t *ret_to)
{
	size_t best = 0, to = 0;
	*ret_from = *ret_to = 0;
	for (size_t from = 0; from < s->n; from++) {
		to = MAX(to, from + 1);
		while (to < s->n && s->items[to].end - s->items[from].start <= width &&
			to - from < 32)
			to++;
		size_t value = value_of(s, from, to);
		if (value > best) {
			best = value;
			*ret_from = from;
			*ret_to = to;
		}
	}
}

static bool is_word_byte(char c)
{
	return (unsigned char)c >= 0x80 || (c | 0x20) == '_' ||
	       ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || (c >= '0' && c <= '9');
}

/* Back to the start of a word or sentence, at most a quarter of the window away. */
static size_t start_border(struct str text, size_t at, size_t width)
{
	size_t least = at > width / 4 ? at - width / 4 : 0;
	for (size_t i = at; i > least; i--)
		if (text.p[i - 1] == '\n' ||
			(i >= 2 && text.p[i - 1] == ' ' && strchr(".!?", text.p[i - 2])))
			return i;
	if (least == 0)
		return 0;
	while (at > least && !(text.p[at - 1] == ' ' || text.p[at - 1] == '\n'))
		at--;
	while (at > 0 && ((unsigned char)text.p[at] & 0xc0) == 0x80)
		at--;
	return at;
}

/* Signs of markdown that say nothing in a line of plain text. */
static size_t markdown_at(struct str text, size_t at)
{
	char c = text.p[at];
	bool is_line_start = at == 0 || text.p[at - 1] == '\n';
	size_t n = 0;
	if (c == '`' || c == '|')
		return 1;
	if (c == '*' || c == '#') {
		while (at + n < text.n && text.p[at + n] == c)
			n++;
		bool touches = at > 0 && is_word_byte(text.p[at - 1]) && at + n < text.n &&
			       is_word_byte(text.p[at + n]);
		return (c == '*' && (n > 1 || !touches)) || (c == '#' && is_line_start) ? n : 0;
	}
	if (!is_line_start)
		return 0;
	while (at + n < text.n && (text.p[at + n] == c) && strchr("->=_~", c))
		n++;
	return n > 2 || (n > 0 && c == '>') ||
			       (n == 1 && c == '-' && at + 1 < text.n && text.p[at + 1] == ' ')
		       ? n
		       : 0;
}

struct out {
	struct buf b;
	size_t chars, width;
	size_t border; /* where it may be cut between words */
	bool has_gap;
};

/* The blank that was held back, once something follows it. */
static void put_gap(struct out *o)
{
	if (o->has_gap && o->b.len) {
		o->border = o->b.len;
		buf_char(&o->b, ' ');
		o->chars++;
	}
	o->has_gap = false;
}

static bool put_cluster(struct out *o, const char *p, size_t n)
{
	put_gap(o);
	if (o->chars >= o->width)
		return false;
	buf_add(&o->b, p, n);
	o->chars++;
	return true;
}

/* How many bytes from `at` on are letters and digits of ASCII that need no look, before `end`. */
static size_t plain_run(struct str text, size_t at, size_t end)
{
	size_t n = 0;
	while (at + n + 1 < end && (unsigned char)text.p[at + n] < 0x80 &&
		is_word_byte(text.p[at + n]) && text.p[at + n] != '_' &&
		(unsigned char)text.p[at + n + 1] < 0x80)
		n++;
	return n;
}

/* Writes text from `at` until the width is used up. Returns whether all of it was written. */
static bool put_window(struct out *o, struct str text, size_t at, const struct spans *s)
{
	size_t next = 0;
	bool is_on = false, fits = true;
	while (next < s->n && s->items[next].end <= at)
		next++;
	while (at < text.n && fits) {
		if (is_on && at >= s->items[next].end) {
			buf_str(&o->b, SNIPPET_OFF);
			is_on = false;
			next++;
		}
		const size_t border = next >= s->n ? text.n
				      : is_on      ? s->items[next].end
						   : s->items[next].start;
		const size_t plain = at < border ? MIN(plain_run(text, at, border),
							   o->width - MIN(o->chars + 1, o->width))
						 : 0;
		if (plain > 1) {
			put_gap(o);
			buf_add(&o->b, text.p + at, plain);
			o->chars += plain;
			at += plain;
			continue;
		}
		size_t skip = is_on ? 0 : markdown_at(text, at);
		const char *p = text.p + at;
		if (skip || is_blank(utf8_next(&p, text.p + text.n))) {
			o->has_gap |= skip == 0;
			at = skip ? at + skip : (size_t)(p - text.p);
			continue;
		}
		unsigned columns;
		size_t n = cluster_at(text, at, &columns);
		if (!is_on && next < s->n && at >= s->items[next].start) {
			put_gap(o);
			buf_str(&o->b, SNIPPET_ON);
			is_on = true;
		}
		fits = put_cluster(o, text.p + at, n);
		at += n;
	}
	if (is_on)
		buf_str(&o->b, SNIPPET_OFF);
	return fits;
}

/* Cuts an unfinished last word off, unless it is most of what there is or a match lies in it. */
static void cut_at_border(struct out *o)
{
	if (o->b.len == 0 || o->border < o->b.len / 2 ||
		memchr(o->b.data + o->border, SNIPPET_ON[0], o->b.len - o->border))
		return;
	buf_cut(&o->b, o->border);
}

static char *render(
	struct arena *a, struct str text, size_t start, const struct spans *s, size_t width)
{
	AUTO(buf_done) struct buf whole = { 0 };
	struct out o = { .width = width };
	bool is_complete = put_window(&o, text, start, s);
	if (!is_complete)
		cut_at_border(&o);
	if (start > 0)
		buf_str(&whole, ELLIPSIS);
	buf_add(&whole, o.b.data ? o.b.data : "", o.b.len);
	if (!is_complete)
		buf_str(&whole, ELLIPSIS);
	buf_done(&o.b);
	return arena_dup(a, buf_cstr(&whole), whole.len);
}

char *snippet_make(struct arena *a, struct analyser *an, struct str text,
	const struct snippet_terms *wanted, size_t width)
{
	AUTO(arena_done) struct arena scratch = { 0 };
	struct spans s = { .wanted = wanted, .a = &scratch };
	size_t from = 0, to = 0, start = 0;
	text.n = utf8_cut(text.p, text.n, SNIPPET_TEXT_MAX);
	struct wanted_terms looked_for;
	if (wanted && wanted->n) {
		wanted_terms_init(&looked_for, wanted->terms, wanted->n);
		analyser_look(an, text, &looked_for, take_term, &s);
	}
	best_window(&s, width, &from, &to);
	if (to > from) {
		size_t used = s.items[to - 1].end - s.items[from].start;
		size_t before = used < width ? (width - used) / 3 : 0;
		size_t first = s.items[from].start;
		start = start_border(text, first > before ? first - before : 0, width);
		if (start + width / 3 > first && first <= width / 4)
			start = 0;
	}
	return render(a, text, start, &s, width);
}
