/*
 * Names, numbers and quotes of a text, looked for in its evidence. A file is there when its last
 * parts are, since evidence names it by other beginnings; an identifier when it stands there as it
 * is; a number when no digit stands beside it; a quote when its words do, white space apart.
 */
#include "observe/ground.h"

#include <ctype.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "observe/sentence.h"

#define QUOTE_MIN 6
#define QUOTE_MAX 200
#define COMMIT_MIN 7
#define COMMIT_MAX 40
#define NUMBER_MIN 2 /* digits: a single one is seldom a claim */

const char *const claim_names[CLAIM_COUNT] = {
	[CLAIM_FILE] = "file",
	[CLAIM_IDENTIFIER] = "identifier",
	[CLAIM_NUMBER] = "number",
	[CLAIM_QUOTE] = "quote",
	[CLAIM_COMMIT] = "commit",
};

static void add_claim(struct arena *a, struct grounding *g, enum claim_kind kind, struct str text)
{
	struct claim c = { .kind = kind };

	if (!text.n || g->n == CLAIMS_MAX)
		return;
	c.text = arena_dup(a, text.p, text.n);
	for (size_t i = 0; i < g->n; i++)
		if (g->claims[i].kind == kind && strcmp(g->claims[i].text, c.text) == 0)
			return;
	ARENA_PUSH(a, g->claims, g->n, g->cap, c);
}

static bool is_commit(struct str w)
{
	unsigned digits = 0, letters = 0;

	if (w.n < COMMIT_MIN || w.n > COMMIT_MAX)
		return false;
	for (size_t i = 0; i < w.n; i++) {
		if (!isxdigit((unsigned char)w.p[i]) || isupper((unsigned char)w.p[i]))
			return false;
		digits += isdigit((unsigned char)w.p[i]) != 0;
		letters += isalpha((unsigned char)w.p[i]) != 0;
	}
	return digits && letters;
}

static bool is_number(struct str w)
{
	size_t digits = 0;

	for (size_t i = 0; i < w.n; i++) {
		if (isdigit((unsigned char)w.p[i]))
			digits++;
		else if (!strchr(".,:%-", w.p[i]) && !(digits && isalpha((unsigned char)w.p[i])))
			return false;
	}
	return digits >= NUMBER_MIN && isdigit((unsigned char)w.p[0]);
}

/* "src/a.c", "parser.go": a slash inside, or a short ending after a dot. */
static bool is_file(struct str w)
{
	const char *dot = NULL;
	size_t ending;

	if (w.n < 4 || strchr("./", w.p[w.n - 1]) == w.p + w.n - 1 || str_find(w, STR("//")))
		return false;
	for (size_t i = 1; i + 1 < w.n; i++)
		if (w.p[i] == '.')
			dot = w.p + i;
	ending = dot ? (size_t)(w.p + w.n - dot) - 1 : 0;
	for (size_t i = 0; i < ending; i++)
		if (!isalnum((unsigned char)dot[1 + i]) || isupper((unsigned char)dot[1 + i]))
			return false;
	return ending >= 1 && ending <= 5 && isalpha((unsigned char)dot[1]) &&
	       !isdigit((unsigned char)dot[-1]);
}

static struct str trim_word(struct str w)
{
	while (w.n && strchr(".,:;!?()[]{}'\"`*", w.p[w.n - 1]))
		w.n--;
	while (w.n && strchr("([{'\"`*", w.p[0]))
		w.p++, w.n--;
	return w;
}

static void claim_word(struct arena *a, struct grounding *g, struct str w)
{
	if (is_commit(w))
		add_claim(a, g, CLAIM_COMMIT, w);
	else if (is_number(w))
		add_claim(a, g, CLAIM_NUMBER, w);
	else if (is_file(w))
		add_claim(a, g, CLAIM_FILE, w);
	else if (word_is_name(w) && w.n > 2)
		add_claim(a, g, CLAIM_IDENTIFIER, w);
}

/* The end of a quote that begins at p, or NULL. */
static const char *quote_end(const char *p, const char *end, char sign)
{
	const char *close = p + 1 < end ? memchr(p + 1, sign, (size_t)(end - p) - 1) : NULL;

	return close && close - p <= QUOTE_MAX ? close : NULL;
}

