/*
 * Rows of the keeper. A memory's row in memory_file carries what its file was; when the rules
 * write a memory anew with the same time, that is kept (memory_row.c), since nothing about the
 * file was learned.
 */
#include "store/stale.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "store/memory_row.h"
#include "store/room.h"

/* How a person wants things, how an error is solved and how a tool is used hold everywhere. */
bool memory_type_binds(enum memory_type type)
{
	return type != FACT_PREFERENCE && type != FACT_ERROR_FIX && type != FACT_TOOL_PATTERN;
}

bool memory_is_bound_to_branch(const struct memory *m)
{
	if (!m->branch || !*m->branch || m->is_pinned || m->kind == KIND_NOTE)
		return false;
	return memory_type_binds(m->type);
}

bool memory_rests_on_files(const struct memory *m)
{
	return memory_type_binds(m->type) && m->kind != KIND_CHUNK;
}

int store_stale_due(struct store *s, struct arena *a, size_t max, struct stale_due **ret,
	size_t *ret_n, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	size_t cap = 0;
	int rc;

	*ret = NULL;
	*ret_n = 0;
	if (db_query(s->db, "SELECT memory, stamp FROM stale_due ORDER BY memory DESC LIMIT ?1",
		    DB_ARGS(db_i((int64_t)max)), &r, err))
		return -1;
	while ((rc = db_next(r, err)) > 0) {
		struct stale_due d = { db_int(r, 0), db_int(r, 1) };
		ARENA_PUSH(a, *ret, *ret_n, cap, d);
	}
	return rc;
}

int store_stale_done(struct store *s, const struct stale_due *d, struct err *err)
{
	return db_run(s->db, "DELETE FROM stale_due WHERE memory = ?1 AND stamp = ?2",
		DB_ARGS(db_i(d->memory), db_i(d->stamp)), err);
}

/* --- Files. --- */

#define STATE_COLUMNS "fs.project, f.path, fs.size, fs.mtime, fs.hash, fs.seen_at"
#define STATE_FROM " FROM file_state fs JOIN file f ON f.id = fs.file "

static struct file_state state_read(struct arena *a, struct db_rows *r)
{
	return (struct file_state){ db_int(r, 0), row_str(a, r, 1), db_int(r, 2), db_int(r, 3),
		row_str(a, r, 4), db_int(r, 5) };
}

static int states_read(
	struct arena *a, struct db_rows *r, struct file_state **ret, size_t *ret_n, struct err *err)
{
	size_t cap = 0;
	int rc;

	*ret = NULL;
	*ret_n = 0;
	while ((rc = db_next(r, err)) > 0)
		ARENA_PUSH(a, *ret, *ret_n, cap, state_read(a, r));
	return rc;
}

int store_file_state_get(struct store *s, struct arena *a, int64_t project, const char *path,
	struct file_state *ret, struct err *err)
{
	struct db_rows *r;
	int rc = store_row(s,
		"SELECT " STATE_COLUMNS STATE_FROM "WHERE f.path = ?1 AND fs.project = ?2",
		DB_ARGS(db_t(path), db_i(project)), &r, err);

	*ret = (struct file_state){ .project = project, .path = path, .size = -1 };
	if (rc <= 0)
		return rc;
	*ret = state_read(a, r);
	db_end(r);
	return 0;
}

int store_file_state_due(struct store *s, int64_t project, const char *path, struct err *err)
{
	return db_run(s->db,
		"INSERT INTO file_state (project, file, size, mtime, hash, seen_at) SELECT ?1, id, "
		"-1, 0, NULL, 0 FROM file WHERE path = ?2 AND author = ?3"
		" ON CONFLICT (author, project, file) DO UPDATE SET seen_at = 0",
		DB_ARGS(db_i(project), db_t(path), db_i(s->me)), err);
}

static int text_get(struct store *s, struct arena *a, const char *sql, int64_t id, const char **ret,
	struct err *err)
{
	struct db_rows *r;
	int rc = store_row(s, sql, DB_ARGS(db_i(id)), &r, err);

	*ret = NULL;
	if (rc <= 0)
		return rc;
	*ret = row_str(a, r, 0);
	db_end(r);
	return 0;
}

int store_session_cwd(
	struct store *s, struct arena *a, int64_t session, const char **ret, struct err *err)
{
	return text_get(s, a, "SELECT cwd FROM session WHERE id = ?1", session, ret, err);
}

int store_project_root(
	struct store *s, struct arena *a, int64_t project, const char **ret, struct err *err)
{
	return text_get(s, a, "SELECT root FROM project WHERE id = ?1", project, ret, err);
}

