#ifndef OBSERVE_MARKDOWN_H
#define OBSERVE_MARKDOWN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"

/*
 * What agents write, as blocks. Not CommonMark but what replies really look like: bold lines and
 * short lines ending in a colon head a section as "#" does, pictures lead lines, lists stand in
 * paragraphs. Texts of blocks are one line each, plain but for the back quotes around code, which
 * tell where sentences end.
 */

#define MARKDOWN_MAX (256u << 10) /* bytes looked at; what an agent says of a turn is far shorter */

enum block_kind { BLOCK_TEXT, BLOCK_HEADING, BLOCK_ITEM, BLOCK_CODE, BLOCK_TABLE, BLOCK_QUOTE };

#define LEVEL_BOLD 7  /* heading made of a bold line */
#define LEVEL_COLON 8 /* heading made of a short line that ends in a colon */

struct block {
	enum block_kind kind;
	unsigned level;    /* headings: 1–8; items: depth from 0 */
	bool is_numbered;  /* "1. ", in items and headings */
	const char *text;  /* BLOCK_CODE: as it is */
	const char *lead;  /* bold beginning of an item or paragraph, plain, without colon; NULL */
	size_t after_lead; /* bytes of text that the lead and its colon take */
	int section;       /* enum section, by sections_mark */
};

struct blocks {
	struct block *items;
	size_t n, cap;
};

void blocks_parse(struct arena *a, struct str markdown, struct blocks *ret);
/*
 * Inline signs taken out of one line: emphasis, links, pictures, tags. Code keeps its back quotes
 * if asked.
 */
char *inline_plain(struct arena *a, struct str text, bool keeps_quotes);
/* Is this code point a picture (emoji, dingbat, arrow that leads a line)? */
bool is_picture(uint32_t cp);

#endif
