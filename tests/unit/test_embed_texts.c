/*
 * Tokens and vectors against what the package of tools/model.txt gave (tests/data/embed, written by
 * its `record`). Needs the model file: $REMANENCE_TEST_MODEL, or build-model/model.bin as
 * "tools/model-get build-model" leaves it; without one these tests are skipped.
 */
#include "unit.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "embed/embedder.h"
#include "embed/model.h"
#include "embed/tokenise.h"
#include "embed/use.h"

#define FILE_MAX (1 << 20)
#define COSINE_LEAST 0.998
#define TEXTS_MAX 64

static struct model model;
static struct embedder *embedder;

struct recorded {
	struct str text;
	float scale;
	int8_t vector[VECTOR_DIMS];
};
static struct recorded recorded[TEXTS_MAX];
static size_t nrecorded;
static struct arena arena;

#define NEEDS_MODEL()           \
	do {                    \
		if (!embedder)  \
			skip(); \
	} while (0)

/* Takes \n \t \r \\ and \xNN out. */
static struct str unescape(struct str s)
{
	char *out = arena_alloc(&arena, s.n + 1);
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (c == '\\') {
			char hex[3] = { 0 };

			c = s.p[++i];
			if (c == 'x') {
				memcpy(hex, s.p + i + 1, 2);
				i += 2;
				c = (char)strtoul(hex, NULL, 16);
			} else {
				c = c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
			}
		}
		out[n++] = c;
	}
	return (struct str){ out, n };
}

static struct str read_lines(const char *name)
{
	struct buf b = { .max = FILE_MAX };
	struct str all;

	assert_int_equal(file_read(name, FILE_MAX, &b, NULL), 0);
	all = (struct str){ arena_dup(&arena, b.data, b.len), b.len };
	buf_done(&b);
	return all;
}

static void read_vectors(void)
{
	struct str all = read_lines("tests/data/embed/vectors.tsv"), line, text, scale;

	while (str_line(&all, &line) && nrecorded < TEXTS_MAX) {
		struct recorded *r = &recorded[nrecorded];

		if (!str_split(&line, '\t', &text) || !str_split(&line, '\t', &scale))
			continue;
		r->text = unescape(text);
		r->scale = strtof(arena_dup(&arena, scale.p, scale.n), NULL);
		for (size_t i = 0; i < VECTOR_DIMS; i++) {
			char hex[3] = { line.p[2 * i], line.p[2 * i + 1] };

			r->vector[i] = (int8_t)strtoul(hex, NULL, 16);
		}
		nrecorded++;
	}
}

static int open_model(void **state)
{
	const char *path = getenv("REMANENCE_TEST_MODEL");
	struct err err;

	read_vectors();
	path = path ? path : "build-model/" MODEL_FILE;
	if (!file_exists(path))
		return 0;
	if (model_open(path, &model, &err) < 0 || embedder_open(path, &embedder, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return -1;
	}
	return 0;
}

static int close_model(void **state)
{
	model_close(&model);
	embedder_close(embedder);
	arena_done(&arena);
	return 0;
}

static void check_tokens(struct str text, struct str want, size_t line)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct token *tokens;
	struct str id;
	size_t n, i = 0;

	tokenise(&model, &a, text, SIZE_MAX, &tokens, &n);
	while (str_split(&want, ' ', &id)) {
		char number[16] = { 0 };

		memcpy(number, id.p, MIN(id.n, sizeof(number) - 1));
		if (i >= n || tokens[i].id != strtoul(number, NULL, 10))
			fail_msg("tokens.tsv:%zu: token %zu is %d, not %s", line, i,
				i < n ? (int)tokens[i].id : -1, number);
		assert_true(tokens[i].at <= text.n && (i == 0 || tokens[i].at >= tokens[i - 1].at));
		i++;
	}
	assert_int_equal(i, n);
}

static void tokens_are_those_of_the_package(void **state)
{
	struct str all, line, text;
	size_t n = 0;

	NEEDS_MODEL();
	all = read_lines("tests/data/embed/tokens.tsv");
	while (str_line(&all, &line)) {
		assert_true(str_split(&line, '\t', &text));
		check_tokens(unescape(text), line, ++n);
	}
	assert_int_equal(n, 300);
}

static void bad_bytes_and_words_without_end_are_read_without_harm(void **state)
{
	static char text[100000];
	uint64_t random = 3;

	NEEDS_MODEL();
	for (int round = 0; round < 20; round++) {
		AUTO(arena_done) struct arena a = { 0 };
		struct token *tokens;
		size_t n, size = round < 2 ? sizeof(text) : unit_below(&random, 300);

		for (size_t i = 0; i < size; i++)
			text[i] = round == 0 ? 'a' : (char)unit_random(&random);
		tokenise(&model, &a, (struct str){ text, size }, SIZE_MAX, &tokens, &n);
		assert_true(n >= 1);
		for (size_t i = 0; i < n; i++)
			assert_true(tokens[i].id < MODEL_PIECES && tokens[i].at <= size);
	}
}

