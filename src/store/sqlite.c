/*
 * The SQLite driver: connections, statements and rows. What it does to whole files is in
 * sqlite_file.c. Statements are found again by the address of their text, so that a hot insert
 * costs a hash of a pointer and no parsing. A statement that is still giving rows when it is
 * asked for again gets a second, uncached copy.
 */
#include "store/sqlite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

#define BUSY_MS 10000

int sqlite_fail(struct sqlite *db, const char *what, struct err *err)
{
	int code = sqlite3_extended_errcode(db->handle);
	const char *why = sqlite3_errmsg(db->handle);

	switch (code & 0xff) {
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		err_set(err, ERR_BUSY, "the store is locked by another process (%s)", what);
		return err_hint(err, "It is tried again; `remanence doctor` names who holds '%s'.",
			db->path);
	case SQLITE_FULL:
		err_set(err, ERR_STORE, "the disk is full: %s on '%s' was not stored", what,
			db->path);
		return err_hint(err, "Free some space; nothing is lost, it is tried again.");
	case SQLITE_NOTADB:
	case SQLITE_CORRUPT:
		err_set(err, ERR_STORE, "'%s' is damaged (%s: %s)", db->path, what, why);
		return err_hint(
			err, "Stop the daemon and restore a backup: `remanence restore FILE`.");
	case SQLITE_READONLY:
		return err_set(
			err, ERR_STORE, "'%s' cannot be written (%s: %s)", db->path, what, why);
	case SQLITE_INTERRUPT:
		return err_set(err, ERR_BUSY, "%s on '%s' was interrupted", what, db->path);
	default:
		return err_set(
			err, ERR_STORE, "%s on '%s' failed: %s (%d)", what, db->path, why, code);
	}
}

