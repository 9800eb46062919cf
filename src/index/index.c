/* The writer's side: opening, putting, removing, flushing, merging. */

#include "index/index.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "index/manifest.h"
#include "index/merge.h"
#include "index/snapshot.h"
#include "text/hash.h"

#define TAIL_FANOUT 8u            /* so many small segments of the tail become one */
#define TAIL_BYTES_MAX (2u << 20) /* then the tail wants to be flushed */
#define TAIL_DOCS_MAX 8192u
#define MERGE_RATIO \
	2u /* a segment at most so many times larger than what is being written joins it */
#define DEAD_MIN 1000u /* fewer removed ones are no reason to flush */
#define DEAD_SHARE 4u  /* a segment of which one in so many is removed is rewritten */

uint32_t segment_docs_max = 1000000;

static struct snapshot *snapshot_new(struct index *ix)
{
	struct snapshot *s = mem_alloc(sizeof(*s));
	pthread_mutex_lock(&ix->lock);
	ix->snapshots++;
	pthread_mutex_unlock(&ix->lock);
	s->refs = 1;
	s->nslots = 1;
	s->views = mem_alloc(sizeof(*s->views));
	s->session_words = mem_alloc(sizeof(*s->session_words));
	s->session_memory_words = mem_alloc(sizeof(*s->session_memory_words));
	s->session_docs = mem_alloc(sizeof(*s->session_docs));
	return s;
}

static bool is_ours(const char *name)
{
	return str_starts(name, "segment-") || !strcmp(name, MANIFEST_NAME) ||
	       !strcmp(name, MANIFEST_NAME ".tmp");
}

static bool is_listed(const struct snapshot *s, const char *name)
{
	if (!strcmp(name, MANIFEST_NAME))
		return s->n > 0;
	for (size_t i = 0; i < s->n; i++)
		if (s->views[i].seg->name && !strcmp(s->views[i].seg->name, name))
			return true;
	return false;
}

/* Unlinks what an interrupted flush or a damaged index left. */
static void remove_unlisted(const char *dir, const struct snapshot *s)
{
	AUTO(arena_done) struct arena a = { 0 };
	char **names;
	size_t n;
	if (file_list(&a, dir, &names, &n, NULL) != 0)
		return;
	for (size_t i = 0; i < n; i++)
		if (is_ours(names[i]) && !is_listed(s, names[i]))
			unlink(path_join(&a, dir, names[i]));
}

static int load_segment(
	struct index *ix, struct snapshot *s, const struct manifest_entry *e, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	char name[SEGMENT_NAME_MAX];
	struct segment *seg;
	segment_name(e->number, name);
	if (segment_map(path_join(&a, ix->dir, name), e->len, &e->hash, &seg, err) != 0)
		return -1;
	snapshot_add(ix, s, seg);
	for (uint32_t i = 0; i < e->ndead; i++) {
		if (e->dead[i] >= seg->t.docs)
			return err_set(err, ERR_IO, "the index is damaged");
		snapshot_remove_at(ix, s, s->n - 1, e->dead[i]);
	}
	return 0;
}

static int load(struct index *ix, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct manifest m;
	if (index_manifest_read(&a, ix->dir, &m, err) != 0)
		return -1;
	struct snapshot *s = snapshot_copy(ix, m.n);
	for (size_t i = 0; i < m.n; i++) {
		if (load_segment(ix, s, &m.entries[i], err) != 0) {
			snapshot_leave(ix, s);
			return -1;
		}
	}
	snapshot_publish(ix, s);
	ix->seq = ix->flushed_seq = m.seq;
	ix->next_file = m.next_file;
	ix->is_changed = false;
	return 0;
}

int index_open(const char *dir, struct index **ret, bool *ret_needs_rebuild, struct err *err)
{
	if (file_mkdirs(dir, 0700, err) != 0)
		return -1;
	struct index *ix = mem_alloc(sizeof(*ix));
	ix->dir = mem_strdup(dir);
	pthread_mutex_init(&ix->lock, NULL);
	pthread_cond_init(&ix->left, NULL);
	ix->builder = builder_new();
	ix->nslots = 1;
	MEM_GROW(ix->slot_sessions, ix->slot_sessions_cap, 1);
	ix->slot_sessions[0] = 0;
	ix->current = snapshot_new(ix);
	*ret_needs_rebuild = load(ix, NULL) != 0;
	if (*ret_needs_rebuild || ix->current->n)
		remove_unlisted(dir, ix->current);
	*ret = ix;
	return 0;
}

