/*
 * Sessions. Every capture tells what it knows of its session; a later one fills what was unknown,
 * the newest title and end win, and nothing becomes unknown again. The row is written only when
 * something is new.
 */
#include "store/room.h"

#include <stddef.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"

#define COLUMNS_WITH(title)                                                                     \
	"s.id, s.project, s.parent, s.agent, s.agent_session, s.branch, s.cwd, s.model, " title \
	", "                                                                                    \
	"s.end_reason,"                                                                         \
	" s.transcript_path, s.started_at, s.last_event_at, s.ended_at, s.is_headless, "        \
	"s.tokens_in, s.tokens_out, p.name,"                                                    \
	" s.parent_ref"
/* The agent's own title comes before the one that was made of what happened. */
#define SESSION_COLUMNS COLUMNS_WITH("coalesce(s.title, s.made_title)")
#define OWN_COLUMNS COLUMNS_WITH("s.title")

static void read_session(struct arena *a, struct db_rows *r, struct session *ret)
{
	*ret = (struct session){ .id = db_int(r, 0),
		.project = db_int(r, 1),
		.parent = db_int(r, 2),
		.agent = (enum agent_id)db_int(r, 3),
		.agent_session = row_str(a, r, 4),
		.branch = row_str(a, r, 5),
		.cwd = row_str(a, r, 6),
		.model = row_str(a, r, 7),
		.title = row_str(a, r, 8),
		.end_reason = row_str(a, r, 9),
		.transcript_path = row_str(a, r, 10),
		.started_at = db_int(r, 11),
		.last_event_at = db_int(r, 12),
		.ended_at = db_int(r, 13),
		.is_headless = db_int(r, 14),
		.tokens_in = db_int(r, 15),
		.tokens_out = db_int(r, 16),
		.project_name = row_str(a, r, 17) };
}

int session_flush(struct store *s, struct err *err)
{
	int64_t session = s->touched.session;

	s->touched.session = 0;
	if (!session)
		return 0;
	return db_run(s->db,
		"UPDATE session SET started_at = CASE WHEN started_at = 0 OR started_at > ?2 THEN "
		"?2 ELSE started_at END,"
		" last_event_at = CASE WHEN last_event_at < ?3 THEN ?3 ELSE last_event_at END"
		" WHERE id = ?1 AND (started_at = 0 OR started_at > ?2 OR last_event_at < ?3)",
		DB_ARGS(db_i(session), db_i(s->touched.first), db_i(s->touched.last)), err);
}

int session_touch(struct store *s, int64_t session, int64_t at, struct err *err)
{
	if (s->touched.session != session) {
		if (session_flush(s, err))
			return -1;
		s->touched.session = session;
		s->touched.first = s->touched.last = at;
	}
	s->touched.first = MIN(s->touched.first, at);
	s->touched.last = MAX(s->touched.last, at);
	return 0;
}

/* Takes a text that is new; `is_newest` also replaces one that is known. */
static bool take(const char **to, const char *from, bool is_newest)
{
	if (!from || !*from || (*to && (!is_newest || strcmp(*to, from) == 0)))
		return false;
	*to = from;
	return true;
}

/* A session's own transcript is named after it; those of its sub-agents are not. */
static bool take_path(struct session *to, const struct captured_session *c)
{
	if (!c->transcript_path)
		return false;
	bool was_own =
		to->transcript_path && strstr(path_base(to->transcript_path), c->agent_session);
	bool is_own = strstr(path_base(c->transcript_path), c->agent_session);
	return take(&to->transcript_path, c->transcript_path, is_own || !was_own);
}

static bool fill(struct session *to, const struct captured_session *c, int64_t project)
{
	bool is_changed = false;

	is_changed |= take(&to->branch, c->branch, false);
	is_changed |= take(&to->cwd, c->cwd, false);
	is_changed |= take(&to->model, c->model, false);
	is_changed |= take(&to->title, c->title, true);
	is_changed |= take_path(to, c);
	if (c->started_at && (!to->started_at || c->started_at < to->started_at)) {
		to->started_at = c->started_at;
		is_changed = true;
	}
	if (c->ended_at > to->ended_at) {
		to->ended_at = c->ended_at;
		take(&to->end_reason, c->end_reason, true);
		is_changed = true;
	}
	if (c->is_headless && !to->is_headless)
		to->is_headless = is_changed = true;
	if (!to->project && project) {
		to->project = project;
		is_changed = true;
	}
	return is_changed;
}

static int find_parent(
	struct store *s, const struct captured_session *c, int64_t *ret, struct err *err)
{
	*ret = 0;
	if (!c->parent || strcmp(c->parent, c->agent_session) == 0)
		return 0;
	return store_session_find(s, c->agent, c->parent, ret, err);
}

static int insert(struct store *s, const struct captured_session *c, int64_t project, int64_t *ret,
	struct err *err)
{
	struct session n = { .agent_session = c->agent_session };
	int64_t parent;

