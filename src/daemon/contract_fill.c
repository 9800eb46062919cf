#include "daemon/contract_fill.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "daemon/embedding_text.h"

#define NAME_SIZE 256

struct contract_fill {
	struct contract_fill_setup setup;
	char *keeper, *url, *author;
	pthread_t thread;
	pthread_mutex_t mutex; /* of what follows */
	pthread_cond_t wake;
	bool is_closing, is_poked, is_busy;
	struct contract_report report;
	struct store *store; /* changed under the mutex; the thread's own else */
	/* The thread's own. */
	bool is_whole; /* all that `mark` stands for is written */
	struct contract_mark mark;
	uint64_t vectors;   /* what the last look for missing vectors saw */
	uint64_t looked_us; /* and when that was */
};

/* What a round knows. */
struct round {
	struct contract_fill *f;
	struct store *store;
	struct contract_state contract;
	struct embedding_state embedding;
	bool is_settled; /* no more vectors come for now */
};

static bool is_closing(struct contract_fill *f)
{
	pthread_mutex_lock(&f->mutex);
	bool is = f->is_closing;
	pthread_mutex_unlock(&f->mutex);
	return is;
}

/* --- A page. --- */

struct page {
	struct arena arena;
	int64_t *ids;
	size_t n;
	int64_t after;
};

static int page_write(struct round *r, struct page *p, bool needs_vector, struct err *err)
{
	struct arena *a = &p->arena;
	struct change *changes = ARENA_ARRAY(a, struct change, p->n);
	struct index_row *rows = ARENA_ARRAY(a, struct index_row, p->n);
	struct memory *memories = ARENA_ARRAY(a, struct memory, p->n);
	float *vector = ARENA_ARRAY(a, float, VECTOR_DIMS_MAX);

	for (size_t i = 0; i < p->n; i++)
		changes[i] = (struct change){ .kind = CHANGE_MEMORY, .id = p->ids[i] };
	if (store_index_rows(r->store, a, changes, p->n, rows, err) ||
		store_memories(r->store, a, p->ids, p->n, memories, err))
		return -1;
	for (size_t i = 0; i < p->n; i++) {
		struct embedding_wanted w = { r->embedding.model, r->contract.dims, p->ids[i],
			embedding_text(a, &rows[i]).hash };
		bool has_vector =
			r->contract.is_same && embedding_find(r->f->setup.embedding, &w, vector);
		struct contract_chunk c = { p->ids[i], memories[i].body ? memories[i].body : "",
			r->contract.extension, has_vector ? vector : NULL, w.dims };
		if ((has_vector || !needs_vector) && contract_put(r->store, &c, err))
			return -1;
	}
	return 0;
}

/* 1: there may be more. Nobody deletes what is read here as long as the transaction lasts. */
static int page_do(struct round *r, int64_t *after, bool is_bare, struct err *err)
{
	struct page p = { .after = *after };
	struct db *db = store_db(r->store);
	int rc = db_begin(db, err);

	if (rc)
		return -1;
	rc = is_bare ? contract_bare(r->store, &p.arena, p.after, CONTRACT_PAGE, &p.ids, &p.n, err)
		     : contract_stale(
			       r->store, &p.arena, p.after, CONTRACT_PAGE, &p.ids, &p.n, err);
	if (!rc && p.n)
		rc = page_write(r, &p, is_bare, err);
	if (rc || db_commit(db, err)) {
		db_rollback(db);
		rc = -1;
	}
	if (p.n)
		*after = p.ids[p.n - 1];
	bool is_full = p.n == CONTRACT_PAGE;
	arena_done(&p.arena);
	return rc ? -1 : is_full && !is_closing(r->f);
}

static int pages_do(struct round *r, bool is_bare, struct err *err)
{
	int64_t after = 0;
	int rc;

	do
		rc = page_do(r, &after, is_bare, err);
	while (rc > 0);
	return rc;
}

/* --- A round. --- */

