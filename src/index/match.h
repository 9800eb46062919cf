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

/* Documents of one segment that hold one group. */
struct list {
	struct ref *refs; /* its posting lists */
	size_t nrefs;
	uint32_t n;       /* live documents */
	float most;       /* no document has more occurrences, weighted by field and form */
	uint64_t *map;    /* a bit per document, live ones; NULL: none */
	uint64_t *exact;  /* those that hold the word itself; NULL: none */
};

/* Documents of one segment that hold one pair, ascending: few. */
struct pair_list {
	uint32_t n, at; /* at: cursor of whoever walks it */
	uint32_t *docs;
	float *tf;
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

struct session_sums;

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
	struct pair_list *pair_lists; /* [view][pair] */
	struct session_sums *sums;    /* NULL: sessions are not scored */
	float *session_scores;        /* by slot */
	float *best_sessions;         /* scores, by window; for score.c alone */
	uint64_t docs;                /* live ones */
	/*
	 * What score_docs need not give: documents whose base score, the weighted sum of own, pairs
	 * and session, is below the least even with the highest prior that they can have, or itself
	 * below their session's floor where there are floors.
	 */
	float least, *floors;
	float own_weight, pair_weight, session_weight;
	bool has_skipped; /* documents that hold a word were not given, and not for a floor alone */
};

/* What a code counts, in the word itself and in another form of it. */
struct code_weights {
	float of[2][CODE_COUNT]; /* [is_exact] */
};
void code_weights_fill(struct code_weights *w);

/*
 * Finds the posting lists of a word in one segment: the forms of each of its stems, and the whole
 * of that name.
 */
size_t match_refs(struct arena *a, const struct segment *seg, const struct query_word *w,
	bool exact_only, struct ref **ret);
/* Fills groups, lists and the words' part of the sessions' scores. */
void match_run(struct run *r);

/* Not zeroed. From the room that the index lends, or else from the scratch arena. */
void *run_room(struct run *r, size_t bytes);

static inline struct list *run_list(const struct run *r, size_t view, size_t group)
{
	return &r->lists[view * r->ngroups + group];
}

static inline struct pair_list *run_pair_list(const struct run *r, size_t view, size_t pair)
{
	return &r->pair_lists[view * r->npairs + pair];
}

/* Words of 64 documents that a view's maps have. */
static inline size_t view_map_words(const struct view *v)
{
	return v->seg->t.docs / 64 + 1; /* also those of a list in the segment (skip.h) */
}

/* The words that they have room for: of more than there are documents no bit is set. */
static inline size_t view_map_room(const struct view *v)
{
	return (view_map_words(v) + 7) / 8 * 8;
}

double bm25_idf(uint64_t docs, uint64_t df);

#endif