void index_close(struct index *ix)
{
	if (!ix)
		return;
	snapshot_leave(ix, ix->current);
	builder_free(ix->builder);
	for (int i = 0; i < ROOMS; i++)
		room_free(ix->rooms[i]);
	pthread_mutex_destroy(&ix->lock);
	pthread_cond_destroy(&ix->left);
	free(ix->slot_sessions);
	free(ix->slot_table);
	free(ix->dir);
	free(ix);
}

uint64_t index_seq(const struct index *ix)
{
	return __atomic_load_n(&ix->seq, __ATOMIC_RELAXED);
}

void index_set_seq(struct index *ix, uint64_t seq)
{
	__atomic_store_n(&ix->seq, seq, __ATOMIC_RELAXED);
}

/* How many of the youngest segments of the tail are of one size. */
static size_t alike_in_tail(const struct snapshot *s)
{
	size_t n = 0;
	uint32_t limit = s->n ? s->views[s->n - 1].seg->t.docs * TAIL_FANOUT : 0;
	while (n < s->n && !s->views[s->n - 1 - n].seg->name &&
		s->views[s->n - 1 - n].seg->t.docs < limit)
		n++;
	return n;
}

/* Those become one once they are many: putting single documents stays cheap. */
static void merge_tail(struct index *ix, struct snapshot *s)
{
	for (size_t n; (n = alike_in_tail(s)) >= TAIL_FANOUT;) {
		const size_t first = s->n - n;
		struct merge_source *sources = mem_alloc(n * sizeof(*sources));
		bool *gone = mem_alloc(s->n);
		for (size_t i = 0; i < n; i++) {
			const struct view *v = &s->views[first + i];
			sources[i] =
				(struct merge_source){ v->seg, v->dead ? v->dead->bits : NULL };
			gone[first + i] = true;
		}
		struct merge_target target = { .fd = -1 };
		merge_segments(sources, n, &target, NULL);
		snapshot_replace(
			ix, s, gone, target.docs ? segment_of_memory(&target.image) : NULL);
		free(sources);
		free(gone);
	}
}

static size_t text_bytes(const struct doc *d)
{
	return d->title.n + d->body.n + d->rest.n;
}

static void put_batch(struct index *ix, const struct doc *docs, size_t n)
{
	struct segment *seg = builder_run(ix->builder, docs, n);
	struct snapshot *s = snapshot_copy(ix, 1);
	for (size_t i = 0; i < n; i++)
		snapshot_remove(ix, s, docs[i].id);
	snapshot_add(ix, s, seg);
	const bool is_long = alike_in_tail(s) >= TAIL_FANOUT;
	snapshot_publish(ix, s);
	if (!is_long)
		return;
	s = snapshot_copy(ix, 1);
	merge_tail(ix, s);
	snapshot_publish(ix, s);
}

int index_put(struct index *ix, const struct doc *docs, size_t n, struct err *err)
{
	for (size_t i = 0; i < n; i++)
		if (DOC_CLASS(docs[i].id) >= CLASS_COUNT)
			return err_set(err, ERR_INTERNAL,
				"a document of class %d was put into the index",
				(int)DOC_CLASS(docs[i].id));
	for (size_t i = 0; i < n;) {
		size_t first = i, bytes = 0;
		do
			bytes += text_bytes(&docs[i++]);
		while (i < n && bytes + text_bytes(&docs[i]) < BUILD_BYTES_MAX);
		put_batch(ix, docs + first, i - first);
	}
	return 0;
}

int index_remove(struct index *ix, const doc_id *ids, size_t n, struct err *err)
{
	struct snapshot *s = snapshot_copy(ix, 0);
	for (size_t i = 0; i < n; i++)
		snapshot_remove(ix, s, ids[i]);
	snapshot_publish(ix, s);
	return 0;
}

static bool has_too_many_dead(const struct view *v)
{
	return v->dead && v->dead->n > v->seg->t.docs / DEAD_SHARE;
}

