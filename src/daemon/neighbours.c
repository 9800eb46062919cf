#include "daemon/neighbours.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "store/store.h"

#define WAIT_MS 250 /* so long the end of the daemon may have to wait */

struct neighbours {
	struct neighbours_setup setup;
	char *url, *author;
	struct store *store;
	pthread_t thread;
	_Atomic bool is_closing;
	int64_t merges;
	bool has_complained;
};

static int look(struct neighbours *n, struct err *err)
{
	int64_t seq, merges;
	struct db *db = store_db(n->store);

	if (store_change_last(n->store, &seq, err) ||
		db_one(db, "SELECT count(*) FROM project_merge", NULL, 0, 0, &merges, err))
		return -1;
	bool has_merged = merges != n->merges;
	n->merges = merges;
	n->setup.heard(n->setup.ctx, seq, has_merged);
	return 0;
}

static int listen(struct neighbours *n, struct err *err)
{
	const struct store_setup setup = { .url = n->url, .mode = DB_READ, .author = n->author };
	if (!n->store && store_open_as(&setup, &n->store, err))
		return -1;
	int heard = db_wait(store_db(n->store), WAIT_MS, err);
	return heard > 0 ? look(n, err) : heard;
}

static void *neighbours_main(void *arg)
{
	struct neighbours *n = arg;

	while (!atomic_load(&n->is_closing)) {
		struct err err = { 0 };
		if (!listen(n, &err)) {
			n->has_complained = false;
			continue;
		}
		if (!n->has_complained)
			log_warn("what other daemons store is not heard of at present: %s",
				err.text);
		n->has_complained = true;
		clock_sleep_us(WAIT_MS * 1000ull);
	}
	return NULL;
}

struct neighbours *neighbours_new(const struct neighbours_setup *setup)
{
	struct neighbours *n = mem_alloc(sizeof(*n));

	n->setup = *setup;
	n->url = mem_strdup(setup->url);
	n->author = mem_strdup(setup->author);
	n->merges = -1;
	if (pthread_create(&n->thread, NULL, neighbours_main, n))
		die("cannot start the thread that listens to other daemons");
	return n;
}

void neighbours_free(struct neighbours *n)
{
	if (!n)
		return;
	atomic_store(&n->is_closing, true);
	pthread_join(n->thread, NULL);
	store_close(n->store);
	free(n->url);
	free(n->author);
	free(n);
}