	fill(&n, c, project);
	if (find_parent(s, c, &parent, err) ||
		db_run(s->db,
			"INSERT INTO session (agent, agent_session, project, parent, parent_ref, "
			"branch, cwd, model, title,"
			" end_reason, transcript_path, started_at, last_event_at, ended_at, "
			"is_headless, tokens_in, tokens_out,"
			" cache_read, cache_write)"
			" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?12, ?13, "
			"?14, 0, 0, 0, 0)",
			DB_ARGS(db_i(c->agent), db_t(c->agent_session), db_i(project),
				db_id(parent), db_t(c->parent), db_t(n.branch), db_t(n.cwd),
				db_t(n.model), db_t(n.title), db_t(n.end_reason),
				db_t(n.transcript_path), db_i(n.started_at), db_i(n.ended_at),
				db_i(n.is_headless)),
			err))
		return -1;
	*ret = db_last_id(s->db);
	/* Those that were forked from this one and came earlier. */
	if (db_run(s->db,
		    "UPDATE session SET parent = ?1 WHERE parent_ref = ?2 AND agent = ?3 AND "
		    "parent IS NULL AND id <> ?1",
		    DB_ARGS(db_i(*ret), db_t(c->agent_session), db_i(c->agent)), err))
		return -1;
	return store_note(s, CHANGE_SESSION, *ret, false, err);
}

static int update(struct store *s, struct session *n, const struct captured_session *c,
	bool has_parent, int64_t project, struct err *err)
{
	const struct session before = *n;
	int64_t parent = 0;

	if (s->touched.session == n->id && n->started_at > s->touched.first)
		n->started_at = s->touched.first;
	bool is_changed = fill(n, c, project);

	if (c->parent && !has_parent && find_parent(s, c, &parent, err))
		return -1;
	if (!is_changed && !(c->parent && !has_parent))
		return 0;
	if (db_run(s->db,
		    "UPDATE session SET project = ?2, parent = coalesce(parent, ?3), parent_ref = "
		    "coalesce(parent_ref, ?4),"
		    " branch = ?5, cwd = ?6, model = ?7, title = ?8, end_reason = ?9, "
		    "transcript_path = ?10, started_at = ?11,"
		    " ended_at = ?12, is_headless = ?13 WHERE id = ?1",
		    DB_ARGS(db_i(n->id), db_i(n->project), db_id(parent), db_t(c->parent),
			    db_t(n->branch), db_t(n->cwd), db_t(n->model), db_t(n->title),
			    db_t(n->end_reason), db_t(n->transcript_path), db_i(n->started_at),
			    db_i(n->ended_at), db_i(n->is_headless)),
		    err))
		return -1;
	/* What the index does not hold it need not be told. */
	if (before.title == n->title && before.branch == n->branch && before.project == n->project)
		return 0;
	return store_note(s, CHANGE_SESSION, n->id, false, err);
}

int store_session_made_title(struct store *s, int64_t session, const char *title, struct err *err)
{
	if (db_run(s->db,
		    "UPDATE session SET made_title = ?2 WHERE id = ?1 AND coalesce(made_title, '') "
		    "<> ?2",
		    DB_ARGS(db_i(session), db_t(title)), err))
		return -1;
	return db_changes(s->db) ? store_note(s, CHANGE_SESSION, session, false, err) : 0;
}

/*
 * Every line of a transcript tells of its session, and mostly the same. What was said last need not
 * be said again within a transaction.
 */
struct session_told {
	struct arena arena;
	struct captured_session c;
	int64_t project, id;
	uint64_t rollbacks; /* as the database counts them */
};

void session_told_forget(struct store *s)
{
	if (!s->told)
		return;
	arena_done(&s->told->arena);
	free(s->told);
	s->told = NULL;
}

/* Texts of a captured session. */
static const size_t told_texts[] = { offsetof(struct captured_session, agent_session),
	offsetof(struct captured_session, parent), offsetof(struct captured_session, cwd),
	offsetof(struct captured_session, branch), offsetof(struct captured_session, model),
	offsetof(struct captured_session, title),
	offsetof(struct captured_session, transcript_path),
	offsetof(struct captured_session, end_reason) };

static const char **told_text(struct captured_session *c, size_t i)
{
	return (const char **)((char *)c + told_texts[i]);
}

static bool was_told(struct store *s, const struct captured_session *c, int64_t project)
{
	struct session_told *t = s->told;
	struct captured_session now = *c;

	if (!t || !db_is_in_transaction(s->db) || t->rollbacks != db_rollbacks(s->db) ||
		t->project != project || t->c.agent != c->agent ||
		t->c.started_at != c->started_at || t->c.ended_at != c->ended_at ||
		t->c.is_headless != c->is_headless)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(told_texts); i++) {
		const char *before = *told_text(&t->c, i), *text = *told_text(&now, i);

		if (before != text && (!before || !text || strcmp(before, text) != 0))
			return false;
	}
	return true;
}