static const char *claim_quote(struct arena *a, struct grounding *g, const char *p, const char *end)
{
	const char *close = quote_end(p, end, *p);
	struct str inside = { p + 1, close ? (size_t)(close - p) - 1 : 0 };

	if (!close)
		return p + 1;
	if (*p == '"' && memchr(inside.p, ' ', inside.n) && inside.n >= QUOTE_MIN)
		add_claim(a, g, CLAIM_QUOTE, inside);
	else if (*p == '`' && inside.n > 2 && !memchr(inside.p, ' ', inside.n))
		add_claim(a, g, is_file(inside) ? CLAIM_FILE : CLAIM_IDENTIFIER, inside);
	else
		return p + 1;
	return close + 1;
}

void ground_claims(struct arena *a, struct str text, struct grounding *ret)
{
	const char *p = text.p, *end = text.p + text.n;

	*ret = (struct grounding){ 0 };
	while (p < end) {
		const char *start = p;

		if (*p == '"' || *p == '`') {
			p = claim_quote(a, ret, p, end);
			continue;
		}
		while (p < end && !isspace((unsigned char)*p) && *p != '"' && *p != '`')
			p++;
		claim_word(a, ret, trim_word((struct str){ start, (size_t)(p - start) }));
		if (p == start)
			p++;
	}
}

/* ---- looking for it ---- */

static bool has_number(struct str text, struct str number)
{
	const char *end = text.p + text.n, *at;

	while ((at = str_find(text, number)) != NULL) {
		bool is_free = (at == text.p || !isdigit((unsigned char)at[-1])) &&
			       (at + number.n == end || !isdigit((unsigned char)at[number.n]));

		if (is_free)
			return true;
		text = (struct str){ at + 1, (size_t)(end - at) - 1 };
	}
	return false;
}

/* Words in order, whatever white space lies between them. */
static bool has_quote(struct str text, struct str quote)
{
	const char *end = text.p + text.n;
	struct str rest, first;

	quote = str_trim(quote);
	if (str_find(text, quote))
		return true;
	rest = quote;
	if (!str_split(&rest, ' ', &first) || !first.n)
		return false;
	for (const char *at = str_find(text, first); at;
		at = str_find((struct str){ at + 1, (size_t)(end - at) - 1 }, first)) {
		const char *p = at, *q = quote.p, *qend = quote.p + quote.n;

		while (p < end && q < qend &&
			(*p == *q || (isspace((unsigned char)*p) && *q == ' '))) {
			bool is_blank = isspace((unsigned char)*p);

			do
				p++;
			while (is_blank && p < end && isspace((unsigned char)*p));
			q++;
		}
		if (q == qend)
			return true;
	}
	return false;
}

static bool stands_in(const struct claim *c, struct str text)
{
	struct str want = str_of(c->text);

	switch (c->kind) {
	case CLAIM_NUMBER:
		return has_number(text, want);
	case CLAIM_QUOTE:
		return has_quote(text, want);
	case CLAIM_FILE:
		return str_find(text, want) || str_find(text, str_of(path_base(c->text)));
	default:
		/* "name()" names the function. */
		if (want.n > 2 && str_ends(c->text, "()"))
			want.n -= 2;
		return str_find(text, want) != NULL;
	}
}

void ground_check(struct arena *a, struct str text, const struct str *evidence, size_t n,
	struct grounding *ret)
{
	size_t budget = GROUND_EVIDENCE_MAX;

	ground_claims(a, text, ret);
	for (size_t i = 0; i < n && budget && ret->supported < ret->n; i++) {
		struct str piece = { evidence[i].p, MIN(evidence[i].n, budget) };

		budget -= piece.n;
		for (size_t k = 0; k < ret->n; k++)
			if (!ret->claims[k].is_supported && stands_in(&ret->claims[k], piece)) {
				ret->claims[k].is_supported = true;
				ret->supported++;
			}
	}
	ret->unsupported = ret->n - ret->supported;
}
