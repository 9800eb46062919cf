#include "index/snapshot.h"

#include <string.h>

#include "base/mem.h"
#include "index/filter.h"
#include "index/prior.h"
#include "index/session_list.h"
#include "index/skip.h"

static void snapshot_free(struct snapshot *s)
{
	free(s->views);
	free(s->session_words);
	free(s->session_memory_words);
	free(s->session_docs);
	free(s->norms);
	free(s);
}

struct snapshot *snapshot_take(struct index *ix)
{
	pthread_mutex_lock(&ix->lock);
	struct snapshot *s = ix->current;
	s->refs++;
	pthread_mutex_unlock(&ix->lock);
	return s;
}

/*
 * Lets go of a view's parts; what nobody uses any more is collected, to be freed outside the lock.
 */
static struct segment *view_leave(struct view *v)
{
	if (v->dead && --v->dead->refs == 0)
		free(v->dead);
	return --v->seg->refs == 0 ? v->seg : NULL;
}

void snapshot_leave(struct index *ix, struct snapshot *s)
{
	pthread_mutex_lock(&ix->lock);
	bool is_last = --s->refs == 0;
	if (is_last)
		for (size_t i = 0; i < s->n; i++)
			s->views[i].seg = view_leave(&s->views[i]);
	pthread_mutex_unlock(&ix->lock);
	if (!is_last)
		return;
	for (size_t i = 0; i < s->n; i++)
		segment_free(s->views[i].seg);
	snapshot_free(s);
	pthread_mutex_lock(&ix->lock);
	ix->snapshots--;
	pthread_cond_broadcast(&ix->left);
	pthread_mutex_unlock(&ix->lock);
}

struct snapshot *snapshot_copy(struct index *ix, size_t more)
{
	const struct snapshot *old = ix->current; /* only the writer replaces it, and that is us */
	struct snapshot *s = mem_alloc(sizeof(*s));
	pthread_mutex_lock(&ix->lock);
	memcpy(s, old, offsetof(struct snapshot, norms)); /* searches set those meanwhile */
	pthread_mutex_unlock(&ix->lock);
	s->refs = 1;
	s->views = mem_alloc((old->n + more + 1) * sizeof(*s->views));
	if (old->n)
		memcpy(s->views, old->views, old->n * sizeof(*s->views));
	s->session_words = mem_dup(old->session_words, old->nslots * sizeof(*s->session_words));
	s->session_memory_words =
		mem_dup(old->session_memory_words, old->nslots * sizeof(*s->session_memory_words));
	s->session_docs = mem_dup(old->session_docs, old->nslots * sizeof(*s->session_docs));
	pthread_mutex_lock(&ix->lock);
	for (size_t i = 0; i < s->n; i++) {
		s->views[i].seg->refs++;
		if (s->views[i].dead)
			s->views[i].dead->refs++;
	}
	ix->snapshots++;
	pthread_mutex_unlock(&ix->lock);
	return s;
}

static void count_doc(struct snapshot *s, const struct segment *seg, uint32_t doc, int sign)
{
	struct class_totals *c = &s->classes[segment_class(seg, doc)];
	uint32_t words = length_of(seg->lengths[doc]), slot = seg->slots[doc];
	c->docs += (uint64_t)(int64_t)sign;
	c->words += (uint64_t)((int64_t)sign * words);
	if (slot == 0)
		return;
	bool was_empty = s->session_docs[slot] == 0;
	s->session_docs[slot] += (uint32_t)sign;
	bool is_memory = segment_class(seg, doc) == DOC_MEMORY;
	(is_memory ? s->session_memory_words : s->session_words)[slot] +=
		(uint32_t)(sign * (int)words);
	*(is_memory ? &s->session_memory_words_total : &s->session_words_total) +=
		(uint64_t)((int64_t)sign * words);
	bool is_empty = s->session_docs[slot] == 0;
	s->sessions += (uint32_t)((int)was_empty - (int)is_empty);
}

static struct dead *dead_copy(const struct view *v)
{
	size_t bytes = map_bytes(v->seg->t.docs);
	struct dead *d = mem_alloc(sizeof(*d) + bytes);
	if (v->dead)
		memcpy(d, v->dead, sizeof(*d) + bytes);
	d->refs = 1;
	return d;
}

/*
 * The first change to a view in this snapshot copies its map; it is ours alone as long as nobody
 * else counts on it.
 */
static void view_remove(struct index *ix, struct view *v, uint32_t doc)
{
	pthread_mutex_lock(&ix->lock);
	bool is_shared = v->dead && v->dead->refs > 1;
	if (!v->dead || is_shared) {
		struct dead *copy = dead_copy(v);
		if (is_shared)
			v->dead->refs--;
		v->dead = copy;
	}
	pthread_mutex_unlock(&ix->lock);
	v->dead->bits[doc >> 3] |= (uint8_t)(1u << (doc & 7));
	v->dead->n++;
}

void snapshot_remove_at(struct index *ix, struct snapshot *s, size_t view, uint32_t doc)
{
	struct view *v = &s->views[view];
	if (view_is_dead(v, doc))
		return;
	count_doc(s, v->seg, doc, -1);
	view_remove(ix, v, doc);
	ix->is_changed = true;
}

void snapshot_remove(struct index *ix, struct snapshot *s, doc_id id)
{
	uint32_t doc;
	for (size_t i = s->n; i > 0; i--)
		if (segment_find_doc(s->views[i - 1].seg, id, &doc))
			snapshot_remove_at(ix, s, i - 1, doc);
}

