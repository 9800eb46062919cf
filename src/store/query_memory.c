#include "store/query.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "store/memory_row.h"
#include "store/query_ids.h"
#include "store/stale.h"

/* Which memories an operation wants. The indexes memory_kind and memory_pinned keep these
 * short whatever is stored. */

#define PATH_MATCHES_MAX 64 /* stored paths that one wanted ending may mean */

bool query_begin(struct store *s)
{
	struct err ignored;
	struct db *db = store_db(s);
	return !db_is_in_transaction(db) && db_run(db, "BEGIN", NULL, 0, &ignored) == 0;
}

void query_end(struct store *s, bool has_begun)
{
	struct err ignored;
	if (has_begun && db_run(store_db(s), "COMMIT", NULL, 0, &ignored) != 0)
		db_rollback(store_db(s));
}

int query_ids(struct store *s, struct arena *a, const char *sql, const struct db_arg *args, size_t n, int64_t **ret, size_t *ret_n,
	struct err *err)
{
	struct db_rows *r;
	int64_t *list = NULL;
	size_t count = 0, cap = 0;
	int more;
	if (db_query(store_db(s), sql, args, n, &r, err))
		return -1;
	while ((more = db_next(r, err)) > 0)
		ARENA_PUSH(a, list, count, cap, db_int(r, 0));
	db_end(r);
	if (more < 0)
		return -1;
	*ret = list ? list : arena_alloc(a, sizeof(*list));
	*ret_n = count;
	return 0;
}

static int file_order(const void *x, const void *y)
{
	const struct memory_file *a = x, *b = y;
	if ((a->role == ROLE_MODIFIED) != (b->role == ROLE_MODIFIED))
		return a->role == ROLE_MODIFIED ? -1 : 1;
	return strcmp(a->path, b->path);
}

/* Written ones first; here, since the store sorts a few rows more slowly than it reads them. */
static size_t files_settle(struct memory_file *files, size_t n, size_t max)
{
	size_t kept = 0;
	if (n)
		qsort(files, n, sizeof(*files), file_order);
	n = MIN(n, max);
	for (size_t i = 0; i < n; i++)
		if (!kept || strcmp(files[kept - 1].path, files[i].path))
			files[kept++] = files[i];
	return kept;
}

static struct memory_file file_read_row(struct arena *a, struct db_rows *r)
{
	return (struct memory_file){ .path = arena_str(a, db_text(r, 0)), .role = (enum file_role)db_int(r, 1),
		.size = db_is_null(r, 2) ? -1 : db_int(r, 2), .hash = memory_hash_read(a, r, 3) };
}

int query_memory_files(struct store *s, struct arena *a, struct memory *m, size_t max, struct err *err)
{
	static const char sql[] = "SELECT f.path, mf.role, mf.size, mf.hash FROM memory_file mf JOIN file f ON f.id = mf.file"
				  " WHERE mf.memory = ?1";
	struct db_rows *r;
	struct memory_file *files = NULL;
	size_t n = 0, cap = 0;
	int more;
	if (db_query(store_db(s), sql, DB_ARGS(db_i(m->id)), &r, err))
		return -1;
	while ((more = db_next(r, err)) > 0)
		ARENA_PUSH(a, files, n, cap, file_read_row(a, r));
	db_end(r);
	m->files = files;
	m->nfiles = files_settle(files, n, max);
	return more < 0 ? -1 : 0;
}

static bool has_state(const struct file_state *states, size_t n, const char *path)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(states[i].path, path))
			return true;
	return false;
}

