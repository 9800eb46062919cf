/*
 * Captured text made short without losing what a reader needs: outputs of tools are full of blanks,
 * repetitions and progress, and their ends matter more than their middles.
 */

#include <string.h>

#include "base/mem.h"
#include "observe/digest_step.h"

#define INDENT_MAX 12
#define WORD_LONGEST 30u /* bytes given up so that no word is cut */
#define CUT_MARK "\n\t… (cut)\n"
#define INLINE_CUT " … (cut) … "

static size_t blanks_before(struct str line)
{
	size_t n = 0;

	while (n < line.n && (line.p[n] == ' ' || line.p[n] == '\t'))
		n++;
	return n;
}

static struct str trim_end(struct str line)
{
	while (line.n && (unsigned char)line.p[line.n - 1] <= ' ')
		line.n--;
	return line;
}

static void add_line(struct buf *out, struct str line, size_t line_max)
{
	size_t blanks = blanks_before(line), cut = MIN(blanks, INDENT_MAX);

	buf_char(out, '\t');
	for (size_t i = 0; i < cut; i++)
		buf_char(out, line.p[i]);
	line = (struct str){ line.p + blanks, line.n - blanks };
	if (line.n > line_max) {
		buf_add(out, line.p, utf8_cut(line.p, line.n, line_max));
		buf_str(out, "…");
	} else {
		buf_add(out, line.p, line.n);
	}
	buf_char(out, '\n');
}

/* What is huge is looked at from both ends. */
static struct str both_ends(struct arena *a, struct str text)
{
	size_t half = SQUEEZE_MAX / 2, head, tail;
	AUTO(buf_done) struct buf out = { 0 };

	if (text.n <= SQUEEZE_MAX)
		return text;
	head = utf8_cut(text.p, text.n, half);
	tail = utf8_cut(text.p, text.n, text.n - half);
	buf_add(&out, text.p, head);
	buf_str(&out, CUT_MARK);
	buf_add(&out, text.p + tail, text.n - tail);
	return (struct str){ arena_dup(a, out.data, out.len), out.len };
}

struct str text_quote(struct arena *a, struct str text, size_t line_max)
{
	AUTO(buf_done) struct buf out = { 0 };
	struct str rest = both_ends(a, text), line, last = { 0 };

	while (str_line(&rest, &line)) {
		line = trim_end(line);
		if (!line.n || (last.n && str_eq(line, last)))
			continue;
		add_line(&out, line, line_max);
		last = line;
	}
	if (!out.len)
		return (struct str){ "", 0 };
	return (struct str){ arena_dup(a, out.data, out.len - 1), out.len - 1 };
}

/* The last border of a line in the second half of the head; else that of a code point. */
static size_t head_cut(struct str text, size_t max)
{
	size_t cut = utf8_cut(text.p, text.n, max);

	for (size_t i = cut; i > cut / 2; i--)
		if (text.p[i - 1] == '\n')
			return i - 1;
	for (size_t i = cut; i > cut - MIN(cut, WORD_LONGEST); i--)
		if (text.p[i - 1] == ' ')
			return i - 1;
	return cut;
}

static size_t tail_cut(struct str text, size_t max)
{
	size_t at = utf8_cut(text.p, text.n, text.n - max);

	/* utf8_cut goes back, which makes the tail longer than it may be. */
	while (text.n - at > max)
		for (at++; at < text.n && ((unsigned char)text.p[at] & 0xC0) == 0x80;)
			at++;
	for (size_t i = at; i < at + (text.n - at) / 2; i++)
		if (text.p[i] == '\n')
			return i + 1;
	for (size_t i = at; i < at + MIN(text.n - at, WORD_LONGEST); i++)
		if (text.p[i] == ' ')
			return i + 1;
	return at;
}

struct str text_shorten(struct arena *a, struct str text, size_t max)
{
	AUTO(buf_done) struct buf out = { 0 };
	size_t room, head, tail;
	const char *mark;

	if (text.n <= max)
		return text;
	mark = memchr(text.p, '\n', text.n) ? CUT_MARK : INLINE_CUT;
	if (max <= strlen(mark) + 9)
		return (struct str){ "", 0 };
	room = max - strlen(mark) - 1;
	head = head_cut(text, room * 2 / 5);
	tail = tail_cut(text, room - room * 2 / 5);
	buf_add(&out, text.p, head);
	buf_str(&out, mark);
	if (mark[0] == '\n' && text.p[tail] != '\t')
		buf_char(&out, '\t');
	buf_add(&out, text.p + tail, text.n - tail);
	return (struct str){ arena_dup(a, out.data, out.len), out.len };
}
