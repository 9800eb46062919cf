/* What there is of vectors, and how it changes: tail, files, merging, purging. */

#include "index/vectors.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "index/vectors_guess.h"

#define FILE_VECTORS_MAX 400000u /* larger ones are not merged any more */
#define MERGE_RATIO 2u           /* a file is merged with newer ones that are together half its size */
#define DEAD_SHARE 3u            /* or when more than a third of it is dead */
#define SECOND_MS 1000

/* No two stores, and no two loads of one, have the same number. */
static uint64_t next_store(void)
{
	static _Atomic uint64_t last;
	return atomic_fetch_add(&last, 1) + 1;
}

struct vectors *vectors_new(const char *dir)
{
	pthread_rwlockattr_t attr;
	struct vectors *v = mem_alloc(sizeof(*v));
	v->dir = mem_strdup(dir);
	v->next_file = 1;
	v->dims = v->tail.dims = VECTOR_DIMS;
	v->store = next_store();
	v->prefilter = (struct vectors_prefilter){ VECTORS_BITS_STORE_LEAST, VECTORS_BITS_FILE_LEAST,
		VECTORS_GUESSED_DOCS, VECTORS_GUESSED_SESSIONS, VECTORS_GUESS_MARGIN };
	v->tail.sum = v->tail_sum = mem_alloc(VECTOR_DIMS_MAX * sizeof(double));
	pthread_mutex_init(&v->change, NULL);
	pthread_rwlockattr_init(&attr);
#ifdef __GLIBC__
	/* Searches without end must not keep the embedder from adding. */
	pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
#endif
	pthread_rwlock_init(&v->lock, &attr);
	pthread_rwlockattr_destroy(&attr);
	return v;
}

void vectors_set_prefilter(struct vectors *v, const struct vectors_prefilter *p)
{
	v->prefilter = *p;
}

static void tail_reset(struct vectors *v)
{
	if (v->tail_at)
		memset(v->tail_at, 0, v->vectors_cap * v->dims);
	free(v->tail_rows);
	free(v->tail_scales);
	free(v->tail_at);
	free(v->tail.dead);
	memset(v->tail_sum, 0, VECTOR_DIMS_MAX * sizeof(double));
	v->rows_cap = v->vectors_cap = 0;
	v->tail_rows = NULL;
	v->tail_scales = NULL;
	v->tail_at = NULL;
	v->tail = (struct vectors_part){ .sum = v->tail_sum, .dims = v->dims };
}

void vectors_free(struct vectors *v)
{
	if (!v)
		return;
	for (size_t i = 0; i < v->n; i++)
		vectors_part_free(v->files[i]);
	guess_drop_spare(v);
	tail_reset(v);
	free(v->tail_sum);
	pthread_mutex_destroy(&v->change);
	pthread_rwlock_destroy(&v->lock);
	free(v->model);
	free(v->dir);
	free(v);
}

/* --- Rows. --- */