int store_file_state_put(struct store *s, const struct file_state *f, struct err *err)
{
	return db_run(s->db,
		"INSERT INTO file_state (project, file, size, mtime, hash, seen_at)"
		" SELECT ?1, id, ?3, ?4, ?5, ?6 FROM file WHERE path = ?2 AND author = ?7"
		" ON CONFLICT (author, project, file) DO UPDATE SET size = ?3, mtime = ?4, hash = ?5, "
		"seen_at = ?6",
		DB_ARGS(db_i(f->project), db_t(f->path), db_i(f->size), db_i(f->mtime),
			db_t(f->hash), db_i(f->seen_at), db_i(s->me)),
		err);
}

int store_file_states_old(struct store *s, struct arena *a, int64_t before, size_t max,
	struct file_state **ret, size_t *ret_n, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;

	if (db_query(s->db,
		    "SELECT " STATE_COLUMNS STATE_FROM
		    "WHERE fs.seen_at < ?1 ORDER BY fs.seen_at LIMIT ?2",
		    DB_ARGS(db_i(before), db_i((int64_t)max)), &r, err))
		return -1;
	return states_read(a, r, ret, ret_n, err);
}

static bool has_path(const struct file_state *states, size_t n, const char *path)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(states[i].path, path))
			return true;
	return false;
}

int store_memory_states(struct store *s, struct arena *a, int64_t memory, size_t max,
	struct file_state **ret, size_t *ret_n, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	size_t cap = 0;
	int rc = 0;

	*ret = NULL;
	*ret_n = 0;
	if (db_query(s->db,
		    /*
		     * CROSS: from the memory's few files, not through all states of the project.
		     * Nothing is sorted or made distinct: that costs more than all the rest.
		     */
		    "SELECT " STATE_COLUMNS
		    " FROM memory m CROSS JOIN memory_file mf CROSS JOIN file_state fs"
		    " CROSS JOIN file f WHERE m.id = ?1 AND mf.memory = m.id"
		    " AND fs.project = m.project AND fs.file = mf.file AND f.id = fs.file",
		    DB_ARGS(db_i(memory)), &r, err))
		return -1;
	while (*ret_n < max && (rc = db_next(r, err)) > 0)
		if (!has_path(*ret, *ret_n, db_text(r, 1))) /* read and written */
			ARENA_PUSH(a, *ret, *ret_n, cap, state_read(a, r));
	return MIN(rc, 0);
}

int store_file_bases(struct store *s, struct arena *a, int64_t project, const char *path,
	size_t max, struct file_base **ret, size_t *ret_n, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	size_t cap = 0;
	int rc;

	*ret = NULL;
	*ret_n = 0;
	if (db_query(s->db,
		    "SELECT m.id, m.at, m.kind, m.type, mf.role, mf.hash, mf.size, bm.branch, "
		    "su.reason, t.started_at FROM file f"
		    " JOIN memory_file mf ON mf.file = f.id JOIN memory m ON m.id = mf.memory"
		    " LEFT JOIN branch_memory bm ON bm.memory = m.id"
		    " LEFT JOIN suspect su ON su.memory = m.id AND su.file = f.id LEFT JOIN turn t "
		    "ON t.id = m.turn"
		    " WHERE f.path = ?1 AND m.project = ?2 AND m.author = ?4 AND m.status < 2"
		    " ORDER BY m.at DESC, m.id DESC, mf.role DESC LIMIT ?3",
		    DB_ARGS(db_t(path), db_i(project), db_i((int64_t)max), db_i(s->me)), &r, err))
		return -1;
	while ((rc = db_next(r, err)) > 0) {
		struct file_base b = { .memory = db_int(r, 0),
			.at = db_int(r, 1),
			.from = db_is_null(r, 9) ? db_int(r, 1) : MIN(db_int(r, 9), db_int(r, 1)),
			.kind = (enum memory_kind)db_int(r, 2),
			.type = (enum memory_type)db_int(r, 3),
			.role = (enum file_role)db_int(r, 4),
			.hash = memory_hash_read(a, r, 5),
			.size = db_is_null(r, 6) ? -1 : db_int(r, 6),
			.branch = row_str(a, r, 7),
			.reason = row_str(a, r, 8) };
		/*
		 * A memory that reads and changes the file is asked once, as one that changes it.
		 */
		if (!*ret_n || (*ret)[*ret_n - 1].memory != b.memory)
			ARENA_PUSH(a, *ret, *ret_n, cap, b);
	}
	return rc;
}

