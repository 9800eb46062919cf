#ifndef EMBED_EMBEDDER_H
#define EMBED_EMBEDDER_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "embed/vector.h"

/*
 * The builtin embedder: texts into vectors of VECTOR_DIMS bytes with a scale, from a mapped model
 * file. After opening it holds no state that changes: any number of threads may embed with one
 * embedder at the same time, each call works in the thread that makes it and takes up to 2 MB while
 * it lasts. No call is cut short; callers who must be able to stop ask for few texts at a time
 * (about 5 ms per EMBED_PIECE_TOKENS on one core).
 */

#define EMBED_TEXT_TOKENS 256  /* of a text given whole; the rest is not looked at */
#define EMBED_PIECE_TOKENS 128 /* of a piece of a longer text, both end marks counted */

struct embedder;

/*
 * Errors as of model_open: ERR_NOT_FOUND "vectors: off (no model file) …", ERR_USAGE for a wrong,
 * cut or damaged one.
 */
int embedder_open(const char *path, struct embedder **ret, struct err *err);
/*
 * The first of home/model/model.bin and ../share/remanence/model.bin beside the program that is
 * there; home and exe may be NULL.
 */
int embedder_open_from(const char *home, const char *exe, struct embedder **ret, struct err *err);
void embedder_close(struct embedder *e);
/* Name and version, to be stored with vectors: those of another id are not comparable. Constant. */
const char *embedder_id(const struct embedder *e);
size_t embedder_dims(const struct embedder *e);
/* Which loops it runs: "avx512-vnni", "avx2", "plain" …, for status and benchmarks. */
const char *embedder_kernel(const struct embedder *e);
/*
 * Takes the pages of the table out of this process: for when nothing has been embedded for a while.
 * Threads may go on embedding.
 */
void embedder_rest(struct embedder *e);

/*
 * A vector per text: vectors[n][VECTOR_DIMS], scales[n]. Texts are valid UTF-8, of any length; an
 * empty one has a vector too.
 */
void embed_texts(struct embedder *e, const struct str *texts, size_t n, int8_t *vectors, float *scales);

/* A part of a longer text: its bytes and its tokens with end marks. */
struct embed_piece {
	size_t at, len;
	const uint32_t *ids;
	size_t nids; /* 3 … EMBED_PIECE_TOKENS */
};

/*
 * Cuts a text into pieces of at most EMBED_PIECE_TOKENS of about equal length, at an empty line, a
 * line's or sentence's end or a word's where one is near. At most `max` pieces, the rest of the
 * text is not looked at. White space alone gives none.
 */
void embed_pieces(struct embedder *e, struct arena *a, struct str text, size_t max,
	struct embed_piece **ret, size_t *ret_n);
/* A vector per piece, as embed_texts. */
void embed_piece_vectors(struct embedder *e, const struct embed_piece *pieces, size_t n,
	int8_t *vectors, float *scales);

#endif
