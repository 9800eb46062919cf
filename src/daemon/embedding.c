#include "daemon/embedding.h"

#include <errno.h>
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "daemon/embedding_text.h"
#include "embed/embedder.h"
#include "embed/model.h"

/*
 * The spans of changes that were done are kept with the vectors. The thread works down from the
 * newest change to the next span, so that a history of any length and what comes meanwhile need no
 * queue. Whatever is forgotten raises `era`: vectors of texts that were read before are dropped.
 */

#define MEAN_ZEROS 100 /* what the mean of a small store is shrunk by */
#define NICEST 19
#define RETRY_MS 5000 /* after a failure of the store or of the disk */
#define LATER_MS 50   /* until the index has followed */
#define STEP_MS 20    /* of standing back */
#define EXE_MAX 4096

struct embedding {
	struct embedding_setup setup;
	struct vectors *vectors;
	pthread_t thread;
	pthread_mutex_t mutex; /* of what follows */
	pthread_cond_t wake;
	bool is_closing, is_poked;
	bool is_chosen;  /* it is known whether there is a model */
	bool is_settled; /* nothing is left to do */
	int64_t waiting;
	char why[ERR_TEXT_MAX], hint[ERR_TEXT_MAX], file[1024], trouble[ERR_TEXT_MAX];
	pthread_mutex_t putting; /* around looking at the era and putting */
	uint64_t era;
	pthread_rwlock_t model_lock; /* changing the embedder takes it for writing */
	struct embedder *embedder;
	pthread_mutex_t choosing; /* one at a time looks for a model */
	bool is_loaded;           /* the vectors, under choosing */
	_Atomic uint64_t made, asked_us;
	bool is_tidy;             /* the thread's own: orphans were purged once */
};

/* --- The model. --- */

static const char *exe_path(struct arena *a)
{
	char path[EXE_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	return n > 0 ? arena_dup(a, path, (size_t)n) : NULL;
}

static const char *model_file(struct embedding *e, struct arena *a)
{
	const char *places[MODEL_PLACES];
	size_t n = model_places(a, e->setup.home, exe_path(a), places);
	return model_find(places, n);
}

static void say_why(struct embedding *e, const char *file, const struct err *err)
{
	pthread_mutex_lock(&e->mutex);
	bool is_news = strcmp(e->why, err->text) != 0;
	snprintf(e->why, sizeof(e->why), "%s", err->text);
	snprintf(e->hint, sizeof(e->hint), "%s", err->hint);
	snprintf(e->file, sizeof(e->file), "%s", file ? file : "");
	pthread_mutex_unlock(&e->mutex);
	if (is_news && *err->text)
		log_info("%s", err->text);
}

static bool is_switched_off(struct embedding *e)
{
	const char *provider = settings_text(current_settings(e->setup.current), SET_EMBED_PROVIDER);
	return provider && !strcmp(provider, "none");
}

static struct embedder *model_open_best(struct embedding *e, struct arena *a, const char **ret_file, struct err *err)
{
	struct embedder *made = NULL;
	*ret_file = NULL;
	if (is_switched_off(e)) {
		err_set(err, ERR_NOT_FOUND, "vectors: off (the setting embed.provider is 'none')");
		err_hint(err, "remanence config set embed.provider builtin");
		return NULL;
	}
	*ret_file = model_file(e, a);
	if (!*ret_file) {
		err_set(err, ERR_NOT_FOUND, "vectors: off (no model file)");
		err_hint(err, "get it with tools/model-get, then: remanence model install FILE");
		return NULL;
	}
	return embedder_open(*ret_file, &made, err) ? NULL : made;
}

/* What was read of the store for the vectors as they were before is out of date then. */
static void load(struct embedding *e, const char *model)
{
	struct err err;
	pthread_mutex_lock(&e->putting);
	e->era++;
	if ((e->is_loaded && vectors_flush(e->vectors, &err)) || vectors_load(e->vectors, model, VECTOR_DIMS, &err))
		log_error("vectors cannot be kept: %s", err.text);
	e->is_loaded = true;
	pthread_mutex_unlock(&e->putting);
}

/* Opens the model that is there, or none, in the place of the one in use; then the vectors that are its. */
static void model_choose(struct embedding *e)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct err err = { 0 };
	const char *file;
	pthread_mutex_lock(&e->choosing);
	struct embedder *made = model_open_best(e, &a, &file, &err);
	if (!e->is_loaded || made)
		load(e, made ? embedder_id(made) : NULL);
	say_why(e, file, &err);
	pthread_rwlock_wrlock(&e->model_lock);
	struct embedder *old = e->embedder;
	e->embedder = made;
	pthread_rwlock_unlock(&e->model_lock);
	embedder_close(old);
	pthread_mutex_lock(&e->mutex);
	e->is_chosen = true;
	pthread_mutex_unlock(&e->mutex);
	pthread_mutex_unlock(&e->choosing);
}

