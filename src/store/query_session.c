#include "base/mem.h"
#include "store/author.h"
#include "store/query_ids.h"

/* Sessions, transcripts and pauses as operations ask for them. */

int query_project_name(struct store *s, struct arena *a, int64_t id, const char **ret, struct err *err)
{
	struct db_rows *r;
	if (db_query(store_db(s), "SELECT name FROM project WHERE id = ?1", DB_ARGS(db_i(id)), &r, err))
		return -1;
	int more = db_next(r, err);
	*ret = more > 0 ? arena_str(a, db_text(r, 0)) : NULL;
	db_end(r);
	return more < 0 ? -1 : 0;
}

int query_session_head(struct store *s, struct arena *a, int64_t id, struct session *ret, struct err *err)
{
	static const char sql[] = "SELECT project, agent, agent_session, branch, coalesce(title, made_title), started_at, last_event_at, ended_at"
				  " FROM session WHERE id = ?1";
	struct db_rows *r;
	if (db_query(store_db(s), sql, DB_ARGS(db_i(id)), &r, err))
		return -1;
	int more = db_next(r, err);
	*ret = (struct session){ 0 };
	if (more > 0)
		*ret = (struct session){ .id = id, .project = db_int(r, 0), .agent = (enum agent_id)db_int(r, 1),
			.agent_session = arena_str(a, db_text(r, 2)), .branch = arena_str(a, db_text(r, 3)),
			.title = arena_str(a, db_text(r, 4)), .started_at = db_int(r, 5), .last_event_at = db_int(r, 6),
			.ended_at = db_int(r, 7) };
	db_end(r);
	return more < 0 ? -1 : 0;
}

int query_injected_session(struct store *s, int64_t project, int64_t *ret, struct err *err)
{
	static const char any[] = "SELECT session FROM injection ORDER BY id DESC LIMIT 1";
	static const char of_project[] = "SELECT i.session FROM session s JOIN injection i ON i.session = s.id"
					 " WHERE s.project = ?1 ORDER BY i.at DESC, i.id DESC LIMIT 1";
	if (project)
		return db_one(store_db(s), of_project, DB_ARGS(db_i(project)), 0, ret, err);
	return db_one(store_db(s), any, NULL, 0, 0, ret, err);
}

int query_transcripts(struct store *s, struct arena *a, size_t max, struct transcript **ret, size_t *ret_n, struct err *err)
{
	static const char sql[] = "SELECT id, path, agent, at_offset, lines, size, mtime, inode, bad_lines FROM transcript"
				  " ORDER BY mtime DESC, id DESC LIMIT ?1";
	struct db_rows *r;
	struct transcript *list = NULL;
	size_t n = 0, cap = 0;
	int more;
	if (db_query(store_db(s), sql, DB_ARGS(db_i((int64_t)max)), &r, err))
		return -1;
	while ((more = db_next(r, err)) > 0) {
		struct transcript t = { .id = db_int(r, 0), .path = arena_str(a, db_text(r, 1)), .agent = (enum agent_id)db_int(r, 2),
			.offset = (uint64_t)db_int(r, 3), .lines = (uint64_t)db_int(r, 4), .size = db_int(r, 5),
			.mtime = db_int(r, 6), .inode = db_int(r, 7), .bad_lines = db_int(r, 8) };
		ARENA_PUSH(a, list, n, cap, t);
	}
	db_end(r);
	*ret = list;
	*ret_n = n;
	return more < 0 ? -1 : 0;
}

int query_pauses(struct store *s, struct arena *a, int64_t at, size_t max, struct pause **ret, size_t *ret_n, struct err *err)
{
	static const char sql[] = "SELECT id, session, project, from_at, until_at FROM pause WHERE from_at <= ?1"
				  " AND (until_at = 0 OR until_at > ?1) ORDER BY id LIMIT ?2";
	struct db_rows *r;
	struct pause *list = NULL;
	size_t n = 0, cap = 0;
	int more;
	if (db_query(store_db(s), sql, DB_ARGS(db_i(at), db_i((int64_t)max)), &r, err))
		return -1;
	while ((more = db_next(r, err)) > 0) {
		struct pause p = { db_int(r, 0), db_int(r, 1), db_int(r, 2), db_int(r, 3), db_int(r, 4) };
		ARENA_PUSH(a, list, n, cap, p);
	}
	db_end(r);
	*ret = list;
	*ret_n = n;
	return more < 0 ? -1 : 0;
}

int query_injected_at(struct store *s, int64_t session, const char *place, const int64_t *memories, size_t n, int64_t since, bool *ret,
	struct err *err)
{
	static const char sql[] = "SELECT 1 FROM injection i JOIN injection_memory im ON im.injection = i.id"
				  " WHERE i.session = ?1 AND i.place = ?2 AND i.at >= ?3 AND im.memory = ?4 LIMIT 1";
	int64_t found = 0;
	for (size_t i = 0; i < n && !found; i++)
		if (db_one(store_db(s), sql, DB_ARGS(db_i(session), db_t(place), db_i(since), db_i(memories[i])), 0, &found, err))
			return -1;
	*ret = found != 0;
	return 0;
}

int query_documents(struct store *s, int64_t *ret, struct err *err)
{
	static const char sql[] = "SELECT count(*) FROM change WHERE is_gone = 0 AND (author = ?1 OR (is_team = 1 AND EXISTS"
				  " (SELECT 1 FROM memory m WHERE m.id = ref / 4)))";
	return db_one(store_db(s), sql, DB_ARGS(db_i(store_me(s))), 0, ret, err);
}
