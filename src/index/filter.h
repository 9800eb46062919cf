#ifndef INDEX_FILTER_H
#define INDEX_FILTER_H

#include "index/segment.h"

/*
 * Whether a document's columns satisfy a filter. Columns that do not vary in a segment are decided
 * once.
 */

/* Of neighbouring documents: which values their columns have, so that none of them need be looked at. */
#define FILTER_DOCS 128u
struct filter_range {
	int64_t oldest, newest;                /* Unix ms */
	uint32_t projects, sessions, branches; /* a bit by the number's last five bits */
	uint32_t memory_kinds, types, statuses, event_kinds, agents; /* a bit each; all of them for what has none */
	bool has_others;                       /* than memories */
};
/* One for every FILTER_DOCS documents; malloc'ed. */
struct filter_range *filter_ranges(const struct segment *seg);
/* Whether a document of [from, to) may pass. */
bool filter_may_pass(const struct search_filter *f, const struct segment *seg, uint32_t from, uint32_t to);

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
