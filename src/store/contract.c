/*
 * Nothing here is seen by SQLite. The tables have two columns more than the contract: the number of the row that a row is a
 * copy of, by which it goes when that goes, and of a chunk the hash of its text.
 *
 * Operators of pgvector are found by the search path of this connection, which contract_ready sets; after a lost connection
 * the index is not made until it has done so again.
 */
#include "store/contract.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "store/query_ids.h"
#include "store/room.h"

#define VECTOR_NUMBER_BYTES 16 /* of a number of a vector as text */

/* clang-format off */
static const char tables[] =
	"CREATE SCHEMA " CONTRACT_SCHEMA ";"
	"CREATE TABLE " CONTRACT_SCHEMA ".chunks ("
	" id uuid PRIMARY KEY DEFAULT gen_random_uuid(),"
	" content text NOT NULL,"
	" namespace varchar(100) DEFAULT 'default',"
	" file_source varchar(4096) NOT NULL,"
	" section varchar,"
	" chunk_index int DEFAULT 0,"
	" checksum varchar(64),"
	" metadata jsonb DEFAULT '{}',"
	" created_at timestamptz DEFAULT now(),"
	" updated_at timestamptz DEFAULT now(),"
	" memory bigint NOT NULL UNIQUE REFERENCES memory ON DELETE CASCADE,"
	" hash bigint NOT NULL);"
	"CREATE INDEX chunks_namespace ON " CONTRACT_SCHEMA ".chunks (namespace);"
	"CREATE INDEX chunks_file_source ON " CONTRACT_SCHEMA ".chunks (file_source);"
	"CREATE INDEX chunks_place ON " CONTRACT_SCHEMA ".chunks (namespace, file_source);"
	"CREATE TABLE " CONTRACT_SCHEMA ".files ("
	" id uuid PRIMARY KEY DEFAULT gen_random_uuid(),"
	" namespace varchar(100) DEFAULT 'default',"
	" file_name varchar(4096) NOT NULL,"
	" checksum varchar(64) NOT NULL,"
	" chunks_count int DEFAULT 0,"
	" last_sync timestamptz DEFAULT now(),"
	" source_file bigint NOT NULL UNIQUE REFERENCES source_file ON DELETE CASCADE,"
	" UNIQUE (namespace, file_name) DEFERRABLE INITIALLY DEFERRED);"
	"CREATE TABLE " CONTRACT_SCHEMA ".search_logs ("
	" id uuid PRIMARY KEY DEFAULT gen_random_uuid(),"
	" query text NOT NULL,"
	" namespace varchar(100),"
	" results_count int,"
	" top_similarity float,"
	" created_at timestamptz DEFAULT now(),"
	" search_log bigint NOT NULL UNIQUE REFERENCES search_log ON DELETE CASCADE);"
	"CREATE TABLE " CONTRACT_SCHEMA ".keeper ("
	" one bool PRIMARY KEY DEFAULT true CHECK (one),"
	" keeper text NOT NULL,"
	" embedder text NOT NULL,"
	" dims int NOT NULL,"
	" seen_at bigint NOT NULL);"
	"CREATE FUNCTION " CONTRACT_SCHEMA ".stats()"
	" RETURNS TABLE (total_chunks bigint, total_files bigint, last_sync timestamptz) LANGUAGE sql STABLE AS $$"
	" SELECT (SELECT count(*) FROM " CONTRACT_SCHEMA ".chunks), (SELECT count(*) FROM " CONTRACT_SCHEMA ".files),"
	" (SELECT max(f.last_sync) FROM " CONTRACT_SCHEMA ".files f) $$;";

/*
 * The number of results and the filter are known when it is planned, so that the index serves where it is the faster way. What
 * reading a vector from beside its row costs is not known to the planner: reading all rows looks cheap to it and is not.
 */
