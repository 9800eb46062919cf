#ifndef INDEX_SEGMENT_H
#define INDEX_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "index/codec.h"
#include "index/format.h"

/*
 * One immutable segment, in memory or mapped from a file, read-only and shared by any number of
 * threads. See format.h for what it holds. The bytes are trusted: whoever opens a file has compared
 * its checksum.
 */

/* Neighbouring documents of one session's slot, up to the next run's first. */
struct slot_run {
	uint32_t first, slot;
};

struct segment {
	const uint8_t *data;
	size_t len;
	struct trailer t;
	const uint8_t *lengths, *position_bits; /* a byte per document */
	bool is_mapped;
	char *name;      /* of its file, NULL in memory */
	uint64_t hash;   /* of its file */
	uint32_t *slots; /* session slot per document, 0 for none; filled by the snapshot's owner */
	struct slot_run *runs; /* the same as runs, and one past the end; filled with the slots */
	uint32_t nruns;
	uint32_t *session_slots; /* by a session's ordinal (session_list.h); filled with the slots */
	struct prior_range *priors; /* by document / PRIOR_DOCS; filled with the slots */
	struct filter_range *ranges; /* by document / FILTER_DOCS; filled with the slots */
	unsigned refs;   /* guarded by the index's lock */
	int wipe_fd;     /* when the last reader leaves: overwrite what was forgotten; -1 */
};

struct segment *segment_of_memory(struct buf *image); /* takes the image */
/* hash: what the file must have; NULL when it was just written. */
int segment_map(const char *path, uint64_t len, const uint64_t *hash, struct segment **ret,
	struct err *err);
void segment_free(struct segment *s);

static inline uint64_t segment_column(const struct segment *s, enum column c, uint32_t doc)
{
	const struct packed_column *p = &s->t.columns[c];
	return p->min + (p->width ? bits_get(s->data + p->at, doc, (unsigned)p->width) : 0);
}

enum doc_class segment_class(const struct segment *s, uint32_t doc);
doc_id segment_id(const struct segment *s, uint32_t doc);
void segment_columns(const struct segment *s, uint32_t doc, struct doc_columns *ret);
/* Number of the document with this id; false when it is not here. */
bool segment_find_doc(const struct segment *s, doc_id id, uint32_t *ret);

/* A posting list as the dictionary knows it. */
struct term_ref {
	const uint8_t *list;
	size_t len;
	uint32_t df; /* documents, removed ones included */
	bool has_positions;
};

/* Walks the dictionary in order of (stem, word). */
struct term_cursor {
	const struct segment *seg;
	const uint8_t *p;
	uint32_t next;
	uint64_t list_at;
	char stem[KEY_MAX], word[KEY_MAX];
	size_t stem_len, word_len;
	struct term_ref ref;
};
void term_cursor_start(struct term_cursor *c, const struct segment *s);
bool term_cursor_next(struct term_cursor *c);
/*
 * Makes the first entry whose stem is not below `stem` the current one (stem_len 0: there is none).
 * True when its stem is equal.
 */
bool term_cursor_seek(struct term_cursor *c, const struct segment *s, struct str stem);
int key_compare(struct str stem_a, struct str word_a, struct str stem_b, struct str word_b);

#endif
