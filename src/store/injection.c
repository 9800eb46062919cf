/* What agents were given, so that nothing is given twice and `why` can tell. */
#include "store/room.h"

#include "base/mem.h"

int store_injection_put(struct store *s, const struct injection *i, struct err *err)
{
	if (db_run(s->db,
		    "INSERT INTO injection (session, at, place, chars) VALUES (?1, ?2, ?3, ?4)",
		    DB_ARGS(db_i(i->session), db_i(i->at), db_t(i->where ? i->where : ""),
			    db_i(i->chars)),
		    err))
		return -1;
	int64_t id = db_last_id(s->db);
	for (size_t k = 0; k < i->n; k++)
		if (db_run(s->db,
			    "INSERT INTO injection_memory (injection, position, memory) VALUES "
			    "(?1, ?2, ?3)",
			    DB_ARGS(db_i(id), db_i((int64_t)k), db_i(i->memories[k])), err))
			return -1;
	/* Turns that were looked at before this was recorded must be asked what they used of it. */
	return db_run(s->db,
		"UPDATE turn SET is_dirty = 1 WHERE session = ?1 AND last_event_at >= ?2 AND "
		"is_dirty = 0",
		DB_ARGS(db_i(i->session), db_i(i->at)), err);
}

static int read_memories(struct store *s, struct arena *a, struct injection *i, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	int64_t *memories = NULL;
	int *used = NULL, rc;
	size_t n = 0, cap = 0, nused = 0, used_cap = 0;

	if (db_query(s->db,
		    "SELECT memory, coalesce(is_used, -1) FROM injection_memory WHERE injection = "
		    "?1 ORDER BY position",
		    DB_ARGS(db_i(i->id)), &r, err))
		return -1;
	while ((rc = db_next(r, err)) > 0) {
		ARENA_PUSH(a, memories, n, cap, db_int(r, 0));
		ARENA_PUSH(a, used, nused, used_cap, (int)db_int(r, 1));
	}
	i->memories = memories;
	i->used = used;
	i->n = n;
	return rc;
}

int store_injection_list(struct store *s, struct arena *a, int64_t session, size_t max,
	struct injection **ret, size_t *ret_n, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	struct injection *list = NULL;
	size_t n = 0, cap = 0;
	int rc;

	if (db_query(s->db,
		    "SELECT id, session, at, place, chars FROM injection WHERE ?1 = 0 OR session = "
		    "?1 ORDER BY at DESC, id DESC LIMIT ?2",
		    DB_ARGS(db_i(session), db_i((int64_t)max)), &r, err))
		return -1;
	while ((rc = db_next(r, err)) > 0) {
		struct injection i = { .id = db_int(r, 0),
			.session = db_int(r, 1),
			.at = db_int(r, 2),
			.where = row_str(a, r, 3),
			.chars = db_int(r, 4) };
		if (read_memories(s, a, &i, err))
			return -1;
		ARENA_PUSH(a, list, n, cap, i);
	}
	*ret = list;
	*ret_n = n;
	return rc;
}

int store_injected_list(struct store *s, struct arena *a, int64_t session, int64_t before,
	size_t max, struct injected **ret, size_t *ret_n, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	size_t cap = 0;
	int rc;

	*ret = NULL;
	*ret_n = 0;
	if (db_query(s->db,
		    "SELECT i.id, im.position, im.memory, i.at, i.place, coalesce(im.is_used, -1) "
		    "FROM injection i JOIN injection_memory im ON im.injection = i.id WHERE "
		    "i.session = ?1 AND i.at <= ?2 ORDER BY i.at DESC, i.id DESC, im.position "
		    "LIMIT ?3",
		    DB_ARGS(db_i(session), db_i(before), db_i((int64_t)max)), &r, err))
		return -1;
	while ((rc = db_next(r, err)) > 0) {
		struct injected one = { db_int(r, 0), db_int(r, 1), db_int(r, 2), db_int(r, 3),
			row_str(a, r, 4), (int)db_int(r, 5) };
		ARENA_PUSH(a, *ret, *ret_n, cap, one);
	}
	return rc;
}

int store_injected_used(
	struct store *s, int64_t injection, int64_t position, int used, struct err *err)
{
	return db_run(s->db,
		"UPDATE injection_memory SET is_used = coalesce(is_used, 0) | ?3 WHERE injection = "
		"?1 AND position = ?2",
		DB_ARGS(db_i(injection), db_i(position), db_i(used)), err);
}

int store_injected_counts(struct store *s, const int64_t *memories, size_t n,
	struct injected_count *ret, struct err *err)
{
	for (size_t i = 0; i < n; i++) {
		struct db_rows *r;
		int rc = store_row(s,
			"SELECT count(*), coalesce(sum(CASE WHEN is_used > 0 THEN 1 ELSE 0 END), "
			"0) FROM injection_memory WHERE memory = ?1 AND is_used IS NOT NULL",
			DB_ARGS(db_i(memories[i])), &r, err);
		if (rc < 0)
			return -1;
		ret[i] = (struct injected_count){ 0 };
		if (rc)
			ret[i] = (struct injected_count){ db_int(r, 0), db_int(r, 1) };
		db_end(r);
	}
	return 0;
}

int store_injected(struct store *s, int64_t session, int64_t since, const int64_t *memories,
	size_t n, bool *ret, struct err *err)
{
	for (size_t i = 0; i < n; i++) {
		int64_t found;
		if (db_one(s->db,
			    "SELECT 1 FROM injection_memory im JOIN injection i ON i.id = "
			    "im.injection"
			    " WHERE im.memory = ?1 AND i.session = ?2 AND i.at >= ?3 LIMIT 1",
			    DB_ARGS(db_i(memories[i]), db_i(session), db_i(since)), 0, &found, err))
			return -1;
		ret[i] = found;
	}
	return 0;
}
