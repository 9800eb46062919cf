#include "ops/rarity.h"

#include <math.h>

#include "base/mem.h"
#include "ops/find.h"

double rarity_of(uint64_t all, uint64_t holding)
{
	return log(1 + ((double)all + 1) / ((double)holding + .5));
}

static int word_count(struct lookup *l, int64_t project, const char *word, uint64_t *ret, struct err *err)
{
	struct find f = { .text = word, .is_plain = true, .mode = FIND_LEXICAL, .limit = 0, .wants_total = true,
		.filter = { .project = (uint32_t)project, .classes = 1u << DOC_MEMORY } };
	struct find_result r;
	if (find_run(l, &f, &r, err))
		return -1;
	*ret = r.r.match == MATCH_EXACT || r.r.match == MATCH_STEM ? r.total : 0;
	return 0;
}

int rarity_weigh(struct lookup *l, struct rarity *r, struct question *q, struct err *err)
{
	double sum = 0;
	size_t known = 0, asked = 0;
	uint64_t weighed = 0, holding;
	if (word_count(l, r->project, "", &r->all, err))
		return -1;
	for (size_t i = 0; i < q->n && asked < RARITY_LOOKUPS_MAX; i++) {
		if (!(r->words >> i & 1))
			continue;
		if (word_count(l, r->project, q->words[i].text, &holding, err))
			return -1;
		asked++;
		if (!holding && !r->absent_is_rare)
			continue;
		double weight = rarity_of(r->all, MAX(holding, (uint64_t)1));
		question_weigh(q, i, q->words[i].weight * weight);
		weighed |= 1ull << i;
		sum += weight;
		known++;
	}
	for (size_t i = 0; i < q->n; i++)
		if (!(weighed >> i & 1))
			question_weigh(q, i, q->words[i].weight * (known ? sum / (double)known : 1));
	return 0;
}
