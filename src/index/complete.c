/*
 * Walks the shortest list of each segment and looks its documents up in the others, until one holds
 * all words as they stand.
 */

#include "index/complete.h"

struct look {
	struct run *r;
	size_t view;
	struct list *lists[QUERY_TERMS_MAX]; /* shortest first */
	uint32_t at[QUERY_TERMS_MAX];
	size_t n;
};

/* Lists of the words that must be there: wholes are but another look at their parts. */
static void choose_lists(struct look *l)
{
	l->n = 0;
	for (size_t g = 0; g < l->r->ngroups; g++) {
		if (l->r->groups[g].word->is_whole)
			continue;
		struct list *list = run_list(l->r, l->view, g);
		size_t k = l->n++;
		for (; k > 0 && l->lists[k - 1]->n > list->n; k--)
			l->lists[k] = l->lists[k - 1];
		l->lists[k] = list;
		l->at[l->n - 1] = 0;
	}
}

static bool holds_all(struct look *l, uint32_t doc, bool *ret_exact)
{
	*ret_exact = true;
	for (size_t i = 0; i < l->n; i++) {
		const struct list *list = l->lists[i];
		l->at[i] = list_first(list, l->at[i], doc);
		if (l->at[i] == list->n || list->docs[l->at[i]] != doc)
			return false;
		*ret_exact &= list->exact[l->at[i]];
	}
	return true;
}

static bool has_class(const struct segment *seg, uint32_t doc, uint32_t classes)
{
	return classes >> segment_class(seg, doc) & 1;
}

static enum match_rung look_in_view(
	struct look *l, uint32_t classes, wanted_fn *is_wanted, void *ctx, enum match_rung best)
{
	const struct segment *seg = l->r->snap->views[l->view].seg;
	for (uint32_t i = 0; i < l->lists[0]->n && best != MATCH_EXACT; i++) {
		uint32_t doc = l->lists[0]->docs[i];
		bool is_exact;
		if (!holds_all(l, doc, &is_exact) || (best == MATCH_STEM && !is_exact) ||
			!has_class(seg, doc, classes) || !is_wanted(ctx, l->view, doc))
			continue;
		best = is_exact ? MATCH_EXACT : MATCH_STEM;
	}
	return best;
}

enum match_rung complete_match(struct run *r, uint32_t classes, wanted_fn *is_wanted, void *ctx)
{
	struct look l = { .r = r };
	enum match_rung best = MATCH_NEAREST;
	for (l.view = 0; l.view < r->snap->n && best != MATCH_EXACT; l.view++) {
		choose_lists(&l);
		if (l.n == 0)
			return MATCH_EXACT; /* nothing must be there */
		best = look_in_view(&l, classes, is_wanted, ctx, best);
	}
	return best;
}
