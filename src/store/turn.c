/* Turns as their readers see them: which wait for the rules, and which are over. Placing
 * events in turns is turn_place.c. */
#include "store/room.h"

#include <string.h>

#include "base/mem.h"

/* The project of a turn is where most of its events happened; the ordinal counts the session's
 * turns up to it. */
#define TURN_COLUMNS                                                                            \
	"t.id, t.session, s.project, t.started_at, t.last_event_at, t.agent_turn, t.is_dirty, " \
	"t.is_stopped,"                                                                         \
	" (SELECT count(*) FROM turn o WHERE o.session = t.session AND o.started_at > 0 AND "   \
	"(o.started_at < t.started_at OR"                                                       \
	" (o.started_at = t.started_at AND o.id <= t.id))),"                                    \
	" (SELECT e.project FROM event e WHERE e.session = t.session AND e.at BETWEEN "         \
	"t.started_at AND t.last_event_at"                                                      \
	" AND e.turn = t.id GROUP BY e.project ORDER BY count(*) DESC LIMIT 1), t.touched"

static void read_turn(struct arena *a, struct db_rows *r, struct turn *ret)
{
	*ret = (struct turn){ .id = db_int(r, 0),
		.session = db_int(r, 1),
		.project = db_is_null(r, 9) ? db_int(r, 2) : db_int(r, 9),
		.started_at = db_int(r, 3),
		.last_event_at = db_int(r, 4),
		.agent_turn = row_str(a, r, 5),
		.touched = db_int(r, 10),
		.is_dirty = db_int(r, 6),
		.is_stopped = db_int(r, 7),
		.ordinal = db_int(r, 8) };
	if (ret->agent_turn && !*ret->agent_turn)
		ret->agent_turn = NULL;
}

int store_turns_dirty(struct store *s, struct arena *a, int64_t quiet_before, int64_t after,
	size_t max, struct turn **ret, size_t *ret_n, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	struct turn *list = NULL;
	size_t n = 0, cap = 0;
	int rc;

	if (db_query(s->db,
		    "SELECT " TURN_COLUMNS " FROM turn t JOIN session s ON s.id = t.session WHERE "
		    "t.is_dirty = 1 AND t.id > ?3"
		    " AND (t.is_stopped = 1 OR t.last_event_at < ?1 OR s.ended_at >= "
		    "t.last_event_at OR EXISTS"
		    " (SELECT 1 FROM turn o WHERE o.session = t.session AND o.started_at > "
		    "t.started_at)) ORDER BY t.id LIMIT ?2",
		    DB_ARGS(db_i(quiet_before), db_i((int64_t)max), db_i(after)), &r, err))
		return -1;
	while ((rc = db_next(r, err)) > 0) {
		struct turn t;
		read_turn(a, r, &t);
		ARENA_PUSH(a, list, n, cap, t);
	}
	if (rc < 0)
		return -1;
	*ret = list;
	*ret_n = n;
	return 0;
}

int store_turn_get(struct store *s, struct arena *a, int64_t id, struct turn *ret, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	int rc = store_row(s,
		"SELECT " TURN_COLUMNS
		" FROM turn t JOIN session s ON s.id = t.session WHERE t.id = ?1",
		DB_ARGS(db_i(id)), &r, err);

	if (rc < 0)
		return -1;
	if (rc == 0)
		return err_set(err, ERR_NOT_FOUND, "there is no turn %lld", (long long)id);
	read_turn(a, r, ret);
	return 0;
}

int store_turn_is_still(struct store *s, const struct turn *t, bool *ret, struct err *err)
{
	int64_t n = 1;

	if (db_is_shared(s->db) &&
		db_one(s->db, "SELECT count(*) FROM turn WHERE id = ?1 AND is_dirty = 1 AND touched = ?2",
			DB_ARGS(db_i(t->id), db_i(t->touched)), 0, &n, err))
		return -1;
	*ret = n > 0;
	return 0;
}

int store_turn_stopped(struct store *s, int64_t session, const char *agent_turn, struct err *err)
{
	int64_t turn;

	/* The stop may overtake the hooks of its turn: then the turn is made here. */
	if (agent_turn && *agent_turn) {
		if (turn_named(s, session, agent_turn, &turn, err))
			return -1;
	} else if (db_one(s->db,
			   "SELECT id FROM turn WHERE session = ?1 ORDER BY started_at DESC, id "
			   "DESC LIMIT 1",
			   DB_ARGS(db_i(session)), 0, &turn, err)) {
		return -1;
	}
	return db_run(
		s->db, "UPDATE turn SET is_stopped = 1 WHERE id = ?1", DB_ARGS(db_i(turn)), err);
}

int store_turns_of_rules(struct store *s, int64_t version, struct err *err)
{
	static const char name[] = "rules.version";
	int64_t then;

	if (store_counter_get(s, name, &then, err))
		return -1;
	if (then == version)
		return 0;
	return db_run(s->db,
		       "UPDATE turn SET is_dirty = 1 WHERE started_at > 0 AND EXISTS (SELECT 1 "
		       "FROM "
		       "event e WHERE e.session = turn.session AND e.at BETWEEN turn.started_at "
		       "AND "
		       "turn.last_event_at AND e.turn = turn.id)",
		       NULL, 0, err) ||
			       store_counter_add(s, name, version - then, err)
		       ? -1
		       : 0;
}
