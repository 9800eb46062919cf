/* Which entities turns mention. Narrow rows by number; names are kept once, in `entity`. */
#include "store/entity.h"

#include <string.h>

#include "base/mem.h"
#include "store/query_ids.h"
#include "store/room.h"

struct kept {
	int64_t entity;
	struct mention m;
	bool is_used;
};

static int load_kept(struct store *s, struct arena *a, int64_t turn, struct kept **ret,
	size_t *ret_n, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	struct kept *list = NULL;
	size_t n = 0, cap = 0;
	int rc;

	if (db_query(s->db,
		    "SELECT m.entity, e.kind, e.name, m.n, m.at, m.last_at FROM mention m JOIN "
		    "entity e ON "
		    "e.id = m.entity WHERE m.turn = ?1",
		    DB_ARGS(db_i(turn)), &r, err))
		return -1;
	while ((rc = db_next(r, err)) > 0) {
		struct kept k = { db_int(r, 0),
			{ (enum entity_kind)db_int(r, 1), row_str(a, r, 2), db_int(r, 3),
				db_int(r, 4), db_int(r, 5) },
			false };
		ARENA_PUSH(a, list, n, cap, k);
	}
	*ret = list;
	*ret_n = n;
	return rc;
}

static int entity_id(struct store *s, const struct mention *m, int64_t *ret, struct err *err)
{
	if (db_one(s->db, "SELECT id FROM entity WHERE name = ?1 AND kind = ?2 AND author = ?3",
		    DB_ARGS(db_t(m->name), db_i(m->kind), db_i(s->me)), 0, ret, err))
		return -1;
	if (*ret)
		return 0;
	if (db_run(s->db, "INSERT INTO entity (kind, name) VALUES (?1, ?2)",
		    DB_ARGS(db_i(m->kind), db_t(m->name)), err))
		return -1;
	*ret = db_last_id(s->db);
	return 0;
}

static int put_mention(
	struct store *s, int64_t turn, const struct mention *m, struct kept *k, struct err *err)
{
	int64_t id;

	if (k) {
		k->is_used = true;
		if (k->m.n == m->n && k->m.at == m->at && k->m.last_at == m->last_at)
			return 0;
		return db_run(s->db,
			"UPDATE mention SET n = ?3, at = ?4, last_at = ?5 WHERE turn = ?1 AND "
			"entity = ?2",
			DB_ARGS(db_i(turn), db_i(k->entity), db_i(m->n), db_i(m->at),
				db_i(m->last_at)),
			err);
	}
	if (entity_id(s, m, &id, err))
		return -1;
	return db_run(s->db,
		"INSERT INTO mention (turn, entity, n, at, last_at) VALUES (?1, ?2, ?3, ?4, ?5)",
		DB_ARGS(db_i(turn), db_i(id), db_i(m->n), db_i(m->at), db_i(m->last_at)), err);
}

static int take_away(struct store *s, int64_t turn, int64_t entity, struct err *err)
{
	if (db_run(s->db, "DELETE FROM mention WHERE turn = ?1 AND entity = ?2",
		    DB_ARGS(db_i(turn), db_i(entity)), err))
		return -1;
	return db_run(s->db,
		"DELETE FROM entity WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM mention WHERE "
		"entity = ?1)",
		DB_ARGS(db_i(entity)), err);
}

int store_turn_mentions(struct store *s, const struct turn *t, const struct mention *list, size_t n,
	struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct kept *kept;
	size_t nkept;

	if (load_kept(s, &a, t->id, &kept, &nkept, err))
		return -1;
	for (size_t i = 0; i < n; i++) {
		struct kept *k = NULL;
		for (size_t j = 0; j < nkept && !k; j++)
			if (kept[j].m.kind == list[i].kind &&
				strcmp(kept[j].m.name, list[i].name) == 0)
				k = &kept[j];
		if (put_mention(s, t->id, &list[i], k, err))
			return -1;
	}
	for (size_t j = 0; j < nkept; j++)
		if (!kept[j].is_used && take_away(s, t->id, kept[j].entity, err))
			return -1;
	return 0;
}

int mentions_drop(struct store *s, int64_t turn, struct err *err)
{
	const struct turn t = { .id = turn };

	return store_turn_mentions(s, &t, NULL, 0, err);
}

/* ---- questions ---- */

/* Said by the database, since names are in its order. */
#define IS_BEHIND                                                                                \
	"CASE WHEN ?6 = 0 OR sum(m.n) < ?6 OR (sum(m.n) = ?6 AND (count(DISTINCT t.session) < "  \
	"?7 OR (count(DISTINCT t.session) = ?7 AND (e.name > ?8 OR (e.name = ?8 AND e.kind > "   \
	"?9))))) THEN 1 ELSE 0 END"
#define COUNTED(sessions, of_project)                                                            \
	"SELECT e.id, e.kind, e.name, sum(m.n), count(DISTINCT t.session), min(m.at), "          \
	"max(m.last_at), " IS_BEHIND                                                             \
	" FROM mention m JOIN entity e ON e.id = m.entity JOIN turn t ON t.id = m.turn" sessions \
	" WHERE " of_project " AND (?2 < 0 OR e.kind = ?2) AND (?3 = 0 OR m.last_at >= ?3)"      \
	" AND (?4 = 0 OR m.at <= ?4) AND (e.name = ?5 OR ?5 IS NULL)"                            \
	" GROUP BY e.id, e.kind, e.name ORDER BY 4 DESC, 5 DESC, e.name, e.kind"

