#include "index/filter.h"

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
