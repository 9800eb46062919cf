/*
 * What is near a question: every vector whose row passes the filter is compared. 100,000 of them
 * take 4 ms; there is nothing cleverer to keep up to date.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "index/filter.h"
#include "index/vectors_parts.h"
#include "model/names.h"

#define SHORTEST_USEFUL .2f
#define SESSION_DOCS 3     /* nearest documents that a session's mean is of */
#define TABLE_FIRST 256u
#define SECOND_MS 1000

static bool has_bit(uint32_t bits, unsigned i)
{
	return i < 32 && (bits >> i & 1);
}

static bool memory_passes(const struct search_filter *f, const struct vectors_row *r)
{
	uint32_t statuses = f->statuses ? f->statuses : 1u << MEMORY_ACTIVE;
	return has_bit(statuses, r->status_agent & 15) && (!f->memory_kinds || has_bit(f->memory_kinds, r->kind)) &&
	       (!f->types || has_bit(f->types, r->type));
}

static bool event_passes(const struct search_filter *f, const struct vectors_row *r)
{
	if (f->types || (f->memory_kinds && !f->event_kinds))
		return false;
	return !f->event_kinds || has_bit(f->event_kinds, r->kind);
}

/* Times are compared by the second; whoever wants it exact asks the words' index. */
static bool row_passes(const struct search_filter *f, const struct vectors_row *r)
{
	enum doc_class class = DOC_CLASS(r->id);
	if (f->classes && !has_bit(f->classes, class))
		return false;
	if (!filter_project(f, class, r->kind, r->project) || (f->session && r->session != f->session))
		return false;
	if (class == DOC_MEMORY ? !memory_passes(f, r) : !event_passes(f, r))
		return false;
	if ((f->agents && !has_bit(f->agents, r->status_agent >> 4)) || (f->branch && r->branch != (uint8_t)f->branch))
		return false;
	return (!f->after || r->at >= f->after / SECOND_MS) && (!f->before || r->at <= f->before / SECOND_MS);
}

/*
 * The question in bytes, for telling with one product of bytes, cheaply and safely, that a vector
 * cannot be nearer than what was found already: what rounding may hide is added, and the vector is
 * taken to be as short, with the mean taken off, as it can be.
 */
struct coarse {
	int8_t at[VECTOR_DIMS_MAX];
	size_t dims;
	float scale, hidden, factor;
	bool is_useful;
};

/* The sum of the sizes of the numbers of a unit vector is at most the root of their count; a little more for rounding. */
static float lengths_max(size_t dims)
{
	return sqrtf((float)dims) * 1.004f;
}

static void coarse_init(struct coarse *c, const struct vector_query *q)
{
	float centred[VECTOR_DIMS_MAX], shortest = 1 - sqrtf(q->mean_squared);
	c->dims = q->dims;
	for (size_t i = 0; i < q->dims; i++)
		centred[i] = (float)q->centred[i] * q->centred_scale;
	vector_pack_wide(centred, q->dims, c->at, &c->scale);
	c->hidden = lengths_max(q->dims) * (c->scale + q->centred_scale) / 2 - q->centred_dot_mean;
	c->is_useful = q->centred_length > 0 && shortest > SHORTEST_USEFUL;
	c->factor = c->is_useful ? 1 / (q->centred_length * shortest) : 0;
}

/* At least the score of the vector, or anything when both are below 0. */
static float coarse_bound(const struct coarse *c, const int8_t *at, float scale)
{
	return ((float)vector_dot(at, c->at, c->dims) * (c->scale * scale) + c->hidden) * c->factor;
}

static float row_score(const struct vectors_part *p, uint32_t row, const struct vector_query *q)
{
	float best = -1;
	for (uint32_t i = p->rows[row].first, end = vectors_part_end(p, row); i < end; i++)
		best = fmaxf(best, vector_score(q, p->at + (size_t)i * p->dims, p->scales[i]));
	return best;
}

/* --- The best so many, the worst of them on top. --- */

struct heap {
	struct vectors_hit *at;
	size_t n, max;
};

static bool is_worse(const struct vectors_hit *a, const struct vectors_hit *b)
{
	return a->score != b->score ? a->score < b->score : a->id < b->id;
}

static void sink(struct heap *h, size_t n, struct vectors_hit hit)
{
	size_t i = 0, child;
	while ((child = 2 * i + 1) < n) {
		if (child + 1 < n && is_worse(&h->at[child + 1], &h->at[child]))
			child++;
		if (!is_worse(&h->at[child], &hit))
			break;
		h->at[i] = h->at[child];
		i = child;
	}
	h->at[i] = hit;
}

static void heap_offer(struct heap *h, struct vectors_hit hit)
{
	if (h->n < h->max) {
		size_t i = h->n++;
		for (; i > 0 && is_worse(&hit, &h->at[(i - 1) / 2]); i = (i - 1) / 2)
			h->at[i] = h->at[(i - 1) / 2];
		h->at[i] = hit;
	} else if (h->max && is_worse(&h->at[0], &hit)) {
		sink(h, h->n, hit);
	}
}

static void heap_sort(struct heap *h)
{
	for (size_t left = h->n; left > 1; left--) {
		struct vectors_hit worst = h->at[0];
		sink(h, left - 1, h->at[left - 1]);
		h->at[left - 1] = worst;
	}
}

/* --- Sessions, by number. --- */

