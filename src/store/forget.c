/*
 * Forgetting. A plan says exactly which rows go; carrying it out removes them with everything
 * derived, and leaves hashes. What the rules made of a turn goes with any of its events, and is
 * made again from what is left.
 */
#include "store/forget.h"
#include "store/fact.h"
#include "store/dictionary.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/author.h"
#include "store/contract.h"

struct set {
	struct ids memories, events, sessions, named;
};

static void set_done(struct set *s)
{
	ids_done(&s->memories);
	ids_done(&s->events);
	ids_done(&s->sessions);
	ids_done(&s->named);
}

static int by_id(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static void sort_once(struct ids *list)
{
	size_t n = 0;

	if (list->n > 1)
		qsort(list->p, list->n, sizeof(*list->p), by_id);
	for (size_t i = 0; i < list->n; i++)
		if (!n || list->p[n - 1] != list->p[i])
			list->p[n++] = list->p[i];
	list->n = n;
}

static bool holds(struct str text, const char *match)
{
	return text.n && str_ifind(text, match);
}

static bool event_matches(const struct event_row *e, const char *match)
{
	if (holds(e->text, match) || holds(e->input, match) || holds(e->output, match) ||
		holds(e->diff, match))
		return true;
	for (size_t i = 0; i < e->nfiles; i++)
		if (holds(str_of(e->files[i]), match))
			return true;
	return false;
}

static bool memory_matches(const struct memory *m, const char *match)
{
	const char *const texts[] = { m->title, m->subtitle, m->body, m->facts, m->concepts,
		m->request, m->investigated, m->learned, m->completed, m->next_steps, m->notes,
		m->commands };

	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (texts[i] && holds(str_of(texts[i]), match))
			return true;
	for (size_t i = 0; i < m->nevidence; i++)
		if (m->evidence[i].excerpt && holds(str_of(m->evidence[i].excerpt), match))
			return true;
	for (size_t i = 0; i < m->nfiles; i++)
		if (holds(str_of(m->files[i].path), match))
			return true;
	return false;
}

static int find_events(
	struct store *s, const struct forget_query *q, struct ids *ret, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	int rc;

	if (db_query(s->db,
		    "SELECT " EVENT_COLUMNS EVENT_FROM "WHERE (?1 = 0 OR e.session = ?1)"
		    " AND (?2 = 0 OR coalesce(e.project, s.project) = ?2) AND (?3 = 0 OR e.at < "
		    "?3)",
		    DB_ARGS(db_i(q->session), db_i(q->project), db_i(q->before)), &r, err))
		return -1;
	while ((rc = db_next(r, err)) > 0) {
		struct event_row e;
		arena_reset(&a);
		if (q->match && event_row_read(s, &a, r, &e, err))
			return -1;
		if (!q->match || event_matches(&e, q->match))
			ids_add(ret, db_int(r, 0));
	}
	return rc;
}

static int find_memories(
	struct store *s, const struct forget_query *q, struct ids *ret, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	int rc;

	if (db_query(s->db,
		    "SELECT " MEMORY_COLUMNS
		    " FROM memory m WHERE (?1 = 0 OR m.session = ?1) AND (?2 = 0 OR m.project = ?2)"
		    " AND (?3 = 0 OR m.at < ?3) AND m.author = ?4",
		    DB_ARGS(db_i(q->session), db_i(q->project), db_i(q->before), db_i(s->me)), &r, err))
		return -1;
	while ((rc = db_next(r, err)) > 0) {
		struct memory m;
		arena_reset(&a);
		if (q->match &&
			(memory_row_read(s, &a, r, &m, err) || memory_files_read(s, &a, &m, err)))
			return -1;
		if (!q->match || memory_matches(&m, q->match))
			ids_add(ret, db_int(r, 0));
	}
	return rc;
}

static int find_sessions(
	struct store *s, const struct forget_query *q, struct ids *ret, struct err *err)
{
	if (q->match)
		return 0;
	return store_ids(s,
		"SELECT id FROM session WHERE (?1 = 0 OR id = ?1) AND (?2 = 0 OR project = ?2) AND "
		"(?3 = 0 OR last_event_at < ?3)",
		DB_ARGS(db_i(q->session), db_i(q->project), db_i(q->before)), ret, err);
}

/* What was forgotten by number takes along what it rests on: the words stand there. */
static int add_evidence(
	struct store *s, const int64_t *memories, size_t n, struct ids *ret, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };

	for (size_t i = 0; i < n; i++) {
		struct memory m;
		arena_reset(&a);
		struct db_rows *r;
		int rc = store_row(s, "SELECT " MEMORY_COLUMNS " FROM memory m WHERE m.id = ?1",
			DB_ARGS(db_i(memories[i])), &r, err);
		if (rc > 0) {
			rc = memory_row_read(s, &a, r, &m, err);
			db_end(r);
			if (!rc && memory_must_be_mine(&m, "forget it", err))
				return -1;
			for (size_t k = 0; !rc && k < m.nevidence; k++)
				ids_add(ret, m.evidence[k].event);
		}
		if (rc < 0)
			return -1;
	}
	return 0;
}

