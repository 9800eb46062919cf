/*
 * Compression dictionaries of the store: training, and giving one up. A dictionary holds pieces
 * of the texts that it was trained on. When something is forgotten that left a piece there which
 * no other row holds, the dictionary goes too, and every row that needed it is written without.
 */
#include "store/dictionary.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "store/query_ids.h"
#include "text/hash.h"

#define SAMPLES_MIN 400 /* rows; fewer teach a dictionary nothing */
#define SAMPLES_MAX 4000
#define SAMPLE_BYTES_MIN (256u << 10)
#define SAMPLE_BYTES_MAX \
	(1u << 20)            /* three times as much teaches 2 % more, in three times the time */
#define SAMPLE_MAX (2u << 10) /* of one row; the rest repeats itself */
#define AGAIN_GROWTH 16       /* so many times the rows, and another one is made */
#define WINDOW 24             /* bytes that two texts have in common are no chance */
#define RECODE_BATCH 200

/*
 * The tables of a class of packs: how many rows there are, samples spread over them (by the low bits
 * of an odd multiple of the id), and how many rows there were when the last dictionary was made. Ids
 * are ordered without the packs, which may be large.
 */
static const struct {
	const char *newest, *samples, *pack, *counter;
} classes[PACK_CLASS_END] = {
	[PACK_EVENT] = { "SELECT max(id) FROM event",
		"SELECT id FROM event ORDER BY (id * 40503) % 65536, id LIMIT ?1",
		"SELECT pack FROM event WHERE id = ?1", "dictionary.event" },
	[PACK_MEMORY] = { "SELECT max(id) FROM memory",
		"SELECT id FROM memory WHERE visibility = 0 ORDER BY (id * 40503) % 65536, id "
		"LIMIT ?1",
		"SELECT pack FROM memory WHERE id = ?1", "dictionary.memory" },
};

/* A row that is gone, or that has no texts, is no sample. */
static int read_sample(struct store *s, struct arena *a, const char *sql, int64_t id,
	struct str *ret, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	size_t n;
	int rc = store_row(s, sql, DB_ARGS(db_i(id)), &r, err);

	if (rc <= 0 || db_is_null(r, 0))
		return rc < 0 ? -1 : 0;
	const void *blob = db_blob(r, 0, &n);
	return packer_open(s->packer, a, blob, n, ret, err);
}

static int read_samples(struct store *s, enum pack_class class, struct buf *samples,
	struct buf *sizes, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	AUTO(arena_done) struct arena of_row = { 0 };
	int64_t *ids = NULL;
	size_t n = 0;

	if (query_ids(s, &a, classes[class].samples, DB_ARGS(db_i(SAMPLES_MAX)), &ids, &n, err))
		return -1;
	for (size_t i = 0; i < n && samples->len < SAMPLE_BYTES_MAX; i++) {
		struct str text = { 0 };
		arena_reset(&of_row);
		if (read_sample(s, &of_row, classes[class].pack, ids[i], &text, err))
			return -1;
		const size_t len = MIN(text.n, SAMPLE_MAX);
		if (!len)
			continue;
		buf_add(samples, text.p, len);
		buf_add(sizes, &len, sizeof(len));
	}
	return 0;
}

static int is_wanted(struct store *s, enum pack_class class, int64_t rows_min,
	struct dictionary_made *ret, bool *ret_wanted, struct err *err)
{
	int64_t id, rows_then;

	if (packer_dictionary(s->packer, class, &id, err) ||
		store_counter_get(s, classes[class].counter, &rows_then, err) ||
		db_one(s->db, classes[class].newest, NULL, 0, 0, &ret->rows, err) ||
		store_graves(s, &ret->graves, err))
		return -1;
	*ret_wanted =
		id ? ret->rows >= MAX(rows_then, rows_min) * AGAIN_GROWTH : ret->rows >= rows_min;
	return 0;
}

int store_dictionary_make(struct store *s, enum pack_class class, int64_t rows_min,
	struct dictionary_made *ret, struct err *err)
{
	AUTO(buf_done) struct buf samples = { 0 };
	AUTO(buf_done) struct buf sizes = { 0 };
	bool wanted;

