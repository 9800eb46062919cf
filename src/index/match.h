#ifndef INDEX_MATCH_H
#define INDEX_MATCH_H

#include "base/mem.h"
#include "index/postings.h"
#include "index/query_parts.h"
#include "index/snapshot.h"
#include "index/weights.h"

/*
 * A search under way: for each scored word of the question (a group: all its forms) and each
 * segment, the live documents that hold it. All memory is the run's scratch arena.
 */

struct ref {
	struct term_ref term;
	bool is_exact; /* the word itself, not another form of its stem */
};

/* Documents of one segment that hold one group (or one pair), ascending. */
struct list {
	uint32_t n, at; /* at: cursor of whoever walks it */
	uint32_t *docs;
	float *tf;      /* occurrences, weighted by field and form */
	float most;     /* the highest of them */
	uint8_t *exact; /* NULL for pairs */
	struct ref *refs;
	size_t nrefs;
};

struct group {
	const struct query_word *word;
	uint64_t df;
	double idf, session_idf;
};

struct pair {
	uint32_t a, b; /* groups */
	uint64_t both; /* documents that hold both words, near or not */
	uint64_t df;
	double idf, session_idf;
};
#define PAIRS_MAX 256

struct run {
	struct snapshot *snap;
	const struct search *in;
	struct arena *scratch;
	struct room *room; /* for what is large and need not be zero */
	struct group groups[QUERY_TERMS_MAX];
	size_t ngroups;
	struct list *lists; /* [view][group] */
	struct pair pairs[PAIRS_MAX];
	size_t npairs;
	struct list *pair_lists; /* [view][pair] */
	uint64_t **maps;         /* [view][group], NULL until needed: a bit per document */
	float *session_scores;   /* by slot */
	uint64_t docs;           /* live ones */
	/*
	 * What score_docs need not give: documents whose base score, the weighted sum of own, pairs
	 * and session, is below the least, or below their session's floor where there are floors.
	 */
	float least, *floors;
	float own_weight, pair_weight, session_weight;
	bool has_skipped; /* documents that hold a word were not given, and not for a floor alone */
};

/*
 * Finds the posting lists of a word in one segment: the forms of each of its stems, and the whole
 * of that name.
 */
size_t match_refs(struct arena *a, const struct segment *seg, const struct query_word *w,
	bool exact_only, struct ref **ret);
/* Fills groups (with df and idf) and lists. */
void match_run(struct run *r);

/* Not zeroed. From the room that the index lends, or else from the scratch arena. */
void *run_room(struct run *r, size_t bytes);

static inline struct list *run_list(const struct run *r, size_t view, size_t group)
{
	return &r->lists[view * r->ngroups + group];
}

static inline struct list *run_pair_list(const struct run *r, size_t view, size_t pair)
{
	return &r->pair_lists[view * r->npairs + pair];
}

/* The list's first document from place `lo` on that is not before `doc`. */
static inline uint32_t list_first(const struct list *l, uint32_t lo, uint32_t doc)
{
	uint32_t step = 1, hi = l->n;
	while (lo + step < hi && l->docs[lo + step] < doc) {
		lo += step;
		step *= 2;
	}
	hi = MIN(hi, lo + step);
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (l->docs[mid] < doc)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

double bm25_idf(uint64_t docs, uint64_t df);

#endif