static const char column[] =
	"ALTER TABLE " CONTRACT_SCHEMA ".chunks DROP COLUMN IF EXISTS embedding, ADD COLUMN embedding \"%s\".vector(%u);"
	"CREATE INDEX chunks_bare ON " CONTRACT_SCHEMA ".chunks (memory) WHERE embedding IS NULL;"
	"CREATE OR REPLACE FUNCTION " CONTRACT_SCHEMA ".search(query_embedding \"%s\".vector(%u), match_threshold float DEFAULT 0.7,"
	" match_count int DEFAULT 5, filter_namespace varchar DEFAULT NULL)"
	" RETURNS TABLE (id uuid, content text, namespace varchar, file_source varchar, section varchar, similarity float)"
	" LANGUAGE plpgsql STABLE SET search_path = \"%s\", pg_temp SET plan_cache_mode = force_custom_plan"
	" SET enable_seqscan = off SET hnsw.ef_search = 200%s AS $$ BEGIN RETURN QUERY"
	" SELECT n.id, n.content, n.namespace, n.file_source, n.section, 1 - n.distance FROM"
	" (SELECT c.*, c.embedding <=> query_embedding AS distance FROM " CONTRACT_SCHEMA ".chunks c"
	" WHERE c.embedding IS NOT NULL AND (filter_namespace IS NULL OR c.namespace = filter_namespace)"
	" ORDER BY c.embedding <=> query_embedding LIMIT greatest(match_count, 0)) n"
	" WHERE 1 - n.distance > match_threshold ORDER BY n.distance; END $$;";
/* clang-format on */

/*
 * What is taken back is gone from there in the same transaction, whoever's daemon fills the tables: sections, and the names of
 * their files.
 */
static const char hiding[] =
	"CREATE OR REPLACE FUNCTION " CONTRACT_SCHEMA
	".hide() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER "
	"SET search_path = pg_catalog, pg_temp AS $$ BEGIN IF TG_TABLE_NAME = 'folder' THEN "
	"EXECUTE format('DELETE FROM " CONTRACT_SCHEMA ".files WHERE source_file IN "
	"(SELECT id FROM %I.source_file WHERE folder = $1)', TG_TABLE_SCHEMA) USING NEW.id; ELSE "
	"DELETE FROM " CONTRACT_SCHEMA ".chunks WHERE memory = NEW.id; END IF; RETURN NULL; END $$;"
	"CREATE TRIGGER contract_hide AFTER UPDATE OF visibility ON memory FOR EACH ROW "
	"WHEN (OLD.visibility = 1 AND NEW.visibility = 0) EXECUTE FUNCTION " CONTRACT_SCHEMA
	".hide();"
	"CREATE TRIGGER contract_hide AFTER UPDATE OF visibility ON folder FOR EACH ROW "
	"WHEN (OLD.visibility = 1 AND NEW.visibility = 0) EXECUTE FUNCTION " CONTRACT_SCHEMA
	".hide();";

static const char path_with[] = "SELECT set_config('search_path', quote_ident(current_schema()) || "
				"', ' || quote_ident(?1), false)";

/* --- Why it is off. --- */

static int off(struct contract_state *ret, const char *why, const char *hint)
{
	snprintf(ret->why, sizeof(ret->why), "%s", why);
	snprintf(ret->hint, sizeof(ret->hint), "%s", hint);
	return 0;
}

static int one_text(
	struct store *s, struct arena *a, const char *sql, const char **ret, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	int rc;

	*ret = NULL;
	if (db_query(s->db, sql, NULL, 0, &r, err))
		return -1;
	rc = db_next(r, err);
	if (rc > 0)
		*ret = row_str(a, r, 0);
	return rc < 0 ? -1 : 0;
}

enum whose { WHOSE_NOBODYS, WHOSE_OURS, WHOSE_OTHERS };