static int texts_do(struct round *r, struct err *err)
{
	struct contract_fill *f = r->f;
	struct contract_mark before, after;

	if (contract_mark(r->store, &before, err))
		return -1;
	if (f->is_whole && before.wanted == f->mark.wanted && before.shown == f->mark.shown &&
		!r->contract.was_made)
		return 0;
	f->is_whole = false;
	if (pages_do(r, false, err) || contract_files(r->store, err) ||
		contract_mark(r->store, &after, err))
		return -1;
	f->is_whole = !is_closing(f);
	f->mark = (struct contract_mark){ .wanted = before.wanted, .shown = after.shown };
	f->vectors = 0;
	return 0;
}

/* Looks for them when all are made, or now and then: those that are not there yet are read each time. */
static int vectors_do(struct round *r, struct err *err)
{
	struct contract_fill *f = r->f;
	struct vectors_stats stats;
	uint64_t now = clock_mono_us();

	embedding_vectors_stats(f->setup.embedding, &stats);
	uint64_t seen = 2 * (1 + stats.vectors + r->embedding.made) + r->is_settled;
	if (!r->contract.is_same || seen == f->vectors ||
		(!r->is_settled && now - f->looked_us < CONTRACT_LOOK_MS * 1000ull))
		return 0;
	if (pages_do(r, true, err))
		return -1;
	f->looked_us = now;
	if (r->is_settled && contract_index(r->store, err))
		return -1;
	f->vectors = seen;
	return 0;
}

static int ready(struct round *r, struct err *err)
{
	struct contract_fill *f = r->f;

	embedding_state(f->setup.embedding, &r->embedding);
	r->is_settled = embedding_is_idle(f->setup.embedding);
	struct contract_wish w = {
		.keeper = f->keeper,
		.embedder = r->embedding.is_on && r->embedding.dims ? r->embedding.model : NULL,
		.dims = r->embedding.dims,
		.may_change = !r->embedding.has_old && r->is_settled,
	};
	return contract_ready(r->store, &w, &r->contract, err);
}

static int wanted(struct contract_fill *f, bool *ret, struct err *err)
{
	struct reader *reader;

	if (readers_lend(f->setup.readers, &reader, err))
		return -1;
	int rc = contract_wanted(reader->store, ret, err);
	readers_return(f->setup.readers, reader);
	return rc;
}

static int connect(struct contract_fill *f, struct err *err)
{
	struct store *s;

	if (f->store)
		return 0;
	/* Its schema is for the login itself to make. */
	const struct store_setup setup = {
		.url = f->url, .mode = DB_WRITE, .author = f->author, .keeps_login = true
	};
	if (store_open_as(&setup, &s, err))
		return -1;
	pthread_mutex_lock(&f->mutex);
	f->store = s;
	pthread_mutex_unlock(&f->mutex);
	return 0;
}

static int round_do(struct round *r, struct contract_report *report, struct err *err)
{
	struct contract_fill *f = r->f;

	if (wanted(f, &report->is_wanted, err))
		return -1;
	if (!report->is_wanted && !f->store)
		return 0;
	if (connect(f, err))
		return -1;
	r->store = f->store;
	if (ready(r, err))
		return -1;
	report->is_on = r->contract.is_on;
	report->dims = r->contract.dims;
	memcpy(report->why, r->contract.why, sizeof(report->why));
	memcpy(report->hint, r->contract.hint, sizeof(report->hint));
	if (!report->is_on)
		return 0;
	pthread_mutex_lock(&f->mutex);
	f->report = *report; /* the rest may take a while */
	pthread_mutex_unlock(&f->mutex);
	return texts_do(r, err) || vectors_do(r, err) || contract_searches(r->store, err) ? -1 : 0;
}

/* How long to wait after it, and whether a commit ends that. */
struct pause {
	unsigned ms;
	bool until_poked;
};

static struct pause pause_after(const struct round *r)
{
	if (r->contract.is_on && !r->is_settled)
		return (struct pause){ CONTRACT_LULL_MS, true };
	/* Other vectors are on their way. */
	if (r->contract.is_on && !r->contract.is_same)
		return (struct pause){ CONTRACT_RETRY_MS, true };
	return (struct pause){ CONTRACT_LOOK_MS, true };
}

