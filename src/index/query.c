/*
 * White space parts the pieces of a question; each piece is a filter, a phrase, an exclusion or
 * text.
 */

#include "index/query.h"

#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "index/dates.h"
#include "index/query_parts.h"
#include "index/synonyms.h"

struct parse {
	struct arena *a;
	struct analyser *an;
	struct query *q;
	struct query_filter *filter;
	uint32_t base, last; /* position of the piece's first word, and of the last seen */
	bool is_excluded, is_phrase, is_required, has_words;
	struct query_phrase *phrase;
	uint32_t phrase_start;
};

static const struct {
	const char *name;
	size_t at;
} filters[] = {
	{ "file:", offsetof(struct query_filter, file) },
	{ "type:", offsetof(struct query_filter, type) },
	{ "kind:", offsetof(struct query_filter, kind) },
	{ "project:", offsetof(struct query_filter, project) },
	{ "branch:", offsetof(struct query_filter, branch) },
	{ "before:", offsetof(struct query_filter, before) },
	{ "after:", offsetof(struct query_filter, after) },
	{ "agent:", offsetof(struct query_filter, agent) },
	{ "namespace:", offsetof(struct query_filter, namespace) },
	{ "tag:", offsetof(struct query_filter, tag) },
};

static void add_stem(struct parse *p, struct query_word *w, struct str stem)
{
	for (size_t i = 0; i < w->nstems; i++)
		if (str_eq(w->stems[i], stem))
			return;
	if (w->nstems < WORD_STEMS_MAX)
		w->stems[w->nstems++] = (struct str){ arena_dup(p->a, stem.p, stem.n), stem.n };
}

/*
 * French past participles are often typed without their accent, which is what their stem hangs on.
 */
static void add_accented(struct parse *p, struct query_word *w)
{
	static const char *const ends[][2] = { { "ees", "\xc3\xa9"
							"es" },
		{ "ee", "\xc3\xa9"
			"e" },
		{ "es", "\xc3\xa9s" }, { "e", "\xc3\xa9" } };
	char accented[TERM_MAX + 2];
	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		size_t n = strlen(ends[i][0]), kept = w->word.n - n;
		if (w->word.n < n + 3 || w->word.n > TERM_MAX - 2 ||
			memcmp(w->word.p + kept, ends[i][0], n) != 0)
			continue;
		memcpy(accented, w->word.p, kept);
		memcpy(accented + kept, ends[i][1], strlen(ends[i][1]));
		add_stem(p, w,
			analyser_stem(p->an, (struct str){ accented, kept + strlen(ends[i][1]) },
				LANGUAGE_FRENCH));
		return;
	}
}

/* Other words that mean the same count as further forms. */
static void add_synonyms(struct parse *p, struct query_word *w)
{
	struct str others[SYNONYMS_MAX];
	size_t n = synonyms_of(w->word, others);
	for (size_t i = 0; i < n; i++)
		for (int lang = 0; lang < LANGUAGE_COUNT; lang++)
			add_stem(p, w, analyser_stem(p->an, others[i], (enum language)lang));
}

static size_t word_of(struct parse *p, const struct term *t)
{
	struct query *q = p->q;
	bool is_whole = t->form == TERM_WHOLE;
	struct str word = { t->text, t->len };
	for (size_t i = 0; i < q->nwords; i++)
		if (str_eq(q->words[i].word, word) && q->words[i].is_whole == is_whole &&
			q->words[i].is_excluded == p->is_excluded)
			return i;
	if (q->nwords == QUERY_TERMS_MAX)
		return SIZE_MAX;
	struct query_word *w = &q->words[q->nwords];
	*w = (struct query_word){ .word = { arena_dup(p->a, word.p, word.n), word.n },
		.is_whole = is_whole,
		.position = p->base + t->position,
		.is_part = t->form == TERM_PART,
		.is_excluded = p->is_excluded,
		.is_stop = !is_whole && term_is_stop_word(word.p, word.n) };
	add_stem(p, w, word);
	bool is_word = !is_whole && word.n >= 3 && !(word.p[0] >= '0' && word.p[0] <= '9');
	for (int lang = 0; is_word && lang < LANGUAGE_COUNT; lang++)
		add_stem(p, w, analyser_stem(p->an, w->word, (enum language)lang));
	if (is_word)
		add_accented(p, w);
	if (!is_whole && !p->is_excluded)
		add_synonyms(p, w);
	return q->nwords++;
}

static void take_term(void *ctx, const struct term *t)
{
	struct parse *p = ctx;
	struct query *q = p->q;
	if (t->form == TERM_STEM) {
		if (q->nwords && q->words[q->nwords - 1].position == p->base + t->position)
			add_stem(p, &q->words[q->nwords - 1], (struct str){ t->text, t->len });
		return;
	}
	p->last = p->base + t->position + 1;
	size_t word = word_of(p, t);
	if (word == SIZE_MAX)
		return;
	p->has_words = true;
	bool is_text = !p->is_excluded && !p->is_required;
	q->words[word].is_scored |= is_text;
	if (!p->phrase || t->form == TERM_WHOLE)
		return;
	if (p->phrase->n == 0)
		p->phrase_start = t->position;
	struct phrase_word pw = { word, t->position - p->phrase_start };
	ARENA_PUSH(p->a, q->phrase_words, q->nphrase_words, q->phrase_words_cap, pw);
	p->phrase->n++;
}

