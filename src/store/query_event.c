#include "base/mem.h"
#include "store/query_ids.h"
#include "store/room.h"

/* Which events an operation wants. */

#define FOREVER INT64_MAX

int query_events(struct store *s, struct arena *a, const struct event_query *q, int64_t **ret, size_t *ret_n, struct err *err)
{
#define SESSION_EVENTS                                                                                                       \
	"SELECT id FROM event WHERE session = ?1 AND at >= ?2 AND at <= ?3 AND (?4 = 0 OR ((?4 >> kind) & 1) = 1)"
#define BEHIND " AND (?7 = 0 OR at > ?6 OR (at = ?6 AND id > ?7))"
#define PROJECT_EVENTS                                                                                                       \
	"SELECT e.id FROM session s JOIN event e ON e.session = s.id WHERE s.project = ?1 AND s.last_event_at >= ?2"         \
	" AND e.at >= ?2 AND e.at <= ?3 AND (?4 = 0 OR ((?4 >> e.kind) & 1) = 1)"
	static const char *const statements[2][2] = {
		{ SESSION_EVENTS BEHIND " ORDER BY at, id LIMIT ?5", SESSION_EVENTS " ORDER BY at DESC, id DESC LIMIT ?5" },
		{ PROJECT_EVENTS " ORDER BY e.at, e.id LIMIT ?5", PROJECT_EVENTS " ORDER BY e.at DESC, e.id DESC LIMIT ?5" },
	};
	const char *sql = statements[q->session ? 0 : 1][q->newest_first ? 1 : 0];
	/* Only the first statement has a place to go on behind. */
	const struct db_arg args[] = { db_i(q->session ? q->session : q->project), db_i(q->after),
		db_i(q->before ? q->before : FOREVER), db_i(q->kinds), db_i((int64_t)q->max), db_i(q->behind_at),
		db_i(q->behind_id) };
	return query_ids(s, a, sql, args, ARRAY_LEN(args) - (sql == statements[0][0] ? 0 : 2), ret, ret_n, err);
}

int query_session_items(struct store *s, const struct session_count *q, int64_t *ret, struct err *err)
{
	static const char sql[] =
		"SELECT (SELECT count(*) FROM event WHERE ?2 = 1 AND session = ?1 AND (?3 = 0 OR ((?3 >> kind) & 1) = 1))"
		" + (SELECT count(*) FROM memory WHERE ?4 = 1 AND session = ?1 AND status = 0 AND (?5 < 0 OR kind = ?5))";
	return db_one(store_db(s), sql,
		DB_ARGS(db_i(q->session), db_i(q->events), db_i(q->event_kinds), db_i(q->memories), db_i(q->memory_kind)), 0, ret,
		err);
}

_Static_assert(EVENT_COMPACTION == 4, "number in query_compacted_at");

int query_compacted_at(struct store *s, int64_t session, int64_t *ret, struct err *err)
{
	static const char sql[] = "SELECT at FROM event WHERE session = ?1 AND kind = 4 ORDER BY at DESC LIMIT 1";
	return db_one(store_db(s), sql, DB_ARGS(db_i(session)), 0, ret, err);
}

int query_event_exists(struct store *s, enum agent_id agent, const char *key, bool *ret, struct err *err)
{
	static const char sql[] = "SELECT 1 FROM event WHERE ident = ?1 LIMIT 1";
	int64_t found;
	if (db_one(store_db(s), sql, DB_ARGS(db_i(event_ident(agent, key))), 0, &found, err))
		return -1;
	*ret = found != 0;
	return 0;
}

int query_events_first_at(struct store *s, const int64_t *ids, size_t n, int64_t *ret, struct err *err)
{
	static const char sql[] = "SELECT at FROM event WHERE id = ?1";
	int64_t first = 0;
	for (size_t i = 0; i < n; i++) {
		int64_t at;
		if (db_one(store_db(s), sql, DB_ARGS(db_i(ids[i])), 0, &at, err))
			return -1;
		if (at && (!first || at < first))
			first = at;
	}
	*ret = first;
	return 0;
}
