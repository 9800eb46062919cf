/* What must not be stored: whatever happened while a pause held (by the event's own time), and
 * what was forgotten. */
#include "store/forget.h"

#include "base/mem.h"

static int is_paused(struct store *s, const struct exclusion *x, bool *ret, struct err *err)
{
	int64_t found;

	if (db_one(s->db,
		    "SELECT 1 FROM pause WHERE from_at <= ?1 AND (until_at = 0 OR until_at > ?1) "
		    "AND ((session = 0 AND project = 0)"
		    " OR (project <> 0 AND project = ?2)"
		    " OR session IN (SELECT id FROM session WHERE agent_session = ?3 AND agent = "
		    "?4)) LIMIT 1",
		    DB_ARGS(db_i(x->at), db_i(x->project), db_t(x->agent_session), db_i(x->agent)),
		    0, &found, err))
		return -1;
	*ret = found;
	return 0;
}

int store_bars(struct store *s, struct err *err)
{
	int64_t pauses, graves;

	if (s->bars.is_known && db_is_in_transaction(s->db))
		return 0;
	if (db_one(s->db, "SELECT 1 FROM pause LIMIT 1", NULL, 0, 0, &pauses, err) ||
		db_one(s->db, "SELECT 1 FROM tombstone LIMIT 1", NULL, 0, 0, &graves, err))
		return -1;
	s->bars.is_known = true;
	s->bars.has_pauses = pauses;
	s->bars.has_graves = graves;
	return 0;
}

int store_is_excluded(struct store *s, const struct exclusion *x, bool *ret, struct err *err)
{
	*ret = false;
	if (store_bars(s, err) || (s->bars.has_pauses && is_paused(s, x, ret, err)))
		return -1;
	return *ret || !s->bars.has_graves ? 0 : forget_is_buried(s, x, ret, err);
}

int store_pause(struct store *s, int64_t session, int64_t project, int64_t from, int64_t until,
	int64_t *ret, struct err *err)
{
	s->bars.is_known = false;
	if (db_run(s->db,
		    "INSERT INTO pause (session, project, from_at, until_at) VALUES (?1, ?2, ?3, "
		    "?4)",
		    DB_ARGS(db_i(session), db_i(project), db_i(from), db_i(until)), err))
		return -1;
	if (ret)
		*ret = db_last_id(s->db);
	return 0;
}

int store_resume(struct store *s, int64_t session, int64_t project, int64_t at, int64_t *ret_ended,
	struct err *err)
{
	/* A pause that lies in the past stays: late transcripts still must not bring what
	 * happened then. */
	if (db_run(s->db,
		    "UPDATE pause SET until_at = ?3 WHERE session = ?1 AND project = ?2 AND "
		    "from_at <= ?3"
		    " AND (until_at = 0 OR until_at > ?3)",
		    DB_ARGS(db_i(session), db_i(project), db_i(at)), err))
		return -1;
	if (ret_ended)
		*ret_ended = db_changes(s->db);
	return 0;
}
