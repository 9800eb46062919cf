/*
 * Which turn an event belongs to. Where the agent names a turn, that one. Else time decides: a
 * prompt that a person typed in the main thread starts a turn, and what has no name of its own
 * belongs to the last such prompt at or before it. What comes before any prompt is the session's
 * prelude, a turn named "". Prompts may come late, so each of them settles the events around it
 * anew: the outcome depends on the events alone, not on the order they came in.
 */
#include "store/entity.h"
#include "store/event_put.h"

#include <string.h>

#include "base/mem.h"
#include "store/fact.h"

#define PRELUDE ""

bool event_is_anchor(const struct event_row *e)
{
	return e->kind == EVENT_PROMPT && !e->subagent && !(e->flags & FLAG_META);
}

static bool is_outside_turns(int kind)
{
	return kind == EVENT_START || kind == EVENT_END;
}

static int create_turn(
	struct store *s, int64_t session, const char *agent_turn, int64_t *ret, struct err *err)
{
	if (db_run(s->db,
		    "INSERT INTO turn (session, agent_turn, started_at, last_event_at, is_dirty, "
		    "is_stopped)"
		    " VALUES (?1, ?2, 0, 0, 0, 0)",
		    DB_ARGS(db_i(session), db_t(agent_turn)), err))
		return -1;
	*ret = db_last_id(s->db);
	return 0;
}

int turn_named(
	struct store *s, int64_t session, const char *agent_turn, int64_t *ret, struct err *err)
{
	if (db_one(s->db, "SELECT id FROM turn WHERE session = ?1 AND agent_turn = ?2",
		    DB_ARGS(db_i(session), db_t(agent_turn)), 0, ret, err))
		return -1;
	return *ret ? 0 : create_turn(s, session, agent_turn, ret, err);
}

/* The turn of the last prompt at or before `at`; 0 when there is none. */
static int turn_at(struct store *s, int64_t session, int64_t at, int64_t *ret, struct err *err)
{
	return db_one(s->db,
		"SELECT turn FROM event WHERE session = ?1 AND anchor = 1 AND at <= ?2 ORDER BY at "
		"DESC, event_key DESC LIMIT 1",
		DB_ARGS(db_i(session), db_i(at)), 0, ret, err);
}

/* A prompt learns its turn's name: the turn that it started takes the name, unless that name
 * is another turn's. */
static int learn_name(struct store *s, struct event_row *e, int64_t started, struct err *err)
{
	int64_t named;

	if (db_one(s->db, "SELECT id FROM turn WHERE session = ?1 AND agent_turn = ?2",
		    DB_ARGS(db_i(e->session), db_t(e->agent_turn)), 0, &named, err))
		return -1;
	e->turn = named ? named : started;
	if (named)
		return 0;
	return db_run(s->db, "UPDATE turn SET agent_turn = ?2 WHERE id = ?1",
		DB_ARGS(db_i(started), db_t(e->agent_turn)), err);
}

static bool started_turn(const struct event_row *old, const struct event_row *e)
{
	return old && old->turn && event_is_anchor(old) && (old->flags & FLAG_LOOSE) &&
	       old->session == e->session;
}

int turn_place(struct store *s, struct event_row *e, const struct event_row *old, struct err *err)
{
	e->flags &= ~FLAG_LOOSE;
	if (is_outside_turns(e->kind)) {
		e->turn = 0;
		return 0;
	}
	if (e->agent_turn && *e->agent_turn) {
		if (event_is_anchor(e) && started_turn(old, e))
			return learn_name(s, e, old->turn, err);
		return turn_named(s, e->session, e->agent_turn, &e->turn, err);
	}
	e->flags |= FLAG_LOOSE;
	if (event_is_anchor(e)) {
		if (!started_turn(old, e))
			return create_turn(s, e->session, NULL, &e->turn, err);
		e->turn = old->turn;
		return 0;
	}
	if (turn_at(s, e->session, e->at, &e->turn, err))
		return -1;
	return e->turn ? 0 : turn_named(s, e->session, PRELUDE, &e->turn, err);
}

int turn_touch(struct store *s, int64_t turn, int64_t at, struct err *err)
{
	if (!turn)
		return 0;
	return db_run(s->db,
		"UPDATE turn SET is_dirty = 1, touched = touched + 1,"
		" started_at = CASE WHEN started_at = 0 OR started_at > ?2 THEN ?2 ELSE started_at "
		"END,"
		" last_event_at = CASE WHEN last_event_at < ?2 THEN ?2 ELSE last_event_at END "
		"WHERE id = ?1",
		DB_ARGS(db_i(turn), db_i(at)), err);
}

static int drop_rule_memories(struct store *s, int64_t turn, struct err *err)
{
	AUTO(ids_done) struct ids ids = { 0 };

	if (store_ids(s, "SELECT id FROM memory WHERE turn = ?1 AND origin IN (?2, ?3)",
		    DB_ARGS(db_i(turn), db_i(ORIGIN_RULES), db_i(ORIGIN_MODEL)), &ids, err) ||
		memory_delete(s, &ids, err) ||
		db_run(s->db, "DELETE FROM job WHERE turn = ?1", DB_ARGS(db_i(turn)), err))
		return -1;
	return db_run(
		s->db, "UPDATE memory SET turn = NULL WHERE turn = ?1", DB_ARGS(db_i(turn)), err);
}