/* WHOSE_OTHERS: and why it cannot be ours. -1. */
static int whose(struct store *s, struct contract_state *ret, struct err *err)
{
	static const char sql[] =
		"SELECT coalesce(obj_description(oid, 'pg_namespace'), ''), "
		"current_schema()::text, "
		"pg_has_role(nspowner, 'USAGE') FROM pg_namespace WHERE nspname = '" CONTRACT_SCHEMA
		"'";
	AUTO(arena_done) struct arena a = { 0 };
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	int rc = store_row(s, sql, NULL, 0, &r, err);

	if (rc <= 0)
		return rc;
	const char *mark = db_text(r, 0);
	if (!str_starts(mark, CONTRACT_MARK)) {
		off(ret, "the database has a schema " CONTRACT_SCHEMA " that another program made",
			"to have the SQL functions from here, rename it: ALTER "
			"SCHEMA " CONTRACT_SCHEMA " RENAME TO " CONTRACT_SCHEMA "_before");
		return WHOSE_OTHERS;
	}
	if (strcmp(mark + strlen(CONTRACT_MARK), db_text(r, 1))) {
		off(ret,
			arena_printf(&a,
				"the schema " CONTRACT_SCHEMA
				" belongs to the store in schema %.63s",
				mark + strlen(CONTRACT_MARK)),
			"give each store that should have SQL functions a database of its own");
		return WHOSE_OTHERS;
	}
	if (db_int(r, 2))
		return WHOSE_OURS;
	off(ret, "the schema " CONTRACT_SCHEMA " is kept by a daemon with another role",
		"nothing needs to be done while that daemon runs");
	return WHOSE_OTHERS;
}

/* --- Making it. --- */

/* In which schema the extension is: 1; 0: it is not there and cannot be made, and why. */
static int extension_find(struct store *s, struct arena *a, struct contract_state *ret,
	const char **ret_schema, struct err *err)
{
	static const char find[] =
		"SELECT n.nspname::text FROM pg_extension e JOIN pg_namespace n ON n.oid = "
		"e.extnamespace WHERE e.extname = 'vector'";
	static const char is_there[] =
		"SELECT count(*) FROM pg_available_extensions WHERE name = 'vector'";
	int64_t has_files;
	struct err why = { 0 };

	if (one_text(s, a, find, ret_schema, err))
		return -1;
	if (*ret_schema)
		return 1;
	if (db_one(s->db, is_there, NULL, 0, 0, &has_files, err))
		return -1;
	if (!has_files)
		return off(ret, "the server has no extension vector",
			"install pgvector there, then as the database's administrator: CREATE "
			"EXTENSION vector");
	if (!db_script(s->db, "CREATE EXTENSION IF NOT EXISTS vector SCHEMA public", &why))
		return one_text(s, a, find, ret_schema, err) || !*ret_schema ? -1 : 1;
	if (why.code == ERR_BUSY)
		return err_set(err, ERR_BUSY, "%s", why.text);
	return off(ret,
		"the extension vector is not in the database, and this role may not make it",
		"as the database's administrator: CREATE EXTENSION vector");
}

/* 1, or 0 and why not. */
static int may_create(struct store *s, struct contract_state *ret, struct err *err)
{
	static const char sql[] = "SELECT has_database_privilege(current_database(), 'CREATE')";
	static const char text[] =
		"SELECT 'as the database''s administrator: GRANT CREATE ON DATABASE ' || "
		"quote_ident(current_database()) || ' TO ' || quote_ident(current_user)";
	AUTO(arena_done) struct arena a = { 0 };
	const char *hint;
	int64_t may;

	if (db_one(s->db, sql, NULL, 0, 0, &may, err) || one_text(s, &a, text, &hint, err))
		return -1;
	return may ? 1 : off(ret, "this role may not make the schema " CONTRACT_SCHEMA, hint);
}

/* In one transaction; `second` may be NULL. */
static int scripts(struct store *s, const char *first, const char *second, struct err *err)
{
	if (db_begin(s->db, err))
		return -1;
	if (!db_script(s->db, first, err) && (!second || !db_script(s->db, second, err)) &&
		!db_commit(s->db, err))
		return 0;
	db_rollback(s->db);
	return -1;
}

static int hiding_make(struct store *s, struct err *err)
{
	static const char has[] =
		"SELECT count(*) FROM pg_trigger WHERE tgrelid = 'memory'::regclass AND tgname = "
		"'contract_hide'";
	int64_t n;

	if (db_one(s->db, has, NULL, 0, 0, &n, err))
		return -1;
	return n ? 0 : scripts(s, hiding, NULL, err);
}

static int make(struct store *s, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	const char *schema;

	if (one_text(s, &a, "SELECT current_schema()::text", &schema, err))
		return -1;
	return scripts(s, tables,
		arena_printf(&a, "COMMENT ON SCHEMA " CONTRACT_SCHEMA " IS '" CONTRACT_MARK "%s'",
			schema),
		err);
}

/* --- Whose vectors are in it. --- */

