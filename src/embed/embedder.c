/*
 * The door of the room: batches sequences for the forward pass, and cuts long texts. Where to cut
 * is decided on tokens, so that a piece is full but never above its ceiling.
 */
#include "embed/embedder.h"

#include <stdatomic.h>
#include <string.h>

#include "base/mem.h"
#include "embed/kernel.h"
#include "embed/model.h"
#include "embed/model_pin.h"
#include "embed/tokenise.h"
#include "embed/use.h"

#define MARKS 2          /* begin and end */
#define MAX_PIECES 65536 /* 10 MB of text or more */
#define REST_TOKENS \
	1024 /* after so many the table's pages are given back: what stays mapped is bounded */

_Static_assert(EMBED_TEXT_TOKENS <= USE_BATCH_TOKENS && EMBED_PIECE_TOKENS <= USE_BATCH_TOKENS,
	"a text must fit into a batch");

struct embedder {
	struct model model;
	const struct kernel *kernel;
	_Atomic size_t tokens; /* since the last rest */
};

int embedder_open(const char *path, struct embedder **ret, struct err *err)
{
	struct model m;
	struct embedder *e;

	if (model_open(path, &m, err) < 0)
		return -1;
	e = mem_alloc(sizeof(*e));
	e->model = m;
	e->kernel = kernel_best();
	*ret = e;
	return 0;
}

int embedder_open_from(const char *home, const char *exe, struct embedder **ret, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	const char *places[MODEL_PLACES], *found;
	size_t n = model_places(&a, home, exe, places);

	if (n == 0)
		return err_set(err, ERR_NOT_FOUND, "vectors: off (no model file)");
	found = model_find(places, n);
	return embedder_open(found ? found : places[0], ret, err);
}

void embedder_close(struct embedder *e)
{
	if (!e)
		return;
	model_close(&e->model);
	free(e);
}

const char *embedder_id(const struct embedder *e)
{
	return MODEL_ID;
}

size_t embedder_dims(const struct embedder *e)
{
	return VECTOR_DIMS;
}

const char *embedder_kernel(const struct embedder *e)
{
	return e->kernel->name;
}

void embedder_rest(struct embedder *e)
{
	atomic_store(&e->tokens, 0);
	model_rest(&e->model);
}

/* How many of the sequences from s on fit into one batch; *ret_tokens is their length together. */
static size_t batch_size(const struct sequence *s, size_t n, size_t *ret_tokens)
{
	size_t count = 0, tokens = 0;

	while (count < MIN(n, USE_BATCH_TEXTS) && tokens + s[count].n <= USE_BATCH_TOKENS)
		tokens += s[count++].n;
	*ret_tokens = tokens;
	return count;
}

static void embed_sequences(
	struct embedder *e, const struct sequence *s, size_t n, int8_t *vectors, float *scales)
{
	float made[USE_BATCH_TEXTS][MODEL_DIMS];
	size_t tokens;

	for (size_t i = 0, count; i < n; i += count) {
		count = batch_size(s + i, n - i, &tokens);
		use_embed(&e->model, e->kernel, s + i, count, made);
		for (size_t j = 0; j < count; j++)
			vector_pack(made[j], vectors + (i + j) * VECTOR_DIMS, &scales[i + j]);
		if (atomic_fetch_add(&e->tokens, tokens) + tokens >= REST_TOKENS)
			embedder_rest(e);
	}
}

/* tokens[n] between end marks. */
static const uint32_t *mark(struct arena *a, const struct token *tokens, size_t n)
{
	uint32_t *ids = ARENA_ARRAY(a, uint32_t, n + MARKS);

	ids[0] = TOKEN_BEGIN;
	for (size_t i = 0; i < n; i++)
		ids[i + 1] = tokens[i].id;
	ids[n + 1] = TOKEN_END;
	return ids;
}

void embed_texts(
	struct embedder *e, const struct str *texts, size_t n, int8_t *vectors, float *scales)
{
	AUTO(arena_done) struct arena a = { 0 };