	*ret = (struct dictionary_made){ .class = class };
	if (is_wanted(s, class, rows_min, ret, &wanted, err) ||
		(wanted && read_samples(s, class, &samples, &sizes, err)))
		return -1;
	size_t n = sizes.len / sizeof(size_t);
	ret->is_tried = wanted;
	if (n >= SAMPLES_MIN && samples.len >= SAMPLE_BYTES_MIN)
		packer_teach(
			class, &samples, (const size_t *)(const void *)sizes.data, n, &ret->data);
	return 0;
}

int store_dictionary_put(struct store *s, const struct dictionary_made *d, struct err *err)
{
	const char *counter = classes[d->class].counter;
	struct graves graves;
	int64_t rows_then;

	if (!d->data.len)
		return 0;
	/* It may hold a piece of what was forgotten while it was made. */
	if (store_graves(s, &graves, err))
		return -1;
	if (!graves_same(&graves, &d->graves))
		return 0;
	if (packer_adopt(s->packer, d->class, &d->data, err) ||
		store_counter_get(s, counter, &rows_then, err))
		return -1;
	return store_counter_add(s, counter, d->rows - rows_then, err);
}

void dictionary_made_done(struct dictionary_made *d)
{
	buf_done(&d->data);
}

int store_train_dictionary(struct store *s, struct err *err)
{
	for (int class = PACK_EVENT; class < PACK_CLASS_END; class ++) {
		AUTO(dictionary_made_done) struct dictionary_made d = { 0 };

		if (store_dictionary_make(s, (enum pack_class) class, SAMPLES_MIN, &d, err) ||
			store_dictionary_put(s, &d, err))
			return -1;
	}
	return 0;
}

void windows_done(struct windows *w)
{
	free(w->p);
}

static int by_hash(const void *a, const void *b)
{
	uint64_t x = ((const struct window *)a)->hash, y = ((const struct window *)b)->hash;

	return x < y ? -1 : x > y;
}

int windows_load(struct store *s, struct windows *w, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	size_t cap = 0;
	int rc;

	if (db_query(s->db, "SELECT data FROM dictionary", NULL, 0, &r, err))
		return -1;
	while ((rc = db_next(r, err)) > 0) {
		size_t n;
		const char *data = db_blob(r, 0, &n);
		for (size_t i = 0; i + WINDOW <= n; i++) {
			MEM_GROW(w->p, cap, w->n + 1);
			w->p[w->n++] = (struct window){ hash64(data + i, WINDOW), false };
		}
	}
	if (w->n)
		qsort(w->p, w->n, sizeof(*w->p), by_hash);
	return rc;
}

/* Equal windows stand side by side; the first of them carries the mark. */
static struct window *find_window(struct windows *w, uint64_t hash)
{
	size_t low = 0, high = w->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (w->p[middle].hash < hash)
			low = middle + 1;
		else
			high = middle;
	}
	return low < w->n && w->p[low].hash == hash ? &w->p[low] : NULL;
}

static void mark_text(struct windows *w, struct str text, bool is_forgotten)
{
	for (size_t i = 0; i + WINDOW <= text.n; i++) {
		struct window *v = find_window(w, hash64(text.p + i, WINDOW));
		if (!v || v->is_forgotten == is_forgotten)
			continue;
		v->is_forgotten = is_forgotten;
		w->nforgotten += is_forgotten ? 1 : (size_t)-1;
	}
}

int windows_mark(
	struct store *s, struct windows *w, const char *sql, const struct ids *ids, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };

	for (size_t i = 0; w->n && i < ids->n; i++) {
		struct db_rows *r;
		struct str text;
		size_t n;
		int rc = store_row(s, sql, DB_ARGS(db_i(ids->p[i])), &r, err);
		if (rc < 0)
			return -1;
		if (rc == 0)
			continue;
		arena_reset(&a);
		const void *blob = db_blob(r, 0, &n);
		rc = packer_open(s->packer, &a, blob, n, &text, err);
		db_end(r);
		if (rc)
			return -1;
		mark_text(w, text, true);
	}
	return 0;
}