static int column_make(
	struct store *s, const struct contract_wish *w, const char *schema, struct err *err)
{
	static const char keeper[] =
		"INSERT INTO " CONTRACT_SCHEMA
		".keeper (keeper, embedder, dims, seen_at) VALUES (?1, ?2, ?3, ?4) ON "
		"CONFLICT (one) DO UPDATE SET keeper = excluded.keeper, embedder = "
		"excluded.embedder, dims = "
		"excluded.dims, seen_at = excluded.seen_at";
	AUTO(arena_done) struct arena a = { 0 };
	const char *filters;

	/* Since 0.8 the index looks on until the filter lets enough through. */
	if (one_text(s, &a,
		    "SELECT CASE WHEN string_to_array(extversion, '.')::int[] >= '{0,8,0}' THEN "
		    "' SET hnsw.iterative_scan = strict_order' ELSE '' END FROM pg_extension WHERE "
		    "extname = 'vector'",
		    &filters, err) ||
		db_begin(s->db, err))
		return -1;
	if (!db_script(s->db,
		    arena_printf(&a, column, schema, w->dims, schema, w->dims, schema, filters),
		    err) &&
		!db_run(s->db, keeper,
			DB_ARGS(db_t(w->keeper), db_t(w->embedder), db_i(w->dims),
				db_i(clock_now())),
			err) &&
		!db_commit(s->db, err))
		return 0;
	db_rollback(s->db);
	return -1;
}

struct keeper {
	const char *keeper, *embedder;
	int64_t dims, seen_at;
};

static int keeper_read(struct store *s, struct arena *a, struct keeper *ret, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	int rc = store_row(s,
		"SELECT keeper, embedder, dims, seen_at FROM " CONTRACT_SCHEMA ".keeper", NULL, 0,
		&r, err);

	*ret = (struct keeper){ 0 };
	if (rc > 0)
		*ret = (struct keeper){ row_str(a, r, 0), row_str(a, r, 1), db_int(r, 2),
			db_int(r, 3) };
	return rc < 0 ? -1 : 0;
}

static int seen(
	struct store *s, const struct contract_wish *w, const struct keeper *k, struct err *err)
{
	int64_t now = clock_now();

	if (now - k->seen_at < CONTRACT_SEEN_MS)
		return 0;
	return db_run(s->db, "UPDATE " CONTRACT_SCHEMA ".keeper SET keeper = ?1, seen_at = ?2",
		DB_ARGS(db_t(w->keeper), db_i(now)), err);
}

static int vectors_ready(struct store *s, const struct contract_wish *w, const char *schema,
	struct contract_state *ret, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct keeper k;

	if (keeper_read(s, &a, &k, err))
		return -1;
	bool is_mine = k.keeper && !strcmp(k.keeper, w->keeper);
	ret->is_same =
		k.embedder && w->embedder && !strcmp(k.embedder, w->embedder) && k.dims == w->dims;
	if (k.keeper && !is_mine && !ret->is_same && clock_now() - k.seen_at < CONTRACT_TAKEOVER_MS)
		return off(ret,
			arena_printf(&a, "another daemon fills them, with vectors of %.100s",
				k.embedder),
			"use the same embed.provider and embed.model, or stop that daemon; this "
			"one follows in 15 minutes");
	ret->dims = (uint32_t)k.dims;
	if (!k.keeper && !w->embedder)
		return off(ret, "nothing makes vectors yet", "see `remanence model status`");
	ret->is_on = true;
	if (!w->embedder || ret->is_same || (k.keeper && !w->may_change))
		return is_mine || ret->is_same ? seen(s, w, &k, err) : 0;
	ret->dims = w->dims;
	ret->is_same = ret->was_made = true;
	return column_make(s, w, schema, err);
}

/* The schema is there, and its extension: 1, or 0 and why not. */
static int schema_ready(struct store *s, struct arena *a, const struct contract_wish *w,
	struct contract_state *ret, const char **ret_extension, struct err *err)
{
	int owner = whose(s, ret, err);

