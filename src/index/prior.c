#include "index/prior.h"

#include <math.h>

#include "base/mem.h"
#include "index/weights.h"

#define DAY_MS 86400000.0
#define SECOND_MS 1000

static double recency(const struct search *in, double at)
{
	const struct weights *w = &index_weights;
	const double age = MAX(0.0, (double)in->now - at) / DAY_MS;
	return in->now ? w->recency * exp2(-age / w->recency_days) : 0;
}

double prior_of(const struct search *in, const struct segment *seg, uint32_t doc)
{
	const struct weights *w = &index_weights;
	uint64_t flags = segment_column(seg, COLUMN_FLAGS, doc);
	int64_t at = (int64_t)segment_column(seg, COLUMN_AT, doc);
	double share = recency(in, (double)at);
	share += at >= in->period_from && at < in->period_to ? w->period : 0;
	share += flags & DOC_PINNED ? w->pinned : 0;
	share += flags & DOC_META ? w->meta : 0;
	share += flags & DOC_SUSPECT ? w->suspect : 0;
	if (segment_class(seg, doc) != DOC_MEMORY)
		return share;
	uint64_t kind = segment_column(seg, COLUMN_KIND, doc);
	share += kind < MEMORY_KIND_COUNT ? w->kinds[kind] : 0;
	return share +
	       w->confidence * (double)segment_column(seg, COLUMN_CONFIDENCE, doc) / UINT8_MAX;
}

double prior_highest(const struct search *in)
{
	const struct weights *w = &index_weights;
	double kind = 0;
	for (int i = 0; i < MEMORY_KIND_COUNT; i++)
		kind = MAX(kind, w->kinds[i]);
	double period = in->period_from < in->period_to ? w->period : 0;
	return w->recency + w->pinned + MAX(w->meta, 0) + MAX(w->suspect, 0) + w->confidence +
	       period + kind;
}

static void range_add(struct prior_range *p, const struct segment *seg, uint32_t doc)
{
	const uint32_t at = (uint32_t)(segment_column(seg, COLUMN_AT, doc) / SECOND_MS);
	p->oldest = MIN(p->oldest, at);
	p->newest = MAX(p->newest, at);
	p->is_pinned |= segment_column(seg, COLUMN_FLAGS, doc) & DOC_PINNED;
	if (segment_class(seg, doc) != DOC_MEMORY)
		return;
	p->kinds |= (uint16_t)(1u << segment_column(seg, COLUMN_KIND, doc) % 16);
	p->confidence = MAX(p->confidence, (uint8_t)segment_column(seg, COLUMN_CONFIDENCE, doc));
}

struct prior_range *prior_ranges(const struct segment *seg)
{
	const uint32_t n = seg->t.docs / PRIOR_DOCS + 1;
	struct prior_range *ranges = mem_alloc(n * sizeof(*ranges));
	for (uint32_t i = 0; i < n; i++)
		ranges[i].oldest = UINT32_MAX;
	for (uint32_t d = 0; d < seg->t.docs; d++)
		range_add(&ranges[d / PRIOR_DOCS], seg, d);
	return ranges;
}

static void range_join(struct prior_range *p, const struct prior_range *more)
{
	p->oldest = MIN(p->oldest, more->oldest);
	p->newest = MAX(p->newest, more->newest);
	p->kinds |= more->kinds;
	p->confidence = MAX(p->confidence, more->confidence);
	p->is_pinned |= more->is_pinned;
}

double prior_most(const struct search *in, const struct segment *seg, uint32_t from, uint32_t to)
{
	const struct weights *w = &index_weights;
	struct prior_range p = seg->priors[from / PRIOR_DOCS];
	double share = MAX(w->meta, 0) + MAX(w->suspect, 0), kind = 0;
	for (uint32_t i = from / PRIOR_DOCS + 1; i <= (to - 1) / PRIOR_DOCS; i++)
		range_join(&p, &seg->priors[i]);
	for (int k = 0; k < MEMORY_KIND_COUNT; k++)
		kind = MAX(kind, p.kinds >> k & 1 ? w->kinds[k] : 0);
	const int64_t oldest = (int64_t)p.oldest * SECOND_MS,
		      newest = ((int64_t)p.newest + 1) * SECOND_MS;
	share += newest > in->period_from && oldest < in->period_to ? w->period : 0;
	share += p.is_pinned ? w->pinned : 0;
	return share + recency(in, (double)newest) + kind +
	       w->confidence * p.confidence / UINT8_MAX;
}