/* Analyses one piece; as a phrase its words must follow each other. */
static void take_piece(struct parse *p, struct str piece)
{
	struct query_phrase phrase = { .first = p->q->nphrase_words,
		.is_excluded = p->is_excluded };
	p->phrase = p->is_phrase ? &phrase : NULL;
	p->base = p->last;
	analyser_run(p->an, piece, take_term, p);
	p->phrase = NULL;
	if (p->is_phrase && phrase.n)
		ARENA_PUSH(p->a, p->q->phrases, p->q->nphrases, p->q->phrases_cap, phrase);
}

/* Up to the closing quote, which *rest then lies behind; false when there is none. */
static bool take_quoted(struct str *rest, struct str *ret)
{
	const char *end = rest->n > 1 ? memchr(rest->p + 1, '"', rest->n - 1) : NULL;
	if (!end)
		return false;
	*ret = (struct str){ rest->p + 1, (size_t)(end - rest->p - 1) };
	rest->n -= (size_t)(end + 1 - rest->p);
	rest->p = end + 1;
	return true;
}

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static struct str take_bare(struct str *rest)
{
	struct str s = { rest->p, 0 };
	while (s.n < rest->n && !is_space(rest->p[s.n]))
		s.n++;
	rest->p += s.n;
	rest->n -= s.n;
	return s;
}

static bool take_filter(struct parse *p, struct str *rest)
{
	for (size_t i = 0; i < ARRAY_LEN(filters); i++) {
		size_t n = strlen(filters[i].name);
		if (rest->n <= n || strncasecmp(rest->p, filters[i].name, n) != 0 ||
			is_space(rest->p[n]))
			continue;
		struct str value = { 0 }, after = { rest->p + n, rest->n - n };
		if (after.p[0] != '"' || !take_quoted(&after, &value))
			value = take_bare(&after);
		*rest = after;
		const char *text = arena_dup(p->a, value.p, value.n);
		if (p->filter)
			memcpy((char *)p->filter + filters[i].at, &text, sizeof(text));
		if (i == 0) { /* the file's name must occur */
			p->is_required = p->is_phrase = true;
			take_piece(p, value);
			p->is_required = p->is_phrase = false;
		}
		return true;
	}
	return false;
}

static void take_one(struct parse *p, struct str *rest)
{
	struct str piece;
	if (take_filter(p, rest))
		return;
	p->is_excluded =
		rest->n > 1 && rest->p[0] == '-' && rest->p[1] != '-' && !is_space(rest->p[1]);
	if (p->is_excluded) {
		rest->p++;
		rest->n--;
	}
	if (rest->p[0] == '"' && take_quoted(rest, &piece)) {
		p->is_phrase = true;
		take_piece(p, piece);
	} else {
		/* An excluded name of several parts is excluded as such, not each of its parts. */
		p->is_phrase = p->is_excluded;
		take_piece(p, take_bare(rest));
	}
	p->is_excluded = p->is_phrase = false;
}

/* Function words count only where there is nothing else. */
static void drop_stop_words(struct query *q)
{
	bool has_other = false;
	for (size_t i = 0; i < q->nwords; i++)
		has_other |= q->words[i].is_scored && !q->words[i].is_stop;
	for (size_t i = 0; has_other && i < q->nwords; i++)
		if (q->words[i].is_stop)
			q->words[i].is_scored = false;
}

/* The words that name a period say when it was, not what: they count only alone. */
static void drop_period_words(struct query *q)
{
	const size_t first = q->period.first, end = first + q->period.n;
	bool has_other = false;
	for (size_t i = 0; i < q->nwords; i++)
		has_other |= q->words[i].is_scored && (i < first || i >= end);
	for (size_t i = first; has_other && i < end; i++)
		q->words[i].is_scored = false;
}

struct query *query_parse(
	struct arena *a, struct analyser *an, struct str text, struct query_filter *ret_filter)
{
	struct parse p = {
		.a = a, .an = an, .q = ARENA_NEW(a, struct query), .filter = ret_filter
	};
	if (ret_filter)
		*ret_filter = (struct query_filter){ 0 };
	if (text.n > QUERY_TEXT_MAX)
		text.n = utf8_cut(text.p, text.n, QUERY_TEXT_MAX);
	while (text.n > 0) {
		if (is_space(text.p[0])) {
			text.p++;
			text.n--;
			continue;
		}
		take_one(&p, &text);
	}
	period_find(p.q);
	drop_stop_words(p.q);
	drop_period_words(p.q);
	return p.q;
}

struct query *query_of_text(struct arena *a, struct analyser *an, struct str text)
{
	struct parse p = { .a = a, .an = an, .q = ARENA_NEW(a, struct query) };
	if (text.n > QUERY_TEXT_MAX)
		text.n = utf8_cut(text.p, text.n, QUERY_TEXT_MAX);
	take_piece(&p, text);
	drop_stop_words(p.q);
	return p.q;
}

bool query_is_empty(const struct query *q)
{
	for (size_t i = 0; i < q->nwords; i++)
		if (q->words[i].is_scored)
			return false;
	return true;
}