	if (owner < 0 || owner == WHOSE_OTHERS)
		return owner < 0 ? -1 : 0;
	int can = extension_find(s, a, ret, ret_extension, err);
	if (can > 0 && owner == WHOSE_NOBODYS)
		can = may_create(s, ret, err);
	if (can <= 0)
		return can;
	if (owner == WHOSE_NOBODYS && !w->embedder)
		return off(ret, "nothing makes vectors yet", "see `remanence model status`");
	if (db_run(s->db, path_with, DB_ARGS(db_t(*ret_extension)), err))
		return -1;
	ret->was_made = owner == WHOSE_NOBODYS;
	return (ret->was_made && make(s, err)) || hiding_make(s, err) ? -1 : 1;
}

int contract_ready(
	struct store *s, const struct contract_wish *w, struct contract_state *ret, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	const char *extension = NULL;

	*ret = (struct contract_state){ 0 };
	int can = schema_ready(s, &a, w, ret, &extension, err);
	snprintf(ret->extension, sizeof(ret->extension), "%s", extension ? extension : "");
	return can <= 0 ? can : vectors_ready(s, w, extension, ret, err);
}

/* --- Filling it. --- */

/* Of a row of source_file and one of chunk. A NUL is the one character that JSON may name and the type has not. */
#define METADATA                                                                                \
	"CASE WHEN f.metadata IS NULL OR position('\\u0000' in f.metadata) > 0 THEN '{}' ELSE " \
	"f.metadata END::jsonb"

int contract_wanted(struct store *s, bool *ret, struct err *err)
{
	int64_t is_wanted;
	int rc = db_one(s->db, "SELECT count(*) > 0 FROM folder WHERE visibility = 1", NULL, 0, 0,
		&is_wanted, err);

	*ret = !rc && is_wanted;
	return rc;
}

/* f: a row of source_file. This connection may be let past row-level security (its login makes the schema), so it is said here. */
#define IS_TEAM "EXISTS (SELECT 1 FROM folder d WHERE d.id = f.folder AND d.visibility = 1)"

int contract_mark(struct store *s, struct contract_mark *ret, struct err *err)
{
	static const char sql[] =
		"SELECT hashtextextended(concat_ws(' ', count(*), max(id), "
		"max(synced_at), sum(synced_at), "
		"sum(chunks), count(metadata)), 0), (SELECT count(*) FROM " CONTRACT_SCHEMA
		".files) FROM source_file f WHERE " IS_TEAM;
	AUTO(db_end_ptr) struct db_rows *r = NULL;

	if (db_query(s->db, sql, NULL, 0, &r, err) || db_next(r, err) != 1)
		return -1;
	*ret = (struct contract_mark){ .wanted = db_int(r, 0), .shown = db_int(r, 1) };
	return 0;
}

int contract_stale(struct store *s, struct arena *a, int64_t after, size_t max, int64_t **ret,
	size_t *ret_n, struct err *err)
{
	static const char sql[] =
		"SELECT c.memory FROM chunk c JOIN source_file f ON f.id = c.source_file LEFT "
		"JOIN " CONTRACT_SCHEMA
		".chunks t ON t.memory = c.memory WHERE c.memory > ?1 AND " IS_TEAM " AND "
		"(t.memory IS NULL OR t.hash <> c.hash OR "
		"(t.namespace, t.file_source, t.section, t.chunk_index, t.checksum, t.metadata) IS "
		"DISTINCT FROM "
		"(f.namespace, f.path, c.section, c.chunk_index, f.checksum, " METADATA
		")) ORDER BY c.memory LIMIT ?2";

	return query_ids(s, a, sql, DB_ARGS(db_i(after), db_i((int64_t)max)), ret, ret_n, err);
}

int contract_bare(struct store *s, struct arena *a, int64_t after, size_t max, int64_t **ret,
	size_t *ret_n, struct err *err)
{
	static const char sql[] =
		"SELECT memory FROM " CONTRACT_SCHEMA ".chunks WHERE embedding IS NULL AND "
		"memory > ?1 ORDER BY memory LIMIT ?2";

	return query_ids(s, a, sql, DB_ARGS(db_i(after), db_i((int64_t)max)), ret, ret_n, err);
}

static const char *vector_text(struct buf *b, const float *v, uint32_t dims)
{
	if (!v)
		return NULL;
	for (uint32_t i = 0; i < dims; i++)
		buf_printf(b, "%c%.6g", i ? ',' : '[', (double)v[i]);
	buf_char(b, ']');
	return buf_cstr(b);
}