static bool has_model(struct embedding *e)
{
	pthread_rwlock_rdlock(&e->model_lock);
	bool is_there = e->embedder != NULL;
	pthread_rwlock_unlock(&e->model_lock);
	return is_there;
}

/* What is in use is what should be: nothing was installed, removed or switched meanwhile. */
static bool model_is_right(struct embedding *e)
{
	AUTO(arena_done) struct arena a = { 0 };
	const char *file = is_switched_off(e) ? NULL : model_file(e, &a);
	pthread_mutex_lock(&e->mutex);
	bool is_same = !strcmp(e->file, file ? file : "");
	pthread_mutex_unlock(&e->mutex);
	return is_same;
}

/* --- One page of changes. --- */

struct page {
	struct arena arena;
	struct change *changes;
	struct index_row *rows;
	size_t n;
	uint64_t era;
};

static int page_read(struct embedding *e, struct page *p, const struct vectors_span *gap, struct err *err)
{
	struct reader *reader;
	if (readers_lend(e->setup.readers, &reader, err))
		return -1;
	struct change_range range = { gap->low, gap->high, EMBEDDING_PAGE };
	int result = store_changes_down(reader->store, &p->arena, &range, &p->changes, &p->n, err);
	if (!result && p->n) {
		p->rows = ARENA_ARRAY(&p->arena, struct index_row, p->n);
		result = store_index_rows(reader->store, &p->arena, p->changes, p->n, p->rows, err);
	}
	readers_return(e->setup.readers, reader);
	return result;
}

static bool is_closing(struct embedding *e)
{
	pthread_mutex_lock(&e->mutex);
	bool is = e->is_closing;
	pthread_mutex_unlock(&e->mutex);
	return is;
}

static void wait_ms(struct embedding *e, unsigned ms)
{
	struct timespec end;
	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += ms / 1000;
	end.tv_nsec += (long)(ms % 1000) * 1000000;
	if (end.tv_nsec >= 1000000000) {
		end.tv_sec++;
		end.tv_nsec -= 1000000000;
	}
	pthread_cond_timedwait(&e->wake, &e->mutex, &end);
}

static void stand_back(struct embedding *e)
{
	for (unsigned ms = 0; ms < EMBEDDING_STAND_BACK_MS && e->setup.is_busy(e->setup.ctx); ms += STEP_MS) {
		struct timespec step = { .tv_nsec = STEP_MS * 1000000l };
		nanosleep(&step, NULL);
	}
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
		sum[i] = (float)m->at[i] * m->scales[0] + EMBEDDING_HEADING * (float)m->at[VECTOR_DIMS + i] * m->scales[1];
		squared += (double)sum[i] * (double)sum[i];
	}
	float length = (float)sqrt(squared);
	for (size_t i = 0; length > 0 && i < VECTOR_DIMS; i++)
		sum[i] /= length;
	vector_pack(sum, m->at, m->scales);
}

