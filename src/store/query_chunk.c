#include "store/query_chunk.h"

#include "base/mem.h"
#include "store/room.h"

int query_chunk(struct store *s, struct arena *a, int64_t memory, struct chunk_place *ret,
	bool *ret_found, struct err *err)
{
	static const char sql[] = "SELECT f.namespace, f.path, c.section, c.position FROM chunk c "
				  "JOIN source_file f ON f.id = c.source_file WHERE c.memory = ?1";
	AUTO(db_end_ptr) struct db_rows *r = NULL;

	if (db_query(store_db(s), sql, DB_ARGS(db_i(memory)), &r, err))
		return -1;
	int n = db_next(r, err);
	if (n < 0)
		return -1;
	*ret_found = n > 0;
	if (!n)
		return 0;
	*ret = (struct chunk_place){
		.memory = memory,
		.namespace = arena_str(a, db_text(r, 0)),
		.path = arena_str(a, db_text(r, 1)),
		.section = db_is_null(r, 2) ? NULL : arena_str(a, db_text(r, 2)),
		.position = db_int(r, 3),
	};
	return 0;
}

int query_namespaces(
	struct store *s, struct arena *a, const char ***ret, size_t *ret_n, struct err *err)
{
	static const char sql[] = "SELECT DISTINCT namespace FROM source_file ORDER BY namespace";
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
	static const char sql[] = "SELECT count(*), coalesce(sum(chunks), 0), "
				  "coalesce(max(synced_at), 0) FROM source_file";
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
