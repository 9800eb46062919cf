#include "ops/frame.h"

#include <string.h>

#include "base/mem.h"
#include "text/snippet.h"

/*
 * What models read as structure: our own frame and the blocks that agents put around text. The hyphen of our own name is taken
 * out wherever it stands, so that no spelling of the tag (spaces, wide brackets, invisible letters) survives.
 */

#define OWN_TAG "remanence-context"
#define CHAR_BYTES_LIKELY 8 /* a text cut at so many bytes a character is cut in full by the characters afterwards */

static const char *const block_tags[] = { "system-reminder", "system", "assistant", "user", "human", "developer", "instructions",
	"user_instructions", "environment_context", "permissions", "persisted-output", "hook_prompt", "tool_use", "tool_result",
	"function_calls", "function_results", "invoke", "antml", "private", "command-name", "command-message", "local-command-stdout",
	"important", "context", "remanence", "remanence-context" };

static bool is_invisible(uint32_t cp)
{
	return (cp < 0x20 && cp != '\n' && cp != '\t') || cp == 0x7f || (cp >= 0x80 && cp < 0xa0) || cp == 0xad ||
	       (cp >= 0x200b && cp <= 0x200f) || (cp >= 0x2028 && cp <= 0x202e) || (cp >= 0x2060 && cp <= 0x206f) ||
	       cp == 0xfeff || (cp >= 0xe0000 && cp <= 0xe007f);
}

/* Does a block's tag start after this '<' ? */
static bool starts_block(const char *p, const char *end)
{
	while (p < end && strchr(" /!|\t", *p))
		p++;
	for (size_t i = 0; i < ARRAY_LEN(block_tags); i++) {
		size_t n = strlen(block_tags[i]);
		if ((size_t)(end - p) < n || !str_istarts(p, block_tags[i]))
			continue;
		/* A sign of another script that looks like '>' ends the name too. */
		if (p + n == end || strchr(" >/:|\t\n", p[n]) || (unsigned char)p[n] >= 0x80)
			return true;
	}
	return false;
}

static void own_tag_break(char *text)
{
	const char *found;
	while ((found = str_ifind(str_of(text), OWN_TAG)))
		text[(size_t)(found - text) + strlen("remanence")] = ' ';
}

char *frame_escape(struct arena *a, const char *text)
{
	AUTO(buf_done) struct buf visible = { 0 };
	AUTO(buf_done) struct buf b = { 0 };
	struct str s = str_of(text);
	for (const char *p = s.p, *end = s.p + s.n; p < end;) {
		const char *start = p;
		uint32_t cp = utf8_next(&p, end);
		bool is_joiner = cp == 0x200d; /* holds emoji and some scripts together; harmless between letters of a tag */
		if (cp == 0xff1c || cp == 0xfe64)
			buf_char(&visible, '<');
		else if (cp == 0x2011 || cp == 0x2010)
			buf_char(&visible, '-');
		else if (is_joiner ? p < end && (unsigned char)*p >= 0x80 : !is_invisible(cp))
			buf_add(&visible, start, (size_t)(p - start));
	}
	const char *v = buf_cstr(&visible), *end = v + visible.len;
	for (; v < end; v++) {
		if (*v == '<' && starts_block(v + 1, end))
			buf_str(&b, "‹");
		else
			buf_char(&b, *v);
	}
	char *ret = arena_dup(a, buf_cstr(&b), b.len);
	own_tag_break(ret);
	return ret;
}

/* The beginning of a text that surely holds `chars` characters that are shown, so that long texts are not gone through whole. */
static const char *head_of(struct arena *a, const char *text, size_t chars)
{
	struct str s = str_of(text);
	size_t n = utf8_cut(s.p, s.n, chars * CHAR_BYTES_LIKELY + CHAR_BYTES_LIKELY);
	return n == s.n ? s.n ? text : "" : arena_printf(a, "%.*s …", (int)n, s.p);
}

char *frame_line(struct arena *a, const char *text, size_t width)
{
	return text_one_line(a, str_of(frame_escape(a, head_of(a, text, width))), width);
}

char *frame_block(struct arena *a, const char *text, size_t chars, const char *indent)
{
	AUTO(buf_done) struct buf b = { 0 };
	struct str rest = str_of(frame_escape(a, head_of(a, text, chars))), line;
	size_t whole = rest.n;
	rest.n = grapheme_cut(rest, chars);
	bool is_cut = rest.n < whole;
	while (str_line(&rest, &line)) {
		struct str trimmed = str_trim(line);
		if (!trimmed.n)
			continue;
		/* Inner indentation tells lists and code apart; it is kept. */
		while (line.n && strchr(" \t\r", line.p[line.n - 1]))
			line.n--;
		buf_printf(&b, "%s%.*s\n", indent, (int)line.n, line.p);
	}
	if (is_cut && b.len) {
		buf_cut(&b, b.len - 1);
		buf_str(&b, " …\n");
	}
	return arena_dup(a, buf_cstr(&b), b.len);
}

/* --- Counting. --- */

size_t frame_measure(const struct frame *f, struct str text)
{
	size_t units = 0;
	if (f->counts_bytes)
		return text.n;
	for (size_t i = 0; i < text.n; i++) {
		unsigned char c = (unsigned char)text.p[i];
		units += (c & 0xc0) != 0x80;
		units += c >= 0xf0;
	}
	return units;
}

static void put(struct frame *f, const char *text)
{
	size_t units = frame_measure(f, str_of(text));
	buf_str(&f->out, text);
	f->used += units;
	if (f->nsections)
		f->sections[f->nsections - 1].chars += units;
}

void frame_open(struct frame *f, const char *opening, const char *closing)
{
	f->reserved = frame_measure(f, str_of(closing));
	put(f, opening);
	f->ceiling = f->max;
}

void frame_close(struct frame *f, const char *closing)
{
	f->heading = NULL;
	if (f->nsections && !f->sections[f->nsections - 1].chars)
		f->nsections--;
	if (f->nsections < FRAME_SECTIONS_MAX)
		f->sections[f->nsections++] = (struct context_section){ .name = "search" };
	f->reserved = 0;
	put(f, closing);
}

void frame_section(struct frame *f, const char *name, const char *heading, double share)
{
	size_t left = f->max > f->used + f->reserved ? f->max - f->used - f->reserved : 0;
	if (f->nsections && !f->sections[f->nsections - 1].chars)
		f->nsections--;
	if (f->nsections == FRAME_SECTIONS_MAX)
		left = 0;
	else
		f->sections[f->nsections++] = (struct context_section){ .name = name };
	f->heading = heading;
	f->ceiling = f->used + (size_t)((double)left * share);
}

bool frame_add(struct frame *f, const char *lines)
{
	size_t units = frame_measure(f, str_of(lines)) + (f->heading ? frame_measure(f, str_of(f->heading)) : 0);
	if (!*lines || f->used + units > f->ceiling || f->used + units + f->reserved > f->max)
		return false;
	if (f->heading)
		put(f, f->heading);
	f->heading = NULL;
	put(f, lines);
	return true;
}

void frame_gave(struct frame *f, int64_t memory)
{
	if (memory && !frame_has(f, memory) && f->nmemories < FRAME_MEMORIES_MAX)
		f->memories[f->nmemories++] = memory;
}

bool frame_has(const struct frame *f, int64_t memory)
{
	for (size_t i = 0; i < f->nmemories; i++)
		if (f->memories[i] == memory)
			return true;
	return false;
}

bool frame_is_empty(const struct frame *f)
{
	for (size_t i = 0; i < f->nsections; i++)
		if (f->sections[i].chars)
			return false;
	return true;
}
