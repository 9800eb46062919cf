/*
 * bench_fill HOME COUNT WORDS MODEL: a data folder that holds COUNT memories of made-up text, the
 * index that the daemon would make of them, and a vector for each, so that searches by words and by
 * meaning can be measured at a size whose embedding would take days.
 *
 * Store, index and vectors are written by the functions that the daemon writes them with, in the
 * same form; what is made up are texts and vectors. Words come from the file WORDS, the most
 * frequent first, by Zipf's law, as in corpus.py. Of the first texts POOL are embedded with MODEL; a
 * memory's vector is one of theirs, the same for its session most of the time, with noise of its
 * own added: similarities among them are then spread as those of related texts are, and none is the
 * embedding of its memory's text. Hashes say that they are, so that the daemon leaves them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "daemon/embedding_text.h"
#include "daemon/follow.h"
#include "embed/embedder.h"
#include "index/vectors.h"
#include "store/store.h"

#define POOL 1000
#define PER_SESSION 25
#define PROJECTS 20
#define WORDS_MAX 100000
#define WORDS_FILE_MAX (16u << 20)
#define WORD_MAX 64
#define ZIPF_SHIFT 5
#define BODY_BYTES 800
#define FILES 5000
#define BATCH 2000 /* memories in a transaction */
#define FIRST_AT INT64_C(1700000000000)
#define MINUTE_MS 60000
#define NOISE .9f /* beside a vector of length 1: related texts, not the same */
#define STRAYS 4  /* one memory in so many is about something else than its session */

static uint64_t seed = 88172645463325252u;

static uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed * UINT64_C(2685821657736338717);
}

static uint32_t below(uint32_t n)
{
	return (uint32_t)((rnd() >> 32) % n);
}

struct fill {
	struct store *store;
	struct index *index;
	struct vectors *vectors;
	struct embedder *embedder;
	struct arena arena;
	struct str *words;
	double *sums; /* of their weights */
	size_t nwords, words_cap;
	int64_t projects[PROJECTS], session;
	float pool[POOL][VECTOR_DIMS];
	size_t npool;
	int64_t count, read_seq;
};

static void must(int result, const struct err *err)
{
	if (result)
		die("%s", err->text);
}

/* --- Texts. --- */

static void words_read(struct fill *f, const char *path)
{
	AUTO(buf_done) struct buf text = { 0 };
	struct err err;
	struct str rest, line;
	double sum = 0;
	must(file_read(path, WORDS_FILE_MAX, &text, &err), &err);
	rest = (struct str){ arena_dup(&f->arena, text.data, text.len), text.len };
	while (str_line(&rest, &line) && f->nwords < WORDS_MAX)
		if (line.n && line.n <= WORD_MAX)
			ARENA_PUSH(&f->arena, f->words, f->nwords, f->words_cap, line);
	if (!f->nwords)
		die("'%s' holds no words", path);
	f->sums = ARENA_ARRAY(&f->arena, double, f->nwords);
	for (size_t i = 0; i < f->nwords; i++)
		f->sums[i] = sum += 1.0 / (double)(i + ZIPF_SHIFT);
}

static struct str word_draw(const struct fill *f)
{
	const double x = (double)(rnd() >> 11) / 9007199254740992.0 * f->sums[f->nwords - 1];
	size_t lo = 0, hi = f->nwords - 1;
	while (lo < hi) {
		const size_t mid = (lo + hi) / 2;
		if (f->sums[mid] < x)
			lo = mid + 1;
		else
			hi = mid;
	}
	return f->words[lo];
}

static void sentence_add(const struct fill *f, struct buf *b)
{
	static const char *const glue[] = { "the", "a", "of", "and", "to", "in", "it", "that",
		"with", "for", "on", "as", "by", "from", "is", "was", "this", "which", "when",
		"after", "before", "only", "now", "also", "because", "so", "then" };
	for (uint32_t n = 7 + below(10), i = 0; i < n; i++) {
		const uint32_t kind = below(100);
		const struct str word = word_draw(f);
		if (kind < 43) {
			buf_str(b, glue[below(ARRAY_LEN(glue))]);
		} else {
			buf_add(b, word.p, word.n);
		}
		if (kind > 95) { /* a name of two words */
			const struct str second = word_draw(f);
			buf_char(b, '_');
			buf_add(b, second.p, second.n);
		}
		buf_str(b, i + 1 < n ? " " : ". ");
	}
}

