#include "store/query_review.h"

#include "store/query_ids.h"

/* The partial index memory_waiting keeps both short: hardly anything is pending or rejected. */
int query_review(struct store *s, struct arena *a, const struct review_query *q, int64_t **ret,
	size_t *ret_n, int64_t *ret_total, struct err *err)
{
	static const char count[] = "SELECT count(*) FROM memory WHERE status <> 0 AND status = ?1 "
				    "AND (?2 = 0 OR project IN (?2, 0))";
	static const char sql[] = "SELECT id FROM memory WHERE status <> 0 AND status = ?1 AND (?2 = 0 OR "
				  "project IN (?2, 0)) ORDER BY at DESC, id DESC LIMIT ?3 OFFSET ?4";

	if (db_one(store_db(s), count, DB_ARGS(db_i(q->status), db_i(q->project)), 0, ret_total,
		    err))
		return -1;
	return query_ids(s, a, sql,
		DB_ARGS(db_i(q->status), db_i(q->project), db_i((int64_t)q->max),
			db_i((int64_t)q->skip)),
		ret, ret_n, err);
}