int store_file_base_set(struct store *s, int64_t memory, const char *path, const char *hash,
	int64_t size, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };

	return db_run(s->db,
		"UPDATE memory_file SET hash = ?3, size = ?4 WHERE memory = ?1 AND file = (SELECT "
		"id FROM file WHERE path = ?2 AND author = ?5)",
		DB_ARGS(db_i(memory), db_t(path), memory_hash_arg(&a, hash),
			size < 0 ? db_id(0) : db_i(size), db_i(s->me)),
		err);
}

static const char *renamed_like(struct arena *a, const char *path)
{
	AUTO(buf_done) struct buf b = { 0 };

	buf_str(&b, "%" STALE_RENAMED);
	for (const char *p = path; *p; p++) {
		if (strchr("%_\\", *p))
			buf_char(&b, '\\');
		buf_char(&b, *p);
	}
	return arena_dup(a, buf_cstr(&b), b.len);
}

int store_older_names(struct store *s, struct arena *a, int64_t project, const char **names,
	size_t max, size_t *io_n, struct err *err)
{
	/* The reason is what the keeper said of the old name (keep_files.c). */
	static const char sql[] =
		"SELECT DISTINCT f.path FROM suspect su JOIN file f ON f.id = su.file JOIN memory "
		"m ON m.id = su.memory"
		" WHERE su.reason LIKE ?1 ESCAPE '\\' AND (?2 = 0 OR m.project = ?2)";

	for (size_t i = 0; i < *io_n && *io_n < max; i++) {
		AUTO(db_end_ptr) struct db_rows *r = NULL;
		int rc;
		if (db_query(s->db, sql, DB_ARGS(db_t(renamed_like(a, names[i])), db_i(project)),
			    &r, err))
			return -1;
		while ((rc = db_next(r, err)) > 0) {
			const char *name = row_str(a, r, 0);
			bool is_there = *io_n == max;
			for (size_t k = 0; k < *io_n && !is_there; k++)
				is_there = !strcmp(names[k], name);
			if (!is_there)
				names[(*io_n)++] = name;
		}
		if (rc < 0)
			return -1;
	}
	return 0;
}

/* --- Suspects. --- */

int store_suspect_set(struct store *s, int64_t memory, const char *path, const char *reason,
	int64_t at, struct err *err)
{
	int rc;

	if (reason)
		rc = db_run(s->db,
			"INSERT INTO suspect (memory, file, reason, since) SELECT m.id, f.id, ?3, "
			"?4 FROM memory m, file f"
			" WHERE m.id = ?1 AND m.author = ?5 AND f.author = ?5 AND f.path = ?2"
			" ON CONFLICT (memory, file) DO UPDATE SET reason = ?3",
			DB_ARGS(db_i(memory), db_t(path),
				db_tn(reason, utf8_cut(reason, strlen(reason), STALE_REASON_MAX)),
				db_i(at), db_i(s->me)),
			err);
	else
		rc = db_run(s->db,
			"DELETE FROM suspect WHERE memory = ?1 AND file = (SELECT id FROM file "
			"WHERE path = ?2 AND author = ?3)",
			DB_ARGS(db_i(memory), db_t(path), db_i(s->me)), err);
	if (rc || !db_changes(s->db))
		return rc;
	return store_note(s, CHANGE_MEMORY, memory, false, err);
}

/* What is gone tells more than what has changed, and the oldest comes first. */
struct reason {
	bool is_change;
	int64_t since, file;
};

static bool reason_is_before(const struct reason *a, const struct reason *b)
{
	if (a->is_change != b->is_change)
		return b->is_change;
	return a->since != b->since ? a->since < b->since : a->file < b->file;
}

int store_suspect(
	struct store *s, struct arena *a, int64_t memory, const char **ret_reason, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	struct reason best = { 0 };
	int rc;

	*ret_reason = NULL;
	/* Most have none and the rest few: sorting them here costs less than there. */
	if (db_query(s->db, "SELECT reason, since, file FROM suspect WHERE memory = ?1",
		    DB_ARGS(db_i(memory)), &r, err))
		return -1;
	while ((rc = db_next(r, err)) > 0) {
		const char *text = db_text(r, 0);
		struct reason one = { strstr(text, " changed ") != NULL, db_int(r, 1),
			db_int(r, 2) };
		if (*ret_reason && !reason_is_before(&one, &best))
			continue;
		best = one;
		*ret_reason = arena_str(a, text);
	}
	return rc;
}
