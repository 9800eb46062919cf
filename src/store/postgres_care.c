/*
 * What only the driver can do, on PostgreSQL. Files, logs and backups are the server's: what SQLite does to its own is left
 * to those who run it, and the sentences say so.
 */
#include "store/postgres.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "store/contract.h"

/* The number of the schema is a comment on it in the catalogue: it is there before any table is. */
#define VERSION_WORDS "remanence schema "

int pg_version(struct db *base, int64_t *ret, struct err *err)
{
	struct postgres *db = postgres_of(base);
	AUTO(arena_done) struct arena a = { 0 };
	PGresult *r;

	if (pg_simple(db,
		    arena_printf(&a,
			    "SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE "
			    "nspname = '%s'",
			    db->schema),
		    &r, err))
		return -1;
	bool is_there = PQntuples(r) > 0;
	long long version = 0;
	if (is_there && !PQgetisnull(r, 0, 0))
		sscanf(PQgetvalue(r, 0, 0), VERSION_WORDS "%lld", &version);
	PQclear(r);
	*ret = version;
	if (is_there || db->mode != DB_CREATE)
		return 0;
	const char *sql = arena_printf(&a, "CREATE SCHEMA IF NOT EXISTS \"%s\"", db->schema);
	if (pg_begin(base, err))
		return -1;
	if (!pg_simple(db, sql, NULL, err) && !pg_commit(base, err))
		return 0;
	pg_rollback(base);
	return -1;
}

int pg_set_version(struct db *base, int64_t version, struct err *err)
{
	struct postgres *db = postgres_of(base);
	AUTO(arena_done) struct arena a = { 0 };

	return pg_simple(db,
		arena_printf(&a, "COMMENT ON SCHEMA \"%s\" IS '" VERSION_WORDS "%lld'", db->schema,
			(long long)version),
		NULL, err);
}

int pg_backup(struct db *base, const char *path, struct err *err)
{
	err_set(err, ERR_USAGE, "the store is a PostgreSQL database, which is not one file");
	return err_hint(err, "Use pg_dump, or `remanence store copy FROM sqlite:%.100s`.", path);
}

/* That rows can be read; what is in them is for store_check. Damage of files is for the server's own tools. */
int pg_check(struct db *db, bool is_deep, struct buf *report, struct err *err)
{
	int64_t n;

	return db_one(db, "SELECT count(*) FROM session", NULL, 0, 0, &n, err);
}

int pg_checkpoint(struct db *db, bool truncate, struct err *err)
{
	return 0; /* the server's own business */
}

/* Of the tables of this schema and of that of its SQL contract, one by one. Not within a transaction. */
static int vacuum(struct postgres *db, const char *how, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	PGresult *r;
	int failed = 0;

	if (pg_simple(db,
		    "SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class c JOIN pg_namespace n "
		    "ON n.oid = c.relnamespace WHERE c.relkind = 'r' AND (n.nspname = current_schema() OR "
		    "obj_description(n.oid, 'pg_namespace') = '" CONTRACT_MARK "' || current_schema())",
		    &r, err))
		return -1;
	failed = pg_role_leave(db, err);
	for (int i = 0; i < PQntuples(r) && !failed; i++)
		failed = pg_simple(
			db, arena_printf(&a, "%s %s", how, PQgetvalue(r, i, 0)), NULL, err);
	PQclear(r);
	return pg_role_take(db, failed ? NULL : err) || failed ? -1 : 0;
}

int pg_scrub(struct db *db, struct err *err)
{
	return vacuum(postgres_of(db), "VACUUM", err);
}

int pg_compact(struct db *db, struct err *err)
{
	return vacuum(postgres_of(db), "VACUUM (ANALYZE)", err);
}

int64_t pg_bytes(struct db *db)
{
	int64_t n = 0;

	db_one(db,
		"SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r'"
		" AND relnamespace = current_schema()::regnamespace",
		NULL, 0, 0, &n, NULL);
	return n;
}

/* True when a notice came that is not our own. */
static bool take_notices(struct postgres *db)
{
	PGnotify *n;
	bool is_any = false;

	while ((n = PQnotifies(db->conn))) {
		is_any = true;
		PQfreemem(n);
	}
	return is_any;
}

int pg_wait(struct db *base, int ms, struct err *err)
{
	struct postgres *db = postgres_of(base);
	char sql[PG_NAME_MAX + 16];

	if (pg_ready(db, err))
		return -1;
	if (db->listening != db->link) {
		snprintf(sql, sizeof(sql), "LISTEN \"%s\"", db->schema);
		if (pg_simple(db, sql, NULL, err))
			return -1;
		db->listening = db->link;
		return 1; /* what came before is unknown */
	}
	struct pollfd p = { .fd = PQsocket(db->conn), .events = POLLIN };
	if (take_notices(db))
		return 1;
	if (poll(&p, 1, ms) > 0 && !PQconsumeInput(db->conn))
		return pg_fail(db, NULL, "listening", err);
	return take_notices(db);
}

int pg_snapshot(struct db *base, struct err *err)
{
	struct postgres *db = postgres_of(base);

	if (pg_simple(db, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", NULL, err))
		return -1;
	db->has_begun = true;
	return 0;
}

/* The sequence behind a table's id; its last value is NULL as long as it gave none. */
#define SEQUENCE "pg_get_serial_sequence(quote_ident(?1), 'id')"

int pg_number(struct db *db, const char *table, int64_t at_least, int64_t *ret, struct err *err)
{
	int64_t has_id;

	*ret = 0;
	if (db_one(db,
		    "SELECT count(*) FROM pg_attribute WHERE attrelid = quote_ident(?1)::regclass"
		    " AND attname = 'id' AND attidentity <> ''",
		    DB_ARGS(db_t(table)), 0, &has_id, err))
		return -1;
	if (!has_id)
		return 0;
	if (at_least)
		return db_one(db,
			"SELECT setval(" SEQUENCE
			", greatest(?2, coalesce(pg_sequence_last_value(" SEQUENCE
			"::regclass), 0)))",
			DB_ARGS(db_t(table), db_i(at_least)), 0, ret, err);
	return db_one(db, "SELECT pg_sequence_last_value(" SEQUENCE "::regclass)",
		DB_ARGS(db_t(table)), 0, ret, err);
}