/* Memories that were derived from these events or from their turns. Notes and what a person
 * edited stay, unless they match. */
static int add_derived(struct store *s, const struct ids *events, struct ids *ret, struct err *err)
{
	static const char sql[] = "SELECT m.id FROM evidence v JOIN memory m ON m.id = v.memory "
				  "WHERE v.event = ?1 AND m.origin IN (1, 2)"
				  " UNION SELECT m.id FROM event e JOIN memory m ON m.turn = "
				  "e.turn WHERE e.id = ?1 AND m.origin IN (1, 2)";

	for (size_t i = 0; i < events->n; i++)
		if (store_ids(s, sql, DB_ARGS(db_i(events->p[i])), ret, err))
			return -1;
	return 0;
}

static int keep_existing(struct store *s, const char *sql, struct ids *list, struct err *err)
{
	size_t n = 0;

	sort_once(list);
	for (size_t i = 0; i < list->n; i++) {
		int64_t found;
		if (db_one(s->db, sql, DB_ARGS(db_i(list->p[i])), 0, &found, err))
			return -1;
		if (found)
			list->p[n++] = list->p[i];
	}
	list->n = n;
	return 0;
}

static int fill_set(struct store *s, const struct forget_query *q, struct set *set, struct err *err)
{
	bool is_wide = q->session || q->project || q->before || q->match;

	for (size_t i = 0; i < q->nmemories; i++)
		ids_add(&set->memories, q->memories[i]);
	for (size_t i = 0; i < q->nevents; i++)
		ids_add(&set->events, q->events[i]);
	if (add_evidence(s, q->memories, q->nmemories, &set->events, err))
		return -1;
	if (is_wide &&
		(find_events(s, q, &set->events, err) || find_memories(s, q, &set->memories, err) ||
			find_sessions(s, q, &set->sessions, err)))
		return -1;
	for (size_t i = 0; i < set->memories.n; i++)
		ids_add(&set->named, set->memories.p[i]);
	sort_once(&set->named);
	if (keep_existing(s, "SELECT id FROM event WHERE id = ?1", &set->events, err) ||
		add_derived(s, &set->events, &set->memories, err) ||
		keep_existing(s, "SELECT id FROM memory WHERE id = ?1", &set->memories, err))
		return -1;
	return 0;
}

static int64_t *keep(struct arena *a, const struct ids *list)
{
	return list->n ? arena_dup(a, list->p, list->n * sizeof(*list->p)) : NULL;
}

int store_forget_plan(struct store *s, struct arena *a, const struct forget_query *q,
	struct forget_plan *ret, struct err *err)
{
	AUTO(set_done) struct set set = { 0 };

	if (session_flush(s, err) || fill_set(s, q, &set, err))
		return -1;
	*ret = (struct forget_plan){ keep(a, &set.memories), set.memories.n, keep(a, &set.events),
		set.events.n, keep(a, &set.sessions), set.sessions.n, keep(a, &set.named),
		set.named.n };
	return 0;
}

