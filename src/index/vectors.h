#ifndef INDEX_VECTORS_H
#define INDEX_VECTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "embed/vector.h"
#include "index/index.h"

/*
 * The vectors of documents: derived data beside the segments of words, in files of their own. A
 * document has one row (its columns, to filter by, and a hash of what was embedded) and one vector
 * or more. Immutable mapped files plus a tail in memory; of several rows of one document the newest
 * counts. What the words' index has removed is for the reader to leave out: a row alone says
 * nothing. Calls that change are made one at a time, whichever thread makes them; any number of
 * threads scan meanwhile. A file that is cut, damaged or of another model is unlinked when opened,
 * and its documents count as not embedded.
 */

#define VECTORS_TAIL_MAX 1024u /* vectors in memory; vectors_put writes them when there are more */
#define VECTORS_OF_DOC_MAX 16u
#define VECTORS_SPANS_MAX 32u

struct vectors;

/*
 * In a large store what is far is told by the vectors' sign bits (64 bytes of 512): a scan compares
 * the question with the bits of every row that passes its filter, and exactly only with the best
 * guesses. What it gives then is nearly always what comparing everything gives (recall at 20 above
 * .99), and its scores are exact.
 */
#define VECTORS_BITS_STORE_LEAST 200000u /* smaller stores have no bits: 548 bytes a vector */
#define VECTORS_BITS_FILE_LEAST 8192u    /* nor do smaller files */
#define VECTORS_GUESSED_DOCS 8192u       /* rows that are compared exactly, a few more for ties */
#define VECTORS_GUESSED_SESSIONS 2048u   /* sessions whose nearest rows are */
#define VECTORS_GUESS_MARGIN 250u        /* of a cosine, in thousandths: by how much a row's guess may be wrong then */
struct vectors_prefilter {
	uint32_t store_least, file_least, docs, sessions, margin;
};

/* A stretch of the store's changes that was embedded: those above `low`, up to `high`. */
struct vectors_span {
	int64_t low, high;
};

/* The newest span first; they do not touch. */
struct vectors_spans {
	struct vectors_span at[VECTORS_SPANS_MAX];
	size_t n;
};

/*
 * Makes the folder; nothing is read yet: the store is empty until vectors_load. model: the
 * embedder's id.
 */
struct vectors *vectors_new(const char *dir);
void vectors_free(struct vectors *v); /* NULL is fine */
/* Before anything is loaded: other figures than those above. */
void vectors_set_prefilter(struct vectors *v, const struct vectors_prefilter *p);
/*
 * Takes in what the files hold of this model, whose vectors have so many bytes (a multiple of
 * VECTOR_STEP); model NULL: of whichever they are, dims not looked at. Reads every byte. -1: nothing
 * can be kept in that folder.
 */
int vectors_load(struct vectors *v, const char *model, size_t dims, struct err *err);
/* The name of the model whose vectors the folder holds; NULL when there are none. In the arena. */
const char *vectors_model_of(struct arena *a, const char *dir);
/* Bytes of a vector. */
size_t vectors_dims(struct vectors *v);
/* A number that changes whenever vectors of another model may have taken the place of these. */
uint64_t vectors_store(struct vectors *v);

struct vectors_doc {
	doc_id id;
	struct doc_columns columns;
	uint32_t hash; /* of what was embedded */
	uint32_t n;    /* 1 … VECTORS_OF_DOC_MAX */
	const int8_t *at; /* [n][vectors_dims] */
	const float *scales;
};

/* Adds or replaces. Writes the tail to a file when it is large: -1 when that fails, nothing is lost then. */
int vectors_put(struct vectors *v, const struct vectors_doc *doc, struct err *err);
void vectors_remove(struct vectors *v, doc_id id);
/* Whether these very contents were embedded; their columns are made those given. */
bool vectors_keep(struct vectors *v, doc_id id, uint32_t hash, const struct doc_columns *columns);

/* The first vector of these very contents, ret[dims]; false: they were not embedded, or in fewer numbers. */
bool vectors_get(struct vectors *v, doc_id id, uint32_t hash, float *ret, size_t dims);

void vectors_spans(struct vectors *v, struct vectors_spans *ret);
/* Kept with the next file. */
void vectors_set_spans(struct vectors *v, const struct vectors_spans *spans);
/* Writes the tail and the spans, merges files of about the same size; gives back what scans keep. */
int vectors_flush(struct vectors *v, struct err *err);
/* Rewrites all files without documents that are not alive, and overwrites the old ones. */
typedef bool vectors_alive_fn(void *ctx, doc_id id);
int vectors_purge(struct vectors *v, vectors_alive_fn *is_alive, void *ctx, struct err *err);
/* Forgets everything, the spans too. */
int vectors_clear(struct vectors *v, struct err *err);

struct vectors_stats {
	uint64_t docs, vectors, files, tail;
	uint64_t bytes, bits; /* of files of vectors; of sign bits beside them */
};
void vectors_stats(struct vectors *v, struct vectors_stats *ret);
/*
 * The mean of all vectors and of so many zero ones: the mean of few is too much like each of them.
 * How many vectors there are.
 */
uint64_t vectors_mean(struct vectors *v, double zeros, float mean[VECTOR_DIMS_MAX]);

/* What is near a question. */
struct vectors_scan {
	const struct vector_query *query;
	const struct search_filter *filter; /* branches only roughly: ask the words' index again */
	bool by_session;                    /* a hit per session: see vectors_hit.score */
	size_t k;
	/* What is wanted whether near or not: documents, or sessions. */
	const uint64_t *wanted;
	size_t nwanted;
	float *wanted_scores; /* [nwanted], NAN: has no vector */
};

struct vectors_hit {
	doc_id id; /* the document; of a session its nearest one */
	uint32_t session;
	float best;  /* the greatest cosine of its vectors, -1 … 1 */
	float score; /* the same; of a session with the mean of its three nearest documents added */
};

/* The k nearest, best first; ties by id, highest first. Returns how many; hits[k]. */
size_t vectors_scan(struct vectors *v, const struct vectors_scan *scan, struct vectors_hit *hits);
/*
 * How near the question is to anything: scores[max] of documents that pass the filter, from all over the store, the same ones
 * each time as long as it is. Few of a rare kind are found. Returns how many.
 */
#define VECTORS_SAMPLE_MAX 256u
size_t vectors_sample(struct vectors *v, const struct vector_query *q,
	const struct search_filter *filter, size_t max, float *scores);

#endif
