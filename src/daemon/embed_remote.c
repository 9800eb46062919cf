#include "daemon/embed_remote.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "llm/llm.h"

#define SHORTEST 200 /* bytes; a text that is refused at this length is left without a vector */

struct embed_remote {
	struct remote *documents, *questions;
	char *provider, *model;
	embed_called_fn *called;
	void *ctx;
	unsigned failures; /* in a row */
	_Atomic uint64_t closed_until_us;
	_Atomic uint32_t dims;
	pthread_mutex_t asking; /* around `questions` */
	_Atomic uint64_t ask_again_us;
};

int embed_remote_open(const struct remote_config *c, embed_called_fn *called, void *ctx,
	struct embed_remote **ret, struct err *err)
{
	struct remote *documents, *questions;

	if (remote_open(c, &documents, err) < 0)
		return -1;
	if (remote_open(c, &questions, err) < 0) {
		remote_close(documents);
		return -1;
	}
	struct embed_remote *r = mem_alloc(sizeof *r);
	r->documents = documents;
	r->questions = questions;
	r->provider = mem_strdup(c->provider);
	r->model = mem_strdup(c->model);
	r->called = called;
	r->ctx = ctx;
	pthread_mutex_init(&r->asking, NULL);
	*ret = r;
	return 0;
}

void embed_remote_close(struct embed_remote *r)
{
	if (!r)
		return;
	remote_close(r->documents);
	remote_close(r->questions);
	pthread_mutex_destroy(&r->asking);
	free(r->provider);
	free(r->model);
	free(r);
}

const char *embed_remote_id(const struct embed_remote *r)
{
	return remote_id(r->documents);
}

uint32_t embed_remote_dims(const struct embed_remote *r)
{
	return atomic_load(&r->dims);
}

int64_t embed_remote_wait(const struct embed_remote *r)
{
	uint64_t until = atomic_load(&r->closed_until_us), now = clock_mono_us();

	return until > now ? (int64_t)((until - now) / 1000) + 1 : 0;
}

/* --- The breaker. --- */

/* Half to all of it, so that many daemons do not come back at the same moment. */
static int64_t jittered(int64_t ms)
{
	return ms / 2 + (int64_t)(clock_mono_us() % (uint64_t)(ms / 2 + 1));
}

static int64_t wait_after(struct embed_remote *r, const struct remote_result *result)
{
	int64_t wait = EMBED_REMOTE_RETRY_MS;

	if (llm_next[result->outcome] == LLM_PAUSE)
		return EMBED_REMOTE_PAUSE_MS;
	for (unsigned i = EMBED_REMOTE_FAILURES;
		i <= r->failures && wait < EMBED_REMOTE_RETRY_MAX_MS; i++)
		wait *= 2;
	wait = jittered(MIN(wait, (int64_t)EMBED_REMOTE_RETRY_MAX_MS));
	return MAX(wait, result->retry_after_ms);
}

static void note(struct embed_remote *r, const struct remote_result *result)
{
	if (result->outcome == CALL_OK) {
		r->failures = 0;
		atomic_store(&r->dims, result->dims);
		atomic_store(&r->closed_until_us, 0);
	} else if (result->outcome != CALL_ABORTED && !result->is_too_long) {
		r->failures++;
		atomic_store(&r->closed_until_us,
			clock_mono_us() + (uint64_t)wait_after(r, result) * 1000);
	}
	/* A model that gives other vectors now: the next attempt finds out how many numbers they have. */
	if (result->outcome == CALL_SETUP)
		remote_forget_dims(r->documents);
}

static void tell(
	struct embed_remote *r, const struct remote_call *call, const struct remote_result *result)
{
	struct embed_call c = { r->provider, r->model, call->n, 0, result };

	for (size_t i = 0; i < call->n; i++)
		c.bytes += call->texts[i].n;
	if (r->called)
		r->called(r->ctx, &c);
}

/* --- Documents. --- */

static void add_zeros(const struct embed_remote *r, struct buf *vectors)
{
	size_t n = atomic_load(&r->dims) * sizeof(float);

	if (!buf_reserve(vectors, n + 1))
		return;
	memset(vectors->data + vectors->len, 0, n + 1);
	vectors->len += n;
}

