#ifndef OPS_QUESTION_H
#define OPS_QUESTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "text/terms.h"

/*
 * How much of a question a text answers: the share of the question's meaningful words that occur in it, in whatever form, rarer
 * words counting more. Scores of the index order hits; this says whether the best one is any good.
 */

#define QUESTION_WORDS_MAX 48
#define QUESTION_FORMS_MAX 8    /* forms and parts of one word, each */
#define QUESTION_TEXT_MAX 16384 /* bytes looked at, of question and text each */

struct question_word {
	uint64_t forms[QUESTION_FORMS_MAX]; /* hashes: any of them is the word */
	uint64_t parts[QUESTION_FORMS_MAX]; /* of an identifier or path: together they are the word */
	size_t nforms, nparts;
	uint32_t start, end;                /* bytes of the word in the question */
	char text[TERM_MAX + 1];            /* as folded, for asking the index how rare it is */
	double weight;
	bool is_name;                       /* an identifier, path or number: says more than a word */
};

struct question {
	struct question_word words[QUESTION_WORDS_MAX];
	size_t n;
	double weight; /* of all words */
};

/* Weights start at 1, names at 1.5. Stop words and repetitions are left out. */
void question_make(struct question *q, struct analyser *an, struct str text);
void question_weigh(struct question *q, size_t word, double weight);

struct answer {
	double coverage;  /* 0 to 1, by weight */
	double weight;    /* of what matched */
	uint64_t matched; /* bit per word */
	size_t words;     /* matched, whole or for the most part */
	size_t names;     /* of them identifiers, paths, numbers */
};
/* Texts are taken together; NULL ones are skipped. */
struct answer question_match(const struct question *q, struct analyser *an, const char *const *texts, size_t n);

/*
 * Titles that say the same: sets of folded words, compared by overlap; titles about two different pieces of code ("`make test` …",
 * "`make lint` …") never do. A set remembers up to TITLES_MAX titles.
 */
#define TITLES_MAX 160
#define TITLE_WORDS_MAX 24
struct titles {
	struct {
		uint64_t words[TITLE_WORDS_MAX];
		size_t n;
		uint64_t code; /* of what stands in its first back ticks; 0: nothing */
	} titles[TITLES_MAX];
	size_t n;
};
/* False when something like it was added before (or when it says nothing); else remembers it. */
bool titles_add(struct titles *t, struct analyser *an, const char *title);

#endif
