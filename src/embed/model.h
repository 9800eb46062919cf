#ifndef EMBED_MODEL_H
#define EMBED_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

/*
 * The model file, mapped read-only: USE-multilingual v3, its tokeniser's tries and scores,
 * eight-bit layers and a table of six-bit numbers. One file, whose sha256 is in model_pin.h;
 * tools/model-convert writes it. After model_open nothing changes, so any number of threads may
 * read. The file is replaced by renaming only, never written in place.
 *
 * Layout, little endian, each section at a multiple of 64: head (magic, version, sections, size,
 * id; per section its place, size and sum; the sum of the head), then the sections in the order of
 * enum model_section.
 */

#define MODEL_FILE "model.bin"
#define MODEL_DIMS 512     /* numbers of a vector, and of a row of the table */
#define MODEL_PIECES 128000u
#define MODEL_CHUNKS 17    /* pieces with the same id modulo this share scale and offset */
#define MODEL_ROW 384      /* bytes of a row: 512 numbers of six bits */
#define MODEL_BRANCHES 3   /* runs of 2, 3 and 5 tokens */
#define MODEL_BRANCH 256   /* numbers of a branch */
#define MODEL_WIDE (MODEL_BRANCHES * MODEL_BRANCH)
#define MODEL_FEATURES (MODEL_DIMS + MODEL_WIDE)
#define MODEL_HIDDEN 320

enum model_layer {
	LAYER_PROJECT,
	LAYER_NEAR, /* one per branch */
	LAYER_FAR = LAYER_NEAR + MODEL_BRANCHES,
	LAYER_SUM = LAYER_FAR + MODEL_BRANCHES,
	LAYER_D0,
	LAYER_D1,
	LAYER_P1,
	LAYER_D2,
	LAYER_P3,
	LAYER_D3,
	LAYER_COUNT
};

#define LAYER_COLUMNS 16 /* columns of a block */

/*
 * A matrix of eight-bit weights, cut into taps of `depth` inputs; a weight is an integer times the
 * scale of its tap and column.
 * weights[columns / 16][taps][depth / 4][16][4], scales and sums[columns / 16][taps][16]: a sum is
 * the scale times the sum of its integers.
 */
struct layer {
	size_t taps, depth, columns;
	const int8_t *weights;
	const float *scales, *sums, *bias; /* bias[columns] */
};

/* A double array in the layout of darts-clone; a key's value is below 2^31. */
struct trie {
	const uint32_t *units;
	size_t n;
};

struct model {
	void *map;
	size_t size;
	struct trie charsmap, pieces;
	const char *replacements; /* NUL-terminated strings, found by the values of `charsmap` */
	size_t replacements_size;
	const float *scores;      /* [MODEL_PIECES] log probability */
	double unknown_score;     /* of a character that no piece begins with */
	const float *chunk_scale, *chunk_low; /* [MODEL_CHUNKS]: number = scale * six bits + low */
	const float *norm_wide[2], *norm_features[2]; /* gain and shift of the two layer norms */
	struct layer layers[LAYER_COUNT];
	const uint8_t *table;     /* [MODEL_PIECES][MODEL_ROW] */
};

/*
 * Maps the file and checks its head, its size and the sums of everything but the table (some
 * milliseconds). Absent: ERR_NOT_FOUND "vectors: off (no model file) …". Not a model file, of
 * another version, cut or damaged: ERR_USAGE with a sentence that says which.
 */
int model_open(const char *path, struct model *ret, struct err *err);
void model_close(struct model *m);
/* Lets the system take the table's pages out of this process; they come back when needed. */
void model_rest(const struct model *m);

/*
 * Everything model_open checks, then the whole file against its pin: before installing (a third of
 * a second).
 */
int model_check(const char *path, struct err *err);
/* Checks `from` and copies it into folder `dir` under its proper name, 0600, on the disk when it returns. */
int model_install(const char *from, const char *dir, struct err *err);

/*
 * Where a model file may stand, best first: home/model, then the folder share/remanence beside the
 * program's. Either may be NULL. Touches no file.
 */
#define MODEL_PLACES 2
size_t model_places(struct arena *a, const char *home, const char *exe, const char *ret[MODEL_PLACES]);
/* The first of `places` where a file is, or NULL. */
const char *model_find(const char *const *places, size_t n);

#endif
