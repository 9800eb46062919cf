#include "store/query_chunk.h"

#include "base/mem.h"
#include "store/query_ids.h"
#include "store/room.h"

static struct chunk_place place_read(struct arena *a, struct db_rows *r)
{
	return (struct chunk_place){
		.memory = db_int(r, 0),
		.namespace = arena_str(a, db_text(r, 1)),
		.root = arena_str(a, db_text(r, 2)),
		.path = arena_str(a, db_text(r, 3)),
		.section = row_str(a, r, 4),
		.title = row_str(a, r, 5),
		.metadata = row_str(a, r, 6),
		.checksum = row_str(a, r, 7),
		.index = db_int(r, 8),
		.position = db_int(r, 9),
		.first_line = db_int(r, 10),
		.last_line = db_int(r, 11),
	};
}

int query_chunks(struct store *s, struct arena *a, const int64_t *memories, size_t n,
	struct chunk_place *ret, struct err *err)
{
	static const char sql[] = "SELECT c.memory, f.namespace, d.root, f.path, c.section, f.title, f.metadata, f.checksum, "
				  "c.chunk_index, c.position, c.first_line, c.last_line FROM chunk c JOIN source_file f ON "
				  "f.id = c.source_file JOIN folder d ON d.id = f.folder WHERE c.memory = ?1";
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	int rc;

	if (db_query_each(store_db(s), sql, memories, n, &r, err) || (rc = db_next(r, err)) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		ret[i] = (struct chunk_place){ 0 };
		if (!rc || db_int(r, 0) != memories[i])
			continue;
		ret[i] = place_read(a, r);
		if ((rc = db_next(r, err)) < 0)
			return -1;
	}
	return 0;
}

int query_chunk(struct store *s, struct arena *a, int64_t memory, struct chunk_place *ret,
	bool *ret_found, struct err *err)
{
	if (query_chunks(s, a, &memory, 1, ret, err))
		return -1;
	*ret_found = ret->memory != 0;
	return 0;
}

int query_namespaces(
	struct store *s, struct arena *a, const char ***ret, size_t *ret_n, struct err *err)
{
	static const char sql[] = "SELECT namespace FROM folder ORDER BY namespace";
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	const char **list = NULL;
	size_t n = 0, cap = 0;
	int more;

	if (db_query(store_db(s), sql, NULL, 0, &r, err))
		return -1;
	while ((more = db_next(r, err)) > 0)
		ARENA_PUSH(a, list, n, cap, (const char *)arena_str(a, db_text(r, 0)));
	if (more < 0)
		return -1;
	*ret = list;
	*ret_n = n;
	return 0;
}

int query_source_totals(struct store *s, struct source_totals *ret, struct err *err)
{
	static const char sql[] =
		"SELECT (SELECT count(*) FROM source_file WHERE checksum IS NOT NULL), (SELECT count(*) FROM chunk), "
		"(SELECT coalesce(max(synced_at), 0) FROM folder)";
	AUTO(db_end_ptr) struct db_rows *r = NULL;

	if (db_query(store_db(s), sql, NULL, 0, &r, err) || db_next(r, err) < 0)
		return -1;
	*ret = (struct source_totals){
		.files = db_int(r, 0),
		.chunks = db_int(r, 1),
		.synced_at = db_int(r, 2),
	};
	return 0;
}

int query_chunks_of_file(struct store *s, struct arena *a, const char *file, size_t max, int64_t **ret, size_t *ret_n, struct err *err)
{
	/* Suffixes are compared by length, so that no sign of a path means anything. */
	static const char sql[] =
		"SELECT c.memory FROM chunk c JOIN source_file f ON f.id = c.source_file JOIN folder d ON d.id = f.folder"
		" WHERE f.path = ?1 OR d.root || '/' || f.path = ?1"
		" OR substr(f.path, length(f.path) - length(?2) + 1) = ?2 LIMIT ?3";
	const char *name = *file == '/' ? file : arena_printf(a, "/%s", file);

	return query_ids(s, a, sql, DB_ARGS(db_t(file), db_t(name), db_i((int64_t)max)), ret, ret_n, err);
}
