#include "daemon/embedding_parts.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
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
/* --- One page of changes. --- */

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

bool embedding_is_closing(struct embedding *e)
{
	pthread_mutex_lock(&e->mutex);
	bool is = e->is_closing;
	pthread_mutex_unlock(&e->mutex);
	return is;
}

static void wait_ms(struct embedding *e, unsigned ms)
{
	struct timespec end = clock_after_us(ms * 1000ull);
	pthread_cond_timedwait(&e->wake, &e->mutex, &end);
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
	pthread_mutex_lock(&e->putting);
	struct generation now = embedding_now(e);
	struct vectors *v = now.room->vectors;
	p.room = now.room;
	p.dims = now.dims;
	p.is_remote = now.remote != NULL;
	p.era = e->era;
	vectors_spans(v, &spans);
	pthread_mutex_unlock(&e->putting);
	follow_state(e->setup.follow, &follow);
	if (spans.n && spans.at[0].high > follow.last) /* of another store */
		spans.n = 0;
	spans_start(&spans, follow.seq);
	struct vectors_span gap = spans_gap(&spans);
	pthread_mutex_lock(&e->mutex);
	e->waiting = spans_waiting(&spans, follow.last);
	pthread_mutex_unlock(&e->mutex);
	e->filled = now.room;
	if (gap.high <= gap.low)
		return follow.seq < follow.last ? PAGE_LATER : PAGE_NONE;
	int result = page_read(e, &p, &gap, err);
	if (!result)
		result = embedding_make_page(e, &p, err);
	if (!result) {
		spans.at[0].low = p.n < EMBEDDING_PAGE ? gap.low : p.changes[p.n - 1].seq - 1;
		spans_merge(&spans);
		pthread_mutex_lock(&e->putting);
		if (e->era == p.era)
			vectors_set_spans(v, &spans);
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
	if (vectors_purge(embedding_now(e).room->vectors, is_alive, follow_index(e->setup.follow), &err))
		log_warn("vectors of what is gone could not be removed: %s", err.text);
}

static void rest(struct embedding *e)
{
	embedding_flush(e);
	pthread_rwlock_rdlock(&e->model_lock);
	if (e->now.builtin)
		embedder_rest(e->now.builtin);
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
	embedding_retire_old(e, e->filled);
	pthread_mutex_lock(&e->mutex);
	e->is_settled = !e->is_poked;
	bool was_poked = sleep_ms(e, EMBEDDING_FLUSH_MS);
	pthread_mutex_unlock(&e->mutex);
	if (was_poked || embedding_is_closing(e))
		return;
	rest(e);
	for (;;) {
		pthread_mutex_lock(&e->mutex);
		uint64_t asked = atomic_load(&e->asked_us);
		was_poked = sleep_ms(e, EMBEDDING_LOOK_MS);
		bool is_over = was_poked || e->is_closing;
		pthread_mutex_unlock(&e->mutex);
		if (is_over || !embedding_is_right(e))
			return;
		if (atomic_load(&e->asked_us) != asked)
			rest(e);
	}
}

/* Nothing can be done for so long, unless something changes. */
static void pause_ms(struct embedding *e, int64_t ms, const struct err *err)
{
	pthread_mutex_lock(&e->mutex);
	e->is_paused = true;
	if (err)
		complain(e, err);
	sleep_ms(e, (unsigned)MIN(ms, (int64_t)EMBEDDING_LOOK_MS));
	pthread_mutex_unlock(&e->mutex);
}

/* Finds out how many numbers a server's vectors have, with a text that says nothing of anybody. */
static int dims_find(struct embedding *e, struct err *err)
{
	AUTO(buf_done) struct buf made = { 0 };
	struct str text = STR("dimension");
	uint32_t dims;
	int result = embedding_remote_make(e, &text, 1, &made, &dims, err);
	if (!result)
		embedding_load_remote(e, dims);
	return result < 0 ? -1 : 0;
}

/* False when the server is not to be asked now; it was slept then. */
static bool remote_is_ready(struct embedding *e)
{
	struct err err = { 0 };
	int64_t wait = embedding_remote_wait(e);
	if (wait > 0) {
		pause_ms(e, wait, NULL);
		return false;
	}
	if (!embedding_now(e).dims && dims_find(e, &err)) {
		pause_ms(e, MAX(embedding_remote_wait(e), (int64_t)LATER_MS), &err);
		return false;
	}
	return true;
}

static void round_do(struct embedding *e)
{
	struct err err = { 0 };
	if (!embedding_is_right(e))
		embedding_choose(e);
	if (!embedding_has_model(e)) {
		pthread_mutex_lock(&e->mutex);
		e->is_settled = !e->is_poked;
		e->waiting = 0;
		pthread_mutex_unlock(&e->mutex);
		pause_ms(e, EMBEDDING_LOOK_MS, NULL);
		return;
	}
	if (embedding_now(e).remote && !remote_is_ready(e))
		return;
	static const unsigned sleeps[] = { [PAGE_LATER] = LATER_MS, [PAGE_FAILED] = RETRY_MS };
	enum page_result result = page_do(e, &err);
	pthread_mutex_lock(&e->mutex);
	e->is_paused = false;
	complain(e, &err);
	/* Then the next round waits, as long as the breaker says. */
	bool is_remote_failure = result == PAGE_FAILED && embedding_remote_wait(e) > 0;
	if (sleeps[result] && !is_remote_failure)
		sleep_ms(e, sleeps[result]);
	pthread_mutex_unlock(&e->mutex);
	if (result == PAGE_NONE)
		settle(e);
}

static void *embedding_main(void *arg)
{
	struct embedding *e = arg;
	setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICEST);
	embedding_choose(e);
	while (!embedding_is_closing(e))
		round_do(e);
	return NULL;
}