/* False when there is no embedder any more. */
static bool make(struct embedding *e, struct arena *a, const struct embedding_text *t, struct made *ret)
{
	struct embed_piece *pieces = NULL;
	ret->n = 0;
	pthread_rwlock_rdlock(&e->model_lock);
	bool is_there = e->embedder != NULL;
	if (is_there && t->is_whole) {
		const struct str texts[] = { t->text, t->heading };
		size_t n = t->heading.n ? 2 : 1;
		embed_texts(e->embedder, texts, n, ret->at, ret->scales);
		if (n > 1)
			add_heading(ret);
		ret->n = 1;
	} else if (is_there) {
		embed_pieces(e->embedder, a, t->text, EMBEDDING_PIECES_MAX, &pieces, &ret->n);
		embed_piece_vectors(e->embedder, pieces, ret->n, ret->at, ret->scales);
	}
	pthread_rwlock_unlock(&e->model_lock);
	atomic_fetch_add(&e->made, ret->n);
	return is_there;
}

static struct doc_columns columns_of(const struct index_row *row)
{
	return follow_doc(row).columns;
}

/* -1: failed; 1: the page is out of date. */
static int row_embed(struct embedding *e, struct page *p, size_t i, size_t *since_rest, struct err *err)
{
	struct made made;
	AUTO(arena_done) struct arena a = { 0 };
	const struct index_row *row = &p->rows[i];
	if (p->changes[i].kind != CHANGE_EVENT && p->changes[i].kind != CHANGE_MEMORY)
		return 0;
	doc_id id = DOC_ID(p->changes[i].kind == CHANGE_EVENT ? DOC_EVENT : DOC_MEMORY, p->changes[i].id);
	struct embedding_text text = embedding_text(&a, row);
	struct doc_columns columns = columns_of(row);
	if (text.text.n && vectors_keep(e->vectors, id, text.hash, &columns))
		return 0;
	made.n = 0;
	if (text.text.n) {
		if (*since_rest >= EMBEDDING_BATCH) {
			stand_back(e);
			*since_rest = 0;
		}
		if (!make(e, &a, &text, &made))
			return 1;
		*since_rest += made.n;
	}
	struct vectors_doc doc = { id, columns, text.hash, (uint32_t)made.n, made.at, made.scales };
	pthread_mutex_lock(&e->putting);
	int result = e->era != p->era ? 1 : 0;
	if (!result && made.n)
		result = vectors_put(e->vectors, &doc, err);
	else if (!result)
		vectors_remove(e->vectors, id);
	pthread_mutex_unlock(&e->putting);
	return result;
}

/* --- Spans. --- */

static void spans_merge(struct vectors_spans *s)
{
	while (s->n > 1 && s->at[0].low <= s->at[1].high) {
		s->at[0].low = MIN(s->at[0].low, s->at[1].low);
		memmove(s->at + 1, s->at + 2, (s->n - 2) * sizeof(*s->at));
		s->n--;
	}
}

/* Begins a span at the newest change, unless there is one. */
static void spans_start(struct vectors_spans *s, int64_t last)
{
	if (s->n && s->at[0].high >= last)
		return;
	s->n = MIN(s->n, (size_t)VECTORS_SPANS_MAX - 1);
	memmove(s->at + 1, s->at, s->n * sizeof(*s->at));
	s->at[0] = (struct vectors_span){ last, last };
	s->n++;
	spans_merge(s);
}

static struct vectors_span spans_gap(const struct vectors_spans *s)
{
	return (struct vectors_span){ s->n > 1 ? s->at[1].high : 0, s->at[0].low };
}

static int64_t spans_waiting(const struct vectors_spans *s, int64_t last)
{
	int64_t done = 0;
	for (size_t i = 0; i < s->n; i++)
		done += s->at[i].high - s->at[i].low;
	return MAX(last - done, (int64_t)0);
}

/* --- The thread. --- */

