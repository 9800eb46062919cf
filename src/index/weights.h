#ifndef INDEX_WEIGHTS_H
#define INDEX_WEIGHTS_H

#include <stddef.h>

#include "model/names.h"

/*
 * Every number that ranking depends on, in one place. The values in weights.c say what they were
 * chosen on. Only the fitting program writes them, before any search.
 */

struct weights {
	/* BM25 of a document; counts are summed over the fields with these weights. */
	double k1, b;
	double title, body, rest;
	double form; /* of a word with the same stem, against 1 for the word itself */
	/* BM25 of a session: all its documents as one. */
	double session_k1, session_b;
	double session_memory; /* an occurrence in a memory, against 1 in a message */
	double session_title;  /* in the session's own document */
	/* Two words of the question that stand near each other in it and in the text. */
	unsigned
		pair_apart; /* at most so many places apart among the question's words that are looked for */
	unsigned pair_window; /* and so many words apart in the text */
	unsigned
		pair_reads; /* documents whose positions one search reads for pairs; the pairs that most hold are left out */
	double pair, session_pair;
	/* Parts of the score. */
	double session; /* a document's session, beside its own */
	double best;    /* when sessions are ranked: the best document, beside the session's own */
	/* Meaning: its share of the score, the rest is that of words. */
	double meaning, session_meaning;
	double meaning_least; /* similarity of what is found by meaning alone */
	double chunk_least;   /* the same for a chunk, whose vector holds its heading twice */
	double meaning_full;  /* similarity that counts fully even where nothing is nearer */
	double words_full, session_words_full; /* so much of what holding every word scores counts fully, even where nothing holds them */
	/* Priors, as shares of the score. */
	double recency, recency_days;    /* for what happened now; halves every so many days */
	double pinned, meta, suspect, confidence; /* confidence: between 0 and 255 */
	double period; /* of the time that the question names */
	double kinds[MEMORY_KIND_COUNT];
};

extern struct weights index_weights;

/* Those that a program may fit, by name. */
struct weight_name {
	const char *name;
	double *value;
};
extern const struct weight_name weight_names[];
extern const size_t weight_count;

#endif
