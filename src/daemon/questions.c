#include "daemon/questions.h"

#include <pthread.h>
#include <string.h>

#include "base/mem.h"

struct question {
	uint64_t store, asked; /* asked: when, counted in questions; 0: the place is free */
	char *text;
	int8_t *at;
	size_t len, dims;
	float scale;
};

struct questions {
	pthread_mutex_t mutex;
	uint64_t asked;
	struct question at[QUESTIONS_MAX];
};

struct questions *questions_new(void)
{
	struct questions *q = mem_alloc(sizeof(*q));
	pthread_mutex_init(&q->mutex, NULL);
	return q;
}

static void question_drop(struct question *one)
{
	if (one->asked) {
		explicit_bzero(one->text, one->len);
		explicit_bzero(one->at, one->dims);
	}
	free(one->text);
	free(one->at);
	*one = (struct question){ 0 };
}

void questions_free(struct questions *q)
{
	if (!q)
		return;
	questions_forget(q);
	pthread_mutex_destroy(&q->mutex);
	free(q);
}

static struct question *find(struct questions *q, const struct question_key *key)
{
	for (size_t i = 0; i < QUESTIONS_MAX; i++) {
		struct question *one = &q->at[i];
		if (one->asked && one->store == key->store && one->len == key->text.n &&
			!memcmp(one->text, key->text.p, one->len))
			return one;
	}
	return NULL;
}

bool questions_find(
	struct questions *q, const struct question_key *key, int8_t *at, float *ret_scale)
{
	pthread_mutex_lock(&q->mutex);
	struct question *one = find(q, key);
	if (one) {
		memcpy(at, one->at, one->dims);
		*ret_scale = one->scale;
		one->asked = ++q->asked;
	}
	pthread_mutex_unlock(&q->mutex);
	return one != NULL;
}

/* The place asked for longest ago, a free one before all others; its own if it has one. */
static struct question *place(struct questions *q, const struct question_key *key)
{
	struct question *found = find(q, key), *oldest = &q->at[0];
	for (size_t i = 1; i < QUESTIONS_MAX; i++)
		if (q->at[i].asked < oldest->asked)
			oldest = &q->at[i];
	return found ? found : oldest;
}

void questions_keep(struct questions *q, const struct question_key *key, const int8_t *at,
	size_t dims, float scale)
{
	if (key->text.n > QUESTIONS_TEXT_MAX || dims > VECTOR_DIMS_MAX)
		return;
	pthread_mutex_lock(&q->mutex);
	struct question *one = place(q, key);
	question_drop(one);
	*one = (struct question){ .store = key->store,
		.asked = ++q->asked,
		.text = mem_dup(key->text.p, key->text.n),
		.at = mem_dup(at, dims),
		.len = key->text.n,
		.dims = dims,
		.scale = scale };
	pthread_mutex_unlock(&q->mutex);
}

void questions_forget(struct questions *q)
{
	pthread_mutex_lock(&q->mutex);
	for (size_t i = 0; i < QUESTIONS_MAX; i++)
		question_drop(&q->at[i]);
	pthread_mutex_unlock(&q->mutex);
}
