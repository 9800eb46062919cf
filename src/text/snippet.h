#ifndef TEXT_SNIPPET_H
#define TEXT_SNIPPET_H

#include "base/arena.h"
#include "base/str.h"
#include "text/terms.h"

/*
 * The part of a text that answers a question: the window of about `width` characters that holds
 * most of the wanted words, cut at grapheme and word borders, white space and markdown signs
 * tidied, matched words between SNIPPET_ON and SNIPPET_OFF.
 */

#define SNIPPET_ON "\x02"
#define SNIPPET_OFF "\x03"

struct snippet_terms {
	const struct str *terms; /* folded, words or stems */
	size_t n;
};

char *snippet_make(struct arena *a, struct analyser *an, struct str text,
	const struct snippet_terms *wanted, size_t width);
/*
 * Longest cut of at most `width` columns that ends at a grapheme border, with "…" when cut. Also
 * makes it one line.
 */
char *text_one_line(struct arena *a, struct str text, size_t width);
/* Bytes of the longest prefix of at most `chars` grapheme clusters. */
size_t grapheme_cut(struct str text, size_t chars);
/* Columns on a terminal (East Asian wide count two, combining none). */
size_t text_columns(struct str text);
/* Rough token count for budgets: bytes of ASCII / 4, other code points count more. */
size_t text_tokens(struct str text);

#endif