static void grow_slots(struct index *ix, struct snapshot *s)
{
	if (s->nslots == ix->nslots)
		return;
	s->session_words = mem_resize(s->session_words, ix->nslots * sizeof(*s->session_words));
	s->session_memory_words =
		mem_resize(s->session_memory_words, ix->nslots * sizeof(*s->session_memory_words));
	s->session_docs = mem_resize(s->session_docs, ix->nslots * sizeof(*s->session_docs));
	size_t more = (ix->nslots - s->nslots) * sizeof(*s->session_words);
	memset(s->session_words + s->nslots, 0, more);
	memset(s->session_memory_words + s->nslots, 0, more);
	memset(s->session_docs + s->nslots, 0, more);
	s->nslots = ix->nslots;
}

void snapshot_add(struct index *ix, struct snapshot *s, struct segment *seg)
{
	index_fill_slots(ix, seg);
	grow_slots(ix, s);
	s->views[s->n++] = (struct view){ .seg = seg };
	for (uint32_t d = 0; d < seg->t.docs; d++)
		count_doc(s, seg, d, 1);
}

void snapshot_replace(
	struct index *ix, struct snapshot *s, const bool *gone, struct segment *merged)
{
	AUTO(mem_free_ptr)
	struct segment **unused = mem_alloc((s->n + 1) * sizeof(struct segment *));
	size_t n = 0, at = SIZE_MAX, nunused = 0;
	pthread_mutex_lock(&ix->lock);
	for (size_t i = 0; i < s->n; i++) {
		if (!gone[i]) {
			s->views[n++] = s->views[i];
			continue;
		}
		at = MIN(at, n);
		/* The published snapshot still holds it, unless it was added to this one only. */
		struct segment *seg = view_leave(&s->views[i]);
		if (seg)
			unused[nunused++] = seg;
	}
	pthread_mutex_unlock(&ix->lock);
	for (size_t i = 0; i < nunused; i++)
		segment_free(unused[i]);
	s->n = n;
	if (!merged)
		return;
	index_fill_slots(ix, merged);
	grow_slots(ix, s);
	at = MIN(at, n);
	memmove(s->views + at + 1, s->views + at, (n - at) * sizeof(*s->views));
	s->views[at] = (struct view){ .seg = merged };
	s->n++;
}

void snapshot_publish(struct index *ix, struct snapshot *s)
{
	pthread_mutex_lock(&ix->lock);
	struct snapshot *old = ix->current;
	ix->current = s;
	pthread_mutex_unlock(&ix->lock);
	if (old)
		snapshot_leave(ix, old);
}

static uint32_t hash_session(uint32_t session)
{
	return session * 2654435761u;
}

static void grow_slot_table(struct index *ix)
{
	ix->slot_table_size = ix->slot_table_size ? ix->slot_table_size * 2 : 256;
	free(ix->slot_table);
	ix->slot_table = mem_alloc(ix->slot_table_size * sizeof(*ix->slot_table));
	for (uint32_t i = 1; i < ix->nslots; i++) {
		size_t at = hash_session(ix->slot_sessions[i]) & (ix->slot_table_size - 1);
		while (ix->slot_table[at])
			at = (at + 1) & (ix->slot_table_size - 1);
		ix->slot_table[at] = i;
	}
}

static uint32_t slot_of(struct index *ix, uint32_t session)
{
	if ((ix->nslots + 1u) * 2 > ix->slot_table_size)
		grow_slot_table(ix);
	size_t at = hash_session(session) & (ix->slot_table_size - 1);
	for (; ix->slot_table[at]; at = (at + 1) & (ix->slot_table_size - 1))
		if (ix->slot_sessions[ix->slot_table[at]] == session)
			return ix->slot_table[at];
	MEM_GROW(ix->slot_sessions, ix->slot_sessions_cap, ix->nslots + 1u);
	ix->slot_sessions[ix->nslots] = session;
	ix->slot_table[at] = ix->nslots;
	return ix->nslots++;
}

static void fill_runs(struct segment *seg)
{
	size_t cap = 0;
	for (uint32_t d = 0; d <= seg->t.docs; d++) {
		const uint32_t slot = d < seg->t.docs ? seg->slots[d] : UINT32_MAX;
		if (d > 0 && slot == seg->runs[seg->nruns - 1].slot)
			continue;
		MEM_GROW(seg->runs, cap, seg->nruns + 1u);
		seg->runs[seg->nruns++] = (struct slot_run){ d, slot };
	}
	seg->nruns--;
}

void index_fill_slots(struct index *ix, struct segment *seg)
{
	if (seg->slots)
		return;
	seg->priors = prior_ranges(seg);
	seg->ranges = filter_ranges(seg);
	seg->slots = mem_alloc((seg->t.docs + 1u) * sizeof(*seg->slots));
	seg->session_slots = mem_alloc((seg->t.docs + 1u) * sizeof(*seg->session_slots));
	for (uint32_t d = 0; d < seg->t.docs; d++) {
		struct doc_columns c = {
			.session = (uint32_t)segment_column(seg, COLUMN_SESSION, d),
			.flags = (uint8_t)segment_column(seg, COLUMN_FLAGS, d),
		};
		const uint32_t session = session_of_doc(&c);
		seg->session_slots[d] = session;
		seg->slots[d] = session ? slot_of(ix, session) : 0;
	}
	fill_runs(seg);
	const size_t sessions = sessions_sort(seg->session_slots, seg->t.docs);
	for (size_t i = 0; i < sessions; i++)
		seg->session_slots[i] = slot_of(ix, seg->session_slots[i]);
	seg->session_slots =
		mem_resize(seg->session_slots, (sessions + 1) * sizeof(*seg->session_slots));
}
