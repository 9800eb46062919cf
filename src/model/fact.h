#ifndef MODEL_FACT_H
#define MODEL_FACT_H

#include <stdint.h>

#include "model/memory.h"

/*
 * What a rule saw in one turn and that may become a fact: a candidate. Candidates of all turns
 * about one topic (rule and normalised subject) are merged into facts. Whoever makes candidates, a
 * rule or a model, goes the same way: candidate, ground, merge, review.
 */

enum fact_part {
	PART_WHOLE,   /* says all by itself */
	PART_FAILURE, /* a command failed; the fix comes in a later turn of the session or never */
	PART_PASS,    /* the same command passes, after something was changed */
	PART_DONE,    /* work done, which may close an open end */
	FACT_PART_COUNT
};

struct fact_candidate {
	int64_t turn, session, project; /* the store sets them */
	const char *rule;               /* name of its row in the table of rules */
	const char *slot;               /* unique in (turn, rule) */
	enum memory_type category;
	enum fact_part part;
	int64_t topic;       /* what is spoken of: hash of rule and subject */
	int64_t chain;       /* of halves: what joins them within a session; 0: none */
	const char *subject; /* normalised, for people who look */
	const char *value; /* what is said of it; two values of one subject contradict each other */
	const char *title; /* the sentence */
	const char *body;  /* the words that it rests on, or NULL */
	enum trust trust;  /* who said it */
	int outcome;       /* 1 seen to work, -1 seen to fail, 0 not seen */
	int strength;      /* of the words: 0 may have been meant once only, 1 plain, 2 for good */
	int64_t times;     /* within the turn */
	int64_t at;
	const char *key; /* of its first event; (at, key) orders candidates */
	const char *branch; /* where it was born; NULL: unknown, or of no matter to its category */
	struct memory_file *files;
	size_t nfiles;
	struct evidence *evidence;
	size_t nevidence;
};

/* A fact and which of its siblings took its place; -1 none. */
struct topic_fact {
	struct memory m;
	int successor;
};

#define CANDIDATE_FILES_MAX 8
#define CANDIDATE_EVIDENCE_MAX 6
#define CANDIDATE_EXCERPT_MAX 200 /* bytes */

#endif