/* A file that was read and written has two rows, and one state. */
int query_memory_files_seen(struct store *s, struct arena *a, struct memory *m, size_t max, struct files_seen *ret, struct err *err)
{
	static const char sql[] = "SELECT f.path, mf.role, mf.size, mf.hash, fs.size, fs.mtime, fs.hash, fs.seen_at"
				  " FROM memory_file mf JOIN file f ON f.id = mf.file"
				  " LEFT JOIN file_state fs ON fs.project = ?2 AND fs.file = mf.file WHERE mf.memory = ?1";
	struct db_rows *r;
	struct memory_file *files = NULL;
	size_t n = 0, cap = 0, states_cap = 0;
	int more;
	*ret = (struct files_seen){ .memory = m->id };
	if (db_query(store_db(s), sql, DB_ARGS(db_i(m->id), db_i(m->project)), &r, err))
		return -1;
	while ((more = db_next(r, err)) > 0) {
		const struct memory_file f = file_read_row(a, r);
		ARENA_PUSH(a, files, n, cap, f);
		if (db_is_null(r, 7) || has_state(ret->states, ret->n, f.path))
			continue;
		const struct file_state state = { .project = m->project, .path = f.path, .size = db_int(r, 4),
			.mtime = db_int(r, 5), .hash = arena_str(a, db_text(r, 6)), .seen_at = db_int(r, 7) };
		ARENA_PUSH(a, ret->states, ret->n, states_cap, state);
	}
	db_end(r);
	m->files = files;
	m->nfiles = files_settle(files, n, max);
	return more < 0 ? -1 : 0;
}

static int id_order(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x < y) - (x > y);
}

/* Of several stored paths: newest first (ids grow with time), each once. */
static size_t ids_settle(int64_t *ids, size_t n, size_t max)
{
	size_t kept = 0;
	if (n)
		qsort(ids, n, sizeof(*ids), id_order);
	for (size_t i = 0; i < n && kept < max; i++)
		if (!kept || ids[kept - 1] != ids[i])
			ids[kept++] = ids[i];
	return kept;
}

int query_memories_of_file(struct store *s, struct arena *a, int64_t project, const char *path, size_t max, int64_t **ret, size_t *ret_n,
	struct err *err)
{
	static const char exact[] = "SELECT id FROM file WHERE path = ?1";
	static const char ending[] = "SELECT id FROM file WHERE path LIKE ?1 ESCAPE '\\' ORDER BY id LIMIT ?2";
	static const char sql[] = "SELECT m.id FROM memory_file mf JOIN memory m ON m.id = mf.memory WHERE mf.file = ?1"
				  " AND (?2 = 0 OR m.project = ?2) ORDER BY m.at DESC, m.id DESC LIMIT ?3";
	int64_t *files, *all = NULL;
	size_t nfiles, n = 0, cap = 0;
	if (query_ids(s, a, exact, DB_ARGS(db_t(path)), &files, &nfiles, err))
		return -1;
	if (!nfiles && path[0] != '/' &&
		query_ids(s, a, ending, DB_ARGS(db_t(query_like_ending(a, path)), db_i(PATH_MATCHES_MAX)), &files, &nfiles, err))
		return -1;
	for (size_t i = 0; i < nfiles; i++) {
		int64_t *ids;
		size_t count;
		if (query_ids(s, a, sql, DB_ARGS(db_i(files[i]), db_i(project), db_i((int64_t)max)), &ids, &count, err))
			return -1;
		for (size_t k = 0; k < count; k++)
			ARENA_PUSH(a, all, n, cap, ids[k]);
	}
	*ret_n = nfiles == 1 ? n : ids_settle(all, n, max);
	*ret = all ? all : arena_alloc(a, sizeof(*all));
	return 0;
}

/* Kinds and types by number: fact 3, note 4; preference 10, convention 12 (model/names.h). */
_Static_assert(KIND_FACT == 3 && KIND_NOTE == 4 && FACT_PREFERENCE == 10 && FACT_CONVENTION == 12, "numbers in query_kept");

#define KEPT_OF "(project <> 0 OR author = ?3)"