int turn_tidy(struct store *s, int64_t turn, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	int rc = store_row(s,
		"SELECT count(e.id), coalesce(min(e.at), 0), coalesce(max(e.at), 0), t.agent_turn "
		"FROM turn t LEFT JOIN event e"
		" ON e.session = t.session AND e.at BETWEEN t.started_at AND t.last_event_at AND "
		"e.turn = t.id"
		" WHERE t.id = ?1 GROUP BY t.id, t.agent_turn",
		DB_ARGS(db_i(turn)), &r, err);

	if (rc <= 0)
		return rc;
	int64_t n = db_int(r, 0), first = db_int(r, 1), last = db_int(r, 2);
	bool is_named = db_text(r, 3) && *db_text(r, 3);
	if (!n && (drop_rule_memories(s, turn, err) || candidates_drop(s, turn, err) ||
			  mentions_drop(s, turn, err)))
		return -1;
	if (!n && !is_named)
		return db_run(s->db, "DELETE FROM turn WHERE id = ?1", DB_ARGS(db_i(turn)), err);
	return db_run(s->db,
		"UPDATE turn SET started_at = ?2, last_event_at = ?3, is_dirty = ?4, touched = touched + 1 WHERE id = ?1",
		DB_ARGS(db_i(turn), db_i(first), db_i(last), db_i(n > 0)), err);
}

struct move {
	int64_t event, at, from, to;
};

struct moves {
	struct move *p;
	size_t n, cap;
};

static void moves_done(struct moves *m)
{
	free(m->p);
}

/* Collects the loose events from `low` on, up to the first prompt after `high`, that stand in
 * another turn than they should. */
static int find_moves(struct store *s, int64_t session, int64_t low, int64_t high,
	struct moves *ret, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	int64_t end, current;
	int rc;

	if (db_one(s->db, "SELECT min(at) FROM event WHERE session = ?1 AND anchor = 1 AND at > ?2",
		    DB_ARGS(db_i(session), db_i(high)), INT64_MAX, &end, err) ||
		turn_at(s, session, low - 1, &current, err) ||
		db_query(s->db,
			"SELECT id, at, coalesce(anchor, 0), flags, turn FROM event WHERE session "
			"= ?1 AND at >= ?2 AND at < ?3"
			" AND kind <> ?4 AND kind <> ?5 ORDER BY at, coalesce(anchor, 0) DESC, "
			"event_key",
			DB_ARGS(db_i(session), db_i(low), db_i(end), db_i(EVENT_START),
				db_i(EVENT_END)),
			&r, err))
		return -1;
	while ((rc = db_next(r, err)) > 0) {
		if (db_int(r, 2))
			current = db_int(r, 4);
		else if ((db_int(r, 3) & FLAG_LOOSE) && (db_int(r, 4) != current || !current)) {
			MEM_GROW(ret->p, ret->cap, ret->n + 1);
			ret->p[ret->n++] =
				(struct move){ db_int(r, 0), db_int(r, 1), db_int(r, 4), current };
		}
	}
	return rc;
}

static int apply_moves(struct store *s, int64_t session, struct moves *m, struct err *err)
{
	int64_t prelude = 0;

	for (size_t i = 0; i < m->n; i++) {
		struct move *v = &m->p[i];
		if (!v->to && !prelude && turn_named(s, session, PRELUDE, &prelude, err))
			return -1;
		if (!v->to)
			v->to = prelude;
		if (v->to == v->from)
			continue;
		if (db_run(s->db, "UPDATE event SET turn = ?2 WHERE id = ?1",
			    DB_ARGS(db_i(v->event), db_i(v->to)), err) ||
			turn_touch(s, v->to, v->at, err))
			return -1;
	}
	for (size_t i = 0; i < m->n; i++) {
		bool is_last = i + 1 == m->n || m->p[i + 1].from != m->p[i].from;
		if (is_last && m->p[i].from && m->p[i].from != m->p[i].to &&
			turn_tidy(s, m->p[i].from, err))
			return -1;
	}
	return 0;
}

static int resettle(struct store *s, int64_t session, int64_t low, int64_t high, struct err *err)
{
	AUTO(moves_done) struct moves m = { 0 };

	if (find_moves(s, session, low, high, &m, err))
		return -1;
	return apply_moves(s, session, &m, err);
}

int turn_settle(
	struct store *s, const struct event_row *e, const struct event_row *old, struct err *err)
{
	bool is_anchor = event_is_anchor(e), was_anchor = old && event_is_anchor(old);
	bool is_moved = !old || old->turn != e->turn || old->at != e->at || is_anchor != was_anchor;

	if (turn_touch(s, e->turn, e->at, err))
		return -1;
	if (is_moved && (is_anchor || was_anchor) &&
		resettle(s, e->session, old ? MIN(old->at, e->at) : e->at,
			old ? MAX(old->at, e->at) : e->at, err))
		return -1;
	if (old && old->turn && (old->turn != e->turn || old->at != e->at))
		return turn_tidy(s, old->turn, err);
	return 0;
}

int turn_leave(struct store *s, const struct event_row *old, struct err *err)
{
	if (event_is_anchor(old) && resettle(s, old->session, old->at, old->at, err))
		return -1;
	return old->turn ? turn_tidy(s, old->turn, err) : 0;
}
