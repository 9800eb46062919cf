#ifndef INDEX_WRITER_H
#define INDEX_WRITER_H

#include "base/buf.h"
#include "base/str.h"
#include "index/format.h"

/*
 * Writes a segment: first its documents are named, then terms are added in order, then it ends. To
 * memory or to a file.
 */

struct doc_row {
	doc_id id;
	struct doc_columns columns;
	uint8_t length;        /* length_code of its words */
	uint8_t position_bits; /* of its greatest position */
};

/* Postings of one term, documents ascending. */
struct term_postings {
	struct str stem, word;
	bool has_positions;
	size_t n;
	const uint32_t *docs;
	const uint8_t *codes;
	const uint16_t *
		counts; /* of positions, each at most POSITIONS_MAX; what the code says when it is exact */
	const uint32_t *positions;
};

struct segment_writer;
/* fd -1: to memory. Rows ascending by id; they must stay until the end. */
struct segment_writer *writer_new(int fd, const struct doc_row *rows, size_t n);
void writer_add(struct segment_writer *w, const struct term_postings *t);
/* The image (memory) or nothing (file). -1: the file could not be written. Frees the writer. */
int writer_end(struct segment_writer *w, struct buf *ret, uint64_t *ret_len, struct err *err);

#endif
