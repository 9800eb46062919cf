/* Events as others read them. */
#include "store/room.h"

#include "base/mem.h"

int store_event_get(
	struct store *s, struct arena *a, int64_t id, struct event *ret, struct err *err)
{
	struct event_row e;
	struct db_rows *r;
	int rc = store_row(s, "SELECT " EVENT_COLUMNS EVENT_FROM "WHERE e.id = ?1",
		DB_ARGS(db_i(id)), &r, err);

	if (rc < 0)
		return -1;
	if (rc == 0)
		return err_set(err, ERR_NOT_FOUND, "there is no event e%lld", (long long)id);
	int64_t project = db_int(r, EVENT_COL_PROJECT);
	rc = event_row_read(s, a, r, &e, err);
	db_end(r);
	if (rc)
		return -1;
	event_row_show(&e, project, ret);
	return 0;
}

static int read_list(struct store *s, struct arena *a, struct db_rows *r, struct event **ret,
	size_t *ret_n, struct err *err)
{
	struct event *list = NULL;
	size_t n = 0, cap = 0;
	int rc;

	while ((rc = db_next(r, err)) > 0) {
		struct event_row row;
		struct event e;
		int64_t project = db_int(r, EVENT_COL_PROJECT);
		if (event_row_read(s, a, r, &row, err))
			return -1;
		event_row_show(&row, project, &e);
		ARENA_PUSH(a, list, n, cap, e);
	}
	*ret = list;
	*ret_n = n;
	return rc;
}

int store_events(struct store *s, struct arena *a, int64_t session, int64_t turn, size_t skip,
	size_t max, struct event **ret, size_t *ret_n, struct err *err)
{
	/* A turn's events lie between its times: the index by session and time serves both. */
	static const char of_turn[] =
		"SELECT " EVENT_COLUMNS " FROM turn t JOIN event e ON e.session = t.session AND "
					"e.at BETWEEN t.started_at AND"
		" t.last_event_at AND e.turn = t.id JOIN session s ON s.id = e.session WHERE t.id "
		"= ?1 AND (?2 = 0 OR t.session = ?2)"
		" ORDER BY e.at, e.event_key LIMIT ?3 OFFSET ?4";
	static const char of_session[] =
		"SELECT " EVENT_COLUMNS EVENT_FROM
		"WHERE e.session = ?2 AND ?1 = 0 ORDER BY e.at, e.event_key LIMIT ?3 OFFSET ?4";
	AUTO(db_end_ptr) struct db_rows *r = NULL;

	if (db_query(s->db, turn ? of_turn : of_session,
		    DB_ARGS(db_i(turn), db_i(session), db_i((int64_t)MIN(max, INT64_MAX)),
			    db_i((int64_t)skip)),
		    &r, err))
		return -1;
	return read_list(s, a, r, ret, ret_n, err);
}