static void tokens_of_a_long_text_stop_soon_after_the_limit(void **state)
{
	AUTO(arena_done) struct arena a = { 0 };
	AUTO(buf_done) struct buf b = { 0 };
	struct token *tokens;
	size_t n;

	NEEDS_MODEL();
	for (int i = 0; i < 10000; i++)
		buf_str(&b, "word after word ");
	tokenise(&model, &a, (struct str){ b.data, b.len }, 100, &tokens, &n);
	assert_true(n >= 100 && n < 110);
}

static void vectors_point_where_the_package_points(void **state)
{
	int8_t vector[VECTOR_DIMS];
	float scale;

	NEEDS_MODEL();
	assert_int_equal(nrecorded, 60);
	for (size_t i = 0; i < nrecorded; i++) {
		float cosine;

		embed_texts(embedder, &recorded[i].text, 1, vector, &scale);
		cosine = vector_cosine(vector, recorded[i].vector);
		if ((double)cosine < COSINE_LEAST)
			fail_msg("vectors.tsv:%zu: cosine %.5f", i + 1, (double)cosine);
		assert_true(fabsf(scale * sqrtf((float)vector_dot(vector, vector, VECTOR_DIMS)) -
				    1) < 0.01f);
	}
}

static void a_vector_depends_neither_on_the_batch_nor_on_the_kernel(void **state)
{
	static int8_t together[TEXTS_MAX][VECTOR_DIMS];
	static float scales[TEXTS_MAX];
	struct str texts[TEXTS_MAX];

	NEEDS_MODEL();
	for (size_t i = 0; i < nrecorded; i++)
		texts[i] = recorded[i].text;
	embed_texts(embedder, texts, nrecorded, together[0], scales);
	for (size_t i = 0; i < nrecorded; i += 3) {
		int8_t alone[VECTOR_DIMS];
		float scale;

		embed_texts(embedder, &texts[i], 1, alone, &scale);
		assert_memory_equal(alone, together[i], VECTOR_DIMS);
		assert_true(scale == scales[i]);
	}
}

static void every_kernel_gives_the_same_vector_to_the_bit(void **state)
{
	static const uint32_t ids[] = { 1, 10, 254, 1312, 40632, 9681, 15314, 102894, 2 };
	const struct sequence s[] = { { ids, 9 }, { ids, 3 }, { ids, 1 } };
	static float plain[3][MODEL_DIMS], other[3][MODEL_DIMS];

	NEEDS_MODEL();
	use_embed(&model, &kernel_plain, s, 3, plain);
	for (size_t k = 0; kernels[k]; k++) {
		if (!kernels[k]->is_supported())
			continue;
		use_embed(&model, kernels[k], s, 3, other);
		assert_memory_equal(plain, other, sizeof(plain));
	}
}

static void a_question_is_nearest_to_its_answer_in_another_language(void **state)
{
	const struct str texts[] = {
		STR("pourquoi la connexion tombe au bout d'une heure"),
		STR("the session is closed after sixty minutes because the token expires"),
		STR("the colour of the button was changed from blue to green"),
		STR("indexes are rebuilt at night"),
		STR("用户的会话在六十分钟后断开"),
	};
	int8_t v[ARRAY_LEN(texts)][VECTOR_DIMS];
	float scales[ARRAY_LEN(texts)];

	NEEDS_MODEL();
	embed_texts(embedder, texts, ARRAY_LEN(texts), v[0], scales);
	assert_true(vector_cosine(v[0], v[1]) > vector_cosine(v[0], v[2]) + 0.1f);
	assert_true(vector_cosine(v[0], v[1]) > vector_cosine(v[0], v[3]) + 0.1f);
	assert_true(vector_cosine(v[0], v[4]) > vector_cosine(v[0], v[2]) + 0.1f);
}