	for (size_t i = 0, count; i < n; i += count) {
		struct sequence s[USE_BATCH_TEXTS];

		arena_reset(&a);
		count = MIN(n - i, USE_BATCH_TEXTS);
		for (size_t j = 0; j < count; j++) {
			struct token *tokens;
			size_t ntokens;

			tokenise(&e->model, &a, texts[i + j], EMBED_TEXT_TOKENS - MARKS, &tokens,
				&ntokens);
			ntokens = MIN(ntokens, EMBED_TEXT_TOKENS - MARKS);
			s[j] = (struct sequence){ mark(&a, tokens, ntokens), ntokens + MARKS };
		}
		embed_sequences(e, s, count, vectors + i * VECTOR_DIMS, scales + i);
	}
}

enum cut { CUT_WORD_INSIDE, CUT_WORD, CUT_SENTENCE, CUT_LINE, CUT_PARAGRAPH };

static bool ends_sentence(struct str text, size_t at)
{
	static const char *const wide[] = { "。", "！", "？", "…" };

	if (at > 0 && memchr(".!?:;", text.p[at - 1], 5))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(wide); i++) {
		size_t n = strlen(wide[i]);

		if (at >= n && memcmp(text.p + at - n, wide[i], n) == 0)
			return true;
	}
	return false;
}

/* How good a place to cut the byte `at` is, by what stands before it. */
static enum cut cut_at(struct str text, size_t at)
{
	size_t before = at, lines = 0;

	while (before > 0 && memchr(" \t\r\n", text.p[before - 1], 4))
		lines += text.p[--before] == '\n';
	if (lines > 0)
		return lines > 1 ? CUT_PARAGRAPH : CUT_LINE;
	if (ends_sentence(text, before) && (before < at || (unsigned char)text.p[at - 1] >= 0x80))
		return CUT_SENTENCE;
	return before < at ? CUT_WORD : CUT_WORD_INSIDE;
}

/* The number of tokens of the next piece, of those that are left. */
static size_t piece_size(struct str text, const struct token *tokens, size_t left)
{
	size_t limit = EMBED_PIECE_TOKENS - MARKS, pieces = (left + limit - 1) / limit;
	size_t target = (left + pieces - 1) / pieces, best = 0, best_off = 0;
	enum cut best_cut = CUT_WORD_INSIDE;

	if (pieces < 2)
		return left;
	for (size_t i = target * 3 / 4; i <= MIN(limit, target * 5 / 4); i++) {
		enum cut cut = cut_at(text, tokens[i].at);
		size_t off = i > target ? i - target : target - i;

		if (best == 0 || cut > best_cut || (cut == best_cut && off < best_off)) {
			best = i;
			best_cut = cut;
			best_off = off;
		}
	}
	return best;
}

void embed_pieces(struct embedder *e, struct arena *a, struct str text, size_t max,
	struct embed_piece **ret, size_t *ret_n)
{
	struct embed_piece *pieces = NULL;
	struct token *tokens;
	size_t n = 0, cap = 0, ntokens, limit = EMBED_PIECE_TOKENS - MARKS, size;

	*ret = NULL;
	*ret_n = 0;
	if (max == 0 || str_trim(text).n == 0)
		return;
	/* One more than is wanted, to see where the last piece ends. */
	tokenise(&e->model, a, text, MIN(max, MAX_PIECES) * limit + 1, &tokens, &ntokens);
	for (size_t i = 0; i < ntokens && n < max; i += size) {
		struct embed_piece piece = { .at = tokens[i].at };
		size_t end;

		size = piece_size(text, tokens + i, ntokens - i);
		end = i + size < ntokens ? tokens[i + size].at : text.n;
		piece.len = str_trim((struct str){ text.p + piece.at, end - piece.at }).n;
		piece.ids = mark(a, tokens + i, size);
		piece.nids = size + MARKS;
		ARENA_PUSH(a, pieces, n, cap, piece);
	}
	*ret = pieces;
	*ret_n = n;
}

void embed_piece_vectors(struct embedder *e, const struct embed_piece *pieces, size_t n,
	int8_t *vectors, float *scales)
{
	for (size_t i = 0, count; i < n; i += count) {
		struct sequence s[USE_BATCH_TEXTS];

		count = MIN(n - i, USE_BATCH_TEXTS);
		for (size_t j = 0; j < count; j++)
			s[j] = (struct sequence){ pieces[i + j].ids, pieces[i + j].nids };
		embed_sequences(e, s, count, vectors + i * VECTOR_DIMS, scales + i);
	}
}
