/*
 * Intersects the maps of all words of a segment, until a document holds all words as they stand.
 */

#include "index/complete.h"

struct look {
	struct run *r;
	size_t view;
	const struct list *lists[QUERY_TERMS_MAX];
	size_t n;
};

/* Lists of the words that must be there: wholes are but another look at their parts. */
static void choose_lists(struct look *l)
{
	l->n = 0;
	for (size_t g = 0; g < l->r->ngroups; g++)
		if (!l->r->groups[g].word->is_whole)
			l->lists[l->n++] = run_list(l->r, l->view, g);
}

static bool has_empty(const struct look *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->lists[i]->n == 0)
			return true;
	return false;
}

static uint64_t word_of_all(const struct look *l, size_t word)
{
	uint64_t bits = l->lists[0]->map[word];
	for (size_t i = 1; i < l->n && bits; i++)
		bits &= l->lists[i]->map[word];
	return bits;
}

static uint64_t word_of_exact(const struct look *l, size_t word, uint64_t bits)
{
	for (size_t i = 0; i < l->n && bits; i++)
		bits &= l->lists[i]->exact ? l->lists[i]->exact[word] : 0;
	return bits;
}

static bool has_class(const struct segment *seg, uint32_t doc, uint32_t classes)
{
	return classes >> segment_class(seg, doc) & 1;
}

static enum match_rung look_in_view(const struct look *l, uint32_t classes, wanted_fn *is_wanted,
	void *ctx, enum match_rung best)
{
	const struct view *v = &l->r->snap->views[l->view];
	const size_t words = has_empty(l) ? 0 : view_map_words(v);
	for (size_t i = 0; i < words; i++) {
		uint64_t bits = word_of_all(l, i), exact = word_of_exact(l, i, bits);
		for (bits = best == MATCH_STEM ? exact : bits; bits; bits &= bits - 1) {
			const unsigned bit = (unsigned)__builtin_ctzll(bits);
			const uint32_t doc = (uint32_t)i * 64 + bit;
			const bool is_exact = exact >> bit & 1;
			if ((best == MATCH_STEM && !is_exact) || !has_class(v->seg, doc, classes) ||
				!is_wanted(ctx, l->view, doc))
				continue;
			if (is_exact)
				return MATCH_EXACT;
			best = MATCH_STEM;
		}
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
