/* Projects, numbers and counters. */
#include "store/room.h"

#include "base/mem.h"

int store_project_list(struct store *s, struct arena *a, const struct project_query *q,
	struct project **ret, size_t *ret_n, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	struct project *list = NULL;
	size_t n = 0, cap = 0;
	int rc;

	if (db_query(s->db,
		    "SELECT * FROM (SELECT p.id, p.name, p.root, (SELECT count(*) FROM session WHERE project = "
		    "p.id),"
		    " (SELECT count(*) FROM memory WHERE project = p.id),"
		    " (SELECT coalesce(max(last_event_at), 0) FROM session WHERE project = p.id) "
		    "AS last_at, (SELECT count(*) FROM project_share h WHERE h.project = p.id AND h.author = ?5) FROM "
		    "project p) x"
		    " WHERE ?4 = 0 OR x.last_at < ?3 OR (x.last_at = ?3 AND x.id > ?4)"
		    " ORDER BY x.last_at DESC, x.id LIMIT ?1 OFFSET ?2",
		    DB_ARGS(db_i((int64_t)q->max), db_i((int64_t)q->skip), db_i(q->behind_at),
			    db_i(q->behind_id), db_i(s->me)),
		    &r, err))
		return -1;
	while ((rc = db_next(r, err)) > 0) {
		struct project p = { .id = db_int(r, 0),
			.name = row_str(a, r, 1),
			.root = row_str(a, r, 2),
			.sessions = db_int(r, 3),
			.memories = db_int(r, 4),
			.last_event_at = db_int(r, 5),
			.is_shared = db_int(r, 6) };
		ARENA_PUSH(a, list, n, cap, p);
	}
	*ret = list;
	*ret_n = n;
	return rc;
}

static int count_memories(
	struct store *s, int64_t project, struct store_stats *ret, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	int rc;

	if (db_query(s->db,
		    "SELECT kind, status, count(*) FROM memory WHERE ?1 = 0 OR project = ?1 GROUP "
		    "BY kind, status",
		    DB_ARGS(db_i(project)), &r, err))
		return -1;
	while ((rc = db_next(r, err)) > 0) {
		int64_t kind = db_int(r, 0), n = db_int(r, 2);
		if (kind > KIND_NONE && kind < MEMORY_KIND_COUNT)
			ret->memories[kind] += n;
		if (db_int(r, 1) == MEMORY_PENDING)
			ret->pending += n;
	}
	return rc;
}

#define JOB_WAITING "0, 1" /* states: waiting, running, done, dead */
#define JOB_DEAD "3"

int store_stats(struct store *s, int64_t project, struct store_stats *ret, struct err *err)
{
	struct store_stats t = { 0 };
	const struct {
		const char *sql;
		int64_t *to;
	} counts[] = {
		{ "SELECT count(*) FROM project WHERE ?1 = 0 OR id = ?1", &t.projects },
		{ "SELECT count(*) FROM session WHERE ?1 = 0 OR project = ?1", &t.sessions },
		{ "SELECT count(*) FROM turn t JOIN session s ON s.id = t.session WHERE "
		  "t.started_at > 0 AND (?1 = 0 OR s.project = ?1)",
			&t.turns },
		{ "SELECT max(last_event_at) FROM session WHERE ?1 = 0 OR project = ?1",
			&t.last_event_at },
		{ project ? "SELECT count(DISTINCT m.entity) FROM mention m JOIN turn t ON t.id = m.turn "
			    "JOIN session s ON s.id = t.session WHERE s.project = ?1"
			  : "SELECT count(*) FROM entity WHERE ?1 = 0",
			&t.entities },
		{ "SELECT count(*) FROM vector WHERE ?1 = ?1", &t.vectors },
		{ "SELECT sum(n) FROM counter WHERE author > 0 AND name = 'redactions' AND ?1 = ?1", &t.redactions },
		{ "SELECT count(*) FROM job WHERE state IN (" JOB_WAITING ") AND kind IN (1, 2) AND ?1 = ?1",
			&t.jobs_waiting },
		{ "SELECT count(*) FROM job WHERE state = " JOB_DEAD " AND ?1 = ?1", &t.jobs_dead },
		{ project ? "SELECT count(*) FROM event e JOIN session s ON s.id = e.session WHERE "
			    "coalesce(e.project, s.project) = ?1"
			  : "SELECT count(*) FROM event WHERE ?1 = 0",
			&t.events },
	};

	if (session_flush(s, err))
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(counts); i++)
		if (db_one(s->db, counts[i].sql, DB_ARGS(db_i(project)), 0, counts[i].to, err))
			return -1;
	if (count_memories(s, project, &t, err))
		return -1;
	t.store_bytes = db_bytes(s->db);
	*ret = t;
	return 0;
}

int store_counter_add(struct store *s, const char *name, int64_t by, struct err *err)
{
	return db_run(s->db,
		"INSERT INTO counter (author, name, n) VALUES (?3, ?1, ?2) ON CONFLICT (author, name) DO UPDATE SET n "
		"= counter.n + excluded.n",
		DB_ARGS(db_t(name), db_i(by), db_i(s->me)), err);
}

int store_counter_get(struct store *s, const char *name, int64_t *ret, struct err *err)
{
	return db_one(
		s->db, "SELECT n FROM counter WHERE name = ?1 AND author = ?2",
		DB_ARGS(db_t(name), db_i(s->me)), 0, ret, err);
}