enum page_result {
	PAGE_DONE,  /* there may be more */
	PAGE_NONE,  /* nothing is left */
	PAGE_LATER, /* nothing that the index holds already */
	PAGE_FAILED
};

static enum page_result page_do(struct embedding *e, struct err *err)
{
	struct page p = { 0 };
	struct follow_state follow;
	struct vectors_spans spans;
	size_t since_rest = EMBEDDING_BATCH;
	pthread_mutex_lock(&e->putting);
	p.era = e->era;
	vectors_spans(e->vectors, &spans);
	pthread_mutex_unlock(&e->putting);
	follow_state(e->setup.follow, &follow);
	if (spans.n && spans.at[0].high > follow.last) /* of another store */
		spans.n = 0;
	spans_start(&spans, follow.seq);
	struct vectors_span gap = spans_gap(&spans);
	pthread_mutex_lock(&e->mutex);
	e->waiting = spans_waiting(&spans, follow.last);
	pthread_mutex_unlock(&e->mutex);
	if (gap.high <= gap.low)
		return follow.seq < follow.last ? PAGE_LATER : PAGE_NONE;
	int result = page_read(e, &p, &gap, err);
	for (size_t i = 0; i < p.n && !result; i++)
		result = is_closing(e) ? 1 : row_embed(e, &p, i, &since_rest, err);
	if (!result) {
		spans.at[0].low = p.n < EMBEDDING_PAGE ? gap.low : p.changes[p.n - 1].seq - 1;
		spans_merge(&spans);
		pthread_mutex_lock(&e->putting);
		if (e->era == p.era)
			vectors_set_spans(e->vectors, &spans);
		pthread_mutex_unlock(&e->putting);
	}
	arena_done(&p.arena);
	return result < 0 ? PAGE_FAILED : PAGE_DONE;
}

static bool is_alive(void *ctx, doc_id id)
{
	return index_has(ctx, id);
}

/* What was removed while nobody looked, once a start. */
static void tidy(struct embedding *e)
{
	struct follow_state follow;
	struct err err;
	follow_state(e->setup.follow, &follow);
	if (e->is_tidy || follow.is_filling || follow.is_stuck || follow.seq < follow.last)
		return;
	e->is_tidy = true;
	if (vectors_purge(e->vectors, is_alive, follow_index(e->setup.follow), &err))
		log_warn("vectors of what is gone could not be removed: %s", err.text);
}

static void rest(struct embedding *e)
{
	struct err err;
	if (vectors_flush(e->vectors, &err))
		log_warn("vectors cannot be written: %s", err.text);
	pthread_rwlock_rdlock(&e->model_lock);
	if (e->embedder)
		embedder_rest(e->embedder);
	pthread_rwlock_unlock(&e->model_lock);
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}

static void complain(struct embedding *e, const struct err *err)
{
	bool is_news = strcmp(e->trouble, err->text) != 0;
	snprintf(e->trouble, sizeof(e->trouble), "%s", err->text);
	if (is_news && *err->text)
		log_warn("embedding is held up: %s", err->text);
}

/* Waits until poked, at most so long; true when poked. Under the mutex. */
static bool sleep_ms(struct embedding *e, unsigned ms)
{
	uint64_t end = clock_mono_us() + ms * 1000ull, now;
	while (!e->is_poked && !e->is_closing && (now = clock_mono_us()) < end)
		wait_ms(e, (unsigned)((end - now) / 1000) + 1);
	bool was_poked = e->is_poked;
	e->is_poked = false;
	return was_poked;
}