static void note_told(
	struct store *s, const struct captured_session *c, int64_t project, int64_t id)
{
	session_told_forget(s);
	if (!db_is_in_transaction(s->db))
		return;
	struct session_told *t = s->told = mem_alloc(sizeof(*t));
	*t = (struct session_told){
		.c = *c, .project = project, .id = id, .rollbacks = db_rollbacks(s->db)
	};
	for (size_t i = 0; i < ARRAY_LEN(told_texts); i++)
		*told_text(&t->c, i) = arena_str(&t->arena, *told_text(&t->c, i));
}

static int put_session(struct store *s, const struct captured_session *c, int64_t project,
	int64_t *ret, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct session known;
	struct db_rows *r;

	if (!c->agent_session || !*c->agent_session)
		return err_set(err, ERR_USAGE, "a capture names no session");
	int rc = store_row(s,
		"SELECT " OWN_COLUMNS " FROM session s LEFT JOIN project p ON p.id = s.project"
		" WHERE s.agent_session = ?1 AND s.agent = ?2 AND s.author = ?3",
		DB_ARGS(db_t(c->agent_session), db_i(c->agent), db_i(s->me)), &r, err);
	if (rc < 0)
		return -1;
	if (rc == 0)
		return insert(s, c, project, ret, err);
	read_session(&a, r, &known);
	bool has_parent = !db_is_null(r, 18);
	db_end(r);
	*ret = known.id;
	return update(s, &known, c, has_parent, project, err);
}

int store_session_put(struct store *s, const struct captured_session *c, int64_t project,
	int64_t *ret, struct err *err)
{
	if (was_told(s, c, project)) {
		*ret = s->told->id;
		return 0;
	}
	if (put_session(s, c, project, ret, err))
		return -1;
	note_told(s, c, project, *ret);
	return 0;
}

int store_session_of(
	struct store *s, struct arena *a, int64_t id, struct session *ret, struct err *err)
{
	struct db_rows *r;

	if (session_flush(s, err))
		return -1;
	int rc = store_row(s,
		"SELECT " SESSION_COLUMNS
		" FROM session s LEFT JOIN project p ON p.id = s.project WHERE s.id = ?1",
		DB_ARGS(db_i(id)), &r, err);

	if (rc < 0)
		return -1;
	if (rc == 0)
		return err_set(err, ERR_NOT_FOUND, "there is no session s%lld", (long long)id);
	read_session(a, r, ret);
	db_end(r);
	return 0;
}

int store_session_get(
	struct store *s, struct arena *a, int64_t id, struct session *ret, struct err *err)
{
	if (store_session_of(s, a, id, ret, err))
		return -1;
	if (db_one(s->db, "SELECT count(*) FROM event WHERE session = ?1", DB_ARGS(db_i(id)), 0,
		    &ret->events, err))
		return -1;
	return db_one(s->db, "SELECT count(*) FROM memory WHERE session = ?1", DB_ARGS(db_i(id)), 0,
		&ret->memories, err);
}

int store_session_find(struct store *s, enum agent_id agent, const char *agent_session,
	int64_t *ret, struct err *err)
{
	*ret = 0;
	if (!agent_session)
		return 0;
	return db_one(s->db,
		"SELECT id FROM session WHERE agent_session = ?1 AND (agent = ?2 OR ?2 = 0) AND author = ?3 ORDER "
		"BY last_event_at DESC LIMIT 1",
		DB_ARGS(db_t(agent_session), db_i(agent), db_i(s->me)), 0, ret, err);
}

int store_session_list(struct store *s, struct arena *a, const struct session_query *q,
	struct session **ret, size_t *ret_n, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	struct session *list = NULL;
	size_t n = 0, cap = 0;
	int rc;

	if (session_flush(s, err) ||
		db_query(s->db,
			"SELECT " SESSION_COLUMNS
			", (SELECT count(*) FROM event WHERE session = s.id),"
			" (SELECT count(*) FROM memory WHERE session = s.id) FROM session s LEFT "
			"JOIN project p ON p.id = s.project"
			" WHERE (?1 = 0 OR s.project = ?1) AND (?2 = 0 OR s.agent = ?2) AND (?3 = "
			"0 OR s.last_event_at >= ?3)"
			" AND (?4 = 0 OR s.started_at < ?4) AND (?8 = 0 OR s.last_event_at < ?7 OR "
			"(s.last_event_at = ?7 AND s.id < ?8)) AND (s.branch = ?9 OR ?9 IS NULL)"
			" ORDER BY s.last_event_at DESC, s.id DESC LIMIT ?5 OFFSET ?6",
			DB_ARGS(db_i(q->project), db_i(q->agent), db_i(q->after), db_i(q->before),
				db_i((int64_t)q->max), db_i((int64_t)q->skip), db_i(q->behind_at),
				db_i(q->behind_id), db_t(q->branch)),
			&r, err))
		return -1;
	while ((rc = db_next(r, err)) > 0) {
		struct session one;
		read_session(a, r, &one);
		one.events = db_int(r, 19);
		one.memories = db_int(r, 20);
		ARENA_PUSH(a, list, n, cap, one);
	}
	if (rc < 0)
		return -1;
	*ret = list;
	*ret_n = n;
	return 0;
}
