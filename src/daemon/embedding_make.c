/*
 * A page of changes and the vectors that it needs: one document after the other with the builtin
 * embedder, which stands back while there is other work, and many texts in a request with a server.
 * What a server made of memories is kept in the store, since it was paid for.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "daemon/embedding_parts.h"
#include "store/job.h"
#include "store/vector.h"

#define STEP_MS 5 /* of standing back */
#define US_PER_MS 1000
#define PIECE_BYTES 1200 /* of a text that is cut, for a server; most models read 512 tokens */
#define WHOLE_BYTES 6000
#define TEXTS_OF_DOC_MAX EMBEDDING_PIECES_MAX

_Static_assert(EMBEDDING_PIECES_MAX <= VECTORS_OF_DOC_MAX, "a document's pieces have room");

static void stand_back(struct embedding *e)
{
	for (unsigned ms = 0; ms < EMBEDDING_STAND_BACK_MS && e->setup.is_busy(e->setup.ctx);
		ms += STEP_MS)
		clock_sleep_us(STEP_MS * US_PER_MS);
}

/*
 * How much longer a batch took than it worked is how long others had the processor meanwhile. As
 * much is left to them again: the lowest priority is one among the daemon's own threads only where
 * the system gives each session its share (autogroups), and what this thread takes of the daemon's
 * is missing when a hook asks.
 */
struct pace {
	uint64_t wall_us, cpu_us; /* when the batch began; 0: none has */
};

static void give_back(const struct pace *p)
{
	const uint64_t wall = clock_mono_us() - p->wall_us, cpu = clock_cpu_us() - p->cpu_us;
	if (p->wall_us && wall > cpu + cpu / 4)
		clock_sleep_us(MIN(wall - cpu, EMBEDDING_GIVE_BACK_MS * (uint64_t)US_PER_MS));
}

/* Between two batches. */
static void rest_between(struct embedding *e, struct pace *p)
{
	give_back(p);
	stand_back(e);
	*p = (struct pace){ clock_mono_us(), clock_cpu_us() };
}

struct made {
	int8_t at[VECTORS_OF_DOC_MAX * VECTOR_DIMS];
	float scales[VECTORS_OF_DOC_MAX];
	size_t n;
};

/* The sum of a text's and its heading's vectors, in the place of the first. */
static void add_heading(struct made *m)
{
	float sum[VECTOR_DIMS];
	double squared = 0;
	for (size_t i = 0; i < VECTOR_DIMS; i++) {
		sum[i] = (float)m->at[i] * m->scales[0] +
			 EMBEDDING_HEADING * (float)m->at[VECTOR_DIMS + i] * m->scales[1];
		squared += (double)sum[i] * (double)sum[i];
	}
	float length = (float)sqrt(squared);
	for (size_t i = 0; length > 0 && i < VECTOR_DIMS; i++)
		sum[i] /= length;
	vector_pack(sum, m->at, m->scales);
}

/* False when there is no embedder any more. */
static bool make_whole(struct embedding *e, const struct embedding_text *t, struct made *ret)
{
	const struct str texts[] = { t->text, t->heading };
	size_t n = t->heading.n ? 2 : 1;
	pthread_rwlock_rdlock(&e->model_lock);
	bool is_there = e->now.builtin != NULL;
	if (is_there)
		embed_texts(e->now.builtin, texts, n, ret->at, ret->scales);
	pthread_rwlock_unlock(&e->model_lock);
	if (is_there && n > 1)
		add_heading(ret);
	ret->n = is_there;
	return is_there;
}

/* A batch at a time, so that nobody waits for all of a long text. */
static bool make_pieces(struct embedding *e, const struct page *p, const struct embedding_text *t,
	struct pace *pace, struct made *ret)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct embed_piece *pieces = NULL;
	size_t n = 0;
	bool is_there = true;
	for (ret->n = 0; is_there && (!pieces || ret->n < n);) {
		const size_t had = ret->n;
		if (had)
			rest_between(e, pace);
		pthread_rwlock_rdlock(&e->model_lock);
		is_there = e->now.builtin && e->now.room == p->room;
		if (is_there && !pieces)
			embed_pieces(
				e->now.builtin, &a, t->text, EMBEDDING_PIECES_MAX, &pieces, &n);
		const size_t count = is_there ? MIN(n - had, (size_t)EMBEDDING_BATCH) : 0;
		if (count)
			embed_piece_vectors(e->now.builtin, pieces + had, count,
				ret->at + had * VECTOR_DIMS, ret->scales + had);
		pthread_rwlock_unlock(&e->model_lock);
		ret->n += count;
		if (!n)
			break;
	}
	return is_there;
}

