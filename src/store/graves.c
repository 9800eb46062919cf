/*
 * Forgetting outlives a restore: the tombstones of the running store go into the copy that takes its
 * place, and what they name goes from it.
 */
#include "store/forget.h"

#include "base/mem.h"
#include "store/memory_row.h"

static int bury_all(struct store *from, struct store *to, int64_t *ret, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	int rc;

	*ret = 0;
	to->bars.is_known = false;
	if (db_query(from->db, "SELECT kind, hash, at FROM tombstone", NULL, 0, &r, err))
		return -1;
	while ((rc = db_next(r, err)) > 0) {
		++*ret;
		if (db_run(to->db,
			    "INSERT INTO tombstone (author, kind, hash, at) VALUES (?4, ?1, ?2, ?3) ON "
			    "CONFLICT (author, kind, hash) DO UPDATE SET at = excluded.at WHERE excluded.at > "
			    "tombstone.at",
			    DB_ARGS(db_i(db_int(r, 0)), db_i(db_int(r, 1)), db_i(db_int(r, 2)), db_i(to->me)), err))
			return -1;
	}
	return rc;
}

/* Sessions that end before their grave, and the events of others up to theirs. */
static int find_sessions(struct store *s, struct ids *sessions, struct ids *events, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	int rc;

	if (db_query(s->db, "SELECT id, agent, agent_session, last_event_at FROM session", NULL, 0,
		    &r, err))
		return -1;
	while ((rc = db_next(r, err)) > 0) {
		int64_t at, id = db_int(r, 0);
		int64_t hash = event_ident((enum agent_id)db_int(r, 1), db_text(r, 2));
		if (db_one(s->db, "SELECT at FROM tombstone WHERE kind = 3 AND hash = ?1",
			    DB_ARGS(db_i(hash)), 0, &at, err))
			return -1;
		if (at && db_int(r, 3) <= at)
			ids_add(sessions, id);
		if (at && store_ids(s, "SELECT id FROM event WHERE session = ?1 AND at <= ?2",
				  DB_ARGS(db_i(id), db_i(at)), events, err))
			return -1;
	}
	return rc;
}

static int find_memories(struct store *s, struct ids *memories, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	int rc;

	if (db_query(s->db, "SELECT " MEMORY_COLUMNS " FROM memory m", NULL, 0, &r, err))
		return -1;
	while ((rc = db_next(r, err)) > 0) {
		struct memory m;
		bool is_buried;
		arena_reset(&a);
		if (memory_row_read(s, &a, r, &m, err) ||
			forget_is_buried_memory(s, &m, &is_buried, err))
			return -1;
		if (is_buried)
			ids_add(memories, m.id);
	}
	return rc;
}

/* The plan's memories and those found, each once. */
static void memories_join(struct arena *a, struct forget_plan *p, const struct ids *found)
{
	int64_t *all = ARENA_ARRAY(a, int64_t, p->nmemories + found->n + 1);
	size_t n = 0;

	for (size_t i = 0; i < p->nmemories; i++)
		all[n++] = p->memories[i];
	for (size_t i = 0; i < found->n; i++) {
		bool is_there = false;
		for (size_t k = 0; k < p->nmemories && !is_there; k++)
			is_there = p->memories[k] == found->p[i];
		if (!is_there)
			all[n++] = found->p[i];
	}
	p->memories = all;
	p->nmemories = n;
}

static int forget_buried(struct store *s, struct forget_plan *ret, struct arena *a, struct err *err)
{
	AUTO(ids_done) struct ids events = { 0 }, sessions = { 0 }, memories = { 0 };

	if (store_ids(s,
		    "SELECT e.id FROM event e JOIN tombstone t ON t.kind = 1 AND t.hash = e.ident AND "
		    "t.at >= e.at",
		    NULL, 0, &events, err) ||
		find_sessions(s, &sessions, &events, err) || find_memories(s, &memories, err))
		return -1;
	struct forget_query q = { .events = events.p, .nevents = events.n };
	if (store_forget_plan(s, a, &q, ret, err))
		return -1;
	memories_join(a, ret, &memories);
	ret->sessions = sessions.n ? arena_dup(a, sessions.p, sessions.n * sizeof(*sessions.p)) : NULL;
	ret->nsessions = sessions.n;
	return store_forget(s, ret, err);
}

int store_graves_carry(struct store *from, struct store *to, struct arena *a,
	struct forget_plan *ret, struct err *err)
{
	int64_t graves;

	*ret = (struct forget_plan){ 0 };
	if (store_begin(to, err))
		return -1;
	if (bury_all(from, to, &graves, err) || (graves && forget_buried(to, ret, a, err)) ||
		store_commit(to, err)) {
		store_rollback(to);
		return -1;
	}
	return graves ? store_scrub(to, err) : 0;
}
