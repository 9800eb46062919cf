#ifndef EMBED_TOKENISE_H
#define EMBED_TOKENISE_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "embed/model.h"

/*
 * Text into pieces of the model's vocabulary: SentencePiece's unigram model (Kudo 2018,
 * arXiv:1804.10959) with its normaliser, the same ids as the package of tools/model.txt gives for
 * any valid text, but for words above TOKEN_WORD_MAX. Pure; any thread.
 */

#define TOKEN_UNKNOWN 0u
#define TOKEN_BEGIN 1u
#define TOKEN_END 2u
#define TOKEN_WORD_MAX 16384 /* bytes of a normalised word; the rest of a longer one counts as another word */

struct token {
	uint32_t id;
	uint32_t at; /* the byte of the text where it begins */
};

/*
 * Reads on until the words so far make `max` tokens or more, or the text (at most 4 GB) ends. No
 * begin or end mark is added; a text with nothing in it gives one TOKEN_UNKNOWN. Bad bytes count as
 * white space.
 */
void tokenise(const struct model *m, struct arena *a, struct str text, size_t max,
	struct token **ret, size_t *ret_n);

#endif
