#include "daemon/readers.h"

#include <pthread.h>
#include <stdbool.h>

#include "base/clock.h"
#include "base/mem.h"

struct readers {
	char *url, *author;
	pthread_mutex_t mutex;
	pthread_cond_t returned;
	struct reader *idle;
	size_t made, lent;
	bool is_recalled;
	uint64_t era;
	const struct store *closed; /* by readers_recall, while still lent */
};

struct readers *readers_new(const char *url, const char *author)
{
	struct readers *p = mem_alloc(sizeof(*p));
	p->url = mem_strdup(url);
	p->author = author ? mem_strdup(author) : NULL;
	pthread_mutex_init(&p->mutex, NULL);
	pthread_cond_init(&p->returned, NULL);
	return p;
}

static void reader_free(struct reader *r)
{
	store_close(r->store);
	analyser_free(r->analyser);
	free(r);
}

static void idle_free(struct readers *p)
{
	while (p->idle) {
		struct reader *r = p->idle;
		p->idle = r->next;
		p->made--;
		reader_free(r);
	}
}

void readers_free(struct readers *p)
{
	if (!p)
		return;
	idle_free(p);
	pthread_cond_destroy(&p->returned);
	pthread_mutex_destroy(&p->mutex);
	free(p->url);
	free(p->author);
	free(p);
}

static int reader_open(struct readers *p, struct reader **ret, struct err *err)
{
	struct store *store;
	const struct store_setup setup = { .url = p->url, .mode = DB_READ, .author = p->author };
	if (store_open_as(&setup, &store, err))
		return -1;
	struct reader *r = mem_alloc(sizeof(*r));
	r->store = store;
	r->analyser = analyser_new();
	*ret = r;
	return 0;
}

int readers_lend(struct readers *p, struct reader **ret, struct err *err)
{
	pthread_mutex_lock(&p->mutex);
	while (!p->is_recalled && !p->idle && p->made == READERS_MAX)
		pthread_cond_wait(&p->returned, &p->mutex);
	if (p->is_recalled) {
		pthread_mutex_unlock(&p->mutex);
		return err_set(err, ERR_BUSY, "the store is being replaced; ask again in a moment");
	}
	struct reader *r = p->idle;
	if (r)
		p->idle = r->next;
	else
		p->made++;
	p->lent++;
	uint64_t era = p->era;
	pthread_mutex_unlock(&p->mutex);
	if (!r && reader_open(p, &r, err)) {
		pthread_mutex_lock(&p->mutex);
		p->made--;
		p->lent--;
		pthread_cond_broadcast(&p->returned);
		pthread_mutex_unlock(&p->mutex);
		return -1;
	}
	r->next = NULL;
	r->era = era;
	*ret = r;
	return 0;
}

void readers_return(struct readers *p, struct reader *r)
{
	if (!r)
		return;
	pthread_mutex_lock(&p->mutex);
	p->lent--;
	bool is_stale = r->era != p->era;
	if (is_stale) {
		p->made--;
		if (r->store == p->closed)
			r->store = NULL;
		p->closed = NULL;
	} else {
		r->next = p->idle;
		p->idle = r;
	}
	pthread_cond_broadcast(&p->returned);
	pthread_mutex_unlock(&p->mutex);
	if (is_stale)
		reader_free(r);
}

int readers_recall(struct readers *p, struct store *kept, struct err *err)
{
	struct timespec end = clock_after_us(READERS_RECALL_MS * 1000ull);
	pthread_mutex_lock(&p->mutex);
	p->is_recalled = true;
	int timed_out = 0;
	while (p->lent > (kept ? 1 : 0) && !timed_out)
		timed_out = pthread_cond_timedwait(&p->returned, &p->mutex, &end);
	if (timed_out) {
		p->is_recalled = false;
		pthread_cond_broadcast(&p->returned);
		pthread_mutex_unlock(&p->mutex);
		return err_set(err, ERR_BUSY,
			"the store cannot be replaced now: an import or another long call is using "
			"it");
	}
	idle_free(p);
	p->era++;
	store_close(kept);
	p->closed = kept;
	pthread_mutex_unlock(&p->mutex);
	return 0;
}

void readers_resume(struct readers *p)
{
	pthread_mutex_lock(&p->mutex);
	p->is_recalled = false;
	pthread_cond_broadcast(&p->returned);
	pthread_mutex_unlock(&p->mutex);
}