struct unmark {
	struct windows *windows;
	struct arena arena;
};

static int unmark_row(struct store *s, struct db_rows *r, void *ctx, struct err *err)
{
	struct unmark *u = ctx;
	struct str text;
	size_t n;
	const void *blob = db_blob(r, 1, &n);

	arena_reset(&u->arena);
	if (packer_open(s->packer, &u->arena, blob, n, &text, err))
		return -1;
	mark_text(u->windows, text, false);
	return !u->windows->nforgotten;
}

/* Takes the mark from what other rows hold too. Common pieces are found within the first rows. */
static int unmark_shared(struct store *s, struct windows *w, const char *sql, struct err *err)
{
	struct unmark u = { .windows = w };
	int failed = w->nforgotten ? store_scan(s, sql, unmark_row, &u, err) : 0;

	arena_done(&u.arena);
	return failed;
}

static int recode_one(struct store *s, enum pack_class class, const char *update, int64_t id,
	struct str text, struct err *err)
{
	buf_cut(&s->raw, 0);
	buf_add(&s->raw, text.p, text.n);
	if (packer_close(s->packer, class, &s->raw, &s->blob, err))
		return -1;
	return db_run(s->db, update, DB_ARGS(db_i(id), db_b(s->blob.data, s->blob.len)), err);
}

/* Rows in pages by id, since a table is not changed under its own cursor. */
static int recode(struct store *s, enum pack_class class, const char *select, const char *update,
	struct err *err)
{
	int64_t last = 0;

	for (;;) {
		AUTO(arena_done) struct arena a = { 0 };
		AUTO(ids_done) struct ids ids = { 0 };
		struct str texts[RECODE_BATCH];
		struct db_rows *r;
		int rc;
		if (db_query(s->db, select, DB_ARGS(db_i(last), db_i(RECODE_BATCH)), &r, err))
			return -1;
		while ((rc = db_next(r, err)) > 0) {
			size_t n;
			const void *blob = db_blob(r, 1, &n);
			rc = packer_open(s->packer, &a, blob, n, &texts[ids.n], err);
			if (rc)
				break;
			ids_add(&ids, db_int(r, 0));
		}
		db_end(r);
		if (rc < 0)
			return -1;
		for (size_t i = 0; i < ids.n; i++)
			if (recode_one(s, class, update, ids.p[i], texts[i], err))
				return -1;
		if (!ids.n)
			return 0;
		last = ids.p[ids.n - 1];
	}
}

int windows_settle(struct store *s, struct windows *w, struct err *err)
{
	if (unmark_shared(
		    s, w, "SELECT id, pack FROM memory WHERE id > ?1 ORDER BY id LIMIT ?2", err) ||
		unmark_shared(s, w,
			"SELECT id, pack FROM candidate WHERE id > ?1 ORDER BY id LIMIT ?2", err) ||
		unmark_shared(s, w,
			"SELECT id, pack FROM event WHERE id > ?1 AND pack IS NOT NULL ORDER BY id "
			"LIMIT ?2",
			err))
		return -1;
	if (!w->nforgotten)
		return 0;
	log_info("the compression dictionaries held a piece of what was forgotten: writing all "
		 "texts without them");
	packer_retire(s->packer);
	if (recode(s, PACK_MEMORY, "SELECT id, pack FROM memory WHERE id > ?1 ORDER BY id LIMIT ?2",
		    "UPDATE memory SET pack = ?2 WHERE id = ?1", err) ||
		recode(s, PACK_MEMORY,
			"SELECT id, pack FROM candidate WHERE id > ?1 ORDER BY id LIMIT ?2",
			"UPDATE candidate SET pack = ?2 WHERE id = ?1", err) ||
		recode(s, PACK_EVENT,
			"SELECT id, pack FROM event WHERE id > ?1 AND pack IS NOT NULL ORDER BY id "
			"LIMIT ?2",
			"UPDATE event SET pack = ?2 WHERE id = ?1", err))
		return -1;
	return db_run(s->db, "DELETE FROM dictionary", NULL, 0, err);
}