int contract_put(struct store *s, const struct contract_chunk *c, struct err *err)
{
	static const char sql[] =
		"INSERT INTO " CONTRACT_SCHEMA
		".chunks AS t (memory, hash, content, embedding, namespace, file_source, "
		"section, chunk_index, checksum, metadata) SELECT c.memory, c.hash, ?2, "
		"?3::text::\"%s\".vector, f.namespace, "
		"f.path, c.section, c.chunk_index, f.checksum, " METADATA
		" FROM chunk c JOIN source_file f ON f.id = c.source_file WHERE c.memory = ?1 ON "
		"CONFLICT (memory) DO "
		"UPDATE SET hash = excluded.hash, content = excluded.content, embedding = CASE "
		"WHEN t.hash = "
		"excluded.hash THEN coalesce(excluded.embedding, t.embedding) ELSE "
		"excluded.embedding END, namespace = "
		"excluded.namespace, file_source = excluded.file_source, section = "
		"excluded.section, chunk_index = "
		"excluded.chunk_index, checksum = excluded.checksum, metadata = excluded.metadata, "
		"updated_at = now()";
	AUTO(buf_done) struct buf b = { 0 };
	AUTO(arena_done) struct arena a = { 0 };
	AUTO(db_end_ptr) struct db_rows *r = NULL;

	/* The store has a table `vector` too. */
	return db_query_once(s->db, arena_printf(&a, sql, c->extension),
		DB_ARGS(db_i(c->memory), db_t(c->content),
			db_t(vector_text(&b, c->vector, c->dims))),
		&r, err);
}

static int all(struct store *s, const char *const *sql, size_t n, struct err *err)
{
	if (db_begin(s->db, err))
		return -1;
	for (size_t i = 0; i < n; i++)
		if (db_run(s->db, sql[i], NULL, 0, err)) {
			db_rollback(s->db);
			return -1;
		}
	if (!db_commit(s->db, err))
		return 0;
	db_rollback(s->db);
	return -1;
}

int contract_files(struct store *s, struct err *err)
{
	static const char *const sql[] = {
		"DELETE FROM " CONTRACT_SCHEMA
		".files t WHERE NOT EXISTS (SELECT 1 FROM source_file f WHERE f.id = "
		"t.source_file AND f.checksum IS NOT NULL AND " IS_TEAM ")",
		"DELETE FROM " CONTRACT_SCHEMA
		".chunks t WHERE NOT EXISTS (SELECT 1 FROM memory m WHERE m.id = "
		"t.memory AND m.visibility = 1)",
		"INSERT INTO " CONTRACT_SCHEMA
		".files AS t (source_file, namespace, file_name, checksum, "
		"chunks_count, last_sync) SELECT DISTINCT ON (f.namespace, f.path) f.id, "
		"f.namespace, f.path, f.checksum, f.chunks, "
		"to_timestamp(f.synced_at / 1000.0) FROM source_file f WHERE f.checksum IS NOT "
		"NULL AND " IS_TEAM " ORDER BY f.namespace, f.path, f.id ON CONFLICT "
		"(source_file) DO UPDATE SET namespace = excluded.namespace, file_name = "
		"excluded.file_name, checksum = "
		"excluded.checksum, chunks_count = excluded.chunks_count, last_sync = "
		"excluded.last_sync WHERE "
		"(t.namespace, t.file_name, t.checksum, t.chunks_count, t.last_sync) IS DISTINCT "
		"FROM "
		"(excluded.namespace, excluded.file_name, excluded.checksum, "
		"excluded.chunks_count, excluded.last_sync)",
	};

	return all(s, sql, ARRAY_LEN(sql), err);
}

/* Only what this daemon was asked is told here; what others search for is theirs. */
#define ME "nullif(current_setting('remanence.author', true), '')::bigint"

/* What was forgotten in the store. */
static const char words_out[] =
	"UPDATE " CONTRACT_SCHEMA ".search_logs t SET query = '' FROM search_log l WHERE "
	"l.id = t.search_log AND l.query IS NULL AND t.query <> ''";

