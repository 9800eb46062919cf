#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "store/query_ids.h"

/* Files by what people call them: whole, by an ending, or as a folder. The table of paths is
 * small beside that of memories. */

static void like_add(struct buf *b, const char *path)
{
	for (const char *p = path; *p; p++) {
		if (strchr("%_\\", *p))
			buf_char(b, '\\');
		buf_char(b, *p);
	}
}

char *query_like_ending(struct arena *a, const char *path)
{
	AUTO(buf_done) struct buf b = { 0 };
	buf_str(&b, "%/");
	like_add(&b, path);
	return arena_dup(a, buf_cstr(&b), b.len);
}

char *query_like_below(struct arena *a, const char *path)
{
	AUTO(buf_done) struct buf b = { 0 };
	like_add(&b, path);
	if (!b.len || b.data[b.len - 1] != '/')
		buf_char(&b, '/');
	buf_char(&b, '%');
	return arena_dup(a, buf_cstr(&b), b.len);
}

#define THESE_FILES "(f.path = ?1 OR f.path LIKE ?2 ESCAPE '\\' OR f.path LIKE ?3 ESCAPE '\\')"

int query_files(struct store *s, struct arena *a, int64_t project, const char *path, size_t max, struct file_count **ret, size_t *ret_n,
	struct err *err)
{
	static const char sql[] = "SELECT f.path, count(DISTINCT m.id), max(m.at) FROM file f"
				  " JOIN memory_file mf ON mf.file = f.id JOIN memory m ON m.id = mf.memory"
				  " WHERE " THESE_FILES " AND m.status = 0 AND (?4 = 0 OR m.project = ?4)"
				  " GROUP BY f.path ORDER BY 3 DESC, f.path LIMIT ?5";
	struct db_rows *r;
	struct file_count *list = NULL;
	size_t n = 0, cap = 0;
	int more;
	if (db_query(store_db(s), sql,
		    DB_ARGS(db_t(path), db_t(query_like_ending(a, path)), db_t(query_like_below(a, path)), db_i(project),
			    db_i((int64_t)max)),
		    &r, err))
		return -1;
	while ((more = db_next(r, err)) > 0) {
		struct file_count f = { arena_str(a, db_text(r, 0)), db_int(r, 1), db_int(r, 2) };
		ARENA_PUSH(a, list, n, cap, f);
	}
	db_end(r);
	*ret = list;
	*ret_n = n;
	return more < 0 ? -1 : 0;
}

int query_memories_below(struct store *s, struct arena *a, int64_t project, const char *path, size_t skip, size_t max, int64_t **ret,
	size_t *ret_n, struct err *err)
{
	static const char sql[] = "SELECT DISTINCT m.id, m.at FROM file f JOIN memory_file mf ON mf.file = f.id"
				  " JOIN memory m ON m.id = mf.memory WHERE " THESE_FILES
				  " AND m.status = 0 AND (?4 = 0 OR m.project = ?4) ORDER BY m.at DESC, m.id DESC LIMIT ?5 OFFSET ?6";
	return query_ids(s, a, sql,
		DB_ARGS(db_t(path), db_t(query_like_ending(a, path)), db_t(query_like_below(a, path)), db_i(project),
			db_i((int64_t)max), db_i((int64_t)skip)),
		ret, ret_n, err);
}