/* Which views the next file is made of. */
struct choice {
	bool *views; /* of the snapshot, those that are chosen */
	size_t n;
	uint64_t docs;     /* left in them */
	bool has_to_go_on; /* others have to be written anew too, after these */
};

static void choose_view(const struct snapshot *s, struct choice *c, size_t i)
{
	const struct view *v = &s->views[i];
	c->views[i] = true;
	c->n++;
	c->docs += v->seg->t.docs - (v->dead ? v->dead->n : 0);
}

/* What is written at once takes memory for each document. */
static bool has_room(const struct choice *c, uint64_t docs)
{
	return c->n == 0 || (c->n < MERGE_SOURCES_MAX && c->docs + docs <= segment_docs_max);
}

/*
 * The whole tail, since the manifest that is written after says that it is there; those with too
 * many removed (all with any when purging), and those that are not much larger.
 */
static void choose(const struct snapshot *s, bool purge, struct choice *c)
{
	for (size_t i = 0; i < s->n; i++)
		if (!s->views[i].seg->name)
			choose_view(s, c, i);
	for (size_t i = 0; i < s->n; i++) {
		const struct view *v = &s->views[i];
		const uint32_t dead = v->dead ? v->dead->n : 0;
		if (c->views[i] || (!(purge && dead) && !has_too_many_dead(v)))
			continue;
		if (has_room(c, v->seg->t.docs - dead))
			choose_view(s, c, i);
		else
			c->has_to_go_on = true;
	}
	for (bool is_more = c->n > 0; is_more;) {
		is_more = false;
		for (size_t i = 0; i < s->n; i++) {
			uint32_t size = s->views[i].seg->t.docs;
			if (c->views[i] || size > c->docs * MERGE_RATIO || !has_room(c, size))
				continue;
			choose_view(s, c, i);
			is_more = true;
		}
	}
}

static void unlink_segment(const struct index *ix, const struct segment *seg)
{
	AUTO(arena_done) struct arena a = { 0 };
	unlink(path_join(&a, ix->dir, seg->name));
}

static int write_merged(struct index *ix, const struct merge_source *sources, size_t n,
	struct segment **ret, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	char name[SEGMENT_NAME_MAX];
	segment_name(ix->next_file, name);
	const char *path = path_join(&a, ix->dir, name);
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_set(err, ERR_IO, "cannot write '%s': %s", path, strerror(errno));
	struct merge_target target = { .fd = fd, .dir = ix->dir };
	int result = merge_segments(sources, n, &target, err);
	if (result == 0 && target.docs && fsync(fd) != 0)
		result = err_set(err, ERR_IO, "cannot synchronise '%s': %s", path, strerror(errno));
	close(fd);
	*ret = NULL;
	if (result == 0 && target.docs)
		result = segment_map(path, target.len, NULL, ret, err);
	if (!*ret)
		unlink(path);
	ix->next_file++;
	return result;
}

/*
 * Unlinks the files of the views that are gone; when purging their content is overwritten once the
 * last reader has left.
 */
static void unlink_gone(struct index *ix, const struct snapshot *old, const bool *gone, bool purge)
{
	AUTO(arena_done) struct arena a = { 0 };
	for (size_t i = 0; i < old->n; i++) {
		struct segment *seg = old->views[i].seg;
		if (!gone[i] || !seg->name)
			continue;
		const char *path = path_join(&a, ix->dir, seg->name);
		if (purge)
			seg->wipe_fd = open(path, O_WRONLY | O_CLOEXEC);
		unlink(path);
	}
}

/*
 * Nobody may still see what was forgotten, and its memory and files are to be overwritten: wait for
 * the searches under way.
 */
static void wait_for_readers(struct index *ix)
{
	pthread_mutex_lock(&ix->lock);
	while (ix->snapshots > 1)
		pthread_cond_wait(&ix->left, &ix->lock);
	pthread_mutex_unlock(&ix->lock);
}