/* All groups are counted anyway, so the page is cut here and the total comes for nothing. */
int store_entity_list(struct store *s, struct arena *a, const struct entity_query *q,
	struct entity_count **ret, size_t *ret_n, int64_t *ret_total, struct err *err)
{
	static const char everywhere[] = COUNTED("", "?1 = 0");
	static const char of_project[] =
		COUNTED(" JOIN session s ON s.id = t.session", "s.project = ?1");
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	const struct entity_count first = { .name = "" }, *behind = q->behind ? q->behind : &first;
	struct entity_count *list = NULL;
	size_t n = 0, cap = 0, seen = 0, skip = q->skip;
	int rc;

	if (db_query(s->db, q->project ? of_project : everywhere,
		    DB_ARGS(db_i(q->project), db_i(q->kind), db_i(q->after), db_i(q->before),
			    db_t(q->name), db_i(behind->mentions), db_i(behind->sessions),
			    db_t(behind->name), db_i(behind->kind)),
		    &r, err))
		return -1;
	while ((rc = db_next(r, err)) > 0) {
		seen++;
		if (!db_int(r, 7) || n == q->max)
			continue;
		if (skip) {
			skip--;
			continue;
		}
		struct entity_count c = { db_int(r, 0), (enum entity_kind)db_int(r, 1),
			row_str(a, r, 2), db_int(r, 3), db_int(r, 4), db_int(r, 5), db_int(r, 6) };
		ARENA_PUSH(a, list, n, cap, c);
	}
	*ret = list;
	*ret_n = n;
	if (ret_total)
		*ret_total = (int64_t)seen;
	return rc;
}

int store_entity_neighbours(struct store *s, struct arena *a, int64_t entity, int64_t project,
	size_t max, struct entity_neighbour **ret, size_t *ret_n, struct err *err)
{
	static const char sql[] =
		"SELECT e.kind, e.name, count(*), (SELECT count(*) FROM mention x WHERE x.entity = "
		"e.id)"
		" FROM mention m JOIN turn t ON t.id = m.turn JOIN session s ON s.id = t.session"
		" JOIN mention o ON o.turn = m.turn AND o.entity <> m.entity JOIN entity e ON e.id "
		"= o.entity"
		" WHERE m.entity = ?1 AND (?2 = 0 OR s.project = ?2) GROUP BY e.id, e.kind, e.name"
		" ORDER BY 3 DESC, e.name LIMIT ?3";
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	struct entity_neighbour *list = NULL;
	size_t n = 0, cap = 0;
	int rc;

	if (db_query(s->db, sql, DB_ARGS(db_i(entity), db_i(project), db_i((int64_t)max)), &r, err))
		return -1;
	while ((rc = db_next(r, err)) > 0) {
		struct entity_neighbour o = { (enum entity_kind)db_int(r, 0), row_str(a, r, 1),
			db_int(r, 2), db_int(r, 3) };
		ARENA_PUSH(a, list, n, cap, o);
	}
	*ret = list;
	*ret_n = n;
	return rc;
}

int store_entity_moments(struct store *s, struct arena *a, int64_t entity, int64_t project,
	size_t max, struct entity_moment **ret, size_t *ret_n, struct err *err)
{
	static const char sql[] = "SELECT m.at, t.session, m.n FROM mention m JOIN turn t ON t.id "
				  "= m.turn JOIN session s ON s.id = "
				  "t.session WHERE m.entity = ?1 AND (?2 = 0 OR s.project = ?2) "
				  "ORDER BY m.at DESC, m.turn LIMIT ?3";
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	struct entity_moment *list = NULL;
	size_t n = 0, cap = 0;
	int rc;

	if (db_query(s->db, sql, DB_ARGS(db_i(entity), db_i(project), db_i((int64_t)max)), &r, err))
		return -1;
	while ((rc = db_next(r, err)) > 0) {
		struct entity_moment m = { db_int(r, 0), db_int(r, 1), db_int(r, 2) };
		ARENA_PUSH(a, list, n, cap, m);
	}
	for (size_t i = 0; i < n / 2; i++) {
		struct entity_moment m = list[i];
		list[i] = list[n - 1 - i];
		list[n - 1 - i] = m;
	}
	*ret = list;
	*ret_n = n;
	return rc;
}

int store_entity_memories(struct store *s, struct arena *a, const struct entity_memories *q,
	int64_t **ret, size_t *ret_n, struct err *err)
{
	static const char sql[] =
		"SELECT m.id FROM memory m WHERE m.status = 0 AND (?2 = 0 OR m.project = ?2) AND "
		"m.id IN ("
		"SELECT x.id FROM mention n JOIN memory x ON x.turn = n.turn WHERE n.entity = ?1"
		" UNION SELECT v.memory FROM mention n JOIN turn t ON t.id = n.turn JOIN event e "
		"ON e.session = "
		"t.session AND e.at BETWEEN t.started_at AND t.last_event_at AND e.turn = t.id"
		" JOIN evidence v ON v.event = e.id WHERE n.entity = ?1"
		" UNION SELECT y.id FROM memory y WHERE y.turn IS NULL AND y.kind = 4)"
		" AND (?5 = 0 OR m.at < ?4 OR (m.at = ?4 AND m.id < ?5))"
		" ORDER BY m.at DESC, m.id DESC LIMIT ?3";
	_Static_assert(KIND_NOTE == 4 && MEMORY_ACTIVE == 0, "numbers in the statement");

	return query_ids(s, a, sql,
		DB_ARGS(db_i(q->entity), db_i(q->project), db_i((int64_t)q->max), db_i(q->behind_at),
			db_i(q->behind_id)),
		ret, ret_n, err);
}
