#ifndef DAEMON_EMBEDDING_TEXT_H
#define DAEMON_EMBEDDING_TEXT_H

#include "base/arena.h"
#include "base/str.h"
#include "store/store.h"

/*
 * What vectors are made of: title and text of memories, as one; prompts and replies, in pieces;
 * without code blocks, lines without words and what stands there twice, which say little about the
 * meaning and much to a mean of tokens. Pure.
 */

#define EMBEDDING_TEXT_MAX 16384 /* bytes of a text that are looked at */
#define EMBEDDING_HEADING .5f  /* fitted on tests/data/sections: hit@1 21 to 24 of 40, hit@5 30 to 33 */
#define EMBEDDING_PIECES_MAX 6   /* of a prompt or reply */

struct embedding_text {
	struct str text; /* empty: nothing is embedded */
	struct str heading; /* of a chunk: counts by itself too, EMBEDDING_HEADING as much as all; else empty */
	bool is_whole;   /* one vector, else one a piece */
	uint32_t hash;   /* of the text and of how it is embedded */
};

struct embedding_text embedding_text(struct arena *a, const struct index_row *row);

#endif
