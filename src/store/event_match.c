/*
 * Pairing of copies. The second step is the classic alignment of two sequences: best[i][j] is
 * what the first i hook copies and the first j transcript copies can give, more pairs before less
 * distance. Groups are almost always of one or two.
 */
#include "store/room.h"

#include <string.h>

#include "base/mem.h"

#define CELLS_MAX (1u << 16) /* larger groups are paired one by one in time order */

static int by_time(const void *pa, const void *pb)
{
	const struct copy *a = pa, *b = pb;

	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return strcmp(a->key, b->key);
}

void copies_sort(struct copy *list, size_t n)
{
	if (n > 1)
		qsort(list, n, sizeof(*list), by_time);
}

struct subset {
	size_t *at; /* positions in the whole list */
	size_t n;
};

struct cell {
	uint32_t pairs;
	int64_t distance;
};

static bool is_better(struct cell a, struct cell b)
{
	return a.pairs != b.pairs ? a.pairs > b.pairs : a.distance < b.distance;
}

static bool may_pair(const struct copy *h, const struct copy *t)
{
	return !h->turn || !t->turn || strcmp(h->turn, t->turn) == 0;
}

static struct cell with_pair(struct cell before, const struct copy *h, const struct copy *t)
{
	int64_t distance = h->at < t->at ? t->at - h->at : h->at - t->at;

	return (struct cell){ before.pairs + 1, before.distance + distance };
}

static void align(const struct copy *hooks, struct subset h, const struct copy *scripts,
	struct subset t, int *ret)
{
	size_t width = t.n + 1;
	struct cell *best = mem_alloc((h.n + 1) * width * sizeof(*best));

	for (size_t i = 1; i <= h.n; i++) {
		for (size_t j = 1; j <= t.n; j++) {
			struct cell c = best[(i - 1) * width + j];
			if (is_better(best[i * width + j - 1], c))
				c = best[i * width + j - 1];
			const struct copy *hook = &hooks[h.at[i - 1]],
					  *script = &scripts[t.at[j - 1]];
			struct cell paired = with_pair(best[(i - 1) * width + j - 1], hook, script);
			if (may_pair(hook, script) && is_better(paired, c))
				c = paired;
			best[i * width + j] = c;
		}
	}
	for (size_t i = h.n, j = t.n; i && j;) {
		struct cell c = best[i * width + j];
		if (!is_better(c, best[(i - 1) * width + j])) {
			i--;
		} else if (!is_better(c, best[i * width + j - 1])) {
			j--;
		} else {
			ret[h.at[i - 1]] = (int)t.at[j - 1];
			i--, j--;
		}
	}
	free(best);
}

static void pair_in_order(const struct copy *hooks, struct subset h, const struct copy *scripts,
	struct subset t, int *ret)
{
	for (size_t i = 0, j = 0; i < h.n && j < t.n; i++)
		if (may_pair(&hooks[h.at[i]], &scripts[t.at[j]]))
			ret[h.at[i]] = (int)t.at[j++];
}

static void pair_subsets(const struct copy *hooks, struct subset h, const struct copy *scripts,
	struct subset t, int *ret)
{
	if (!h.n || !t.n)
		return;
	if ((h.n + 1) * (t.n + 1) > CELLS_MAX)
		pair_in_order(hooks, h, scripts, t, ret);
	else
		align(hooks, h, scripts, t, ret);
}

/* Those of one turn, or (turn NULL) those that are still alone. */
static struct subset pick(
	const struct copy *list, size_t n, const char *turn, const bool *is_taken, size_t *room)
{
	struct subset s = { room, 0 };

	for (size_t i = 0; i < n; i++)
		if (turn ? list[i].turn && strcmp(list[i].turn, turn) == 0 : !is_taken[i])
			s.at[s.n++] = i;
	return s;
}

static bool is_first_of_turn(const struct copy *list, size_t i)
{
	if (!list[i].turn)
		return false;
	for (size_t j = 0; j < i; j++)
		if (list[j].turn && strcmp(list[j].turn, list[i].turn) == 0)
			return false;
	return true;
}

void copies_match(const struct copy *hooks, size_t nhooks, const struct copy *scripts,
	size_t nscripts, int *ret)
{
	AUTO(mem_free_ptr) size_t *room = mem_alloc((nhooks + nscripts + 1) * sizeof(*room));
	AUTO(mem_free_ptr) bool *is_taken = mem_alloc((nhooks + nscripts + 1) * sizeof(*is_taken));

	for (size_t i = 0; i < nhooks; i++)
		ret[i] = -1;
	for (size_t i = 0; i < nhooks; i++) {
		if (is_first_of_turn(hooks, i))
			pair_subsets(hooks, pick(hooks, nhooks, hooks[i].turn, NULL, room), scripts,
				pick(scripts, nscripts, hooks[i].turn, NULL, room + nhooks), ret);
	}
	for (size_t i = 0; i < nhooks; i++) {
		if (ret[i] < 0)
			continue;
		is_taken[i] = true;
		is_taken[nhooks + (size_t)ret[i]] = true;
	}
	pair_subsets(hooks, pick(hooks, nhooks, NULL, is_taken, room), scripts,
		pick(scripts, nscripts, NULL, is_taken + nhooks, room + nhooks), ret);
}