static void a_long_text_is_cut_at_paragraphs_into_pieces_that_cover_it(void **state)
{
	AUTO(arena_done) struct arena a = { 0 };
	AUTO(buf_done) struct buf b = { 0 };
	struct embed_piece *pieces;
	size_t n, end = 0;

	NEEDS_MODEL();
	for (int i = 0; i < 12; i++) {
		for (int j = 0; j < 4; j++)
			buf_printf(&b, "Sentence %d of paragraph %d says how a piece is cut.%s", j,
				i, j < 3 ? " " : "");
		buf_str(&b, i < 11 ? "\n\n" : "");
	}
	embed_pieces(embedder, &a, (struct str){ b.data, b.len }, 100, &pieces, &n);
	assert_true(n >= 4 && n <= 8);
	for (size_t i = 0; i < n; i++) {
		assert_in_range(pieces[i].nids, 3, EMBED_PIECE_TOKENS);
		assert_int_equal(pieces[i].ids[0], TOKEN_BEGIN);
		assert_int_equal(pieces[i].ids[pieces[i].nids - 1], TOKEN_END);
		assert_memory_equal(b.data + pieces[i].at, "Sentence 0", 10);
		assert_memory_equal(b.data + pieces[i].at + pieces[i].len - 4, "cut.", 4);
		assert_true(i == 0 ? pieces[i].at == 0 : pieces[i].at == end + 2);
		end = pieces[i].at + pieces[i].len;
	}
	assert_int_equal(end, b.len);
	embed_pieces(embedder, &a, (struct str){ b.data, b.len }, 2, &pieces, &n);
	assert_int_equal(n, 2);
	assert_true(pieces[1].at + pieces[1].len < b.len / 2);
}

static void a_short_text_is_one_piece_with_the_vector_of_the_text(void **state)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct str text = STR("  fix the flaky parser test \n");
	struct embed_piece *pieces;
	int8_t v[2][VECTOR_DIMS];
	float scales[2];
	size_t n;

	NEEDS_MODEL();
	embed_pieces(embedder, &a, text, 5, &pieces, &n);
	assert_int_equal(n, 1);
	assert_int_equal(pieces[0].at, 2);
	assert_int_equal(pieces[0].len, 25);
	embed_piece_vectors(embedder, pieces, 1, v[0], scales);
	embed_texts(embedder, &text, 1, v[1], scales + 1);
	assert_memory_equal(v[0], v[1], VECTOR_DIMS);
	embed_pieces(embedder, &a, STR(" \n\t "), 5, &pieces, &n);
	assert_int_equal(n, 0);
}

static void words_without_spaces_are_cut_at_the_ceiling(void **state)
{
	AUTO(arena_done) struct arena a = { 0 };
	AUTO(buf_done) struct buf b = { 0 };
	struct embed_piece *pieces;
	size_t n, end = 0;

	NEEDS_MODEL();
	for (int i = 0; i < 300; i++)
		buf_str(&b, i % 9 == 8 ? "索引重建完成。" : "数据库迁移之前");
	embed_pieces(embedder, &a, (struct str){ b.data, b.len }, 100, &pieces, &n);
	assert_true(n > 1);
	for (size_t i = 0; i < n; i++) {
		assert_in_range(pieces[i].nids, 3, EMBED_PIECE_TOKENS);
		assert_int_equal(pieces[i].at, end);
		end = pieces[i].at + pieces[i].len;
		if (i + 1 < n)
			assert_memory_equal(b.data + end - 3, "。", 3);
	}
	assert_int_equal(end, b.len);
}

struct work {
	int8_t vectors[TEXTS_MAX][VECTOR_DIMS];
	float scales[TEXTS_MAX];
};

static void *embed_all(void *arg)
{
	struct work *w = arg;
	struct str texts[TEXTS_MAX];

	for (size_t i = 0; i < nrecorded; i++)
		texts[i] = recorded[i].text;
	embed_texts(embedder, texts, nrecorded, w->vectors[0], w->scales);
	embedder_rest(embedder);
	return NULL;
}

static void threads_may_share_an_embedder(void **state)
{
	static struct work work[3];
	pthread_t threads[2];

	NEEDS_MODEL();
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, embed_all, &work[i]), 0);
	embed_all(&work[2]);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_memory_equal(work[i].vectors, work[2].vectors, nrecorded * VECTOR_DIMS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tokens_are_those_of_the_package),
		cmocka_unit_test(bad_bytes_and_words_without_end_are_read_without_harm),
		cmocka_unit_test(tokens_of_a_long_text_stop_soon_after_the_limit),
		cmocka_unit_test(vectors_point_where_the_package_points),
		cmocka_unit_test(a_vector_depends_neither_on_the_batch_nor_on_the_kernel),
		cmocka_unit_test(every_kernel_gives_the_same_vector_to_the_bit),
		cmocka_unit_test(a_question_is_nearest_to_its_answer_in_another_language),
		cmocka_unit_test(a_long_text_is_cut_at_paragraphs_into_pieces_that_cover_it),
		cmocka_unit_test(a_short_text_is_one_piece_with_the_vector_of_the_text),
		cmocka_unit_test(words_without_spaces_are_cut_at_the_ceiling),
		cmocka_unit_test(threads_may_share_an_embedder),
	};

	return cmocka_run_group_tests(tests, open_model, close_model);
}
