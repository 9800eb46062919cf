#ifndef TEXT_TERMS_H
#define TEXT_TERMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

/*
 * Text to index terms: Unicode words (folded, diacritics stripped), identifiers and paths kept
 * whole and split (camelCase, snake_case, digits, separators), Snowball stems by the text's
 * language. Pure; an analyser is not shared between threads. Every term carries the position of its
 * word, so that phrases and neighbours can be judged.
 */

#define TERM_MAX 64 /* bytes; longer words are cut at a code point and hashed to stay distinct */

enum term_form {
	TERM_WORD,  /* folded word as it stands */
	TERM_STEM,  /* stem, when it differs from the word */
	TERM_WHOLE, /* an identifier, file name or path as a whole, folded */
	TERM_PART   /* a part of an identifier or path */
};

struct term {
	const char *text; /* not terminated; valid during the call */
	uint8_t len;
	uint8_t form;        /* enum term_form */
	uint32_t position;   /* of the word, from 0 */
	uint32_t start, end; /* bytes of the word in the text */
};

struct analyser; /* stemmers and scratch memory; heap */
struct analyser *analyser_new(void);
void analyser_free(struct analyser *an);

typedef void term_fn(void *ctx, const struct term *t);
/*
 * Terms in the order of the text: for each word its wholes, then the word or part, then its stem
 * (same position).
 */
void analyser_run(struct analyser *an, struct str text, term_fn *each, void *ctx);

/*
 * A language decides the stems only. The text's own is guessed by its stop words; English when
 * nothing tells.
 */
enum language { LANGUAGE_ENGLISH, LANGUAGE_FRENCH, LANGUAGE_GERMAN, LANGUAGE_COUNT };
enum language text_language(struct str text);
void analyser_run_as(
	struct analyser *an, struct str text, enum language lang, term_fn *each, void *ctx);
/*
 * For looking up few terms in a long text: what does not begin as one of them does is passed over
 * and not stemmed, since a stem keeps its word's first two letters, a long one four (a y may become
 * an i). The terms stay the caller's.
 */
struct wanted_terms {
	const struct str *terms; /* folded words, stems, wholes */
	size_t n;
	uint64_t two[64], four[64]; /* beginnings of short and of long ones, by twelve bits of them */
};
void wanted_terms_init(struct wanted_terms *w, const struct str *terms, size_t n);
/*
 * Gives those terms wherever they are, in the order of the text, and some others; of a word that is
 * itself one of them not the stem.
 */
void analyser_look(struct analyser *an, struct str text, const struct wanted_terms *wanted,
	term_fn *each, void *ctx);
/*
 * Stem of a word (lower case; accents help) in that language, folded; the word itself when there is
 * none. Valid until the next call.
 */
struct str analyser_stem(struct analyser *an, struct str word, enum language lang);

bool term_is_stop_word(const char *folded, size_t len); /* English and French */
/* Languages (bit per enum language) in which this is a function word; 0: none. Folded. */
unsigned stop_word_languages(const char *folded, size_t len);

#endif