/*
 * A fact that goes because one of its turns does comes back with what the others say, so it is not
 * buried unless it was meant itself.
 */
static int is_only_derived(
	struct store *s, const struct forget_plan *p, int64_t id, bool *ret, struct err *err)
{
	int64_t fact;

	*ret = false;
	if (db_one(s->db, "SELECT memory FROM fact WHERE memory = ?1", DB_ARGS(db_i(id)), 0, &fact,
		    err))
		return -1;
	if (fact)
		*ret = !p->nnamed ||
		       !bsearch(&id, p->named, p->nnamed, sizeof(*p->named), by_id);
	return 0;
}

static int bury_memories(struct store *s, const struct forget_plan *p, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };

	for (size_t i = 0; i < p->nmemories; i++) {
		struct memory m;
		bool is_spared;
		arena_reset(&a);
		if (is_only_derived(s, p, p->memories[i], &is_spared, err) ||
			store_memories(s, &a, &p->memories[i], 1, &m, err) ||
			(m.id && !is_spared && forget_bury_memory(s, &m, err)))
			return -1;
	}
	return 0;
}

static int forget_event(struct store *s, int64_t id, struct ids *ret_sessions, struct err *err)
{
	static const char *const tables[] = {
		"DELETE FROM hook_copy WHERE event = ?1",
		"DELETE FROM evidence WHERE event = ?1",
		"DELETE FROM mention WHERE turn = (SELECT turn FROM event WHERE id = ?1)",
		"DELETE FROM event WHERE id = ?1",
	};
	AUTO(arena_done) struct arena a = { 0 };
	struct event_row e;
	struct db_rows *r;
	int rc = store_row(s,
		"SELECT " EVENT_COLUMNS ", s.agent_session" EVENT_FROM "WHERE e.id = ?1",
		DB_ARGS(db_i(id)), &r, err);

	if (rc <= 0)
		return rc;
	enum agent_id agent = (enum agent_id)db_int(r, EVENT_COL_AGENT);
	const char *agent_session = row_str(&a, r, EVENT_COL_AGENT + 1);
	rc = event_row_read(s, &a, r, &e, err);
	db_end(r);
	if (rc || forget_bury_event(s, &e, agent, agent_session, err))
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(tables); i++)
		if (db_run(s->db, tables[i], DB_ARGS(db_i(id)), err))
			return -1;
	ids_add(ret_sessions, e.session);
	if (e.turn && candidates_drop(s, e.turn, err))
		return -1;
	if (store_note(s, CHANGE_EVENT, id, true, err) || turn_leave(s, &e, err))
		return -1;
	return 0;
}

static int drop_session_candidates(struct store *s, int64_t session, struct err *err)
{
	AUTO(ids_done) struct ids turns = { 0 };

	if (store_ids(s, "SELECT DISTINCT turn FROM candidate WHERE session = ?1",
		    DB_ARGS(db_i(session)), &turns, err))
		return -1;
	for (size_t i = 0; i < turns.n; i++)
		if (candidates_drop(s, turns.p[i], err))
			return -1;
	return 0;
}

static int forget_session(struct store *s, int64_t id, struct err *err)
{
	static const char *const tables[] = {
		("DELETE FROM injection_memory WHERE injection IN (SELECT id FROM injection WHERE "
		 "session = ?1)"),
		"DELETE FROM injection WHERE session = ?1",
		"DELETE FROM hook_copy WHERE session = ?1",
		"DELETE FROM token_use WHERE session = ?1",
		"DELETE FROM event WHERE session = ?1",
		"UPDATE memory SET session = NULL, turn = NULL WHERE session = ?1",
		"DELETE FROM mention WHERE turn IN (SELECT id FROM turn WHERE session = ?1)",
		"DELETE FROM job WHERE session = ?1",
		"DELETE FROM turn WHERE session = ?1",
		"UPDATE session SET parent = NULL WHERE parent = ?1",
		"DELETE FROM session WHERE id = ?1",
	};
	struct db_rows *r;

	session_told_forget(s);
	int rc = store_row(s, "SELECT agent, agent_session FROM session WHERE id = ?1",
		DB_ARGS(db_i(id)), &r, err);

	if (rc <= 0)
		return rc;
	rc = forget_bury_session(s, (enum agent_id)db_int(r, 0), db_text(r, 1), err);
	db_end(r);
	if (!rc)
		rc = drop_session_candidates(s, id, err);
	for (size_t i = 0; !rc && i < ARRAY_LEN(tables); i++)
		rc = db_run(s->db, tables[i], DB_ARGS(db_i(id)), err);
	return rc ? -1 : store_note(s, CHANGE_SESSION, id, true, err);
}

