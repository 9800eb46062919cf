#ifndef INDEX_SESSIONS_H
#define INDEX_SESSIONS_H

#include "index/match.h"

/*
 * Scores of sessions: BM25 of each as one document. A term's occurrences are added list by list,
 * from the lists of sessions or block by block, and those of removed documents are taken away; then
 * the term's share is given out. Sums are exact, so that what is taken away leaves nothing.
 */

struct session_sums;
/* Also makes run->session_scores, all 0. NULL when there is no session. */
struct session_sums *sessions_start(struct run *r);
/* The block in hand of a list of one segment; is_exact: of the word itself, not another form. */
void sessions_add(
	struct session_sums *s, const struct segment *seg, const struct postings *p, bool is_exact);
/* All of a list that has its sessions listed, whatever was read of it. */
void sessions_add_list(
	struct session_sums *s, const struct segment *seg, const uint8_t *list, bool is_exact);
/* A document that was added, with its code. */
void sessions_drop(struct session_sums *s, const struct segment *seg, uint32_t doc, uint8_t code,
	bool is_exact);
/* Near pairs of one segment: documents, ascending, and how often each holds the pair. */
void sessions_add_pairs(
	struct session_sums *s, const struct segment *seg, const struct pair_list *l);
/* Adds the term's share to the sessions that hold it, and empties the sums. Returns its idf. */
double sessions_give(struct run *r, struct session_sums *s, double weight);

#endif