struct embedding *embedding_new(const struct embedding_setup *setup)
{
	struct embedding *e = mem_alloc(sizeof(*e));
	e->setup = *setup;
	e->questions = questions_new();
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
	atomic_store(&e->stop, true);
	pthread_cond_broadcast(&e->wake);
	pthread_mutex_unlock(&e->mutex);
	pthread_join(e->thread, NULL);
	rest(e);
	embedding_models_close(e);
	embedding_calls_end(e);
	questions_free(e->questions);
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

void embedding_vectors_stats(struct embedding *e, struct vectors_stats *ret)
{
	*ret = (struct vectors_stats){ 0 };
	pthread_rwlock_rdlock(&e->model_lock);
	if (e->now.room)
		vectors_stats(e->now.room->vectors, ret);
	pthread_rwlock_unlock(&e->model_lock);
}

/* The question's vector as one of this generation. False with a sentence. */
static bool question_make(struct embedding *e, const struct generation *g, struct str text, int8_t *at, float *scale,
	char *why)
{
	float made[REMOTE_DIMS_MAX];
	uint32_t dims;
	if (g->builtin) {
		embed_texts(g->builtin, &text, 1, at, scale);
		return true;
	}
	int ask_ms = (int)settings_int(current_settings(e->setup.current), SET_EMBED_ASK_MS);
	if (!g->remote || !g->dims || !embed_remote_ask(g->remote, text, ask_ms, made, &dims, why))
		return false;
	if (dims != g->dims) {
		snprintf(why, ERR_TEXT_MAX, "vectors: the model gives %u numbers now, and had given %u", dims, g->dims);
		return false;
	}
	vector_pack_wide(made, dims, at, scale);
	return true;
}

static bool ask_generation(struct embedding *e, const struct generation *g, struct str text,
	struct embedding_question *ret, char *why)
{
	int8_t at[VECTOR_DIMS_MAX];
	float scale, mean[VECTOR_DIMS_MAX];
	struct vectors *v = g->room ? g->room->vectors : NULL;
	if (!v || !(g->builtin || g->remote) || !vectors_mean(v, MEAN_ZEROS, mean))
		return false;
	struct question_key key = { vectors_store(v), text };
	size_t dims = VECTOR_ROUND((size_t)g->dims);
	if (!questions_find(e->questions, &key, at, &scale)) {
		if (!question_make(e, g, text, at, &scale, why))
			return false;
		questions_keep(e->questions, &key, at, dims, scale);
	}
	vector_query_init(ret->query, dims, at, scale, mean);
	ret->query->store = key.store;
	ret->vectors = v;
	return true;
}

bool embedding_ask(struct embedding *e, struct str text, struct embedding_question *ret, char *why)
{
	char said[ERR_TEXT_MAX] = "";
	text = str_trim((struct str){ text.p, utf8_cut(text.p, text.n, EMBEDDING_QUESTION_MAX) });
	pthread_rwlock_rdlock(&e->model_lock);
	bool is_there = e->now.builtin || e->now.remote;
	bool can = text.n && (ask_generation(e, &e->old, text, ret, said) || ask_generation(e, &e->now, text, ret, said));
	pthread_rwlock_unlock(&e->model_lock);
	if (can) {
		atomic_store(&e->asked_us, clock_mono_us());
	} else if (why) {
		pthread_mutex_lock(&e->mutex);
		snprintf(why, ERR_TEXT_MAX, "%s", *said ? said : is_there || !*e->why ? "vectors: nothing is embedded yet" : e->why);
		pthread_mutex_unlock(&e->mutex);
	}
	return can;
}

static const char *model_of(const struct generation *g)
{
	return g->builtin ? embedder_id(g->builtin) : g->remote ? embed_remote_id(g->remote) : "";
}

bool embedding_find(struct embedding *e, const struct embedding_wanted *w, float *ret)
{
	pthread_rwlock_rdlock(&e->model_lock);
	bool is_there = e->now.room && e->now.dims == w->dims && !strcmp(model_of(&e->now), w->model) &&
			vectors_get(e->now.room->vectors, DOC_ID(DOC_MEMORY, w->memory), w->hash, ret, w->dims);
	pthread_rwlock_unlock(&e->model_lock);
	return is_there;
}

int embedding_purge(struct embedding *e, struct err *err)
{
	struct follow_state follow;
	int result = 0;
	embedding_load_first(e);
	follow_state(e->setup.follow, &follow);
	pthread_mutex_lock(&e->choosing);
	pthread_mutex_lock(&e->putting);
	e->era++;
	pthread_mutex_unlock(&e->putting);
	for (size_t i = 0; i < e->nrooms; i++) {
		struct room *room = &e->rooms[i];
		if (!room->is_loaded)
			continue;
		result |= follow.is_filling || follow.is_stuck ?
				  vectors_clear(room->vectors, err) :
				  vectors_purge(room->vectors, is_alive, follow_index(e->setup.follow), err);
	}
	pthread_mutex_unlock(&e->choosing);
	embedding_purge_rooms(e);
	questions_forget(e->questions);
	embedding_wake(e);
	return result;
}

void embedding_restart(struct embedding *e)
{
	embedding_load_first(e);
	pthread_mutex_lock(&e->choosing);
	pthread_mutex_lock(&e->putting);
	e->era++;
	for (size_t i = 0; i < e->nrooms; i++)
		if (e->rooms[i].is_loaded)
			vectors_set_spans(e->rooms[i].vectors, &(struct vectors_spans){ 0 });
	pthread_mutex_unlock(&e->putting);
	pthread_mutex_unlock(&e->choosing);
	embedding_wake(e);
}

int embedding_install(struct embedding *e, const char *file, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	const char *found = file ? file : embedding_model_file(e, &a);
	if (!found) {
		err_set(err, ERR_NOT_FOUND, "there is no model file to install");
		return err_hint(err, "get it with tools/model-get, then: remanence model install FILE");
	}
	if (file ? model_install(file, path_join(&a, e->setup.home, "model"), err) : model_check(found, err))
		return -1;
	embedding_choose(e);
	embedding_wake(e);
	return 0;
}

int embedding_remove(struct embedding *e, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	const char *path = path_join(&a, path_join(&a, e->setup.home, "model"), MODEL_FILE);
	if (!file_exists(path)) {
		const char *found = embedding_model_file(e, &a);
		err_set(err, ERR_NOT_FOUND, "there is no model file '%s'", path);
		return found ? err_hint(err, "the one in use is '%s'; remove it yourself, or switch vectors off: "
					     "remanence config set embed.provider none", found) : -1;
	}
	if (unlink(path))
		return err_set(err, ERR_IO, "cannot remove '%s': %s", path, strerror(errno));
	embedding_choose(e);
	embedding_wake(e);
	return 0;
}

void embedding_state(struct embedding *e, struct embedding_state *ret)
{
	*ret = (struct embedding_state){ 0 };
	pthread_rwlock_rdlock(&e->model_lock);
	ret->is_on = e->now.builtin || e->now.remote;
	ret->has_old = e->old.room != NULL;
	ret->dims = e->now.dims;
	snprintf(ret->model, sizeof(ret->model), "%s", model_of(&e->now));
	if (e->now.builtin)
		snprintf(ret->kernel, sizeof(ret->kernel), "%s", embedder_kernel(e->now.builtin));
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
	return !state.waiting || atomic_load(&e->is_paused);
}
