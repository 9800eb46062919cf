#include "index/spell.h"

#include <string.h>

#include "base/mem.h"

#define SPELL_MIN 4u       /* shorter words have too many neighbours */
#define SPELL_TWO_EDITS 7u /* words from this length on may differ by two */

struct guess {
	char word[KEY_MAX], stem[KEY_MAX];
	size_t word_len, stem_len;
	unsigned distance;
	uint64_t df;
};

static bool occurs(struct arena *a, const struct snapshot *snap, const struct query_word *w)
{
	struct ref *refs;
	for (size_t v = 0; v < snap->n; v++)
		if (match_refs(a, snap->views[v].seg, w, false, &refs))
			return true;
	return false;
}

/* Letters as bits: an edit changes at most two of them, which rules most words out cheaply. */
static uint64_t letters_of(const char *s, size_t n)
{
	uint64_t bits = 0;
	for (size_t i = 0; i < n; i++)
		bits |= (uint64_t)1 << ((unsigned char)s[i] & 63);
	return bits;
}

static void consider(
	struct guess *best, const struct term_cursor *c, const char *wanted, unsigned most)
{
	char word[KEY_MAX + 1];
	memcpy(word, c->word, c->word_len);
	word[c->word_len] = '\0';
	unsigned distance = str_distance(wanted, word);
	if (distance > most || distance > best->distance ||
		(distance == best->distance && c->ref.df <= best->df))
		return;
	*best = (struct guess){ .word_len = c->word_len,
		.stem_len = c->stem_len,
		.distance = distance,
		.df = c->ref.df };
	memcpy(best->word, c->word, c->word_len);
	memcpy(best->stem, c->stem, c->stem_len);
}

/* Looks through the words that begin with one letter. */
static void look_under(
	const struct segment *seg, char letter, struct str wanted, struct guess *best)
{
	char text[KEY_MAX + 1];
	unsigned most = wanted.n >= SPELL_TWO_EDITS ? 2 : 1;
	uint64_t letters = letters_of(wanted.p, wanted.n);
	struct term_cursor c;
	memcpy(text, wanted.p, wanted.n);
	text[wanted.n] = '\0';
	term_cursor_seek(&c, seg, (struct str){ &letter, 1 });
	for (bool is_there = c.stem_len > 0 && c.stem[0] == letter; is_there;
		is_there = term_cursor_next(&c) && c.stem[0] == letter) {
		if (c.word_len + most < wanted.n || c.word_len > wanted.n + most)
			continue;
		if ((unsigned)__builtin_popcountll(letters ^ letters_of(c.word, c.word_len)) <=
			2 * most)
			consider(best, &c, text, most);
	}
}

/* People rarely mistype the first letter; words that begin with another one are other words. */
static bool find_guess(const struct snapshot *snap, struct str wanted, struct guess *best)
{
	*best = (struct guess){ .distance = UINT32_MAX };
	for (size_t v = 0; v < snap->n; v++)
		look_under(snap->views[v].seg, wanted.p[0], wanted, best);
	return best->distance != UINT32_MAX;
}

const struct query *spell_correct(
	struct arena *a, const struct snapshot *snap, const struct query *q)
{
	struct query *fixed = arena_dup(a, q, sizeof(*q));
	bool is_fixed = false;
	for (size_t i = 0; i < q->nwords; i++) {
		struct query_word *w = &fixed->words[i];
		struct guess best;
		if (!w->is_scored || w->is_whole || w->word.n < SPELL_MIN || w->word.n > KEY_MAX ||
			occurs(a, snap, w))
			continue;
		if (!find_guess(snap, w->word, &best))
			continue;
		w->word = (struct str){ arena_dup(a, best.word, best.word_len), best.word_len };
		w->stems[0] = (struct str){ arena_dup(a, best.stem, best.stem_len), best.stem_len };
		w->nstems = 1;
		is_fixed = true;
	}
	return is_fixed ? fixed : NULL;
}

const char *spell_said(struct arena *a, const struct query *q, const struct query *fixed)
{
	const char *said = "";
	for (size_t i = 0; i < q->nwords; i++)
		if (!str_eq(q->words[i].word, fixed->words[i].word))
			said = arena_printf(a, "%s%s%.*s", said, *said ? " " : "",
				(int)fixed->words[i].word.n, fixed->words[i].word.p);
	return said;
}
