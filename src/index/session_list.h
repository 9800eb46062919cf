#ifndef INDEX_SESSION_LIST_H
#define INDEX_SESSION_LIST_H

#include "index/segment.h"
#include "index/writer.h"

/*
 * How often the sessions of a segment hold a term: what scores sessions without reading the term's
 * documents. Only lists that are long, and much longer than this, have it. For each class: a varint
 * of the number of entries, then each as varints: the gap between the sessions' ordinals, shifted by
 * two bits that say whether a title's and the rest's counts follow; the body's count; those. Counts
 * are summed as the documents' codes say them. A session's ordinal is its place among the sessions
 * of the segment's documents that count for one, ascending.
 */

/* Documents that a listed term has at least, and for each entry at least. Only tests change them. */
extern uint32_t session_list_min, session_list_share;
#define SESSION_HAS_TITLE 2u
#define SESSION_HAS_REST 1u

/* The session that a document counts for; 0: none. */
uint32_t session_of_doc(const struct doc_columns *columns);
/* Ascending, each once, none 0; in place. Returns how many are left. */
size_t sessions_sort(uint32_t *sessions, size_t n);

/* One thread's; the documents must stay. A term is started, its postings added, its list ended. */
struct session_lists *session_lists_new(const struct segment_docs *docs);
void session_lists_free(struct session_lists *l);
void session_lists_start(struct session_lists *l, size_t n); /* so many postings follow */
void session_lists_add(struct session_lists *l, uint32_t doc, uint8_t code);
/* Appends the list, or nothing when it is not worth it. */
void session_lists_end(struct session_lists *l, struct buf *out);

#endif