static bool make(struct embedding *e, const struct page *p, const struct embedding_text *t,
	struct pace *pace, struct made *ret)
{
	bool is_there = t->is_whole ? make_whole(e, t, ret) : make_pieces(e, p, t, pace, ret);
	atomic_fetch_add(&e->made, ret->n);
	return is_there;
}

static struct doc_columns columns_of(const struct index_row *row)
{
	return follow_doc(row).columns;
}

/* Which document a change is about; 0: none that has vectors. */
static doc_id id_of(const struct change *c)
{
	if (c->kind != CHANGE_EVENT && c->kind != CHANGE_MEMORY)
		return 0;
	return DOC_ID(c->kind == CHANGE_EVENT ? DOC_EVENT : DOC_MEMORY, c->id);
}

/* Puts a document's vectors, or removes it when there are none. -1: failed; 1: the page is out of date. */
static int doc_put(
	struct embedding *e, const struct page *p, const struct vectors_doc *doc, struct err *err)
{
	struct vectors *v = p->room->vectors;
	pthread_mutex_lock(&e->putting);
	int result = e->era != p->era ? 1 : 0;
	if (!result && doc->n)
		result = vectors_put(v, doc, err);
	else if (!result)
		vectors_remove(v, doc->id);
	pthread_mutex_unlock(&e->putting);
	return result;
}

/* --- Builtin. --- */

/* Where a page stands between two rests. */
struct work_done {
	struct pace pace;
	size_t vectors;
};

static int row_embed(
	struct embedding *e, struct page *p, size_t i, struct work_done *done, struct err *err)
{
	struct made made;
	AUTO(arena_done) struct arena a = { 0 };
	doc_id id = id_of(&p->changes[i]);
	if (!id)
		return 0;
	struct embedding_text text = embedding_text(&a, &p->rows[i]);
	struct doc_columns columns = columns_of(&p->rows[i]);
	if (text.text.n && vectors_keep(p->room->vectors, id, text.hash, &columns))
		return 0;
	made.n = 0;
	if (text.text.n) {
		if (done->vectors >= EMBEDDING_BATCH) {
			rest_between(e, &done->pace);
			done->vectors = 0;
		}
		if (!make(e, p, &text, &done->pace, &made))
			return 1;
		done->vectors += made.n;
	}
	struct vectors_doc doc = { id, columns, text.hash, (uint32_t)made.n, made.at, made.scales };
	return doc_put(e, p, &doc, err);
}

static int page_builtin(struct embedding *e, struct page *p, struct err *err)
{
	struct work_done done = { .vectors = EMBEDDING_BATCH };
	int result = 0;
	for (size_t i = 0; i < p->n && !result; i++)
		result = embedding_is_closing(e) ? 1 : row_embed(e, p, i, &done, err);
	return result;
}

/* --- A server. --- */

struct todo {
	doc_id id;
	struct doc_columns columns;
	uint32_t hash;
	bool is_paid, has_heading;
	size_t first, ntexts; /* of the page's */
	struct paid_vector paid;
};

struct batch {
	struct embedding *e;
	struct page *page;
	char embedder[REMOTE_ID_MAX + 16];
	struct todo *todos;
	struct str *texts;
	size_t n, ntexts, ntexts_cap;
};

/* The end of a piece: at a line's end, else a word's, when one is near. */
static size_t piece_end(struct str t)
{
	static const char *const ends = "\n ";
	size_t n = utf8_cut(t.p, t.n, PIECE_BYTES);
	if (n == t.n)
		return n;
	for (const char *end = ends; *end; end++)
		for (size_t i = n; i > n / 2; i--)
			if (t.p[i - 1] == *end)
				return i;
	return n;
}

