#ifndef OBSERVE_CANDIDATES_H
#define OBSERVE_CANDIDATES_H

#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"
#include "observe/markdown.h"

/*
 * Candidates for titles, from all that a turn says: each with a score, the best that is not like
 * one already given wins. So the summary and the observations of one turn are called differently.
 */

struct candidate {
	const char *text; /* one line, stripped, with back quotes */
	int score;
	bool is_taken;
	bool is_detail;  /* one item of several */
	bool is_request; /* a person's words */
};

struct candidates {
	struct candidate *items;
	size_t n, cap;
};

void candidates_add(struct arena *a, struct candidates *c, struct str text, int bonus);
/* Sentences, headings and items of a reply whose blocks were marked with their sections. */
void candidates_add_reply(
	struct arena *a, struct candidates *c, const struct blocks *blocks, int bonus);
void candidates_add_prompt(struct arena *a, struct candidates *c, struct str prompt, int bonus);
/* Details fall behind everything else by `points`. */
void candidates_lower_details(struct candidates *c, int points);
/*
 * The best of at least `least` that is like none of the titles given; it is taken. NULL when there
 * is none.
 */
char *candidates_take(
	struct arena *a, struct candidates *c, int least, const char *const *given, size_t ngiven);

#endif
