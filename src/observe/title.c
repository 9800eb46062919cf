#include "observe/title.h"

#include "base/buf.h"
#include "observe/candidates.h"
#include "observe/markdown.h"
#include "observe/sections.h"

#define LEAST (-2) /* score of a sentence that says something */

char *title_from_reply(struct arena *a, struct str reply)
{
	struct candidates c = { 0 };
	struct blocks blocks;

	blocks_parse(a, reply, &blocks);
	sections_mark(&blocks);
	candidates_add_reply(a, &c, &blocks, 0);
	return candidates_take(a, &c, LEAST, NULL, 0);
}

char *title_from_prompt(struct arena *a, struct str prompt)
{
	struct candidates c = { 0 };

	candidates_add_prompt(a, &c, prompt, 6);
	return candidates_take(a, &c, LEAST, NULL, 0);
}

char *plain_from_markdown(struct arena *a, struct str text)
{
	struct blocks blocks;
	struct buf out = { 0 };
	char *ret;

	blocks_parse(a, text, &blocks);
	for (size_t i = 0; i < blocks.n; i++) {
		const struct block *b = &blocks.items[i];

		if (out.len)
			buf_char(&out, '\n');
		if (b->kind == BLOCK_ITEM)
			buf_printf(&out, "%*s- ", (int)(b->level < 6 ? b->level : 6) * 2, "");
		buf_str(&out,
			b->kind == BLOCK_CODE ? b->text : inline_plain(a, str_of(b->text), false));
	}
	ret = arena_dup(a, buf_cstr(&out), out.len);
	buf_done(&out);
	return ret;
}
