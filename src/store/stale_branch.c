/* Rows about branches; see stale.h. */
#include "store/stale.h"

#include "base/mem.h"
#include "store/room.h"

int store_branch_memories(struct store *s, struct arena *a, int64_t project, size_t max,
	struct branch_memory **ret, size_t *ret_n, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	size_t cap = 0;
	int rc;

	*ret = NULL;
	*ret_n = 0;
	if (db_query(s->db,
		    "SELECT bm.memory, bm.project, m.at, bm.branch, bm.landed, bm.tip, "
		    "t.started_at FROM branch_memory bm"
		    " JOIN memory m ON m.id = bm.memory LEFT JOIN turn t ON t.id = m.turn"
		    " WHERE bm.project = ?1 ORDER BY m.at DESC LIMIT ?2",
		    DB_ARGS(db_i(project), db_i((int64_t)max)), &r, err))
		return -1;
	while ((rc = db_next(r, err)) > 0) {
		struct branch_memory b = { .memory = db_int(r, 0),
			.project = db_int(r, 1),
			.at = db_int(r, 2),
			.from = db_is_null(r, 6) ? db_int(r, 2) : MIN(db_int(r, 6), db_int(r, 2)),
			.branch = row_str(a, r, 3),
			.landed = row_str(a, r, 4),
			.tip = row_str(a, r, 5) };
		ARENA_PUSH(a, *ret, *ret_n, cap, b);
	}
	return rc;
}

int store_branch_memory_put(struct store *s, const struct branch_memory *b, struct err *err)
{
	return db_run(s->db,
		"INSERT INTO branch_memory (memory, project, branch, landed, tip) SELECT id, ?2, "
		"?3, ?4, ?5 FROM memory WHERE id = ?1 AND author = ?6"
		" ON CONFLICT (memory) DO UPDATE SET project = ?2, branch = ?3, landed = ?4, tip = "
		"?5",
		DB_ARGS(db_i(b->memory), db_i(b->project), db_t(b->branch), db_t(b->landed),
			db_t(b->tip), db_i(s->me)),
		err);
}

int store_branch_memory_drop(struct store *s, int64_t memory, struct err *err)
{
	return db_run(
		s->db, "DELETE FROM branch_memory WHERE memory = ?1", DB_ARGS(db_i(memory)), err);
}

int store_checkouts(struct store *s, struct arena *a, int64_t project, size_t max,
	struct checkout **ret, size_t *ret_n, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	size_t cap = 0;
	int rc;

	*ret = NULL;
	*ret_n = 0;
	if (db_query(s->db,
		    "SELECT project, root, head, asked_at FROM checkout WHERE ?1 = 0 OR project = "
		    "?1 ORDER BY asked_at DESC LIMIT ?2",
		    DB_ARGS(db_i(project), db_i((int64_t)max)), &r, err))
		return -1;
	while ((rc = db_next(r, err)) > 0) {
		struct checkout c = { db_int(r, 0), row_str(a, r, 1), row_str(a, r, 2),
			db_int(r, 3) };
		ARENA_PUSH(a, *ret, *ret_n, cap, c);
	}
	return rc;
}

/*
 * Looked at anew when a head has moved: files of work of branches, since only what has arrived is
 * compared with them, and those that the latest suspects are suspect by, since commits are
 * counted.
 */
static int files_due(struct store *s, int64_t project, int64_t checkout, struct err *err)
{
	static const char sql[] =
		"UPDATE file_state SET seen_at = 0 WHERE project = ?1 AND file IN (SELECT mf.file "
		"FROM memory_file mf"
		" WHERE mf.memory IN (SELECT memory FROM visible WHERE checkout = ?2) OR mf.memory "
		"IN (SELECT memory FROM"
		" branch_memory WHERE project = ?1) UNION SELECT file FROM (SELECT su.file FROM "
		"suspect su JOIN memory m ON m.id = su.memory"
		" WHERE m.project = ?1 ORDER BY m.at DESC LIMIT 200))";

	return db_run(s->db, sql, DB_ARGS(db_i(project), db_i(checkout)), err);
}

int store_checkout_note(struct store *s, const struct checkout *c, struct err *err)
{
	return db_run(s->db,
		"INSERT INTO checkout (project, root, head, asked_at) VALUES (?1, ?2, NULL, ?3)"
		" ON CONFLICT (author, root) DO UPDATE SET project = ?1, asked_at = ?3",
		DB_ARGS(db_i(c->project), db_t(c->root), db_i(c->asked_at)), err);
}

int store_checkout_put(struct store *s, const struct checkout *c, const int64_t *visible, size_t n,
	struct err *err)
{
	int64_t id;

	if (db_run(s->db,
		    "INSERT INTO checkout (project, root, head, asked_at) VALUES (?1, ?2, ?3, ?4)"
		    " ON CONFLICT (author, root) DO UPDATE SET project = ?1, head = ?3, asked_at = ?4",
		    DB_ARGS(db_i(c->project), db_t(c->root), db_t(c->head), db_i(c->asked_at)),
		    err) ||
		db_one(s->db, "SELECT id FROM checkout WHERE root = ?1 AND author = ?2",
			DB_ARGS(db_t(c->root), db_i(s->me)), 0,
			&id, err) ||
		files_due(s, c->project, id, err) ||
		db_run(s->db, "DELETE FROM visible WHERE checkout = ?1", DB_ARGS(db_i(id)), err))
		return -1;
	for (size_t i = 0; i < n; i++)
		if (db_run(s->db,
			    "INSERT INTO visible (checkout, memory) VALUES (?1, ?2) ON CONFLICT "
			    "(checkout, memory) DO NOTHING",
			    DB_ARGS(db_i(id), db_i(visible[i])), err))
			return -1;
	return 0;
}

int store_visible(struct store *s, struct arena *a, const char *root, const char *head,
	bool *ret_is_known, int64_t **ret, size_t *ret_n, struct err *err)
{
	AUTO(ids_done) struct ids list = { 0 };
	int64_t id;

	*ret_n = 0;
	if (db_one(s->db, "SELECT id FROM checkout WHERE root = ?1 AND head = ?2 AND author = ?3",
		    DB_ARGS(db_t(root), db_t(head), db_i(s->me)), 0, &id, err))
		return -1;
	*ret_is_known = id != 0;
	if (!id)
		return 0;
	if (store_ids(s, "SELECT memory FROM visible WHERE checkout = ?1 ORDER BY memory",
		    DB_ARGS(db_i(id)), &list, err))
		return -1;
	*ret = arena_dup(a, list.p ? list.p : &(int64_t){ 0 }, sizeof(*list.p) * list.n);
	*ret_n = list.n;
	return 0;
}