int query_kept(struct store *s, struct arena *a, int64_t project, size_t max, int64_t **ret, size_t *ret_n, struct err *err)
{
	static const char pinned[] = "SELECT id FROM memory WHERE is_pinned = 1 AND project = ?1 AND status = 0 AND " KEPT_OF
				     " ORDER BY at DESC LIMIT ?2";
	static const char notes[] = "SELECT id FROM memory WHERE project = ?1 AND kind = 4 AND status = 0 AND " KEPT_OF
				    " ORDER BY at DESC LIMIT ?2";
	static const char facts[] = "SELECT id FROM memory WHERE project = ?1 AND kind = 3 AND type IN (10, 12) AND status = 0 AND " KEPT_OF
				    " ORDER BY at DESC LIMIT ?2";
	static const char *const statements[] = { pinned, facts, notes };
	const int64_t projects[] = { project, 0 };
	int64_t *all = NULL;
	size_t n = 0, cap = 0;
	for (size_t i = 0; i < ARRAY_LEN(statements); i++) {
		for (size_t p = 0; p < (project ? 2u : 1u); p++) {
			int64_t *ids;
			size_t count;
			if (query_ids(s, a, statements[i], DB_ARGS(db_i(projects[p]), db_i((int64_t)max), db_i(s->me)), &ids, &count, err))
				return -1;
			for (size_t k = 0; k < count; k++) {
				bool is_there = false;
				for (size_t j = 0; j < n && !is_there; j++)
					is_there = all[j] == ids[k];
				if (!is_there && n < max)
					ARENA_PUSH(a, all, n, cap, ids[k]);
			}
		}
	}
	*ret = all ? all : arena_alloc(a, sizeof(*all));
	*ret_n = n;
	return 0;
}

int query_recent(struct store *s, struct arena *a, const struct recent_query *q, int64_t **ret, size_t *ret_n, struct err *err)
{
	static const char of_project[] = "SELECT id FROM memory WHERE project = ?1 AND kind = ?2 AND status = 0"
					 " AND (?3 = 0 OR session IS NULL OR session <> ?3) AND (?5 = 0 OR author = ?5) ORDER BY at DESC LIMIT ?4";
	static const char of_session[] = "SELECT id FROM memory WHERE session = ?1 AND kind = ?2 AND status = 0"
					 " ORDER BY at DESC, id DESC LIMIT ?3";
	if (q->session)
		return query_ids(s, a, of_session, DB_ARGS(db_i(q->session), db_i(q->kind), db_i((int64_t)q->max)), ret, ret_n, err);
	return query_ids(s, a, of_project, DB_ARGS(db_i(q->project), db_i(q->kind), db_i(q->not_session), db_i((int64_t)q->max),
		db_i(q->is_own ? s->me : 0)),
		ret, ret_n, err);
}

int query_page(struct store *s, struct arena *a, int64_t project, int64_t after, size_t max, int64_t **ret, size_t *ret_n, struct err *err)
{
	static const char sql[] = "SELECT id FROM memory WHERE id > ?1 AND (?2 = 0 OR project = ?2) ORDER BY id LIMIT ?3";
	return query_ids(s, a, sql, DB_ARGS(db_i(after), db_i(project), db_i((int64_t)max)), ret, ret_n, err);
}

int query_sample(struct store *s, struct arena *a, size_t max, int64_t **ret, size_t *ret_n, struct err *err)
{
	static const char count[] = "SELECT max(id) FROM memory";
	static const char sql[] = "SELECT id FROM memory WHERE id % ?1 = 0 AND session IS NOT NULL AND author = ?3 ORDER BY id LIMIT ?2";
	int64_t last;
	if (db_one(store_db(s), count, NULL, 0, 0, &last, err))
		return -1;
	int64_t step = MAX(last / (int64_t)MAX(max, (size_t)1), (int64_t)1);
	return query_ids(s, a, sql, DB_ARGS(db_i(step), db_i((int64_t)max), db_i(s->me)), ret, ret_n, err);
}
