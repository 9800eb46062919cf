#include "daemon/watch.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"

#define US 1000000ull

struct watched {
	struct watch *watch;
	struct watched *next, *prev;
	int fd;
	uint64_t due_us; /* 0: none */
};

struct watch {
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	struct watched all;    /* the ring's head */
	uint64_t sleeps_until; /* UINT64_MAX: until somebody says something */
	bool is_ending;
};

/* Shuts down what is due; when to look again. With the mutex held. */
static uint64_t look(struct watch *w)
{
	uint64_t now = clock_mono_us(), next = UINT64_MAX;

	for (struct watched *c = w->all.next; c != &w->all; c = c->next) {
		if (c->due_us && c->due_us <= now) {
			shutdown(c->fd, SHUT_RDWR);
			c->due_us = 0;
		}
		if (c->due_us)
			next = MIN(next, c->due_us);
	}
	return next;
}

static void *watch_main(void *arg)
{
	struct watch *w = arg;

	pthread_mutex_lock(&w->mutex);
	while (!w->is_ending) {
		w->sleeps_until = look(w);
		struct timespec end = { .tv_sec = (time_t)(w->sleeps_until / US),
			.tv_nsec = (long)(w->sleeps_until % US) * 1000 };
		if (w->sleeps_until == UINT64_MAX)
			pthread_cond_wait(&w->changed, &w->mutex);
		else
			pthread_cond_timedwait(&w->changed, &w->mutex, &end);
	}
	pthread_mutex_unlock(&w->mutex);
	return NULL;
}

struct watch *watch_new(void)
{
	struct watch *w = mem_alloc(sizeof(*w));
	pthread_condattr_t monotonic;

	w->all.next = w->all.prev = &w->all;
	w->sleeps_until = UINT64_MAX;
	pthread_mutex_init(&w->mutex, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&w->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	if (pthread_create(&w->thread, NULL, watch_main, w))
		die("cannot start a thread for deadlines");
	return w;
}

void watch_free(struct watch *w)
{
	if (!w)
		return;
	pthread_mutex_lock(&w->mutex);
	w->is_ending = true;
	pthread_cond_signal(&w->changed);
	pthread_mutex_unlock(&w->mutex);
	pthread_join(w->thread, NULL);
	pthread_cond_destroy(&w->changed);
	pthread_mutex_destroy(&w->mutex);
	free(w);
}

struct watched *watch_add(struct watch *w, int fd)
{
	struct watched *c = mem_alloc(sizeof(*c));

	c->watch = w;
	c->fd = fd;
	pthread_mutex_lock(&w->mutex);
	c->next = &w->all;
	c->prev = w->all.prev;
	c->prev->next = c->next->prev = c;
	pthread_mutex_unlock(&w->mutex);
	return c;
}

void watch_remove(struct watched *c)
{
	if (!c)
		return;
	pthread_mutex_lock(&c->watch->mutex);
	c->prev->next = c->next;
	c->next->prev = c->prev;
	pthread_mutex_unlock(&c->watch->mutex);
	free(c);
}

void watch_until(struct watched *c, unsigned ms)
{
	if (!c)
		return;
	struct watch *w = c->watch;
	pthread_mutex_lock(&w->mutex);
	c->due_us = ms ? clock_mono_us() + ms * 1000ull : 0;
	/* A deadline that went away leaves the thread to wake once for nothing. */
	if (c->due_us && c->due_us < w->sleeps_until)
		pthread_cond_signal(&w->changed);
	pthread_mutex_unlock(&w->mutex);
}