/* What comes after a page that left nothing: sleep, and after a while rest. */
static void settle(struct embedding *e)
{
	tidy(e);
	pthread_mutex_lock(&e->mutex);
	e->is_settled = !e->is_poked;
	bool was_poked = sleep_ms(e, EMBEDDING_FLUSH_MS);
	pthread_mutex_unlock(&e->mutex);
	if (was_poked || is_closing(e))
		return;
	rest(e);
	for (;;) {
		pthread_mutex_lock(&e->mutex);
		uint64_t asked = atomic_load(&e->asked_us);
		was_poked = sleep_ms(e, EMBEDDING_LOOK_MS);
		bool is_over = was_poked || e->is_closing;
		pthread_mutex_unlock(&e->mutex);
		if (is_over || !model_is_right(e))
			return;
		if (atomic_load(&e->asked_us) != asked)
			rest(e);
	}
}

static void round_do(struct embedding *e)
{
	struct err err = { 0 };
	if (!model_is_right(e))
		model_choose(e);
	if (!has_model(e)) {
		pthread_mutex_lock(&e->mutex);
		e->is_settled = !e->is_poked;
		e->waiting = 0;
		sleep_ms(e, EMBEDDING_LOOK_MS);
		pthread_mutex_unlock(&e->mutex);
		return;
	}
	static const unsigned sleeps[] = { [PAGE_LATER] = LATER_MS, [PAGE_FAILED] = RETRY_MS };
	enum page_result result = page_do(e, &err);
	pthread_mutex_lock(&e->mutex);
	complain(e, &err);
	if (sleeps[result])
		sleep_ms(e, sleeps[result]);
	pthread_mutex_unlock(&e->mutex);
	if (result == PAGE_NONE)
		settle(e);
}

static void *embedding_main(void *arg)
{
	struct embedding *e = arg;
	setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICEST);
	model_choose(e);
	while (!is_closing(e))
		round_do(e);
	return NULL;
}

struct embedding *embedding_new(const struct embedding_setup *setup)
{
	struct embedding *e = mem_alloc(sizeof(*e));
	e->setup = *setup;
	e->vectors = vectors_new(setup->dir);
	pthread_mutex_init(&e->mutex, NULL);
	pthread_mutex_init(&e->putting, NULL);
	pthread_mutex_init(&e->choosing, NULL);
	pthread_cond_init(&e->wake, NULL);
	pthread_rwlock_init(&e->model_lock, NULL);
	if (pthread_create(&e->thread, NULL, embedding_main, e))
		die("cannot start the embedding thread");
	return e;
}

void embedding_free(struct embedding *e)
{
	if (!e)
		return;
	pthread_mutex_lock(&e->mutex);
	e->is_closing = true;
	pthread_cond_broadcast(&e->wake);
	pthread_mutex_unlock(&e->mutex);
	pthread_join(e->thread, NULL);
	rest(e);
	vectors_free(e->vectors);
	embedder_close(e->embedder);
	pthread_mutex_destroy(&e->mutex);
	pthread_mutex_destroy(&e->putting);
	pthread_mutex_destroy(&e->choosing);
	pthread_cond_destroy(&e->wake);
	pthread_rwlock_destroy(&e->model_lock);
	free(e);
}

void embedding_wake(struct embedding *e)
{
	pthread_mutex_lock(&e->mutex);
	e->is_poked = true;
	e->is_settled = false;
	pthread_cond_signal(&e->wake);
	pthread_mutex_unlock(&e->mutex);
}

struct vectors *embedding_vectors(struct embedding *e)
{
	return e->vectors;
}

bool embedding_ask(struct embedding *e, struct str text, struct vector_query *ret, char *why)
{
	int8_t at[VECTOR_DIMS];
	float scale, mean[VECTOR_DIMS_MAX];
	text = str_trim((struct str){ text.p, utf8_cut(text.p, text.n, EMBEDDING_QUESTION_MAX) });
	pthread_rwlock_rdlock(&e->model_lock);
	bool is_there = e->embedder != NULL && text.n;
	if (is_there)
		embed_texts(e->embedder, &text, 1, at, &scale);
	pthread_rwlock_unlock(&e->model_lock);
	bool can = is_there && vectors_mean(e->vectors, MEAN_ZEROS, mean);
	if (can) {
		atomic_store(&e->asked_us, clock_mono_us());
		vector_query_init(ret, VECTOR_DIMS, at, scale, mean);
	} else if (why) {
		pthread_mutex_lock(&e->mutex);
		snprintf(why, ERR_TEXT_MAX, "%s", is_there || !*e->why ? "vectors: nothing is embedded yet" : e->why);
		pthread_mutex_unlock(&e->mutex);
	}
	return can;
}