static struct pause round_run(struct contract_fill *f)
{
	struct round r = { .f = f };
	struct err err = { 0 };

	pthread_mutex_lock(&f->mutex);
	struct contract_report report = f->report;
	pthread_mutex_unlock(&f->mutex);
	bool was_well = !*report.trouble;
	int failed = round_do(&r, &report, &err);
	snprintf(report.trouble, sizeof(report.trouble), "%s", failed ? err.text : "");
	if (failed && was_well && !is_closing(f))
		log_warn("the tables of the SQL functions are held up: %s", err.text);
	pthread_mutex_lock(&f->mutex);
	f->report = report;
	pthread_mutex_unlock(&f->mutex);
	return failed ? (struct pause){ CONTRACT_RETRY_MS, false } : pause_after(&r);
}

/* --- The thread. --- */

/* Until poked, at most so long; under the mutex. */
static void wait_ms(struct contract_fill *f, unsigned ms, bool until_poked)
{
	struct timespec end = clock_after_us(ms * 1000ull);
	int rc = 0;

	while (!f->is_closing && !(until_poked && f->is_poked) && !rc)
		rc = pthread_cond_timedwait(&f->wake, &f->mutex, &end);
}

static void *fill_main(void *arg)
{
	struct contract_fill *f = arg;

	while (!is_closing(f)) {
		struct pause p = round_run(f);
		pthread_mutex_lock(&f->mutex);
		f->is_busy = false;
		wait_ms(f, p.ms, p.until_poked);
		f->is_busy = true;
		wait_ms(f, f->is_poked ? CONTRACT_LULL_MS : 0, false);
		f->is_poked = false;
		pthread_mutex_unlock(&f->mutex);
	}
	return NULL;
}

struct contract_fill *contract_fill_new(const struct contract_fill_setup *setup)
{
	struct contract_fill *f = mem_alloc(sizeof(*f));
	AUTO(buf_done) struct buf keeper = { 0 };
	char host[NAME_SIZE] = "";

	if (gethostname(host, sizeof(host) - 1))
		host[0] = 0;
	buf_printf(&keeper, "%s:%s", host, setup->home);
	f->setup = *setup;
	f->url = mem_strdup(setup->url);
	f->author = mem_strdup(setup->author);
	f->keeper = mem_strdup(buf_cstr(&keeper));
	f->is_busy = true;
	pthread_mutex_init(&f->mutex, NULL);
	pthread_cond_init(&f->wake, NULL);
	if (pthread_create(&f->thread, NULL, fill_main, f))
		die("cannot start the thread that fills the tables of the SQL functions");
	return f;
}

void contract_fill_free(struct contract_fill *f)
{
	if (!f)
		return;
	pthread_mutex_lock(&f->mutex);
	f->is_closing = true;
	if (f->store) /* it may be building an index */
		db_interrupt(store_db(f->store));
	pthread_cond_signal(&f->wake);
	pthread_mutex_unlock(&f->mutex);
	pthread_join(f->thread, NULL);
	store_close(f->store);
	pthread_cond_destroy(&f->wake);
	pthread_mutex_destroy(&f->mutex);
	free(f->keeper);
	free(f->url);
	free(f->author);
	free(f);
}

void contract_fill_poke(struct contract_fill *f)
{
	if (!f)
		return;
	pthread_mutex_lock(&f->mutex);
	f->is_poked = true;
	pthread_cond_signal(&f->wake);
	pthread_mutex_unlock(&f->mutex);
}

void contract_fill_report(struct contract_fill *f, struct contract_report *ret)
{
	*ret = (struct contract_report){ 0 };
	if (!f)
		return;
	pthread_mutex_lock(&f->mutex);
	*ret = f->report;
	pthread_mutex_unlock(&f->mutex);
}

bool contract_fill_is_idle(struct contract_fill *f)
{
	if (!f)
		return true;
	pthread_mutex_lock(&f->mutex);
	bool is = !f->is_busy && !f->is_poked;
	pthread_mutex_unlock(&f->mutex);
	return is;
}