bool vectors_part_find(const struct vectors_part *p, doc_id id, uint32_t *ret)
{
	uint32_t low = 0, high = p->ndocs;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (p->rows[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == p->ndocs || p->rows[low].id != id || vectors_row_is_dead(p, low))
		return false;
	*ret = low;
	return true;
}

static bool tail_find(const struct vectors *v, doc_id id, uint32_t *ret)
{
	for (uint32_t i = 0; i < v->tail.ndocs; i++) {
		if (v->tail.rows[i].id != id || vectors_row_is_dead(&v->tail, i))
			continue;
		*ret = i;
		return true;
	}
	return false;
}

void vectors_part_kill(struct vectors_part *p, uint32_t row)
{
	if (vectors_row_is_dead(p, row))
		return;
	p->dead[row >> 3] |= (uint8_t)(1u << (row & 7));
	p->ndead++;
	p->ndead_vectors += vectors_part_end(p, row) - p->rows[row].first;
}

/* The live row of a document; of one that is in several parts all but the newest are dead. */
static struct vectors_part *row_find(struct vectors *v, doc_id id, uint32_t *ret)
{
	if (tail_find(v, id, ret))
		return &v->tail;
	for (size_t i = v->n; i-- > 0;)
		if (vectors_part_find(v->files[i], id, ret))
			return v->files[i];
	return NULL;
}

static uint32_t seconds(int64_t at)
{
	int64_t s = at / SECOND_MS;
	return s < 0 ? 0 : s > UINT32_MAX ? UINT32_MAX : (uint32_t)s;
}

static struct vectors_row row_of(doc_id id, uint32_t hash, const struct doc_columns *c)
{
	return (struct vectors_row){ .id = id, .hash = hash, .project = c->project,
		.session = c->session, .at = seconds(c->at), .kind = c->kind, .type = c->type,
		.status_agent = (uint8_t)(c->status | c->agent << 4), .branch = (uint8_t)c->branch };
}

static void tail_room(struct vectors *v, uint32_t more)
{
	size_t rows = v->rows_cap;
	MEM_GROW(v->tail_rows, v->rows_cap, v->tail.ndocs + 1);
	if (v->rows_cap != rows) {
		v->tail.dead = mem_resize(v->tail.dead, v->rows_cap / 8 + 1);
		size_t used = rows ? rows / 8 + 1 : 0;
		memset(v->tail.dead + used, 0, v->rows_cap / 8 + 1 - used);
	}
	if (v->tail.nvectors + more > v->vectors_cap) {
		v->vectors_cap = MAX((size_t)v->tail.nvectors + more, v->vectors_cap * 2);
		v->tail_scales = mem_resize(v->tail_scales, v->vectors_cap * sizeof(float));
		v->tail_at = mem_resize(v->tail_at, v->vectors_cap * v->dims);
	}
	v->tail.rows = v->tail_rows;
	v->tail.scales = v->tail_scales;
	v->tail.at = v->tail_at;
}

static void tail_add(struct vectors *v, struct vectors_row row, const struct vectors_doc *d)
{
	uint64_t count = 0;
	tail_room(v, d->n);
	row.first = v->tail.nvectors;
	memcpy(v->tail_scales + row.first, d->scales, d->n * sizeof(float));
	memcpy(v->tail_at + (size_t)row.first * v->dims, d->at, (size_t)d->n * v->dims);
	vector_add(&(struct vector_set){ .at = d->at, .scales = d->scales, .n = d->n, .dims = v->dims },
		v->tail_sum, &count);
	v->tail_rows[v->tail.ndocs++] = row;
	v->tail.nvectors += d->n;
}

static void replace(struct vectors *v, const struct vectors_doc *d)
{
	uint32_t row;
	struct vectors_part *old = row_find(v, d->id, &row);
	pthread_rwlock_wrlock(&v->lock);
	if (old)
		vectors_part_kill(old, row);
	tail_add(v, row_of(d->id, d->hash, &d->columns), d);
	pthread_rwlock_unlock(&v->lock);
	v->is_changed = true;
}

/* --- Files. --- */

static int pick_order(const void *x, const void *y)
{
	const struct vectors_pick *a = x, *b = y;
	uint64_t i = a->part->rows[a->row].id, k = b->part->rows[b->row].id;
	return (i > k) - (i < k);
}

struct picks {
	struct vectors_pick *at;
	size_t n;
};

static void picks_add(struct picks *p, const struct vectors_part *part, vectors_alive_fn *is_alive, void *ctx)
{
	p->at = mem_resize(p->at, (p->n + part->ndocs + 1) * sizeof(*p->at));
	for (uint32_t i = 0; i < part->ndocs; i++)
		if (!vectors_row_is_dead(part, i) && (!is_alive || is_alive(ctx, part->rows[i].id)))
			p->at[p->n++] = (struct vectors_pick){ part, i };
}

/* Writes what is picked in the place of the files from `first` on, n of them. Frees the picks. */
static int put_in_place(struct vectors *v, struct picks *p, size_t first, size_t n, struct err *err)
{
	struct vectors_part *made = NULL;
	if (p->n)
		qsort(p->at, p->n, sizeof(*p->at), pick_order);
	int failed = p->n ? vectors_file_write(v, p->at, p->n, &made, err) : 0;
	free(p->at);
	if (failed)
		return -1;
	size_t more = made ? 1 : 0;
	pthread_rwlock_wrlock(&v->lock);
	memmove(v->files + first + more, v->files + first + n, (v->n - first - n) * sizeof(*v->files));
	if (made)
		v->files[first] = made;
	v->n = v->n - n + more;
	pthread_rwlock_unlock(&v->lock);
	v->is_changed = true;
	return 0;
}

static int tail_write(struct vectors *v, vectors_alive_fn *is_alive, void *ctx, struct err *err)
{
	struct picks p = { 0 };
	if (!v->tail.ndocs)
		return 0;
	if (v->n == VECTORS_FILES_MAX)
		return err_set(err, ERR_TOO_LARGE, "there are too many files in '%s' already", v->dir);
	picks_add(&p, &v->tail, is_alive, ctx);
	if (put_in_place(v, &p, v->n, 0, err))
		return -1;
	pthread_rwlock_wrlock(&v->lock);
	tail_reset(v);
	pthread_rwlock_unlock(&v->lock);
	return 0;
}

/* Replaces n files by one with their live rows. The old ones are unlinked when the manifest no longer names them. */
static int files_rewrite(struct vectors *v, size_t first, size_t n, struct err *err)
{
	struct vectors_part *old[VECTORS_FILES_MAX];
	struct picks p = { 0 };
	memcpy(old, v->files + first, n * sizeof(*old));
	for (size_t i = 0; i < n; i++)
		picks_add(&p, old[i], NULL, NULL);
	if (put_in_place(v, &p, first, n, err))
		return -1;
	int failed = vectors_manifest_write(v, err);
	for (size_t i = 0; i < n; i++) {
		if (failed)
			vectors_part_free(old[i]);
		else
			vectors_file_remove(v, old[i], false);
	}
	return failed;
}

static size_t merge_from(const struct vectors *v)
{
	size_t first = v->n;
	uint64_t size = 0;
	for (size_t i = v->n; i-- > 0;) {
		const struct vectors_part *p = v->files[i];
		bool is_wasteful = p->ndead_vectors > p->nvectors / DEAD_SHARE;
		bool is_small = size + p->nvectors <= FILE_VECTORS_MAX && p->nvectors <= MERGE_RATIO * size;
		if (size && !is_small && !is_wasteful)
			break;
		if (first == v->n || is_small || is_wasteful)
			first = i;
		size += p->nvectors;
	}
	return first;
}

static bool is_worth_merging(const struct vectors *v, size_t first)
{
	if (v->n - first > 1)
		return true;
	return first < v->n && v->files[first]->ndead_vectors > v->files[first]->nvectors / DEAD_SHARE;
}

/* Bits for the files of a large store that have none. */
static int bits_make(struct vectors *v, struct err *err)
{
	uint64_t all = 0;
	for (size_t i = 0; i < v->n; i++)
		all += v->files[i]->nvectors;
	for (size_t i = 0; i < v->n && all >= v->prefilter.store_least; i++) {
		struct vectors_part *p = v->files[i];
		if (p->nvectors >= v->prefilter.file_least && !p->bits.at && vectors_bits_make(v, p, err))
			return -1;
	}
	return 0;
}

static int flush(struct vectors *v, struct err *err)
{
	if (tail_write(v, NULL, NULL, err) || (v->is_changed && vectors_manifest_write(v, err)))
		return -1;
	size_t first = merge_from(v);
	if (is_worth_merging(v, first) && files_rewrite(v, first, v->n - first, err))
		return -1;
	return bits_make(v, err);
}

int vectors_flush(struct vectors *v, struct err *err)
{
	pthread_mutex_lock(&v->change);
	int result = flush(v, err);
	pthread_mutex_unlock(&v->change);
	guess_drop_spare(v);
	return result;
}

/* --- Loading. --- */

/* Rows of which a newer file has another are dead. */
static void kill_replaced(struct vectors *v)
{
	for (size_t i = 0; i + 1 < v->n; i++)
		for (uint32_t d = 0; d < v->files[i]->ndocs; d++)
			for (size_t k = i + 1; k < v->n && !vectors_row_is_dead(v->files[i], d); k++) {
				uint32_t at;
				if (vectors_part_find(v->files[k], v->files[i]->rows[d].id, &at))
					vectors_part_kill(v->files[i], d);
			}
}

int vectors_load(struct vectors *v, const char *model, size_t dims, struct err *err)
{
	struct vectors *fresh = vectors_new(v->dir);
	if (file_mkdirs(v->dir, 0700, err)) {
		vectors_free(fresh);
		return -1;
	}
	pthread_mutex_lock(&v->change);
	vectors_manifest_load(fresh, model, dims);
	kill_replaced(fresh);
	pthread_rwlock_wrlock(&v->lock);
	for (size_t i = 0; i < v->n; i++)
		vectors_part_free(v->files[i]);
	tail_reset(v);
	v->dims = v->tail.dims = fresh->dims;
	v->store = fresh->store;
	memcpy(v->files, fresh->files, sizeof(v->files));
	v->n = fresh->n;
	fresh->n = 0;
	v->next_file = fresh->next_file;
	v->spans = fresh->spans;
	v->is_changed = fresh->is_changed;
	free(v->model);
	v->model = fresh->model;
	fresh->model = NULL;
	pthread_rwlock_unlock(&v->lock);
	pthread_mutex_unlock(&v->change);
	vectors_free(fresh);
	return 0;
}

/* --- Changing. --- */

int vectors_put(struct vectors *v, const struct vectors_doc *doc, struct err *err)
{
	int result = 0;
	if (doc->n == 0 || doc->n > VECTORS_OF_DOC_MAX)
		return err_set(err, ERR_INTERNAL, "a document came with %u vectors", doc->n);
	pthread_mutex_lock(&v->change);
	replace(v, doc);
	if (v->tail.nvectors >= VECTORS_TAIL_MAX)
		result = flush(v, err);
	pthread_mutex_unlock(&v->change);
	return result;
}

void vectors_remove(struct vectors *v, doc_id id)
{
	uint32_t row;
	pthread_mutex_lock(&v->change);
	struct vectors_part *p = row_find(v, id, &row);
	if (p) {
		pthread_rwlock_wrlock(&v->lock);
		vectors_part_kill(p, row);
		pthread_rwlock_unlock(&v->lock);
		v->is_changed = true;
	}
	pthread_mutex_unlock(&v->change);
}

static bool same_columns(const struct vectors_row *a, struct vectors_row b)
{
	b.first = a->first;
	return !memcmp(a, &b, sizeof(b));
}

bool vectors_keep(struct vectors *v, doc_id id, uint32_t hash, const struct doc_columns *columns)
{
	uint32_t row;
	pthread_mutex_lock(&v->change);
	const struct vectors_part *p = row_find(v, id, &row);
	bool is_same = p && p->rows[row].hash == hash;
	if (is_same && !same_columns(&p->rows[row], row_of(id, hash, columns))) {
		uint32_t first = p->rows[row].first, n = vectors_part_end(p, row) - first;
		int8_t *at = mem_dup(p->at + (size_t)first * v->dims, (size_t)n * v->dims);
		float *scales = mem_dup(p->scales + first, n * sizeof(float));
		replace(v, &(struct vectors_doc){ id, *columns, hash, n, at, scales });
		free(at);
		free(scales);
	}
	pthread_mutex_unlock(&v->change);
	return is_same;
}

bool vectors_get(struct vectors *v, doc_id id, uint32_t hash, float *ret, size_t dims)
{
	uint32_t row;
	pthread_mutex_lock(&v->change);
	const struct vectors_part *p = row_find(v, id, &row);
	bool is_there = p && p->rows[row].hash == hash && dims <= v->dims;
	for (size_t i = 0; is_there && i < dims; i++)
		ret[i] = (float)p->at[(size_t)p->rows[row].first * v->dims + i] * p->scales[p->rows[row].first];
	pthread_mutex_unlock(&v->change);
	return is_there;
}

void vectors_spans(struct vectors *v, struct vectors_spans *ret)
{
	pthread_mutex_lock(&v->change);
	*ret = v->spans;
	pthread_mutex_unlock(&v->change);
}

void vectors_set_spans(struct vectors *v, const struct vectors_spans *spans)
{
	pthread_mutex_lock(&v->change);
	v->spans = *spans;
	v->is_changed = true;
	pthread_mutex_unlock(&v->change);
}

static int purge(struct vectors *v, vectors_alive_fn *is_alive, void *ctx, struct err *err)
{
	struct vectors_part *old[VECTORS_FILES_MAX];
	size_t nold = 0;
	int failed = tail_write(v, is_alive, ctx, err);
	for (size_t i = v->n; i-- > 0 && !failed;) {
		struct vectors_part *p = v->files[i];
		struct picks picks = { 0 };
		picks_add(&picks, p, is_alive, ctx);
		if (picks.n == p->ndocs) {
			free(picks.at);
			continue;
		}
		failed = put_in_place(v, &picks, i, 1, err);
		if (!failed)
			old[nold++] = p;
	}
	if (vectors_manifest_write(v, failed ? NULL : err))
		failed = -1;
	for (size_t i = 0; i < nold; i++)
		vectors_file_remove(v, old[i], true);
	return failed;
}

int vectors_purge(struct vectors *v, vectors_alive_fn *is_alive, void *ctx, struct err *err)
{
	pthread_mutex_lock(&v->change);
	int result = purge(v, is_alive, ctx, err);
	pthread_mutex_unlock(&v->change);
	return result;
}

static bool none_is_alive(void *ctx, doc_id id)
{
	return false;
}

int vectors_clear(struct vectors *v, struct err *err)
{
	pthread_mutex_lock(&v->change);
	v->spans.n = 0;
	int result = purge(v, none_is_alive, NULL, err);
	pthread_mutex_unlock(&v->change);
	return result;
}

/* --- Looking. --- */

void vectors_stats(struct vectors *v, struct vectors_stats *ret)
{
	pthread_rwlock_rdlock(&v->lock);
	*ret = (struct vectors_stats){ .files = v->n, .tail = v->tail.nvectors };
	for (size_t i = 0; i <= v->n; i++) {
		const struct vectors_part *p = i < v->n ? v->files[i] : &v->tail;
		ret->docs += p->ndocs - p->ndead;
		ret->vectors += p->nvectors - p->ndead_vectors;
		ret->bytes += p->len;
		ret->bits += p->bits.len;
	}
	pthread_rwlock_unlock(&v->lock);
}

size_t vectors_dims(struct vectors *v)
{
	pthread_rwlock_rdlock(&v->lock);
	size_t dims = v->dims;
	pthread_rwlock_unlock(&v->lock);
	return dims;
}

uint64_t vectors_store(struct vectors *v)
{
	pthread_rwlock_rdlock(&v->lock);
	uint64_t store = v->store;
	pthread_rwlock_unlock(&v->lock);
	return store;
}

uint64_t vectors_mean(struct vectors *v, double zeros, float mean[VECTOR_DIMS_MAX])
{
	double sum[VECTOR_DIMS_MAX] = { 0 };
	uint64_t count = 0;
	pthread_rwlock_rdlock(&v->lock);
	for (size_t i = 0; i <= v->n; i++) {
		const struct vectors_part *p = i < v->n ? v->files[i] : &v->tail;
		count += p->nvectors;
		for (size_t k = 0; k < v->dims; k++)
			sum[k] += p->sum[k];
	}
	size_t dims = v->dims;
	pthread_rwlock_unlock(&v->lock);
	double parts = (double)count + zeros;
	for (size_t k = 0; k < dims; k++)
		mean[k] = parts > 0 ? (float)(sum[k] / parts) : 0;
	return count;
}
