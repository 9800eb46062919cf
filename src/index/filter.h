#ifndef INDEX_FILTER_H
#define INDEX_FILTER_H

#include "index/segment.h"

/*
 * Whether a document's columns satisfy a filter. Columns that do not vary in a segment are decided
 * once.
 */

struct filter_check {
	const struct search_filter *f;
	const struct segment *seg;
	bool none;                                /* no document of the segment can pass */
	bool project, session, agent, branch, at; /* columns to look at */
};
void filter_start(struct filter_check *c, const struct search_filter *f, const struct segment *seg);
bool filter_passes(const struct filter_check *c, uint32_t doc);
bool filter_project(const struct search_filter *f, enum doc_class class, uint64_t kind, uint64_t project);
uint32_t filter_classes(const struct search_filter *f);

#endif
