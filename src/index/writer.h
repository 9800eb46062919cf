#ifndef INDEX_WRITER_H
#define INDEX_WRITER_H

#include "base/buf.h"
#include "base/str.h"
#include "index/format.h"

/*
 * Writes a segment: first its documents are named, then terms are added in order, each with its
 * postings, then it ends. To memory or to a file. Of a file only so much is held in memory as one
 * posting list takes packed, without its positions: the rest goes to the file, or to a second one
 * until its place is known. So memory follows the number of documents, and nothing else.
 */

struct doc_row {
	doc_id id;
	struct doc_columns columns;
	uint8_t length;        /* length_code of its words */
	uint8_t position_bits; /* of its greatest position */
};

/* A document's row as columns hold it. */
uint64_t doc_row_column(const struct doc_row *r, enum column c);

/* The documents of a segment to write, ascending by id. They must stay until the end. */
struct segment_docs {
	size_t n;
	uint32_t class_start[CLASS_COUNT + 1]; /* the first of each class; one past the last */
	const uint8_t *lengths, *position_bits;
	/* Values of the n documents from `first` on. Asked from 0 to the end, column by column. */
	void (*column)(void *ctx, enum column c, size_t first, size_t n, uint64_t *values);
	void *ctx;
};
#define COLUMN_PIECE 256u /* values asked at once, at most */

struct term_head {
	struct str stem, word; /* must stay until the term ends */
	bool has_positions;
	size_t n; /* postings that follow; not 0 */
};

struct segment_writer;
/* fd -1: to memory. dir: where a file is put that is too large for memory, with a file only. */
struct segment_writer *writer_new(int fd, const char *dir, const struct segment_docs *docs);
void writer_term(struct segment_writer *w, const struct term_head *t);
/*
 * Documents ascending. n positions, at most POSITIONS_MAX; as many as the code says when it is
 * exact.
 */
void writer_posting(
	struct segment_writer *w, uint32_t doc, uint8_t code, const uint32_t *positions, size_t n);
void writer_term_end(struct segment_writer *w);
/* The image (memory) or nothing (file). -1: the file could not be written. Frees the writer. */
int writer_end(struct segment_writer *w, struct buf *ret, uint64_t *ret_len, struct err *err);

#endif
