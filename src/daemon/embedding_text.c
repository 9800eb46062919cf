#include "daemon/embedding_text.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "text/hash.h"

#define WAY "1" /* changes whenever the same text would be embedded otherwise */
#define LINE_WORDS_MIN 3 /* letters that make a line one of words */

static bool has_words(struct str line)
{
	size_t letters = 0;
	for (size_t i = 0; i < line.n && letters < LINE_WORDS_MIN; i++) {
		unsigned char c = (unsigned char)line.p[i];
		letters += c >= 0x80 || ((c | 32) >= 'a' && (c | 32) <= 'z');
	}
	return letters >= LINE_WORDS_MIN;
}

static bool is_fence(struct str line)
{
	return line.n >= 3 && (!memcmp(line.p, "```", 3) || !memcmp(line.p, "~~~", 3));
}

static void add_text(struct buf *b, struct str text)
{
	struct str line;
	bool is_code = false;
	text.n = utf8_cut(text.p, text.n, EMBEDDING_TEXT_MAX);
	while (str_line(&text, &line)) {
		line = str_trim(line);
		if (is_fence(line)) {
			is_code = !is_code;
			continue;
		}
		if (is_code || !has_words(line))
			continue;
		if (b->len)
			buf_char(b, '\n');
		buf_add(b, line.p, line.n);
	}
}

static bool is_wanted(const struct index_row *r)
{
	if (r->kind == CHANGE_MEMORY)
		return r->doc_kind && r->status != MEMORY_REJECTED;
	return r->kind == CHANGE_EVENT && (r->doc_kind == EVENT_PROMPT || r->doc_kind == EVENT_REPLY) && !r->is_meta;
}

struct embedding_text embedding_text(struct arena *a, const struct index_row *row)
{
	AUTO(buf_done) struct buf b = { 0 };
	struct embedding_text ret = { .is_whole = row->kind == CHANGE_MEMORY };
	struct str title = str_of(row->title), body = str_of(row->body);
	if (!is_wanted(row))
		return ret;
	/* A title that was made of the text's first words would count twice. */
	while (title.n && (unsigned char)title.p[title.n - 1] >= 0x80)
		title.n--; /* an ellipsis */
	if (row->title && !str_find(body, title))
		add_text(&b, str_of(row->title));
	add_text(&b, body);
	if (!b.len)
		return ret;
	ret.text = (struct str){ arena_dup(a, b.data, b.len), b.len };
	if (row->doc_kind == KIND_CHUNK && row->kind == CHANGE_MEMORY && row->title) {
		ret.heading = str_of(row->title);
		buf_printf(&b, "\n%s", row->title);
	}
	buf_str(&b, ret.is_whole ? "\nwhole" WAY : "\npieces" WAY);
	ret.hash = (uint32_t)hash64(b.data, b.len);
	return ret;
}
