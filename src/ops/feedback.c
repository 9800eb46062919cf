#include "ops/feedback.h"

#include <string.h>

#include "base/mem.h"

static double prior_of(const struct injected_count *c)
{
	double p = (double)(c->used + 1) / (double)(c->given + 4);
	double prior = FEEDBACK_WEIGHT * (p - 0.25);
	return MAX(FEEDBACK_LEAST, MIN(FEEDBACK_MOST, prior));
}

int feedback_prior(struct op_call *call, int64_t memory, double *ret, struct err *err)
{
	struct injected_count count;
	if (store_injected_counts(call->store, &memory, 1, &count, err))
		return -1;
	*ret = prior_of(&count);
	return 0;
}

/* Stable, and quick where next to nothing moves. */
static void sort_by_score(struct found *found, double *scores, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct found f = found[i];
		double score = scores[i];
		size_t k = i;
		for (; k > 0 && scores[k - 1] < score; k--) {
			found[k] = found[k - 1];
			scores[k] = scores[k - 1];
		}
		found[k] = f;
		scores[k] = score;
	}
}

int feedback_order(struct op_call *call, struct found *found, size_t n, struct err *err)
{
	double *scores = ARENA_ARRAY(call->arena, double, n + 1);
	for (size_t i = 0; i < n; i++) {
		double prior = 0;
		if (found[i].memory && feedback_prior(call, found[i].memory->id, &prior, err))
			return -1;
		scores[i] = found[i].hit.score * (1 + prior);
	}
	sort_by_score(found, scores, n);
	return 0;
}