static int open_handle(struct sqlite *db, enum db_mode mode, struct err *err)
{
	/* A reader opens for writing too, since a log left by a killed daemon must be
	 * replayed; query_only holds it back. */
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;

	if (mode == DB_CREATE) {
		int fd = open(db->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		if (fd < 0)
			return err_set(
				err, ERR_STORE, "cannot make '%s': %s", db->path, strerror(errno));
		close(fd);
	}
	if (sqlite3_open_v2(db->path, &db->handle, flags, NULL) != SQLITE_OK) {
		if (!db->handle)
			die("out of memory");
		if (!file_exists(db->path))
			return err_set(err, ERR_STORE, "there is no store at '%s'", db->path);
		return sqlite_fail(db, "opening", err);
	}
	sqlite3_busy_timeout(db->handle, BUSY_MS);
	return 0;
}

static int configure(struct sqlite *db, enum db_mode mode, struct err *err)
{
	static const char common[] =
		"PRAGMA foreign_keys=ON; PRAGMA temp_store=MEMORY; PRAGMA trusted_schema=OFF;"
		"PRAGMA cell_size_check=ON; PRAGMA cache_size=-2048; PRAGMA mmap_size=2147418112;";
	/* The one writer goes over the whole file in an import: pages that it mapped would add up. */
	static const char writer[] =
		"PRAGMA mmap_size=0; PRAGMA cache_size=-4096;"
		"PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA secure_delete=ON;"
		"PRAGMA wal_autocheckpoint=1000; PRAGMA journal_size_limit=16777216;";

	/*
	 * Readers have the file mapped and keep no page: each visit would check all of its cells again,
	 * half the time of a read. The writer, which changes pages, checks.
	 */
	static const char reader[] = "PRAGMA query_only=ON; PRAGMA cell_size_check=OFF;";

	if (sqlite3_exec(db->handle, common, NULL, NULL, NULL) != SQLITE_OK)
		return sqlite_fail(db, "opening", err);
	if (sqlite3_exec(db->handle, mode == DB_READ ? reader : writer, NULL, NULL, NULL) !=
		SQLITE_OK)
		return sqlite_fail(db, "opening", err);
	return 0;
}

static void sqlite_close(struct db *base)
{
	struct sqlite *db = sqlite_of(base);

	for (size_t i = 0; i < STATEMENTS_MAX; i++)
		sqlite3_finalize(db->cache[i].rows.stmt);
	sqlite3_close_v2(db->handle);
	free(db->path);
	free(db);
}

static int sqlite_open(const char *url, enum db_mode mode, struct db **ret, struct err *err)
{
	const char *path = url + strlen(sqlite_ops.scheme);

	if (!*path) {
		err_set(err, ERR_USAGE, "'%s' is not a store", url);
		return err_hint(err, "Set `store` to sqlite:PATH.");
	}
	if (sqlite_refuse_network(path, err))
		return -1;
	struct sqlite *db = mem_alloc(sizeof(*db));
	db->base.ops = &sqlite_ops;
	db->path = mem_strdup(path);
	if (open_handle(db, mode, err) || configure(db, mode, err)) {
		sqlite_close(&db->base);
		return -1;
	}
	*ret = &db->base;
	return 0;
}

static sqlite3_stmt *prepare(struct sqlite *db, const char *sql, bool is_kept, struct err *err)
{
	sqlite3_stmt *stmt = NULL;

	if (sqlite3_prepare_v3(db->handle, sql, -1, is_kept ? SQLITE_PREPARE_PERSISTENT : 0, &stmt,
		    NULL) != SQLITE_OK) {
		sqlite_fail(db, "preparing", err);
		return NULL;
	}
	return stmt;
}

static struct statement *find_slot(struct sqlite *db, const char *sql)
{
	size_t at = ((uintptr_t)sql >> 3) * 0x9e3779b97f4a7c15u >> 32;

	for (size_t i = 0; i < STATEMENTS_MAX; i++) {
		struct statement *s = &db->cache[(at + i) % STATEMENTS_MAX];
		if (!s->sql || s->sql == sql)
			return s;
	}
	return NULL;
}

/* Gives rows that are ready to be bound. */
static struct sqlite_rows *acquire(
	struct sqlite *db, const char *sql, bool is_kept, struct err *err)
{
	struct statement *s = is_kept ? find_slot(db, sql) : NULL;

	if (s && s->sql && !s->rows.is_busy) {
		s->rows.is_busy = true;
		return &s->rows;
	}
	sqlite3_stmt *stmt = prepare(db, sql, s && !s->sql, err);
	if (!stmt)
		return NULL;
	struct sqlite_rows *r = NULL;
	if (s && !s->sql) {
		s->sql = sql;
		r = &s->rows;
		*r = (struct sqlite_rows){
			.base.ops = &sqlite_ops, .db = db, .stmt = stmt, .is_kept = true
		};
	} else {
		r = mem_alloc(sizeof(*r));
		*r = (struct sqlite_rows){ .base.ops = &sqlite_ops, .db = db, .stmt = stmt };
	}
	r->is_busy = true;
	return r;
}

static int bind_one(sqlite3_stmt *stmt, int at, const struct db_arg *a)
{
	switch (a->type) {
	case DB_NULL:
		return sqlite3_bind_null(stmt, at);
	case DB_INT:
		return sqlite3_bind_int64(stmt, at, a->i);
	case DB_REAL:
		return sqlite3_bind_double(stmt, at, a->r);
	case DB_TEXT:
		return sqlite3_bind_text64(stmt, at, a->p, a->n, SQLITE_STATIC, SQLITE_UTF8);
	case DB_BLOB:
		return a->n ? sqlite3_bind_blob64(stmt, at, a->p, a->n, SQLITE_STATIC)
			    : sqlite3_bind_zeroblob(stmt, at, 0);
	}
	return SQLITE_MISUSE;
}

static void sqlite_end(struct db_rows *base)
{
	struct sqlite_rows *r = (struct sqlite_rows *)base;

	if (!r->is_kept) {
		sqlite3_finalize(r->stmt);
		free(r);
		return;
	}
	sqlite3_reset(r->stmt);
	sqlite3_clear_bindings(r->stmt);
	r->is_busy = false;
}

static int sqlite_query(struct db *base, const char *sql, bool is_kept, const struct db_arg *args,
	size_t n, struct db_rows **ret, struct err *err)
{
	struct sqlite *db = sqlite_of(base);
	struct sqlite_rows *r = acquire(db, sql, is_kept, err);

	if (!r)
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (bind_one(r->stmt, (int)i + 1, &args[i]) != SQLITE_OK) {
			sqlite_fail(db, "binding", err);
			sqlite_end(&r->base);
			return -1;
		}
	}
	*ret = &r->base;
	return 0;
}

static int sqlite_next(struct db_rows *base, struct err *err)
{
	struct sqlite_rows *r = (struct sqlite_rows *)base;
	int rc = sqlite3_step(r->stmt);

	if (rc == SQLITE_ROW)
		return 1;
	if (rc == SQLITE_DONE)
		return 0;
	return sqlite_fail(r->db, sqlite3_stmt_readonly(r->stmt) ? "reading" : "writing", err);
}

static sqlite3_stmt *stmt_of(struct db_rows *r)
{
	return ((struct sqlite_rows *)r)->stmt;
}

static bool sqlite_is_null(struct db_rows *r, int col)
{
	return sqlite3_column_type(stmt_of(r), col) == SQLITE_NULL;
}