static void era_raise(struct embedding *e, bool restarts)
{
	pthread_mutex_lock(&e->putting);
	e->era++;
	if (restarts)
		vectors_set_spans(e->vectors, &(struct vectors_spans){ 0 });
	pthread_mutex_unlock(&e->putting);
}

/* The files hold what was forgotten whether they were loaded or not. */
static void load_first(struct embedding *e)
{
	pthread_mutex_lock(&e->choosing);
	if (!e->is_loaded)
		load(e, NULL);
	pthread_mutex_unlock(&e->choosing);
}

int embedding_purge(struct embedding *e, struct err *err)
{
	struct follow_state follow;
	load_first(e);
	follow_state(e->setup.follow, &follow);
	era_raise(e, false);
	int result = follow.is_filling || follow.is_stuck ?
			     vectors_clear(e->vectors, err) :
			     vectors_purge(e->vectors, is_alive, follow_index(e->setup.follow), err);
	embedding_wake(e);
	return result;
}

void embedding_restart(struct embedding *e)
{
	load_first(e);
	era_raise(e, true);
	embedding_wake(e);
}

int embedding_install(struct embedding *e, const char *file, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	const char *found = file ? file : model_file(e, &a);
	if (!found) {
		err_set(err, ERR_NOT_FOUND, "there is no model file to install");
		return err_hint(err, "get it with tools/model-get, then: remanence model install FILE");
	}
	if (file ? model_install(file, path_join(&a, e->setup.home, "model"), err) : model_check(found, err))
		return -1;
	model_choose(e);
	embedding_wake(e);
	return 0;
}

int embedding_remove(struct embedding *e, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	const char *path = path_join(&a, path_join(&a, e->setup.home, "model"), MODEL_FILE);
	if (!file_exists(path)) {
		const char *found = model_file(e, &a);
		err_set(err, ERR_NOT_FOUND, "there is no model file '%s'", path);
		return found ? err_hint(err, "the one in use is '%s'; remove it yourself, or switch vectors off: "
					     "remanence config set embed.provider none", found) : -1;
	}
	if (unlink(path))
		return err_set(err, ERR_IO, "cannot remove '%s': %s", path, strerror(errno));
	model_choose(e);
	embedding_wake(e);
	return 0;
}

void embedding_state(struct embedding *e, struct embedding_state *ret)
{
	*ret = (struct embedding_state){ 0 };
	pthread_rwlock_rdlock(&e->model_lock);
	ret->is_on = e->embedder != NULL;
	if (ret->is_on) {
		snprintf(ret->model, sizeof(ret->model), "%s", embedder_id(e->embedder));
		snprintf(ret->kernel, sizeof(ret->kernel), "%s", embedder_kernel(e->embedder));
	}
	pthread_rwlock_unlock(&e->model_lock);
	ret->made = atomic_load(&e->made);
	pthread_mutex_lock(&e->mutex);
	memcpy(ret->why, e->why, sizeof(ret->why));
	memcpy(ret->hint, e->hint, sizeof(ret->hint));
	memcpy(ret->file, e->file, sizeof(ret->file));
	memcpy(ret->trouble, e->trouble, sizeof(ret->trouble));
	ret->waiting = ret->is_on || !e->is_chosen ? MAX(e->waiting, (int64_t)!e->is_settled) : 0;
	pthread_mutex_unlock(&e->mutex);
}

bool embedding_is_idle(struct embedding *e)
{
	struct embedding_state state;
	embedding_state(e, &state);
	return !state.waiting;
}
