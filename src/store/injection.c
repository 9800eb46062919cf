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
	return 0;
}

static int read_memories(struct store *s, struct arena *a, struct injection *i, struct err *err)
{
	AUTO(ids_done) struct ids ids = { 0 };

	if (store_ids(s,
		    "SELECT memory FROM injection_memory WHERE injection = ?1 ORDER BY position",
		    DB_ARGS(db_i(i->id)), &ids, err))
		return -1;
	i->memories = ids.n ? arena_dup(a, ids.p, ids.n * sizeof(*ids.p)) : NULL;
	i->n = ids.n;
	return 0;
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
