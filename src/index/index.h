#ifndef INDEX_INDEX_H
#define INDEX_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

/*
 * The index: derived data that makes recall fast; it can be deleted at any time. Documents are
 * memories, messages (events) and sessions. Immutable memory-mapped segments plus an in-memory
 * tail, a tombstone map, and the `change` sequence number up to which it is complete. One thread
 * writes (put, remove, flush, merge), any number search at the same time; a search sees a
 * consistent snapshot. Files: checksummed, written beside and renamed; a damaged, missing or older
 * one makes index_open say that a rebuild is needed (seq 0, empty), never wrong results.
 */

enum doc_class { DOC_MEMORY, DOC_EVENT, DOC_SESSION };
typedef uint64_t doc_id; /* class in the top byte, row id below */
#define DOC_ID(class, row) (((doc_id)(class) << 56) | (doc_id)(row))
#define DOC_CLASS(id) ((enum doc_class)((id) >> 56))
#define DOC_ROW(id) ((int64_t)((id)&0x00ffffffffffffffu))

/* Columns that filters and priors use. */
struct doc_columns {
	int64_t at;                /* Unix ms */
	uint32_t project, session; /* row ids; 0: none */
	uint8_t kind;              /* memory_kind or event_kind, by class */
	uint8_t type, status, origin, agent;
	uint8_t confidence; /* 0–255 */
	uint8_t flags;      /* DOC_PINNED … */
	uint32_t branch;    /* hash of the branch name, of chunks: of their namespace; 0 none */
};
#define DOC_PINNED 1u
#define DOC_SUSPECT 4u /* what it rests on has changed since */
#define DOC_META 2u /* not typed by a person: searched, never counted for the session's score */

struct doc {
	doc_id id;
	struct doc_columns columns;
	struct str title, body,
		rest; /* fields in order of weight; rest: files, commands, tool names */
};

struct index;
int index_open(const char *dir, struct index **ret, bool *ret_needs_rebuild, struct err *err);
void index_close(struct index *ix);
uint64_t index_seq(const struct index *ix); /* last change that is included, flushed or not */
/* Adds or replaces documents; visible to the next search. */
int index_put(struct index *ix, const struct doc *docs, size_t n, struct err *err);
int index_remove(struct index *ix, const doc_id *ids, size_t n, struct err *err);
void index_set_seq(struct index *ix, uint64_t seq);
/* Segments do not become larger by merging. Only tests change it. */
extern uint32_t segment_docs_max;
/*
 * Writes the tail as a segment and merges small segments when worth it; `purge` rewrites every
 * segment that holds removed documents (forget).
 */
int index_flush(struct index *ix, bool purge, struct err *err);
bool index_wants_flush(const struct index *ix);
int index_clear(struct index *ix, struct err *err);

struct index_stats {
	uint64_t docs, removed, segments, bytes, tail_docs, tail_bytes;
};
void index_stats(const struct index *ix, struct index_stats *ret);
/* Whether the document is there now. */
bool index_has(struct index *ix, doc_id id);

/* A question, parsed: see query.h for the syntax. */
struct query;

struct search_filter {
	uint32_t classes;                   /* bit per doc_class; 0: all */
	uint32_t project, session;          /* 0: any */
	uint32_t memory_kinds, event_kinds; /* bit per kind; 0: any */
	uint32_t types;                     /* bit per memory_type; 0: any */
	uint32_t statuses;                  /* bit per memory_status; 0: active only */
	uint32_t agents;                    /* bit per agent; 0: any */
	int64_t after, before;              /* 0: any */
	uint32_t branch;                    /* hash; 0: any */
};

struct hit {
	doc_id id;
	double score;
	double own, session, prior, pairs; /* parts of the score, for --explain */
	double meaning;                    /* the part of meaning, where it was asked for */
	float similarity;                  /* to the question, as vectors see it, -1 … 1; 0: not known */
	bool by_meaning;                   /* no word of it was found, or none that counted */
	struct doc_columns columns;
};

enum match_rung {
	MATCH_NONE,
	MATCH_EXACT,
	MATCH_STEM,
	MATCH_SPELLING,
	MATCH_MEANING,
	MATCH_NEAREST
};
extern const char *const match_names[]; /* as in the JSON of the contract */

struct vectors;
struct vector_query;

struct search {
	const struct query *query;
	/* Meaning as a second signal (fuse.h); NULL: words alone. */
	struct vectors *vectors;
	const struct vector_query *meaning;
	bool is_semantic; /* meaning alone */
	bool takes_far;   /* what is found by meaning alone, however far it is */
	struct search_filter filter;
	size_t offset, limit;
	bool wants_total; /* exact count */
	bool by_session;  /* one hit per session: its score and its best item */
	int64_t now;      /* for recency; 0 switches it off */
	/* Documents of that time weigh more; both 0: the period that the question names, if any. */
	int64_t period_from, period_to;
};

struct search_result {
	struct hit *hits; /* best first; ties by id, highest first */
	bool has_meaning; /* meaning took part */
	double full; /* about what a hit scores that holds every word once */
	size_t n;
	uint64_t total; /* lower bound unless total_is_exact */
	bool total_is_exact;
	enum match_rung match;
	const char *did_you_mean; /* MATCH_SPELLING: the words that were looked for instead; or NULL */
	struct str *terms; /* folded words and stems that were looked for, for snippets */
	size_t nterms;
};

int index_search(struct index *ix, struct arena *a, const struct search *q,
	struct search_result *ret, struct err *err);

#endif