struct session {
	uint32_t number;
	uint32_t n;
	doc_id id;
	float best[SESSION_DOCS]; /* descending */
};

struct table {
	struct session *at;
	size_t size, n;
};

static struct session *table_slot(const struct table *t, uint32_t number)
{
	size_t i = number * 2654435761u & (t->size - 1);
	while (t->at[i].number && t->at[i].number != number)
		i = (i + 1) & (t->size - 1);
	return &t->at[i];
}

static void table_grow(struct table *t)
{
	struct table larger = { .size = t->size ? t->size * 2 : TABLE_FIRST, .n = t->n };
	larger.at = mem_alloc(larger.size * sizeof(*larger.at));
	for (size_t i = 0; i < t->size; i++)
		if (t->at[i].number)
			*table_slot(&larger, t->at[i].number) = t->at[i];
	free(t->at);
	*t = larger;
}

static void table_add(struct table *t, const struct vectors_row *row, float score)
{
	if (t->n * 2 >= t->size)
		table_grow(t);
	struct session *s = table_slot(t, row->session);
	if (!s->number) {
		t->n++;
		*s = (struct session){ .number = row->session };
	}
	if (!s->n || score > s->best[0] || (score >= s->best[0] && row->id > s->id))
		s->id = row->id;
	size_t i = s->n < SESSION_DOCS ? s->n++ : SESSION_DOCS;
	for (; i > 0 && s->best[i - 1] < score; i--)
		if (i < SESSION_DOCS)
			s->best[i] = s->best[i - 1];
	if (i < SESSION_DOCS)
		s->best[i] = score;
}

static float session_score(const struct session *s)
{
	float sum = 0;
	for (uint32_t i = 0; i < s->n; i++)
		sum += s->best[i];
	return (s->best[0] + sum / (float)s->n) / 2;
}

/* --- The scan. --- */

struct pass {
	const struct vectors_scan *scan;
	struct heap heap;
	struct table table;
	struct coarse coarse;
};

/* The row cannot be among the best any more. */
static bool row_is_far(const struct pass *p, const struct vectors_part *part, uint32_t row)
{
	float least = p->heap.n && p->heap.n == p->heap.max ? p->heap.at[0].score : 0;
	if (p->scan->by_session || !p->coarse.is_useful || least <= 0)
		return false;
	for (uint32_t i = part->rows[row].first, end = vectors_part_end(part, row); i < end; i++)
		if (coarse_bound(&p->coarse, part->at + (size_t)i * part->dims, part->scales[i]) >= least)
			return false;
	return true;
}

static void scan_part(struct pass *p, const struct vectors_part *part)
{
	const struct vectors_scan *s = p->scan;
	for (uint32_t i = 0; i < part->ndocs; i++) {
		const struct vectors_row *row = &part->rows[i];
		if (vectors_row_is_dead(part, i) || !row_passes(s->filter, row) || (s->by_session && !row->session))
			continue;
		if (row_is_far(p, part, i))
			continue;
		float score = row_score(part, i, s->query);
		if (s->by_session)
			table_add(&p->table, row, score);
		else
			heap_offer(&p->heap, (struct vectors_hit){ row->id, row->session, score, score });
	}
}

static float doc_score(const struct vectors *v, doc_id id, const struct vector_query *q)
{
	uint32_t row;
	for (uint32_t i = 0; i < v->tail.ndocs; i++)
		if (v->tail.rows[i].id == id && !vectors_row_is_dead(&v->tail, i))
			return row_score(&v->tail, i, q);
	for (size_t i = v->n; i-- > 0;)
		if (vectors_part_find(v->files[i], id, &row))
			return row_score(v->files[i], row, q);
	return NAN;
}

static void give_wanted(const struct vectors *v, struct pass *p)
{
	const struct vectors_scan *s = p->scan;
	for (size_t i = 0; i < s->nwanted; i++) {
		if (!s->by_session) {
			s->wanted_scores[i] = doc_score(v, s->wanted[i], s->query);
			continue;
		}
		const struct session *found = p->table.size ? table_slot(&p->table, (uint32_t)s->wanted[i]) : NULL;
		s->wanted_scores[i] = found && found->number ? session_score(found) : NAN;
	}
}

/* The model may have changed between asking for the question's vector and comparing it. */
static bool is_of(const struct vector_query *q, const struct vectors *v)
{
	return q->dims == v->dims && (!q->store || q->store == v->store);
}

size_t vectors_scan(struct vectors *v, const struct vectors_scan *scan, struct vectors_hit *hits)
{
	struct pass p = { .scan = scan, .heap = { .at = hits, .max = scan->k } };
	coarse_init(&p.coarse, scan->query);
	pthread_rwlock_rdlock(&v->lock);
	if (is_of(scan->query, v)) {
		for (size_t i = 0; i < v->n; i++)
			scan_part(&p, v->files[i]);
		scan_part(&p, &v->tail);
		give_wanted(v, &p);
	} else {
		for (size_t i = 0; i < scan->nwanted; i++)
			scan->wanted_scores[i] = NAN;
	}
	pthread_rwlock_unlock(&v->lock);
	for (size_t i = 0; i < p.table.size; i++) {
		const struct session *s = &p.table.at[i];
		if (s->number)
			heap_offer(&p.heap, (struct vectors_hit){ s->id, s->number, s->best[0], session_score(s) });
	}
	free(p.table.at);
	heap_sort(&p.heap);
	return p.heap.n;
}
