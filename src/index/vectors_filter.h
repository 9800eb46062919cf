#ifndef INDEX_VECTORS_FILTER_H
#define INDEX_VECTORS_FILTER_H

#include "index/filter.h"
#include "index/vectors_parts.h"
#include "model/names.h"

/* Whether a row passes a filter: looked at for every row of a scan, and therefore here. */

#define VECTORS_SECOND_MS 1000

static inline bool vectors_has_bit(uint32_t bits, unsigned i)
{
	return i < 32 && (bits >> i & 1);
}

static inline bool vectors_memory_passes(const struct search_filter *f, const struct vectors_row *r)
{
	uint32_t statuses = f->statuses ? f->statuses : 1u << MEMORY_ACTIVE;
	return vectors_has_bit(statuses, r->status_agent & 15) && (!f->memory_kinds || vectors_has_bit(f->memory_kinds, r->kind)) &&
	       (!f->types || vectors_has_bit(f->types, r->type));
}

static inline bool vectors_event_passes(const struct search_filter *f, const struct vectors_row *r)
{
	if (f->types || (f->memory_kinds && !f->event_kinds))
		return false;
	return !f->event_kinds || vectors_has_bit(f->event_kinds, r->kind);
}

/* Times are compared by the second; whoever wants it exact asks the words' index. */
static inline bool vectors_row_passes(const struct search_filter *f, const struct vectors_row *r)
{
	enum doc_class class = DOC_CLASS(r->id);
	if (f->classes && !vectors_has_bit(f->classes, class))
		return false;
	if ((f->project && !filter_project(f, class, r->kind, r->project)) || (f->session && r->session != f->session))
		return false;
	if (class == DOC_MEMORY ? !vectors_memory_passes(f, r) : !vectors_event_passes(f, r))
		return false;
	if ((f->agents && !vectors_has_bit(f->agents, r->status_agent >> 4)) || (f->branch && r->branch != (uint8_t)f->branch))
		return false;
	return (!f->after || r->at >= f->after / VECTORS_SECOND_MS) && (!f->before || r->at <= f->before / VECTORS_SECOND_MS);
}

#endif