/* A title is made of the words of a session that something was forgotten of; it comes back
 * with the next transcript line. */
static int drop_titles(struct store *s, struct ids *sessions, struct err *err)
{
	sort_once(sessions);
	session_told_forget(s);
	for (size_t i = 0; i < sessions->n; i++) {
		if (db_run(s->db,
			    "UPDATE session SET title = NULL, made_title = NULL WHERE id = ?1 AND "
			    "(title IS NOT NULL OR made_title IS NOT NULL)",
			    DB_ARGS(db_i(sessions->p[i])), err))
			return -1;
		if (db_changes(s->db) && store_note(s, CHANGE_SESSION, sessions->p[i], false, err))
			return -1;
	}
	return 0;
}

/* Names, paths, logged queries and raw replies that nothing refers to any more. */
static int drop_rests(struct store *s, struct err *err)
{
	static const char *const rests[] = {
		"DELETE FROM file WHERE id NOT IN (SELECT file FROM memory_file)",
		"DELETE FROM file_state WHERE file NOT IN (SELECT id FROM file)",
		"DELETE FROM file_base",
		"DELETE FROM entity WHERE id NOT IN (SELECT entity FROM mention)",
		"UPDATE model_call SET reply = NULL, detail = NULL WHERE reply IS NOT NULL OR "
		"detail IS NOT NULL",
		"UPDATE search_log SET query = NULL WHERE query IS NOT NULL",
		"UPDATE source_file SET title = NULL, metadata = NULL WHERE metadata IS NOT NULL AND id NOT IN "
		"(SELECT source_file FROM chunk WHERE position = 0)",
		"UPDATE job SET last_error = NULL WHERE last_error IS NOT NULL",
	};

	for (size_t i = 0; i < ARRAY_LEN(rests); i++)
		if (db_run(s->db, rests[i], NULL, 0, err))
			return -1;
	return 0;
}

static int remove_rows(struct store *s, const struct forget_plan *p, struct err *err)
{
	AUTO(ids_done) struct ids touched = { 0 };
	const struct ids memories = { p->memories, p->nmemories, 0 };

	if (bury_memories(s, p, err) || memory_delete(s, &memories, err))
		return -1;
	for (size_t i = 0; i < p->nevents; i++)
		if (forget_event(s, p->events[i], &touched, err))
			return -1;
	for (size_t i = 0; i < p->nsessions; i++)
		if (forget_session(s, p->sessions[i], err))
			return -1;
	return drop_titles(s, &touched, err) || drop_rests(s, err) ? -1 : 0;
}

int store_forget(struct store *s, const struct forget_plan *p, struct err *err)
{
	AUTO(windows_done) struct windows w = { 0 };
	const struct ids memories = { p->memories, p->nmemories, 0 },
			 events = { p->events, p->nevents, 0 };

	if (windows_load(s, &w, err) ||
		windows_mark(s, &w, "SELECT pack FROM memory WHERE id = ?1", &memories, err) ||
		windows_mark(s, &w, "SELECT pack FROM event WHERE id = ?1", &events, err) ||
		remove_rows(s, p, err))
		return -1;
	return windows_settle(s, &w, err);
}

int store_scrub(struct store *s, struct err *err)
{
	return contract_scrub(s, err) || db_scrub(s->db, err) ? -1 : 0;
}