/* Less of a text that is too long; false when there is nothing left to try. */
static bool shorten(struct str *text)
{
	if (text->n <= SHORTEST)
		return false;
	text->n = utf8_cut(text->p, text->n, MAX(text->n / 2, (size_t)SHORTEST));
	return true;
}

static bool is_about_the_texts(const struct remote_result *result)
{
	return result->outcome == CALL_REQUEST;
}

static int make_some(struct embed_remote *r, struct str *texts, size_t n, const _Atomic bool *stop,
	struct buf *vectors, struct err *err)
{
	struct remote_call call = { .texts = texts, .n = n, .use = REMOTE_DOCUMENT, .stop = stop };
	AUTO(remote_result_done) struct remote_result result;

	remote_embed(r->documents, &call, &result);
	tell(r, &call, &result);
	if (is_about_the_texts(&result)) {
		if (n > 1)
			return make_some(r, texts, n / 2, stop, vectors, err) ||
					       make_some(r, texts + n / 2, n - n / 2, stop, vectors,
						       err)
				       ? -1
				       : 0;
		if (shorten(texts))
			return make_some(r, texts, 1, stop, vectors, err);
		if (atomic_load(&r->dims)) {
			add_zeros(r, vectors);
			return 0;
		}
	}
	note(r, &result);
	if (result.outcome != CALL_OK)
		return err_set(err, ERR_UPSTREAM, "%s", result.detail);
	buf_add(vectors, result.vectors, n * result.dims * sizeof(float));
	return 0;
}

int embed_remote_make(struct embed_remote *r, const struct str *texts, size_t n,
	const _Atomic bool *stop, struct buf *vectors, struct err *err)
{
	struct str some[EMBED_REMOTE_BATCH];

	for (size_t i = 0; i < n;) {
		size_t count = MIN(n - i, (size_t)EMBED_REMOTE_BATCH);
		memcpy(some, texts + i, count * sizeof *some);
		if (make_some(r, some, count, stop, vectors, err) < 0)
			return -1;
		i += count;
	}
	return 0;
}

/* --- Questions. --- */

static bool ask_locked(struct embed_remote *r, struct str text, int left_ms, float *ret,
	uint32_t *ret_dims, char why[ERR_TEXT_MAX])
{
	struct remote_call call = {
		.texts = &text, .n = 1, .use = REMOTE_QUESTION, .total_ms = MAX(left_ms, 1)
	};
	AUTO(remote_result_done) struct remote_result result;

	remote_embed(r->questions, &call, &result);
	tell(r, &call, &result);
	if (result.outcome != CALL_OK) {
		atomic_store(
			&r->ask_again_us, clock_mono_us() + EMBED_REMOTE_ASK_PAUSE_MS * 1000ull);
		if (result.outcome == CALL_SETUP)
			remote_forget_dims(r->questions);
		snprintf(why, ERR_TEXT_MAX, "vectors: %.*s", ERR_TEXT_MAX / 2, result.detail);
		return false;
	}
	memcpy(ret, result.vectors, result.dims * sizeof(float));
	*ret_dims = result.dims;
	return true;
}

bool embed_remote_ask(struct embed_remote *r, struct str text, int ask_ms, float *ret,
	uint32_t *ret_dims, char why[ERR_TEXT_MAX])
{
	uint64_t start = clock_mono_us();

	if (start < atomic_load(&r->ask_again_us)) {
		snprintf(why, ERR_TEXT_MAX, "vectors: the embedding server did not answer lately");
		return false;
	}
	struct timespec end = clock_after_us((uint64_t)ask_ms * 1000);
	if (pthread_mutex_timedlock(&r->asking, &end) != 0) {
		snprintf(why, ERR_TEXT_MAX,
			"vectors: other questions wait for the embedding server");
		return false;
	}
	int left = ask_ms - (int)((clock_mono_us() - start) / 1000);
	bool is_there = ask_locked(r, text, left, ret, ret_dims, why);
	pthread_mutex_unlock(&r->asking);
	return is_there;
}
