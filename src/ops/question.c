#include "ops/question.h"

#include <string.h>

#include "base/mem.h"
#include "text/hash.h"

#define NAME_WEIGHT 1.5
#define TITLES_ALIKE .8 /* share of common words in the larger set from which two titles say the same */

static uint64_t term_hash(const struct term *t)
{
	return hash64(t->text, t->len);
}

struct maker {
	struct question *q;
	struct str text;
};

static int find_hash(const uint64_t *hashes, size_t n, uint64_t hash)
{
	for (size_t i = 0; i < n; i++)
		if (hashes[i] == hash)
			return (int)i;
	return -1;
}

static bool has_form(const struct question_word *w, uint64_t hash)
{
	return find_hash(w->forms, w->nforms, hash) >= 0;
}

static bool looks_like_name(struct str text, const struct term *t)
{
	for (uint32_t i = t->start; i < t->end && i < text.n; i++)
		if (strchr("0123456789_./:", text.p[i]))
			return true;
	for (uint32_t i = t->start + 1; i < t->end && i < text.n; i++)
		if (text.p[i] >= 'A' && text.p[i] <= 'Z' && text.p[i - 1] >= 'a' && text.p[i - 1] <= 'z')
			return true;
	return false;
}

/* The word that this form or part belongs to: the one whose bytes it lies in. */
static struct question_word *word_at(struct question *q, const struct term *t)
{
	for (size_t i = q->n; i-- > 0;)
		if (q->words[i].start <= t->start && t->end <= q->words[i].end)
			return &q->words[i];
	return NULL;
}

static void question_term(void *ctx, const struct term *t)
{
	struct maker *m = ctx;
	struct question *q = m->q;
	uint64_t hash = term_hash(t);
	struct question_word *w = word_at(q, t);
	if (!w) {
		if (q->n == QUESTION_WORDS_MAX || t->form == TERM_STEM || term_is_stop_word(t->text, t->len))
			return;
		for (size_t i = 0; i < q->n; i++)
			if (has_form(&q->words[i], hash))
				return;
		w = &q->words[q->n++];
		*w = (struct question_word){ .start = t->start, .end = t->end };
		memcpy(w->text, t->text, MIN((size_t)t->len, (size_t)TERM_MAX));
		w->is_name = looks_like_name(m->text, t);
		w->weight = w->is_name ? NAME_WEIGHT : 1;
	}
	if (t->form == TERM_PART) {
		if (w->nparts < QUESTION_FORMS_MAX && find_hash(w->parts, w->nparts, hash) < 0)
			w->parts[w->nparts++] = hash;
	} else if (w->nforms < QUESTION_FORMS_MAX && !has_form(w, hash)) {
		w->forms[w->nforms++] = hash;
	}
}

void question_make(struct question *q, struct analyser *an, struct str text)
{
	struct maker m = { .q = q, .text = text };
	m.text.n = utf8_cut(text.p, text.n, QUESTION_TEXT_MAX);
	memset(q, 0, sizeof(*q));
	if (m.text.n)
		analyser_run(an, m.text, question_term, &m);
	for (size_t i = 0; i < q->n; i++)
		q->weight += q->words[i].weight;
}

void question_weigh(struct question *q, size_t word, double weight)
{
	q->weight += weight - q->words[word].weight;
	q->words[word].weight = weight;
}

#define WHOLE 0x80 /* of a word's seen bits; the others are its parts */

struct matcher {
	const struct question *q;
	uint8_t seen[QUESTION_WORDS_MAX];
};

static void match_term(void *ctx, const struct term *t)
{
	struct matcher *m = ctx;
	uint64_t hash = term_hash(t);
	for (size_t i = 0; i < m->q->n; i++) {
		const struct question_word *w = &m->q->words[i];
		int part;
		if (m->seen[i] & WHOLE)
			continue;
		if (has_form(w, hash))
			m->seen[i] |= WHOLE;
		else if (w->nparts && (part = find_hash(w->parts, MIN(w->nparts, (size_t)7), hash)) >= 0)
			m->seen[i] |= (uint8_t)(1u << part);
	}
}

/* 1 for the word itself, the share of its parts otherwise. */
static double share_seen(const struct question_word *w, uint8_t seen)
{
	if (seen & WHOLE)
		return 1;
	return w->nparts ? (double)__builtin_popcount(seen) / (double)w->nparts : 0;
}

struct answer question_match(const struct question *q, struct analyser *an, const char *const *texts, size_t n)
{
	struct matcher m = { .q = q };
	struct answer ret = { 0 };
	double weight = 0;
	size_t left = QUESTION_TEXT_MAX;
	for (size_t i = 0; i < n && left; i++) {
		struct str text = str_of(texts[i]);
		text.n = utf8_cut(text.p, text.n, left);
		left -= text.n;
		if (text.n)
			analyser_run(an, text, match_term, &m);
	}
	for (size_t i = 0; i < q->n; i++) {
		double share = share_seen(&q->words[i], m.seen[i]);
		weight += q->words[i].weight * share;
		if (share <= .5)
			continue;
		ret.matched |= 1ull << i;
		ret.words++;
		ret.names += q->words[i].is_name;
	}
	ret.weight = weight;
	ret.coverage = q->weight > 0 ? weight / q->weight : 0;
	return ret;
}

struct title_maker {
	uint64_t *words;
	size_t n;
};

static void title_term(void *ctx, const struct term *t)
{
	struct title_maker *m = ctx;
	uint64_t hash = term_hash(t);
	if (t->form != TERM_WORD || m->n == TITLE_WORDS_MAX || term_is_stop_word(t->text, t->len))
		return;
	for (size_t i = 0; i < m->n; i++)
		if (m->words[i] == hash)
			return;
	m->words[m->n++] = hash;
}

static bool titles_alike(const uint64_t *a, size_t na, const uint64_t *b, size_t nb)
{
	size_t common = 0;
	for (size_t i = 0; i < na; i++)
		for (size_t j = 0; j < nb; j++)
			common += a[i] == b[j];
	return (double)common >= TITLES_ALIKE * (double)MAX(na, nb);
}

static uint64_t code_of(struct str text)
{
	const char *from = text.n ? memchr(text.p, '`', text.n) : NULL;
	const char *to = from ? memchr(from + 1, '`', (size_t)(text.p + text.n - from) - 1) : NULL;

	return to ? hash64(from + 1, (size_t)(to - from) - 1) | 1 : 0;
}

bool titles_add(struct titles *t, struct analyser *an, const char *title)
{
	uint64_t words[TITLE_WORDS_MAX];
	struct title_maker m = { .words = words };
	struct str text = str_of(title);
	uint64_t code = code_of(text);
	text.n = utf8_cut(text.p, text.n, QUESTION_TEXT_MAX);
	if (text.n)
		analyser_run(an, text, title_term, &m);
	if (!m.n && text.n) { /* only stop words or signs: compared as a whole */
		words[0] = hash64(text.p, text.n);
		m.n = 1;
	}
	if (!m.n)
		return false;
	for (size_t i = 0; i < t->n; i++)
		if ((!code || !t->titles[i].code || code == t->titles[i].code) &&
			titles_alike(words, m.n, t->titles[i].words, t->titles[i].n))
			return false;
	if (t->n == TITLES_MAX)
		return true;
	memcpy(t->titles[t->n].words, words, sizeof(words[0]) * m.n);
	t->titles[t->n].code = code;
	t->titles[t->n++].n = m.n;
	return true;
}