static void texts_add(struct batch *b, struct todo *t, const struct embedding_text *text)
{
	struct arena *a = &b->page->arena;
	struct str rest = text->text;
	t->first = b->ntexts;
	if (text->is_whole) {
		rest.n = utf8_cut(rest.p, rest.n, WHOLE_BYTES);
		ARENA_PUSH(a, b->texts, b->ntexts, b->ntexts_cap, rest);
		if (text->heading.n)
			ARENA_PUSH(a, b->texts, b->ntexts, b->ntexts_cap, text->heading);
		t->has_heading = text->heading.n > 0;
	}
	while (!text->is_whole && rest.n && b->ntexts - t->first < TEXTS_OF_DOC_MAX) {
		struct str piece = { rest.p, piece_end(rest) };
		rest = (struct str){ rest.p + piece.n, rest.n - piece.n };
		if (str_trim(piece).n)
			ARENA_PUSH(a, b->texts, b->ntexts, b->ntexts_cap, piece);
	}
	t->ntexts = b->ntexts - t->first;
}

/* What the page needs, and what of it was paid for already. */
static int batch_collect(struct batch *b, struct err *err)
{
	struct page *p = b->page;
	struct reader *reader;
	int result = 0;
	b->todos = ARENA_ARRAY(&p->arena, struct todo, p->n);
	if (readers_lend(b->e->setup.readers, &reader, err))
		return -1;
	for (size_t i = 0; i < p->n && result >= 0; i++) {
		doc_id id = id_of(&p->changes[i]);
		if (!id)
			continue;
		struct embedding_text text = embedding_text(&p->arena, &p->rows[i]);
		struct todo *t = &b->todos[b->n];
		*t = (struct todo){
			.id = id, .columns = columns_of(&p->rows[i]), .hash = text.hash
		};
		if (text.text.n && vectors_keep(p->room->vectors, id, text.hash, &t->columns))
			continue;
		b->n++;
		if (DOC_CLASS(id) == DOC_MEMORY && text.text.n)
			result = store_vector_get(
				reader->store, &p->arena, b->embedder, DOC_ROW(id), &t->paid, err);
		t->is_paid = result > 0 && t->paid.hash == text.hash &&
			     t->paid.dims == VECTOR_ROUND(p->dims) &&
			     t->paid.n <= VECTORS_OF_DOC_MAX;
		if (text.text.n && !t->is_paid)
			texts_add(b, t, &text);
	}
	readers_return(b->e->setup.readers, reader);
	return result < 0 ? -1 : 0;
}

/* The sum of a text and, half as much, its heading, in the place of the first. */
static void heading_add(float *v, const float *heading, size_t dims)
{
	double squared = 0;
	for (size_t i = 0; i < dims; i++) {
		v[i] += EMBEDDING_HEADING * heading[i];
		squared += (double)v[i] * (double)v[i];
	}
	for (size_t i = 0; squared > 0 && i < dims; i++)
		v[i] = (float)(v[i] / sqrt(squared));
}

/* A todo's vectors as they are stored; those without a direction are left out. */
static void todo_pack(const struct batch *b, struct todo *t, float *made)
{
	size_t dims = b->page->dims, wide = VECTOR_ROUND(dims), n = t->has_heading ? 1 : t->ntexts;
	int8_t *at = arena_alloc(&b->page->arena, n * wide);
	float *scales = ARENA_ARRAY(&b->page->arena, float, n);
	uint32_t kept = 0;
	if (t->has_heading)
		heading_add(made, made + dims, dims);
	for (size_t i = 0; i < n; i++) {
		vector_pack_wide(made + i * dims, dims, at + kept * wide, &scales[kept]);
		kept += scales[kept] > 0;
	}
	t->paid = (struct paid_vector){ DOC_CLASS(t->id) == DOC_MEMORY ? DOC_ROW(t->id) : 0,
		t->hash, kept, (uint32_t)wide, scales, at };
}

static int paid_run(struct desk *desk, void *ctx, struct err *err)
{
	struct batch *b = ctx;
	for (size_t i = 0; i < b->n; i++) {
		const struct todo *t = &b->todos[i];
		if (!t->is_paid && t->paid.memory && t->paid.n &&
			store_vector_put(desk->store, b->embedder, &t->paid, err))
			return -1;
	}
	return 0;
}