/* --- Rows. --- */

static void session_start(struct fill *f, int64_t number)
{
	struct err err;
	AUTO(buf_done) struct buf title = { 0 };
	char id[40];
	snprintf(id, sizeof(id), "bench-%lld", (long long)number);
	sentence_add(f, &title);
	struct captured_session c = { .agent = AGENT_CLAUDE,
		.agent_session = id,
		.title = buf_cstr(&title),
		.branch = "main",
		.started_at = FIRST_AT + number * PER_SESSION * MINUTE_MS };
	must(store_session_put(f->store, &c, f->projects[number % PROJECTS], &f->session, &err),
		&err);
}

static void memory_make(struct fill *f, int64_t i)
{
	static const enum memory_type types[] = { TYPE_BUGFIX, TYPE_FEATURE, TYPE_REFACTOR,
		TYPE_CHANGE, TYPE_DISCOVERY, TYPE_DECISION };
	struct err err;
	AUTO(buf_done) struct buf title = { 0 }, body = { 0 };
	char paths[2][40];
	struct memory_file files[2];
	for (int k = 0; k < 2; k++) {
		snprintf(paths[k], sizeof(paths[k]), "src/part%u/file%u.c", below(20),
			below(FILES / 20));
		files[k] = (struct memory_file){
			.path = paths[k], .role = k ? ROLE_READ : ROLE_MODIFIED, .size = -1
		};
	}
	sentence_add(f, &title);
	while (body.len < BODY_BYTES)
		sentence_add(f, &body);
	struct memory m = { .project = f->projects[i / PER_SESSION % PROJECTS],
		.session = f->session,
		.kind = i % 3 ? KIND_OBSERVATION : KIND_SUMMARY,
		.type = i % 3 ? types[below(ARRAY_LEN(types))] : (enum memory_type)0,
		.title = buf_cstr(&title),
		.body = buf_cstr(&body),
		.confidence = .5 + below(40) / 100.0,
		.trust = TRUST_REPLY,
		.origin = ORIGIN_RULES,
		.at = FIRST_AT + i * MINUTE_MS,
		.created_at = FIRST_AT + i * MINUTE_MS,
		.files = files,
		.nfiles = ARRAY_LEN(files) };
	must(store_memory_put(f->store, &m, &err), &err);
}

/* --- What the daemon would make of them. --- */

static void pool_add(struct fill *f, size_t at, const struct embedding_text *t)
{
	int8_t bytes[VECTOR_DIMS];
	float scale;
	embed_texts(f->embedder, &t->text, 1, bytes, &scale);
	for (size_t k = 0; k < VECTOR_DIMS; k++)
		f->pool[at][k] = (float)bytes[k] * scale;
}

/* The subject's vector and as much noise, which is about normal. */
static void vector_make(struct fill *f, size_t subject, int8_t *ret, float *ret_scale)
{
	static const float spread = NOISE / 22.627417F * 1.7320508F; /* over 512 numbers, uniform */
	float at[VECTOR_DIMS];
	double squared = 0;
	for (size_t k = 0; k < VECTOR_DIMS; k += 4) {
		const uint64_t r = rnd();
		for (unsigned j = 0; j < 4; j++) {
			const float noise = (float)(int16_t)(r >> 16 * j) / 32768;
			at[k + j] = f->pool[subject][k + j] + spread * noise;
			squared += (double)at[k + j] * (double)at[k + j];
		}
	}
	for (size_t k = 0; k < VECTOR_DIMS; k++)
		at[k] /= (float)sqrt(squared);
	vector_pack(at, ret, ret_scale);
}

