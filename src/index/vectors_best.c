#include "index/vectors_best.h"

#include <stdlib.h>

#include "base/mem.h"

#define TABLE_FIRST 256u

static bool is_worse(const struct vectors_hit *a, const struct vectors_hit *b)
{
	return a->score != b->score ? a->score < b->score : a->id < b->id;
}

static void sink(struct best *b, size_t n, struct vectors_hit hit)
{
	size_t i = 0, child;
	while ((child = 2 * i + 1) < n) {
		if (child + 1 < n && is_worse(&b->at[child + 1], &b->at[child]))
			child++;
		if (!is_worse(&b->at[child], &hit))
			break;
		b->at[i] = b->at[child];
		i = child;
	}
	b->at[i] = hit;
}

void best_offer(struct best *b, struct vectors_hit hit)
{
	if (b->n < b->max) {
		size_t i = b->n++;
		for (; i > 0 && is_worse(&hit, &b->at[(i - 1) / 2]); i = (i - 1) / 2)
			b->at[i] = b->at[(i - 1) / 2];
		b->at[i] = hit;
	} else if (b->max && is_worse(&b->at[0], &hit)) {
		sink(b, b->n, hit);
	}
}

void best_sort(struct best *b)
{
	for (size_t left = b->n; left > 1; left--) {
		struct vectors_hit worst = b->at[0];
		sink(b, left - 1, b->at[left - 1]);
		b->at[left - 1] = worst;
	}
}

/* Numbers of sessions are given one after the other: as they are they fill the table evenly and in order. */
static struct nearest *slot(const struct nearests *t, uint32_t session)
{
	size_t i = session & (t->size - 1);
	while (t->at[i].session && t->at[i].session != session)
		i = (i + 1) & (t->size - 1);
	return &t->at[i];
}

static void grow(struct nearests *t)
{
	struct nearests larger = { .size = t->size ? t->size * 2 : TABLE_FIRST, .n = t->n };
	larger.at = mem_alloc(larger.size * sizeof(*larger.at));
	for (size_t i = 0; i < t->size; i++)
		if (t->at[i].session)
			*slot(&larger, t->at[i].session) = t->at[i];
	free(t->at);
	*t = larger;
}

void nearests_add(struct nearests *t, const struct vectors_row *row, float score)
{
	if (t->n * 2 >= t->size)
		grow(t);
	struct nearest *s = slot(t, row->session);
	if (!s->session) {
		t->n++;
		*s = (struct nearest){ .session = row->session };
	}
	if (!s->n || score > s->best[0] || (score >= s->best[0] && row->id > s->id))
		s->id = row->id;
	size_t i = s->n < NEAREST_DOCS ? s->n++ : NEAREST_DOCS;
	for (; i > 0 && s->best[i - 1] < score; i--)
		if (i < NEAREST_DOCS)
			s->best[i] = s->best[i - 1];
	if (i < NEAREST_DOCS)
		s->best[i] = score;
}

float nearest_score(const struct nearest *s)
{
	float sum = 0;
	for (uint32_t i = 0; i < s->n; i++)
		sum += s->best[i];
	return (s->best[0] + sum / (float)s->n) / 2;
}

const struct nearest *nearests_find(const struct nearests *t, uint32_t session)
{
	const struct nearest *found = t->size ? slot(t, session) : NULL;
	return found && found->session ? found : NULL;
}

void nearests_done(struct nearests *t)
{
	free(t->at);
	*t = (struct nearests){ 0 };
}
