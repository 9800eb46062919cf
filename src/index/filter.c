#include "index/filter.h"

#include "base/mem.h"
#include "model/names.h"

uint32_t filter_classes(const struct search_filter *f)
{
	return f->classes ? f->classes : (1u << CLASS_COUNT) - 1;
}

static bool is_constant(const struct segment *s, enum column c)
{
	return s->t.columns[c].width == 0;
}

static bool has_bit(uint32_t bits, uint64_t i)
{
	return i < 32 && (bits >> i & 1);
}

/*
 * A column that must equal `wanted` (0: any): looked at per document unless it is the same in all.
 */
static bool must_equal(struct filter_check *c, enum column column, uint64_t wanted)
{
	if (wanted == 0)
		return false;
	if (!is_constant(c->seg, column))
		return true;
	c->none |= c->seg->t.columns[column].min != wanted;
	return false;
}

void filter_start(struct filter_check *c, const struct search_filter *f, const struct segment *seg)
{
	*c = (struct filter_check){ .f = f, .seg = seg };
	c->project = f->project && !(is_constant(seg, COLUMN_PROJECT) && seg->t.columns[COLUMN_PROJECT].min == f->project);
	c->none |= c->project && is_constant(seg, COLUMN_PROJECT) && seg->t.columns[COLUMN_PROJECT].min;
	c->session = must_equal(c, COLUMN_SESSION, f->session);
	c->branch = must_equal(c, COLUMN_BRANCH, f->branch);
	c->at = f->after != 0 || f->before != 0;
	c->agent = f->agents != 0;
	if (c->agent && is_constant(seg, COLUMN_AGENT)) {
		c->none |= !has_bit(f->agents, seg->t.columns[COLUMN_AGENT].min);
		c->agent = false;
	}
}

/* A markdown folder that belongs to no project is there for all of them. */
bool filter_project(const struct search_filter *f, enum doc_class class, uint64_t kind, uint64_t project)
{
	return !f->project || project == f->project || (!project && class == DOC_MEMORY && kind == KIND_CHUNK);
}

static bool memory_passes(const struct filter_check *c, uint32_t doc)
{
	const struct search_filter *f = c->f;
	uint32_t statuses = f->statuses ? f->statuses : 1u << MEMORY_ACTIVE;
	if (!has_bit(statuses, segment_column(c->seg, COLUMN_STATUS, doc)))
		return false;
	if (f->memory_kinds && !has_bit(f->memory_kinds, segment_column(c->seg, COLUMN_KIND, doc)))
		return false;
	return !f->types || has_bit(f->types, segment_column(c->seg, COLUMN_TYPE, doc));
}

/*
 * Types and kinds of memories say nothing about other classes, so asking for them leaves those out.
 */
static bool other_passes(const struct filter_check *c, uint32_t doc, enum doc_class class)
{
	const struct search_filter *f = c->f;
	if (f->types || (f->memory_kinds && !f->event_kinds))
		return false;
	if (class != DOC_EVENT)
		return !f->event_kinds;
	return !f->event_kinds || has_bit(f->event_kinds, segment_column(c->seg, COLUMN_KIND, doc));
}

bool filter_passes(const struct filter_check *c, uint32_t doc)
{
	const struct search_filter *f = c->f;
	const struct segment *s = c->seg;
	enum doc_class class = segment_class(s, doc);
	if (c->none || !(filter_classes(f) >> class & 1))
		return false;
	if (class == DOC_MEMORY ? !memory_passes(c, doc) : !other_passes(c, doc, class))
		return false;
	if (c->project && !filter_project(f, class, segment_column(s, COLUMN_KIND, doc), segment_column(s, COLUMN_PROJECT, doc)))
		return false;
	if (c->session && segment_column(s, COLUMN_SESSION, doc) != f->session)
		return false;
	if (c->branch && segment_column(s, COLUMN_BRANCH, doc) != f->branch)
		return false;
	if (c->agent && !has_bit(f->agents, segment_column(s, COLUMN_AGENT, doc)))
		return false;
	if (!c->at)
		return true;
	int64_t at = (int64_t)segment_column(s, COLUMN_AT, doc);
	return (f->after == 0 || at >= f->after) && (f->before == 0 || at < f->before);
}

static uint32_t bit_of(uint64_t i)
{
	return i < 32 ? 1u << i : UINT32_MAX;
}

static uint32_t some_bit(uint64_t number)
{
	return 1u << number % 32;
}

static void range_add(struct filter_range *r, const struct segment *s, uint32_t doc)
{
	const int64_t at = (int64_t)segment_column(s, COLUMN_AT, doc);
	const uint64_t kind = segment_column(s, COLUMN_KIND, doc);
	r->oldest = MIN(r->oldest, at);
	r->newest = MAX(r->newest, at);
	r->projects |= some_bit(segment_column(s, COLUMN_PROJECT, doc));
	r->sessions |= some_bit(segment_column(s, COLUMN_SESSION, doc));
	r->branches |= some_bit(segment_column(s, COLUMN_BRANCH, doc));
	r->agents |= bit_of(segment_column(s, COLUMN_AGENT, doc));
	if (segment_class(s, doc) != DOC_MEMORY) {
		r->has_others = true;
		r->event_kinds |= bit_of(kind);
		return;
	}
	r->memory_kinds |= bit_of(kind);
	r->types |= bit_of(segment_column(s, COLUMN_TYPE, doc));
	r->statuses |= bit_of(segment_column(s, COLUMN_STATUS, doc));
}

struct filter_range *filter_ranges(const struct segment *seg)
{
	const uint32_t n = seg->t.docs / FILTER_DOCS + 1;
	struct filter_range *ranges = mem_alloc(n * sizeof(*ranges));
	for (uint32_t i = 0; i < n; i++)
		ranges[i].oldest = INT64_MAX;
	for (uint32_t d = 0; d < seg->t.docs; d++)
		range_add(&ranges[d / FILTER_DOCS], seg, d);
	return ranges;
}

static bool has_any(uint32_t wanted, uint32_t there)
{
	return !wanted || (wanted & there);
}

/* What filter_passes asks of a document, of all of a range at once. */
static bool range_may_pass(const struct search_filter *f, const struct filter_range *r)
{
	const uint32_t statuses = f->statuses ? f->statuses : 1u << MEMORY_ACTIVE;
	const bool memory = r->memory_kinds && has_any(f->memory_kinds, r->memory_kinds) &&
			    has_any(f->types, r->types) && (statuses & r->statuses);
	const bool other = r->has_others && !f->types && (!f->memory_kinds || f->event_kinds) &&
			   has_any(f->event_kinds, r->event_kinds);
	/* Of no project: chunks that are there for all. */
	const uint32_t projects = f->project ? some_bit(f->project) | some_bit(0) : 0;
	return (memory || other) && has_any(projects, r->projects) &&
	       has_any(f->session ? some_bit(f->session) : 0, r->sessions) &&
	       has_any(f->branch ? some_bit(f->branch) : 0, r->branches) &&
	       has_any(f->agents, r->agents) &&
	       (!f->after || r->newest >= f->after) && (!f->before || r->oldest < f->before);
}

bool filter_may_pass(const struct search_filter *f, const struct segment *seg, uint32_t from, uint32_t to)
{
	for (uint32_t i = from / FILTER_DOCS; i <= (to - 1) / FILTER_DOCS; i++)
		if (range_may_pass(f, &seg->ranges[i]))
			return true;
	return false;
}
