#include "daemon/journal.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"

struct journal {
	struct writer *writer;
	pthread_mutex_t mutex;
	struct search_record *list;
	size_t n, cap;
	uint64_t since_us; /* the first of the list */
};

struct flush {
	struct work work;
	struct search_record *list;
	size_t n;
};

static char *copy(const char *text)
{
	return text ? mem_strdup(text) : NULL;
}

static void list_free(struct search_record *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free((char *)list[i].scope);
		free((char *)list[i].namespace);
		free((char *)list[i].query);
	}
	free(list);
}

struct journal *journal_new(struct writer *writer)
{
	struct journal *j = mem_alloc(sizeof(*j));

	j->writer = writer;
	pthread_mutex_init(&j->mutex, NULL);
	return j;
}

void journal_free(struct journal *j)
{
	if (!j)
		return;
	list_free(j->list, j->n);
	pthread_mutex_destroy(&j->mutex);
	free(j);
}

void journal_add(struct journal *j, const struct search_record *r)
{
	struct search_record own = *r;

	pthread_mutex_lock(&j->mutex);
	if (j->n < JOURNAL_MAX) {
		own.scope = copy(r->scope);
		own.namespace = copy(r->namespace);
		own.query = copy(r->query);
		if (!j->n)
			j->since_us = clock_mono_us();
		MEM_GROW(j->list, j->cap, j->n + 1);
		j->list[j->n++] = own;
	}
	pthread_mutex_unlock(&j->mutex);
}

static int flush_run(struct desk *desk, struct work *work, struct err *err)
{
	const struct flush *f = (struct flush *)work;

	for (size_t i = 0; i < f->n; i++)
		if (search_log_put(desk->store, &f->list[i], err))
			return -1;
	return 0;
}

static void flush_done(struct work *work, int result, int64_t seq, const struct err *err)
{
	struct flush *f = (struct flush *)work;

	if (result)
		log_warn("%zu searches are not in the search log: %s", f->n, err->text);
	list_free(f->list, f->n);
	free(f);
}

void journal_forget(struct journal *j)
{
	pthread_mutex_lock(&j->mutex);
	for (size_t i = 0; i < j->n; i++) {
		free((char *)j->list[i].query);
		j->list[i].query = NULL;
	}
	pthread_mutex_unlock(&j->mutex);
}

void journal_flush(struct journal *j, bool is_now)
{
	struct flush *f;
	struct err err = { 0 };

	pthread_mutex_lock(&j->mutex);
	if (!j->n || (!is_now && clock_mono_us() - j->since_us < JOURNAL_HOLD_US)) {
		pthread_mutex_unlock(&j->mutex);
		return;
	}
	f = mem_alloc(sizeof(*f));
	*f = (struct flush){
		.work = { .lane = LANE_BACKGROUND, .run = flush_run, .done = flush_done },
		.list = j->list,
		.n = j->n
	};
	j->list = NULL;
	j->n = j->cap = 0;
	pthread_mutex_unlock(&j->mutex);
	if (writer_put(j->writer, &f->work, &err))
		flush_done(&f->work, -1, 0, &err);
}
