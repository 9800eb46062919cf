#ifndef OBSERVE_CLEAN_TAGS_H
#define OBSERVE_CLEAN_TAGS_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/str.h"

/*
 * Tags in texts: what stands between some is dropped, others are taken off what they wrap. Tags are
 * seen plain, as HTML entities and as JSON escapes. In JSON text only the contents of strings are
 * dropped, so that it stays JSON.
 */

#define PRIVATE_PIECES_MAX 64

/*
 * Goes through the fields of one event, since a private part may begin in one and end in another.
 */
struct tag_state {
	bool is_json;           /* the field at hand */
	bool is_prompt;         /* wrappers that agents put around prompts count too */
	unsigned private_depth; /* open private tags at the end of the last field */
	bool had_private;
	struct str pieces
		[PRIVATE_PIECES_MAX]; /* lines that were private, long enough to be known again */
	size_t npieces;
};

/* Gives the input back when it holds no tag that counts. */
struct str tags_strip(struct arena *a, struct str text, struct tag_state *state);
/* Replaces the pieces by "[private]". */
struct str tags_strike(struct arena *a, struct str text, const struct tag_state *state);

#endif
