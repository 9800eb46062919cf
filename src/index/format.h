#ifndef INDEX_FORMAT_H
#define INDEX_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#include "index/index.h"

/*
 * What a segment holds, in this order: postings, dictionary, dictionary index, the columns of its
 * documents, a trailer.
 *
 * Documents are numbered by ascending id. Columns are packed to the bits that their range needs.
 * The dictionary holds (stem, word) pairs in order, front coded in blocks: a word is stored under
 * the stem that it had in its text's language, so that all forms of a stem lie together and no text
 * is indexed twice. A whole (identifier, path) has the stem WHOLE_MARK + itself. A posting list is
 * documents, then positions. Documents: blocks of POSTING_BLOCK with a skip entry each, gaps and
 * codes packed (skip.h); the rest as varints. Lists that many documents are in have a map of a bit
 * per document instead of the blocks' gaps; long ones also what sessions hold (session_list.h). A code (one byte) says how often the term occurs in
 * each field, rounded down where it is often. Positions: for each posting as many values as the
 * code says (POSITIONS_COUNTED: their number first), each of the bits that the document's last
 * position needs. Wholes have no positions, function words neither positions nor counts.
 */

#define SEGMENT_MAGIC 0x31676573656d6572u /* "remeseg1" */
#define SEGMENT_VERSION 3u           /* also of what terms are made of a text */
#define POSTING_BLOCK 128u
#define DICTIONARY_BLOCK 16u
#define WHOLE_MARK '\x02'
#define KEY_MAX 72           /* bytes of a stem or word with its mark */
#define FIELD_MAX (1u << 20) /* bytes of a field that are indexed; the rest is ignored */
#define POSITION_GAP 4u      /* between fields, so that no pair or phrase spans two */
#define POSITIONS_MAX 1023u  /* of one term in one document; further ones are dropped */
#define POSITIONS_BITS 10u
#define AT_MAX (((int64_t)1 << 48) - 1)

enum field { FIELD_TITLE, FIELD_BODY, FIELD_REST, FIELD_COUNT };

enum column {
	COLUMN_ROW,
	COLUMN_AT,
	COLUMN_PROJECT,
	COLUMN_SESSION,
	COLUMN_BRANCH,
	COLUMN_KIND,
	COLUMN_TYPE,
	COLUMN_STATUS,
	COLUMN_ORIGIN,
	COLUMN_AGENT,
	COLUMN_CONFIDENCE,
	COLUMN_FLAGS,
	COLUMN_LENGTH,
	COLUMN_POSITION_BITS,
	COLUMN_COUNT
};

#define CLASS_COUNT 3

struct trailer {
	uint64_t postings_len, dictionary_at, dictionary_len, index_at;
	uint32_t terms, blocks;
	uint32_t docs, class_start[CLASS_COUNT + 1]; /* documents by class */
	struct packed_column {
		uint64_t at; /* byte in the segment */
		uint64_t min;
		uint64_t width;
	} columns[COLUMN_COUNT];
	uint64_t version, magic; /* last */
};

/*
 * Occurrences by field to a code and back. Small codes are the usual ones. Counts come back rounded
 * down.
 */
#define CODE_COUNT 255
struct code_info {
	uint8_t title, rest, body;
	bool is_exact; /* the counts are not rounded: title + body + rest positions follow */
};
const struct code_info *code_table(void); /* CODE_COUNT rows */
uint8_t code_of(unsigned title, unsigned body, unsigned rest);

/*
 * What a file must have been written by to be read: the version, and whatever of the layout can be
 * counted, so that a change that forgot the version is noticed too.
 */
uint64_t format_version(void);

/* Lengths of documents in words, to a byte and back; rounded down above 16. */
uint8_t length_code(uint32_t words);
uint32_t length_of(uint8_t code);

#endif
