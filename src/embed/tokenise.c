/*
 * No piece of the vocabulary holds the space mark anywhere but at its begin (tools/model-convert
 * refuses others), so the best way to cut a text is the best way to cut each of its words: words
 * are normalised and cut one at a time, and a long text needs no more memory than a short one.
 * Scores are added in double precision, where sums of these are exact, so equal ways stay equal.
 */
#include "embed/tokenise.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "embed/trie.h"

#define SPACE_MARK "\xe2\x96\x81" /* U+2581 */
#define SPACE_MARK_SIZE 3
#define WORST -1e38

/* How a word is best cut up to each of its bytes. */
struct way {
	double score;
	uint32_t from, piece;
};

struct reader {
	const struct model *model;
	struct arena *arena;
	uint32_t mark_piece; /* the space mark alone */
	bool was_space;

	char *word;       /* normalised, begins with the space mark */
	uint32_t *origin; /* of each of its bytes in the text */
	struct way *ways;
	size_t n, word_cap, origin_cap, ways_cap;

	size_t bare; /* words so far that are nothing but a mark: dropped at the end */
	uint32_t bare_at;
	struct token *tokens;
	size_t ntokens, tokens_cap;
};

static void token_add(struct reader *r, uint32_t id, uint32_t at)
{
	struct token t = { id, at };

	ARENA_PUSH(r->arena, r->tokens, r->ntokens, r->tokens_cap, t);
}

