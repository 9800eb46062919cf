/*
 * Glob matching as a walk over a set of places in the pattern (Thompson's construction), so that
 * many stars cost pattern times text and never explode: patterns come from people and projects.
 *
 * A place is a byte offset of the pattern that is matched next. "**" has two: the first star is where
 * it is entered, the second one where it has begun to swallow.
 */
#include <string.h>

#include "base/str.h"

struct glob {
	const char *pattern;
	size_t n;
	bool *here;
};

static bool is_double_star(const struct glob *g, size_t at)
{
	return at + 1 < g->n && g->pattern[at] == '*' && g->pattern[at + 1] == '*';
}

/* The second star of a pair; pairs are counted from the left of a run of stars, without a quoted one. */
static bool is_second_star(const struct glob *g, size_t at)
{
	size_t run = 0, quotes = 0;

	while (run < at && g->pattern[at - run - 1] == '*')
		run++;
	while (run + quotes < at && g->pattern[at - run - quotes - 1] == '\\')
		quotes++;
	return g->pattern[at] == '*' && (run - (quotes % 2 && run)) % 2 == 1;
}

/* Adds a place and all that can be reached from it without eating a letter. */
static void enter(struct glob *g, size_t at)
{
	while (!g->here[at]) {
		g->here[at] = true;
		if (at >= g->n || g->pattern[at] != '*')
			return;
		if (!is_second_star(g, at) && is_double_star(g, at)) {
			bool is_at_start = at == 0 || g->pattern[at - 1] == '/';

			/* Folders or none: "**" and its slash may stand for nothing. */
			if (is_at_start && at + 2 < g->n && g->pattern[at + 2] == '/')
				enter(g, at + 3);
		}
		at++;
	}
}

/* Whether the set that opens at `at` holds cp; *ret_end is the place behind it. False and 0 when it is not closed. */
static bool set_holds(const struct glob *g, size_t at, uint32_t cp, size_t *ret_end)
{
	const char *p = g->pattern + at + 1, *end = g->pattern + g->n, *first;
	bool is_negated = p < end && (*p == '!' || *p == '^'), is_in = false;

	*ret_end = 0;
	p += is_negated;
	for (first = p; p < end && (*p != ']' || p == first);) {
		uint32_t low = utf8_next(&p, end), high;

		if (low == '\\' && p < end)
			low = utf8_next(&p, end);
		high = low;
		if (end - p >= 2 && p[0] == '-' && p[1] != ']') {
			p++;
			high = utf8_next(&p, end);
		}
		is_in |= cp >= low && cp <= high;
	}
	if (p >= end)
		return false;
	*ret_end = (size_t)(p - g->pattern) + 1;
	return is_in != is_negated && cp != '/';
}

/* Moves one place over the letter cp into `next`. */
static void step(const struct glob *g, struct glob *next, size_t at, uint32_t cp)
{
	const char *p = g->pattern + at, *end = g->pattern + g->n;
	size_t set_end;

	if (*p == '*') {
		if (is_second_star(g, at))
			enter(next, at);
		else if (!is_double_star(g, at) && cp != '/')
			enter(next, at);
		return;
	}
	if (*p == '?') {
		if (cp != '/')
			enter(next, at + 1);
		return;
	}
	if (*p == '[') {
		bool is_in = set_holds(g, at, cp, &set_end);

		if (is_in)
			enter(next, set_end);
		if (set_end)
			return;
	}
	if (*p == '\\' && p + 1 < end)
		p++;
	if (utf8_next(&p, end) == cp)
		enter(next, (size_t)(p - g->pattern));
}

bool str_glob(const char *pattern, const char *s)
{
	bool sets[2][STR_GLOB_MAX + 1];
	struct glob now = { pattern, strlen(pattern), sets[0] }, next = now;
	const char *end = s + strlen(s);
	bool *swapped;

	if (now.n > STR_GLOB_MAX)
		return false;
	next.here = sets[1];
	memset(now.here, 0, now.n + 1);
	enter(&now, 0);
	while (s < end) {
		uint32_t cp = utf8_next(&s, end);

		memset(next.here, 0, now.n + 1);
		for (size_t i = 0; i < now.n; i++) {
			if (now.here[i])
				step(&now, &next, i, cp);
		}
		swapped = now.here;
		now.here = next.here;
		next.here = swapped;
	}
	return now.here[now.n];
}