static void vector_put(struct fill *f, const struct doc *doc, const struct embedding_text *t)
{
	int8_t at[VECTOR_DIMS];
	float scale;
	struct err err;
	const uint32_t session = doc->columns.session * 2654435761u % POOL;
	const size_t subject = below(STRAYS) ? session : below(POOL);
	vector_make(f, subject, at, &scale);
	struct vectors_doc d = { doc->id, doc->columns, t->hash, 1, at, &scale };
	must(vectors_put(f->vectors, &d, &err), &err);
}

static void pool_fill(struct fill *f, struct arena *a, const struct index_row *rows, size_t n)
{
	for (size_t i = 0; i < n && f->npool < POOL; i++) {
		const struct embedding_text t = embedding_text(a, &rows[i]);
		if (t.text.n)
			pool_add(f, f->npool++, &t);
	}
}

/* Rows of the store's changes that were not read yet, into the index, and vectors of memories. */
static void changes_take(struct fill *f)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct change *changes;
	struct err err;
	size_t n;
	for (;;) {
		arena_reset(&a);
		must(store_changes(f->store, &a, f->read_seq, BATCH, &changes, &n, &err), &err);
		if (!n)
			return;
		struct index_row *rows = ARENA_ARRAY(&a, struct index_row, n);
		struct doc *docs = ARENA_ARRAY(&a, struct doc, n);
		must(store_index_rows(f->store, &a, changes, n, rows, &err), &err);
		pool_fill(f, &a, rows, n);
		for (size_t i = 0; i < n; i++) {
			const struct embedding_text t = embedding_text(&a, &rows[i]);
			docs[i] = follow_doc(&rows[i]);
			if (t.text.n)
				vector_put(f, &docs[i], &t);
		}
		must(index_put(f->index, docs, n, &err), &err);
		f->read_seq = changes[n - 1].seq;
		index_set_seq(f->index, (uint64_t)f->read_seq);
		if (index_wants_flush(f->index))
			must(index_flush(f->index, false, &err), &err);
	}
}

static void fill(struct fill *f)
{
	struct err err;
	for (int64_t i = 0; i < f->count;) {
		must(store_begin(f->store, &err), &err);
		for (const int64_t end = MIN(i + BATCH, f->count); i < end; i++) {
			if (i % PER_SESSION == 0)
				session_start(f, i / PER_SESSION);
			memory_make(f, i);
		}
		must(store_commit(f->store, &err), &err);
		changes_take(f);
	}
	struct vectors_spans spans = { .n = 1, .at = { { 0, f->read_seq } } };
	vectors_set_spans(f->vectors, &spans);
	must(vectors_flush(f->vectors, &err), &err);
	must(index_flush(f->index, false, &err), &err);
}

static void open_all(struct fill *f, const char *home, const char *model)
{
	struct err err;
	bool needs_rebuild;
	const char *index = path_join(&f->arena, home, "index");
	must(file_mkdirs(index, 0700, &err), &err);
	must(store_open(arena_printf(&f->arena, "sqlite:%s/remanence.db", home), DB_CREATE, NULL,
		     &f->store, &err),
		&err);
	must(index_open(index, &f->index, &needs_rebuild, &err), &err);
	must(embedder_open(model, &f->embedder, &err), &err);
	f->vectors = vectors_new(path_join(&f->arena, index, "vectors"));
	must(vectors_load(f->vectors, embedder_id(f->embedder), VECTOR_DIMS, &err), &err);
	for (int i = 0; i < PROJECTS; i++) {
		char name[32];
		snprintf(name, sizeof(name), "project-%02d", i);
		must(store_project_create(f->store, name, &f->projects[i], &err), &err);
	}
}

int main(int argc, char **argv)
{
	struct fill *f = mem_alloc(sizeof(*f));
	if (argc < 5)
		die("usage: bench_fill HOME COUNT WORDS MODEL");
	f->count = atoll(argv[2]);
	words_read(f, argv[3]);
	open_all(f, argv[1], argv[4]);
	fill(f);
	vectors_free(f->vectors);
	index_close(f->index);
	store_close(f->store);
	embedder_close(f->embedder);
	arena_done(&f->arena);
	free(f);
	return 0;
}
