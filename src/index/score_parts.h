#ifndef INDEX_SCORE_PARTS_H
#define INDEX_SCORE_PARTS_H

#include "index/filter.h"
#include "index/score.h"

/* Scoring from the inside: score.c goes through windows of documents, score_few.c scores few of one. */

#define WINDOW 1024u
#define STRIPE 16u
#define ROUNDED 1.0001f /* bounds are sums too */

/* Of neighbouring documents; own is above 0 for those that hold a word that was looked for. */
struct window {
	float own[WINDOW], pairs[WINDOW];
	float tf[WINDOW];        /* of the word in hand, which has several forms */
	uint64_t touched, forms; /* which stripes of own and pairs, and of tf, hold any */
};

/* What a class's documents are measured with. */
struct scale {
	float norms[256]; /* k1 * (1 - b + b * length / average), by length code */
	float k1;
};

/* One posting list; those of one word are summed. */
struct form {
	struct postings p;
	uint32_t at; /* in the block in hand */
	const float *counts;
	struct coded coded;
};

struct word {
	struct form *forms;
	size_t n;
	float top, most; /* of one occurrence without end; the highest count */
};

/* One class of one segment, which is scored window by window. */
struct pass {
	struct run *r;
	size_t view;
	scored_fn *each;
	void *ctx;
	enum score_part part;
	float cut; /* sessions from this score on are among the best */
	struct code_weights counts;
	const uint32_t *slots;
	const uint8_t *lengths;
	const struct scale *scale;
	uint32_t range[2];                  /* of the class */
	struct word words[QUERY_TERMS_MAX]; /* from the rarest to the most common */
	size_t order[QUERY_TERMS_MAX];      /* groups */
	/* Most that the words from this one on can add in the window; [0]: all. */
	float bounds[QUERY_TERMS_MAX + 1];
	float word_bounds[QUERY_TERMS_MAX]; /* of each of them */
	struct filter_check filter;
	float most;  /* in any window */
	float prior; /* 1 and the most of the window's documents */
	float missing; /* what a document of the window must get of words and pairs; 0: any may be given */
	float *best; /* of the sessions in each window of each class of each segment; below 0: not known yet */
	size_t windows; /* that come before the class's */
};

static inline float share_of(float tf, float norm)
{
	return tf / (tf + norm);
}

/* Gives what reaches the least, by its words and pairs. */
void score_give(const struct pass *p, uint32_t doc, float own, float pairs);

/* What near pairs add at most, for one occurrence without end. */
float score_pair_top(const struct pass *p, size_t pair);

/*
 * Scores the documents of a window that may get what is missing, each by itself, if they are few:
 * false: they are not, nothing was done. The bounds are filled.
 */
bool score_few(struct pass *p, const uint32_t range[2]);

#endif