static int rewrite(struct index *ix, const bool *chosen, size_t n, bool purge, struct err *err)
{
	struct snapshot *old = snapshot_take(ix), *s = NULL;
	struct merge_source *sources = mem_alloc((n + 1) * sizeof(*sources));
	struct segment *merged = NULL;
	size_t k = 0;
	for (size_t i = 0; i < old->n; i++)
		if (chosen[i])
			sources[k++] = (struct merge_source){ old->views[i].seg,
				old->views[i].dead ? old->views[i].dead->bits : NULL };
	int result = n ? write_merged(ix, sources, n, &merged, err) : 0;
	uint64_t seq = index_seq(ix);
	if (result == 0) {
		s = snapshot_copy(ix, 1);
		snapshot_replace(ix, s, chosen, merged);
		result = index_manifest_write(ix->dir, s, seq, ix->next_file, err);
	}
	if (result == 0) {
		snapshot_publish(ix, s);
		unlink_gone(ix, old, chosen, purge);
		ix->flushed_seq = seq;
		ix->is_changed = false;
	} else if (s) {
		/* A disk that is full must not fill up further with each attempt. */
		if (merged)
			unlink_segment(ix, merged);
		snapshot_leave(ix, s);
	}
	free(sources);
	snapshot_leave(ix, old);
	return result;
}

static int flush_some(struct index *ix, bool purge, bool *ret_has_to_go_on, struct err *err)
{
	const struct snapshot *s = ix->current; /* only we replace it */
	AUTO(mem_free_ptr) bool *views = mem_alloc(s->n + 1);
	struct choice c = { .views = views };
	choose(s, purge, &c);
	*ret_has_to_go_on = c.has_to_go_on;
	if (!c.n && !ix->is_changed && index_seq(ix) == ix->flushed_seq)
		return 0;
	return rewrite(ix, c.views, c.n, purge, err);
}

int index_flush(struct index *ix, bool purge, struct err *err)
{
	for (bool has_to_go_on = true; has_to_go_on;)
		if (flush_some(ix, purge, &has_to_go_on, err) != 0)
			return -1;
	if (purge)
		wait_for_readers(ix);
	return 0;
}

int index_clear(struct index *ix, struct err *err)
{
	snapshot_publish(ix, snapshot_new(ix));
	remove_unlisted(ix->dir, ix->current);
	index_set_seq(ix, 0);
	ix->flushed_seq = 0;
	ix->is_changed = false;
	wait_for_readers(ix);
	return dir_sync(ix->dir, err);
}

void index_stats(const struct index *cix, struct index_stats *ret)
{
	struct index *ix = (struct index *)(uintptr_t)cix; /* the lock is ours to take */
	struct snapshot *s = snapshot_take(ix);
	*ret = (struct index_stats){ 0 };
	for (size_t i = 0; i < s->n; i++) {
		const struct view *v = &s->views[i];
		uint32_t dead = v->dead ? v->dead->n : 0;
		ret->docs += v->seg->t.docs - dead;
		ret->removed += dead;
		if (v->seg->name) {
			ret->segments++;
			ret->bytes += v->seg->len;
		} else {
			ret->tail_docs += v->seg->t.docs;
			ret->tail_bytes += v->seg->len;
		}
	}
	snapshot_leave(ix, s);
}

bool index_has(struct index *ix, doc_id id)
{
	struct snapshot *s = snapshot_take(ix);
	bool is_there = false;
	uint32_t doc;
	for (size_t i = s->n; i-- > 0 && !is_there;)
		is_there = segment_find_doc(s->views[i].seg, id, &doc) &&
			   !view_is_dead(&s->views[i], doc);
	snapshot_leave(ix, s);
	return is_there;
}

bool index_wants_flush(const struct index *cix)
{
	struct index *ix = (struct index *)(uintptr_t)cix;
	struct snapshot *s = snapshot_take(ix);
	uint64_t docs = 0, bytes = 0;
	bool has_dead = false;
	for (size_t i = 0; i < s->n; i++) {
		const struct view *v = &s->views[i];
		docs += v->seg->name ? 0 : v->seg->t.docs;
		bytes += v->seg->name ? 0 : v->seg->len;
		has_dead |= has_too_many_dead(v) && v->dead->n > DEAD_MIN;
	}
	snapshot_leave(ix, s);
	return bytes > TAIL_BYTES_MAX || docs > TAIL_DOCS_MAX || has_dead;
}
