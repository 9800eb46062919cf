#include "store/query_review.h"

#include "base/mem.h"
#include "store/author.h"
#include "store/query_ids.h"

/* The partial index memory_waiting keeps both short: hardly anything is pending or rejected. */
int query_review(struct store *s, struct arena *a, const struct review_query *q, int64_t **ret,
	size_t *ret_n, int64_t *ret_total, struct err *err)
{
	static const char count[] = "SELECT count(*) FROM memory WHERE status <> 0 AND status = ?1 "
				    "AND (?2 = 0 OR project IN (?2, 0)) AND author = ?3";
	static const char sql[] = "SELECT id FROM memory WHERE status <> 0 AND status = ?1 AND (?2 = 0 OR "
				  "project IN (?2, 0)) AND author = ?7 AND (?6 = 0 OR at < ?5 OR (at = ?5 AND id < ?6))"
				  " ORDER BY at DESC, id DESC LIMIT ?3 OFFSET ?4";

	if (db_one(store_db(s), count, DB_ARGS(db_i(q->status), db_i(q->project), db_i(store_me(s))), 0, ret_total,
		    err))
		return -1;
	return query_ids(s, a, sql,
		DB_ARGS(db_i(q->status), db_i(q->project), db_i((int64_t)q->max),
			db_i((int64_t)q->skip), db_i(q->behind_at), db_i(q->behind_id), db_i(store_me(s))),
		ret, ret_n, err);
}

int query_suspects(struct store *s, struct arena *a, const struct suspect_query *q,
	struct suspect_row **ret, size_t *ret_n, int64_t *ret_total, struct err *err)
{
#define SUSPECTS                                                                              \
	" FROM suspect su JOIN memory m ON m.id = su.memory WHERE (?1 = 0 OR m.project = ?1)" \
	" AND m.status = 0 AND m.author = "
	static const char sql[] = "SELECT x.memory, x.since FROM (SELECT su.memory AS memory, "
				  "min(su.since) AS since" SUSPECTS "?6 GROUP BY su.memory) x"
				  " WHERE ?3 = 0 OR x.since > ?2 OR (x.since = ?2 AND x.memory > ?3)"
				  " ORDER BY x.since, x.memory LIMIT ?4 OFFSET ?5";
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	size_t cap = 0;
	int rc;

	*ret = NULL;
	*ret_n = 0;
	if (db_one(store_db(s), "SELECT count(DISTINCT su.memory)" SUSPECTS "?2",
		    DB_ARGS(db_i(q->project), db_i(store_me(s))), 0, ret_total, err) ||
		db_query(store_db(s), sql,
			DB_ARGS(db_i(q->project), db_i(q->behind_since), db_i(q->behind_id),
				db_i((int64_t)q->max), db_i((int64_t)q->skip), db_i(store_me(s))),
			&r, err))
		return -1;
	while ((rc = db_next(r, err)) > 0) {
		struct suspect_row row = { db_int(r, 0), db_int(r, 1) };
		ARENA_PUSH(a, *ret, *ret_n, cap, row);
	}
	return rc;
}
