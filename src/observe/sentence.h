#ifndef OBSERVE_SENTENCE_H
#define OBSERVE_SENTENCE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"

/*
 * Sentences of agents and persons, judged: what is filler, what is intention, how much a sentence
 * says. English and French. Texts are one line with back quotes around code, as blocks_parse gives
 * them. Pure.
 */

/*
 * Takes the next sentence off *rest, trimmed; false at the end. Dots in names, numbers and
 * abbreviations end nothing.
 */
bool sentence_next(struct str *rest, struct str *ret);

/*
 * Without what comes before the matter: "Perfect!", "Yes, ", "I've successfully ", "Here's what I
 * found:", "can you please ".
 */
struct str sentence_strip_reply(struct str s);
struct str sentence_strip_prompt(struct str s);

enum sentence_trait {
	TRAIT_QUESTION = 1 << 0, /* ends in "?" or offers ("Want me to …") */
	TRAIT_INTENT = 1 << 1,   /* announces what comes: "Let me …", "I'll now …" */
	TRAIT_POINTER = 1 << 2,  /* begins with "This", "It", "Here": means nothing alone */
	TRAIT_DEED = 1 << 3,     /* begins with a deed: "Fixed …", "Added …" */
	TRAIT_STATUS = 1 << 4,   /* only says that tests pass and the like */
	TRAIT_LEAD_IN = 1 << 5,  /* ends in a colon */
	TRAIT_ADDRESS = 1 << 6,  /* speaks to the person: "you can now …" */
	TRAIT_OPINION = 1 << 7   /* "I think", "I'd suggest" */
};

struct sentence {
	struct str text; /* stripped */
	unsigned traits;
	unsigned names; /* identifiers, paths, quoted code */
	unsigned words; /* further words that say something */
	unsigned plain; /* generic words: a sentence has some, a list of names has none */
	size_t length;  /* characters */
};

struct sentence sentence_judge(struct str stripped);
/* Says something on its own account: enough names and words that are not generic. */
bool sentence_is_specific(const struct sentence *s);
/* How good a title it would make, position apart; above 0 is usable. */
int sentence_score(const struct sentence *s);

/*
 * Without back quotes, closing signs and colon, first letter large, at most TITLE_MAX characters
 * cut at a clause or word.
 */
char *title_finish(struct arena *a, struct str s);
/* The same for what a person wrote, whose commas separate nothing: cut at words. */
char *title_finish_request(struct arena *a, struct str s);
/* Do two titles say the same? By their telling words. */
bool title_is_like(const char *a, const char *b);

/* words.c: classes of words, folded to lower case. */
bool word_is_generic(struct str
		word); /* stop words, and the vocabulary of reports: done, summary, tests, pass … */
bool word_is_pointer(struct str word); /* it, this, that, cela … */
bool word_is_deed(struct str word);    /* fixed, added, corrigé … */
bool word_is_order(struct str word);   /* fix, add, rename, corrige … */
bool word_is_name(struct str word);    /* an identifier, path, number with unit, flag, CamelCase */
/* The next word of *rest: letters, digits and the signs inside of names. */
bool word_next(struct str *rest, struct str *ret);

#endif