static size_t char_size(unsigned char first)
{
	if (first < 0xc0)
		return 1;
	return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

static void way_try(struct way *to, double score, size_t from, uint32_t piece)
{
	if (score > to->score)
		*to = (struct way){ score, (uint32_t)from, piece };
}

/* Extends the best way to byte i by each piece that fits, or by one unknown character. */
static void ways_from(struct reader *r, size_t i)
{
	struct trie_walk w = trie_start(&r->model->pieces);
	size_t next = MIN(i + char_size((unsigned char)r->word[i]), r->n);
	double base = r->ways[i].score;
	bool has_single = false;
	int64_t piece;

	for (size_t j = i; j < r->n && trie_step(&w, (unsigned char)r->word[j], &piece); j++) {
		if (piece < 0 || piece >= MODEL_PIECES)
			continue;
		way_try(&r->ways[j + 1], base + (double)r->model->scores[piece], i,
			(uint32_t)piece);
		has_single |= j + 1 == next;
	}
	if (!has_single)
		way_try(&r->ways[next], base + r->model->unknown_score, i, TOKEN_UNKNOWN);
}

/* Cuts r->word and adds its tokens. */
static void word_cut(struct reader *r)
{
	size_t count = 0, first = r->ntokens;

	MEM_GROW(r->ways, r->ways_cap, r->n + 1);
	r->ways[0] = (struct way){ 0 };
	for (size_t i = 1; i <= r->n; i++)
		r->ways[i].score = WORST;
	for (size_t i = 0; i < r->n; i += char_size((unsigned char)r->word[i]))
		ways_from(r, i);

	for (size_t i = r->n; i > 0; i = r->ways[i].from, count++)
		token_add(r, 0, 0);
	for (size_t i = r->n; i > 0; i = r->ways[i].from) {
		size_t from = r->ways[i].from;

		r->tokens[first + --count] = (struct token){ r->ways[i].piece, r->origin[from] };
	}
	r->n = 0;
}

static void word_byte(struct reader *r, char c, uint32_t origin)
{
	MEM_GROW(r->word, r->word_cap, r->n + 1);
	MEM_GROW(r->origin, r->origin_cap, r->n + 1);
	r->word[r->n] = c;
	r->origin[r->n++] = origin;
}

static bool word_is_bare(const struct reader *r)
{
	return r->n == SPACE_MARK_SIZE && memcmp(r->word, SPACE_MARK, SPACE_MARK_SIZE) == 0;
}

/* Ends the word, if there is one. Bare marks wait until it is known that something comes after them. */
static void word_end(struct reader *r)
{
	if (r->n == 0)
		return;
	if (word_is_bare(r)) {
		if (r->bare++ == 0)
			r->bare_at = r->origin[0];
		r->n = 0;
		return;
	}
	for (; r->bare > 0; r->bare--)
		token_add(r, r->mark_piece, r->bare_at);
	word_cut(r);
}

static void word_begin(struct reader *r, uint32_t origin)
{
	word_end(r);
	for (size_t i = 0; i < SPACE_MARK_SIZE; i++)
		word_byte(r, SPACE_MARK[i], origin);
}

/* One normalised character that is neither space nor mark. */
static void word_char(struct reader *r, const char *p, size_t n, uint32_t origin)
{
	if (word_is_bare(r))
		for (size_t i = 0; i < SPACE_MARK_SIZE; i++)
			r->origin[i] = origin;
	else if (r->n + n > TOKEN_WORD_MAX)
		word_end(r);
	for (size_t i = 0; i < n; i++)
		word_byte(r, p[i], origin);
}

/* Takes what one unit of the text became; spaces after a space are dropped. */
static void take(struct reader *r, const char *p, size_t n, uint32_t origin)
{
	const char *end = p + n;

	while (r->was_space && p < end && *p == ' ')
		p++;
	while (p < end) {
		size_t size = MIN(char_size((unsigned char)*p), (size_t)(end - p));

		r->was_space = *p == ' ';
		if (*p == ' ' || (size == SPACE_MARK_SIZE && memcmp(p, SPACE_MARK, size) == 0))
			word_begin(r, origin);
		else
			word_char(r, p, size, origin);
		p += size;
	}
}

/*
 * Normalises what begins at text.p[at]: the longest key of the character map, or one character as
 * it is. Returns its length.
 */
static size_t take_next(struct reader *r, struct str text, size_t at)
{
	struct trie_walk w = trie_start(&r->model->charsmap);
	const char *p = text.p + at, *end = text.p + text.n;
	size_t best = 0, n = 0;
	int64_t value, best_value = -1;
	bool is_valid;

	while (p + n < end && trie_step(&w, (unsigned char)p[n], &value)) {
		n++;
		if (value >= 0) {
			best = n;
			best_value = value;
		}
	}
	if (best && (size_t)best_value < r->model->replacements_size) {
		const char *to = r->model->replacements + best_value;

		take(r, to, strlen(to), (uint32_t)at);
		return best;
	}
	n = utf8_unit(p, end, &is_valid);
	if (is_valid && *p)
		take(r, p, n, (uint32_t)at);
	else
		take(r, " ", 1, (uint32_t)at);
	return MAX(n, 1);
}

static uint32_t mark_piece(const struct model *m)
{
	struct trie_walk w = trie_start(&m->pieces);
	int64_t piece = -1;

	for (size_t i = 0; i < SPACE_MARK_SIZE; i++)
		if (!trie_step(&w, (unsigned char)SPACE_MARK[i], &piece))
			return TOKEN_UNKNOWN;
	return piece < 0 ? TOKEN_UNKNOWN : (uint32_t)piece;
}

void tokenise(const struct model *m, struct arena *a, struct str text, size_t max,
	struct token **ret, size_t *ret_n)
{
	struct reader r = { .model = m, .arena = a, .was_space = true };

	text.n = MIN(text.n, UINT32_MAX);
	r.mark_piece = mark_piece(m);
	word_begin(&r, 0);
	for (size_t i = 0; i < text.n && r.ntokens < max;)
		i += take_next(&r, text, i);
	if (r.ntokens < max)
		word_end(&r);
	if (r.ntokens == 0)
		token_add(&r, TOKEN_UNKNOWN, 0);
	free(r.word);
	free(r.origin);
	free(r.ways);
	*ret = r.tokens;
	*ret_n = r.ntokens;
}