static enum db_type sqlite_kind(struct db_rows *r, int col)
{
	static const enum db_type kinds[] = { [SQLITE_INTEGER] = DB_INT,
		[SQLITE_FLOAT] = DB_REAL,
		[SQLITE_TEXT] = DB_TEXT,
		[SQLITE_BLOB] = DB_BLOB,
		[SQLITE_NULL] = DB_NULL };

	return kinds[sqlite3_column_type(stmt_of(r), col)];
}

static int64_t sqlite_int(struct db_rows *r, int col)
{
	return sqlite3_column_int64(stmt_of(r), col);
}

static double sqlite_real(struct db_rows *r, int col)
{
	return sqlite3_column_double(stmt_of(r), col);
}

static const char *sqlite_text(struct db_rows *r, int col)
{
	return (const char *)sqlite3_column_text(stmt_of(r), col);
}

static const void *sqlite_blob(struct db_rows *r, int col, size_t *ret_n)
{
	const void *p = sqlite3_column_blob(stmt_of(r), col);

	*ret_n = (size_t)sqlite3_column_bytes(stmt_of(r), col);
	return p;
}

static int sqlite_stream(struct db *db, const char *sql, struct db_rows **ret, struct err *err)
{
	return sqlite_query(db, sql, false, NULL, 0, ret, err);
}

static int sqlite_columns(struct db_rows *r)
{
	return sqlite3_column_count(stmt_of(r));
}

static const char *sqlite_column(struct db_rows *r, int col, bool *ret_is_blob)
{
	const char *type = sqlite3_column_decltype(stmt_of(r), col);

	*ret_is_blob = type && strcmp(type, "BLOB") == 0;
	return sqlite3_column_name(stmt_of(r), col);
}

static int sqlite_script(struct db *db, const char *sql, struct err *err)
{
	if (sqlite3_exec(sqlite_of(db)->handle, sql, NULL, NULL, NULL) != SQLITE_OK)
		return sqlite_fail(sqlite_of(db), "changing the schema", err);
	return 0;
}

static int64_t sqlite_last_id(struct db *db)
{
	return sqlite3_last_insert_rowid(sqlite_of(db)->handle);
}

static int64_t sqlite_changes(struct db *db)
{
	return sqlite3_changes(sqlite_of(db)->handle);
}

static int sqlite_begin(struct db *db, struct err *err)
{
	return db_run(db, "BEGIN IMMEDIATE", NULL, 0, err);
}

static int sqlite_commit(struct db *db, struct err *err)
{
	return db_run(db, "COMMIT", NULL, 0, err);
}

static bool sqlite_is_in_transaction(struct db *db)
{
	return !sqlite3_get_autocommit(sqlite_of(db)->handle);
}

static void sqlite_rollback(struct db *db)
{
	if (sqlite_is_in_transaction(db))
		db_run(db, "ROLLBACK", NULL, 0, NULL);
}

static void sqlite_stop(struct db *db)
{
	sqlite3_interrupt(sqlite_of(db)->handle);
}

/* clang-format off */
static const char *const spelling[] = {
	"{key}", "INTEGER PRIMARY KEY AUTOINCREMENT",
	"{number}", "INTEGER PRIMARY KEY",
	"{blob}", "BLOB",
	"{real}", "REAL",
	"{clustered}", "WITHOUT ROWID",
	NULL,
};
/* clang-format on */

const struct db_ops sqlite_ops = {
	.scheme = "sqlite:",
	.open = sqlite_open,
	.close = sqlite_close,
	.query = sqlite_query,
	.next = sqlite_next,
	.end = sqlite_end,
	.is_null = sqlite_is_null,
	.kind = sqlite_kind,
	.integer = sqlite_int,
	.real = sqlite_real,
	.text = sqlite_text,
	.blob = sqlite_blob,
	.script = sqlite_script,
	.last_id = sqlite_last_id,
	.changes = sqlite_changes,
	.begin = sqlite_begin,
	.commit = sqlite_commit,
	.rollback = sqlite_rollback,
	.is_in_transaction = sqlite_is_in_transaction,
	.interrupt = sqlite_stop,
	.version = sqlite_version,
	.set_version = sqlite_set_version,
	.backup = sqlite_backup,
	.check = sqlite_check,
	.checkpoint = sqlite_checkpoint,
	.scrub = sqlite_scrub,
	.compact = sqlite_compact,
	.bytes = sqlite_bytes,
	.bytes_used = sqlite_bytes_used,
	.snapshot = sqlite_snapshot,
	.tables_sql = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE "
		      "'sqlite%' ORDER BY rowid",
	.stream = sqlite_stream,
	.columns = sqlite_columns,
	.column = sqlite_column,
	.number = sqlite_number,
	.spelling = spelling,
};
