#include "index/rank.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void rank_start(struct rank *r, struct arena *a, size_t max)
{
	r->items = ARENA_ARRAY(a, struct ranked, max + 1);
	r->n = 0;
	r->max = max;
}

bool rank_is_full(const struct rank *r)
{
	return r->n == r->max;
}

bool ranked_is_better(const struct ranked *a, const struct ranked *b)
{
	return a->key != b->key ? a->key > b->key : a->id > b->id;
}

static void swap(struct ranked *a, struct ranked *b)
{
	struct ranked t = *a;
	*a = *b;
	*b = t;
}

static void sift_up(struct rank *r, size_t i)
{
	while (i > 0 && ranked_is_better(&r->items[(i - 1) / 2], &r->items[i])) {
		swap(&r->items[(i - 1) / 2], &r->items[i]);
		i = (i - 1) / 2;
	}
}

static void sift_down(struct rank *r)
{
	for (size_t i = 0;;) {
		size_t worst = i;
		for (size_t c = 2 * i + 1; c <= 2 * i + 2 && c < r->n; c++)
			if (ranked_is_better(&r->items[worst], &r->items[c]))
				worst = c;
		if (worst == i)
			return;
		swap(&r->items[i], &r->items[worst]);
		i = worst;
	}
}

void rank_offer(struct rank *r, const struct ranked *item)
{
	if (r->n < r->max) {
		r->items[r->n++] = *item;
		sift_up(r, r->n - 1);
	} else if (r->max && ranked_is_better(item, &r->items[0])) {
		r->items[0] = *item;
		sift_down(r);
	}
}

static int compare(const void *x, const void *y)
{
	return ranked_is_better(x, y) ? -1 : ranked_is_better(y, x);
}

void rank_sort(struct rank *r)
{
	if (r->n)
		qsort(r->items, r->n, sizeof(*r->items), compare);
}
