#ifndef STORE_QUERY_REVIEW_H
#define STORE_QUERY_REVIEW_H

#include "store/store.h"

/*
 * Memories of one status other than active, of a project and of no project (0: of all), newest
 * first. *ret_total counts them without `skip` and `max`. Read only.
 */
struct review_query {
	int64_t project;
	enum memory_status status;
	int64_t behind_at, behind_id; /* those that come behind this one; id 0: from the first */
	size_t skip, max;
};
int query_review(struct store *s, struct arena *a, const struct review_query *q, int64_t **ret,
	size_t *ret_n, int64_t *ret_total, struct err *err);

/*
 * Active memories that may no longer hold, the longest suspected first. project 0: of all.
 * *ret_total counts them without `skip` and `max`.
 */
struct suspect_query {
	int64_t project;
	int64_t behind_since, behind_id; /* those that come behind this one; id 0: from the first */
	size_t skip, max;
};
struct suspect_row {
	int64_t memory, since;
};
int query_suspects(struct store *s, struct arena *a, const struct suspect_query *q,
	struct suspect_row **ret, size_t *ret_n, int64_t *ret_total, struct err *err);

#endif