int contract_searches(struct store *s, struct err *err)
{
	static const char waiting[] = "SELECT (SELECT coalesce(max(id), 0) FROM search_log WHERE "
				      "scope = 'chunks' AND author = " ME ") > (SELECT "
				      "coalesce(max(search_log), 0) FROM " CONTRACT_SCHEMA
				      ".search_logs) OR EXISTS (SELECT 1 FROM " CONTRACT_SCHEMA
				      ".search_logs t JOIN search_log l ON l.id = t.search_log "
				      "WHERE t.query <> '' AND l.query "
				      "IS NULL)";
	static const char *const sql[] = {
		"INSERT INTO " CONTRACT_SCHEMA
		".search_logs (search_log, query, namespace, results_count, "
		"top_similarity, created_at) SELECT l.id, coalesce(l.query, ''), left(l.namespace, "
		"100), l.results, "
		"l.top_score, to_timestamp(l.at / 1000.0) FROM search_log l WHERE l.scope = "
		"'chunks' AND l.author = " ME " AND l.id > (SELECT "
		"coalesce(max(search_log), 0) FROM " CONTRACT_SCHEMA ".search_logs)",
		words_out,
	};
	int64_t is_waiting;

	if (db_one(s->db, waiting, NULL, 0, 0, &is_waiting, err))
		return -1;
	return is_waiting ? all(s, sql, ARRAY_LEN(sql), err) : 0;
}

int contract_scrub(struct store *s, struct err *err)
{
	static const char may[] =
		"SELECT count(*) FROM pg_namespace n JOIN pg_class c ON c.relnamespace = n.oid "
		"WHERE n.nspname = "
		"'" CONTRACT_SCHEMA "' AND obj_description(n.oid, 'pg_namespace') = '" CONTRACT_MARK
		"' || current_schema() AND "
		"c.relname IN ('chunks', 'search_logs') AND has_schema_privilege(n.oid, 'USAGE') "
		"AND "
		"has_table_privilege(c.oid, 'SELECT, UPDATE')";
	static const char *const sql[] = {
		words_out,
		"UPDATE " CONTRACT_SCHEMA
		".chunks t SET metadata = '{}' FROM chunk c JOIN source_file f ON f.id = "
		"c.source_file WHERE c.memory = t.memory AND f.metadata IS NULL AND t.metadata <> "
		"'{}'",
	};
	int64_t n;

	if (!db_is_shared(s->db))
		return 0;
	if (db_as_login(s->db, true, err))
		return -1;
	int failed = db_one(s->db, may, NULL, 0, 0, &n, err) ||
		     (n == ARRAY_LEN(sql) && all(s, sql, ARRAY_LEN(sql), err));
	return db_as_login(s->db, false, failed ? NULL : err) || failed ? -1 : 0;
}

/* --- The index over vectors. --- */

int contract_index(struct store *s, struct err *err)
{
	static const char sql[] = "SELECT (SELECT i.indisvalid::int FROM pg_index i WHERE "
				  "i.indexrelid = to_regclass('" CONTRACT_SCHEMA
				  ".chunks_embedding')), (SELECT dims FROM " CONTRACT_SCHEMA
				  ".keeper), EXISTS (SELECT 1 FROM " CONTRACT_SCHEMA
				  ".chunks WHERE embedding IS NOT NULL)";
	/* Building it keeps nobody from writing. What a build that failed has left is of no use. */
	static const char *const steps[] = {
		"SET statement_timeout = 0",
		"DROP INDEX IF EXISTS " CONTRACT_SCHEMA ".chunks_embedding",
		"CREATE INDEX CONCURRENTLY chunks_embedding ON " CONTRACT_SCHEMA
		".chunks USING hnsw (embedding vector_cosine_ops)",
	};
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	int rc = store_row(s, sql, NULL, 0, &r, err);

	if (rc <= 0)
		return rc;
	if (db_int(r, 0) || db_int(r, 1) > CONTRACT_HNSW_DIMS_MAX || !db_int(r, 2))
		return 0;
	rc = 0;
	for (size_t i = 0; i < ARRAY_LEN(steps) && !rc; i++)
		rc = db_script(s->db, steps[i], err);
	db_script(s->db, "SET statement_timeout = '120s'", NULL);
	return rc;
}