int embedding_remote_make(struct embedding *e, const struct str *texts, size_t n,
	struct buf *vectors, uint32_t *ret_dims, struct err *err)
{
	pthread_rwlock_rdlock(&e->model_lock);
	struct embed_remote *r = e->now.remote;
	int result = r ? embed_remote_make(r, texts, n, &e->stop, vectors, err) : 1;
	*ret_dims = r ? embed_remote_dims(r) : 0;
	pthread_rwlock_unlock(&e->model_lock);
	return result;
}

static int batch_make(struct batch *b, struct err *err)
{
	AUTO(buf_done) struct buf made = { 0 };
	struct embedding *e = b->e;
	uint32_t dims = 0;
	if (!b->ntexts)
		return 0;
	int result = embedding_remote_make(e, b->texts, b->ntexts, &made, &dims, err);
	if (result)
		return result;
	/* Another model stands behind the name now. */
	if (dims != b->page->dims) {
		embedding_load_remote(e, dims);
		return 1;
	}
	for (size_t i = 0; i < b->n; i++)
		if (b->todos[i].ntexts)
			todo_pack(b, &b->todos[i],
				(float *)(void *)made.data + b->todos[i].first * dims);
	atomic_fetch_add(&e->made, b->ntexts);
	return writer_run(e->setup.writer, LANE_BACKGROUND, paid_run, b, err);
}

static int page_remote(struct embedding *e, struct page *p, struct err *err)
{
	struct batch b = { .e = e, .page = p };
	pthread_rwlock_rdlock(&e->model_lock);
	snprintf(b.embedder, sizeof(b.embedder), "%s@%u",
		e->now.remote ? embed_remote_id(e->now.remote) : "", p->dims);
	pthread_rwlock_unlock(&e->model_lock);
	int result = batch_collect(&b, err);
	if (!result)
		result = batch_make(&b, err);
	for (size_t i = 0; i < b.n && !result; i++) {
		const struct todo *t = &b.todos[i];
		struct vectors_doc doc = { t->id, t->columns, t->hash, t->paid.n, t->paid.at,
			t->paid.scales };
		if (!t->is_paid && !t->ntexts)
			doc.n = 0;
		result = doc_put(e, p, &doc, err);
	}
	return result;
}

int embedding_make_page(struct embedding *e, struct page *p, struct err *err)
{
	return p->is_remote ? page_remote(e, p, err) : page_builtin(e, p, err);
}

/* --- The record of requests. --- */

struct call_work {
	struct work work;
	struct model_call call;
	char provider[32], model[REMOTE_ID_MAX], detail[ERR_TEXT_MAX];
};

static int call_run(struct desk *desk, struct work *work, struct err *err)
{
	return store_call_put(desk->store, &((struct call_work *)(void *)work)->call, err);
}

static void call_done(struct work *work, int result, int64_t seq, const struct err *err)
{
	if (result)
		log_warn("a request to the embedding server could not be recorded: %s", err->text);
	free(work);
}

static int nothing_run(struct desk *desk, void *ctx, struct err *err)
{
	return 0;
}

void embedding_calls_end(struct embedding *e)
{
	if (atomic_load(&e->has_called))
		writer_run(e->setup.writer, LANE_BACKGROUND, nothing_run, NULL, NULL);
}

void embedding_called(void *embedding, const struct embed_call *call)
{
	struct embedding *e = embedding;
	const struct remote_result *r = call->result;
	struct call_work *w = mem_alloc(sizeof(*w));
	snprintf(w->provider, sizeof(w->provider), "%s", call->provider);
	snprintf(w->model, sizeof(w->model), "%s", call->model);
	snprintf(w->detail, sizeof(w->detail), "%s", r->detail);
	w->call = (struct model_call){ .kind = JOB_EMBED,
		.at = clock_now() - r->total_ms,
		.provider = w->provider,
		.model = w->model,
		.units = (int64_t)call->texts,
		.bytes_in = (int64_t)call->bytes,
		.tokens_in = r->tokens_in,
		.tokens_out = 0,
		.queue_ms = -1,
		.connect_ms = r->connect_ms,
		.first_byte_ms = r->first_byte_ms,
		.total_ms = r->total_ms,
		.outcome = r->outcome,
		.detail = w->detail };
	w->work = (struct work){
		.lane = LANE_BACKGROUND, .bytes = sizeof(*w), .run = call_run, .done = call_done
	};
	atomic_store(&e->has_called, true);
	if (writer_put(e->setup.writer, &w->work, NULL))
		free(w);
}
