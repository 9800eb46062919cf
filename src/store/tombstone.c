/*
 * Tombstones. An event is buried under its key and, for its other copy that may still come, under
 * session and text; a whole session under its name. What happens after the forgetting is new and
 * is stored again.
 */
#include "store/forget.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "text/hash.h"

enum grave { GRAVE_EVENT = 1, GRAVE_TEXT, GRAVE_SESSION, GRAVE_SLOT, GRAVE_MEMORY };

static int64_t session_hash(enum agent_id agent, const char *agent_session)
{
	return event_ident(agent, agent_session ? agent_session : "");
}

static int64_t text_grave(int64_t session, uint64_t text)
{
	const uint64_t both[] = { (uint64_t)session, text };

	return (int64_t)hash64(both, sizeof(both));
}

static int bury(struct store *s, enum grave kind, int64_t hash, struct err *err)
{
	s->bars.is_known = false;
	return db_run(s->db,
		"INSERT INTO tombstone (author, kind, hash, at) VALUES (?4, ?1, ?2, ?3) ON CONFLICT "
		"(author, kind, hash) DO UPDATE SET at = excluded.at",
		DB_ARGS(db_i(kind), db_i(hash), db_i(clock_now()), db_i(s->me)), err);
}

int store_graves(struct store *s, struct graves *ret, struct err *err)
{
	if (db_one(s->db, "SELECT count(*) FROM tombstone", NULL, 0, 0, &ret->n, err))
		return -1;
	return db_one(s->db, "SELECT max(at) FROM tombstone", NULL, 0, 0, &ret->last, err);
}

bool graves_same(const struct graves *a, const struct graves *b)
{
	return a->n == b->n && a->last == b->last;
}

int forget_is_buried(struct store *s, const struct exclusion *x, bool *ret, struct err *err)
{
	int64_t session = session_hash(x->agent, x->agent_session), found;
	int64_t event = x->key ? event_ident(x->agent, x->key) : 0;
	int64_t text = x->text_hash ? text_grave(session, x->text_hash) : 0;

	if (db_one(s->db,
		    "SELECT 1 FROM tombstone WHERE at >= ?1 AND ((kind = 1 AND hash = ?2 AND ?2 <> "
		    "0)"
		    " OR (kind = 2 AND hash = ?3 AND ?3 <> 0) OR (kind = 3 AND hash = ?4)) LIMIT 1",
		    DB_ARGS(db_i(x->at), db_i(event), db_i(text), db_i(session)), 0, &found, err))
		return -1;
	*ret = found;
	return 0;
}

static int64_t slot_hash(const struct memory *m)
{
	AUTO(buf_done) struct buf b = { 0 };

	buf_printf(&b, "%lld %s %s", (long long)m->turn, m->rule ? m->rule : "",
		m->slot ? m->slot : "");
	return (int64_t)hash64(b.data, b.len);
}

static int64_t memory_hash(const struct memory *m)
{
	const uint64_t both[] = { text_likeness(str_of(m->title)), text_likeness(str_of(m->body)) };

	return (int64_t)hash64(both, sizeof(both));
}

int forget_is_buried_memory(struct store *s, const struct memory *m, bool *ret, struct err *err)
{
	int64_t found;

	*ret = false;
	if (store_bars(s, err))
		return -1;
	if (!s->bars.has_graves)
		return 0;
	if (db_one(s->db,
		    "SELECT 1 FROM tombstone WHERE (kind = 4 AND hash = ?1) OR (kind = 5 AND hash "
		    "= ?2) LIMIT 1",
		    DB_ARGS(db_i(m->rule ? slot_hash(m) : 0), db_i(memory_hash(m))), 0, &found,
		    err))
		return -1;
	*ret = found;
	return 0;
}

/* The text is buried under both hashes that somebody may ask with: of its bytes, and of its
 * words. */
static int bury_text(struct store *s, int64_t session, struct str text, struct err *err)
{
	if (!text.n)
		return 0;
	return bury(s, GRAVE_TEXT, text_grave(session, hash64(text.p, text.n)), err) ||
			       bury(s, GRAVE_TEXT, text_grave(session, text_likeness(text)), err)
		       ? -1
		       : 0;
}

int forget_bury_event(struct store *s, const struct event_row *e, enum agent_id agent,
	const char *agent_session, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	int rc;

	if (bury(s, GRAVE_EVENT, e->ident, err) ||
		(e->likeness && bury_text(s, session_hash(agent, agent_session), e->text, err)) ||
		db_query(s->db, "SELECT name FROM hook_copy WHERE event = ?1", DB_ARGS(db_i(e->id)),
			&r, err))
		return -1;
	while ((rc = db_next(r, err)) > 0)
		if (bury(s, GRAVE_EVENT, event_ident(agent, db_text(r, 0)), err))
			return -1;
	return rc;
}

int forget_bury_session(
	struct store *s, enum agent_id agent, const char *agent_session, struct err *err)
{
	return bury(s, GRAVE_SESSION, session_hash(agent, agent_session), err);
}

int forget_bury_memory(struct store *s, const struct memory *m, struct err *err)
{
	if (m->rule && m->turn && bury(s, GRAVE_SLOT, slot_hash(m), err))
		return -1;
	return bury(s, GRAVE_MEMORY, memory_hash(m), err);
}
