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
#define SAVEPOINT_NAME "inner"

struct db_arg db_i(int64_t i)
{
	return (struct db_arg){ .type = DB_INT, .i = i };
}

struct db_arg db_id(int64_t i)
{
	return (struct db_arg){ .type = i ? DB_INT : DB_NULL, .i = i };
}

struct db_arg db_r(double r)
{
	return (struct db_arg){ .type = DB_REAL, .r = r };
}

struct db_arg db_t(const char *text)
{
	return db_tn(text, text ? strlen(text) : 0);
}

struct db_arg db_tn(const char *text, size_t n)
{
	return (struct db_arg){ .type = text ? DB_TEXT : DB_NULL, .p = text, .n = n };
}

struct db_arg db_b(const void *blob, size_t n)
{
	return (struct db_arg){ .type = blob ? DB_BLOB : DB_NULL, .p = blob, .n = n };
}

int sqlite_fail(struct db *db, const char *what, struct err *err)
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

static int open_handle(struct db *db, enum db_mode mode, struct err *err)
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

static int configure(struct db *db, enum db_mode mode, struct err *err)
{
	static const char common[] =
		"PRAGMA foreign_keys=ON; PRAGMA temp_store=MEMORY; PRAGMA trusted_schema=OFF;"
		"PRAGMA cell_size_check=ON; PRAGMA cache_size=-2048; PRAGMA mmap_size=134217728;";
	static const char writer[] =
		"PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA secure_delete=ON;"
		"PRAGMA wal_autocheckpoint=1000; PRAGMA journal_size_limit=16777216;";

	if (sqlite3_exec(db->handle, common, NULL, NULL, NULL) != SQLITE_OK)
		return sqlite_fail(db, "opening", err);
	if (sqlite3_exec(db->handle, mode == DB_READ ? "PRAGMA query_only=ON" : writer, NULL, NULL,
		    NULL) != SQLITE_OK)
		return sqlite_fail(db, "opening", err);
	return 0;
}

int db_open(const char *url, enum db_mode mode, struct db **ret, struct err *err)
{
	if (!url || !str_starts(url, "sqlite:") || !url[7]) {
		err_set(err, ERR_USAGE, "'%s' is not a store", url ? url : "");
		return err_hint(err, "Set `store` to sqlite:PATH.");
	}
	if (sqlite_refuse_network(url + 7, err))
		return -1;
	struct db *db = mem_alloc(sizeof(*db));
	db->path = mem_strdup(url + 7);
	if (open_handle(db, mode, err) || configure(db, mode, err)) {
		db_close(db);
		return -1;
	}
	*ret = db;
	return 0;
}

void db_close(struct db *db)
{
	if (!db)
		return;
	for (size_t i = 0; i < STATEMENTS_MAX; i++)
		sqlite3_finalize(db->cache[i].rows.stmt);
	sqlite3_close_v2(db->handle);
	free(db->path);
	free(db);
}

static sqlite3_stmt *prepare(struct db *db, const char *sql, bool is_kept, struct err *err)
{
	sqlite3_stmt *stmt = NULL;

	if (sqlite3_prepare_v3(db->handle, sql, -1, is_kept ? SQLITE_PREPARE_PERSISTENT : 0, &stmt,
		    NULL) != SQLITE_OK) {
		sqlite_fail(db, "preparing", err);
		return NULL;
	}
	return stmt;
}

static struct statement *find_slot(struct db *db, const char *sql)
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
static struct db_rows *acquire(struct db *db, const char *sql, bool is_kept, struct err *err)
{
	struct statement *s = is_kept ? find_slot(db, sql) : NULL;

	if (s && s->sql && !s->rows.is_busy) {
		s->rows.is_busy = true;
		return &s->rows;
	}
	sqlite3_stmt *stmt = prepare(db, sql, s && !s->sql, err);
	if (!stmt)
		return NULL;
	struct db_rows *r = NULL;
	if (s && !s->sql) {
		s->sql = sql;
		r = &s->rows;
		*r = (struct db_rows){ .db = db, .stmt = stmt, .is_kept = true };
	} else {
		r = mem_alloc(sizeof(*r));
		*r = (struct db_rows){ .db = db, .stmt = stmt };
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

static int start(struct db *db, const char *sql, bool is_kept, const struct db_arg *args, size_t n,
	struct db_rows **ret, struct err *err)
{
	struct db_rows *r = acquire(db, sql, is_kept, err);

	if (!r)
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (bind_one(r->stmt, (int)i + 1, &args[i]) != SQLITE_OK) {
			sqlite_fail(db, "binding", err);
			db_end(r);
			return -1;
		}
	}
	*ret = r;
	return 0;
}

int db_query(struct db *db, const char *sql, const struct db_arg *args, size_t n,
	struct db_rows **ret, struct err *err)
{
	return start(db, sql, true, args, n, ret, err);
}

int db_query_once(struct db *db, const char *sql, const struct db_arg *args, size_t n,
	struct db_rows **ret, struct err *err)
{
	return start(db, sql, false, args, n, ret, err);
}

int db_next(struct db_rows *r, struct err *err)
{
	int rc = sqlite3_step(r->stmt);

	if (rc == SQLITE_ROW)
		return 1;
	if (rc == SQLITE_DONE)
		return 0;
	return sqlite_fail(r->db, sqlite3_stmt_readonly(r->stmt) ? "reading" : "writing", err);
}

void db_end(struct db_rows *r)
{
	if (!r)
		return;
	if (!r->is_kept) {
		sqlite3_finalize(r->stmt);
		free(r);
		return;
	}
	sqlite3_reset(r->stmt);
	sqlite3_clear_bindings(r->stmt);
	r->is_busy = false;
}

void db_end_ptr(struct db_rows **r)
{
	db_end(*r);
}

bool db_is_null(struct db_rows *r, int col)
{
	return sqlite3_column_type(r->stmt, col) == SQLITE_NULL;
}

enum db_type db_kind(struct db_rows *r, int col)
{
	static const enum db_type kinds[] = { [SQLITE_INTEGER] = DB_INT,
		[SQLITE_FLOAT] = DB_REAL,
		[SQLITE_TEXT] = DB_TEXT,
		[SQLITE_BLOB] = DB_BLOB,
		[SQLITE_NULL] = DB_NULL };

	return kinds[sqlite3_column_type(r->stmt, col)];
}

int64_t db_int(struct db_rows *r, int col)
{
	return sqlite3_column_int64(r->stmt, col);
}

double db_real(struct db_rows *r, int col)
{
	return sqlite3_column_double(r->stmt, col);
}

const char *db_text(struct db_rows *r, int col)
{
	return (const char *)sqlite3_column_text(r->stmt, col);
}

const void *db_blob(struct db_rows *r, int col, size_t *ret_n)
{
	const void *p = sqlite3_column_blob(r->stmt, col);

	*ret_n = (size_t)sqlite3_column_bytes(r->stmt, col);
	return p;
}

int db_run(struct db *db, const char *sql, const struct db_arg *args, size_t n, struct err *err)
{
	struct db_rows *r;

	if (db_query(db, sql, args, n, &r, err))
		return -1;
	int rc = db_next(r, err);
	db_end(r);
	return rc < 0 ? -1 : 0;
}

int db_one(struct db *db, const char *sql, const struct db_arg *args, size_t n, int64_t otherwise,
	int64_t *ret, struct err *err)
{
	struct db_rows *r;

	if (db_query(db, sql, args, n, &r, err))
		return -1;
	int rc = db_next(r, err);
	if (rc >= 0)
		*ret = rc && !db_is_null(r, 0) ? db_int(r, 0) : otherwise;
	db_end(r);
	return rc < 0 ? -1 : 0;
}

static const struct {
	const char *token, *text;
} spelling[] = {
	{ "{key}", "INTEGER PRIMARY KEY AUTOINCREMENT" },
	{ "{number}", "INTEGER PRIMARY KEY" },
	{ "{blob}", "BLOB" },
	{ "{real}", "REAL" },
	{ "{clustered}", "WITHOUT ROWID" },
};

static void spell(const char *sql, struct buf *out)
{
	while (*sql) {
		size_t i = 0;
		while (i < ARRAY_LEN(spelling) && !str_starts(sql, spelling[i].token))
			i++;
		if (i < ARRAY_LEN(spelling)) {
			buf_str(out, spelling[i].text);
			sql += strlen(spelling[i].token);
		} else {
			buf_char(out, *sql++);
		}
	}
}

int db_script(struct db *db, const char *sql, struct err *err)
{
	AUTO(buf_done) struct buf text = { 0 };

	spell(sql, &text);
	if (sqlite3_exec(db->handle, buf_cstr(&text), NULL, NULL, NULL) != SQLITE_OK)
		return sqlite_fail(db, "changing the schema", err);
	return 0;
}

int64_t db_last_id(struct db *db)
{
	return sqlite3_last_insert_rowid(db->handle);
}

int64_t db_changes(struct db *db)
{
	return sqlite3_changes(db->handle);
}

int db_begin(struct db *db, struct err *err)
{
	return db_run(db, "BEGIN IMMEDIATE", NULL, 0, err);
}

int db_commit(struct db *db, struct err *err)
{
	return db_run(db, "COMMIT", NULL, 0, err);
}

void db_rollback(struct db *db)
{
	db->rollbacks++;
	if (!sqlite3_get_autocommit(db->handle))
		db_run(db, "ROLLBACK", NULL, 0, NULL);
}

bool db_is_in_transaction(struct db *db)
{
	return !sqlite3_get_autocommit(db->handle);
}

int db_savepoint(struct db *db, struct err *err)
{
	return db_run(db, "SAVEPOINT " SAVEPOINT_NAME, NULL, 0, err);
}

int db_release(struct db *db, struct err *err)
{
	return db_run(db, "RELEASE " SAVEPOINT_NAME, NULL, 0, err);
}

void db_rollback_to(struct db *db)
{
	db->rollbacks++;
	if (db_run(db, "ROLLBACK TO " SAVEPOINT_NAME, NULL, 0, NULL) == 0)
		db_run(db, "RELEASE " SAVEPOINT_NAME, NULL, 0, NULL);
}

uint64_t db_rollbacks(struct db *db)
{
	return db->rollbacks;
}

void db_interrupt(struct db *db)
{
	sqlite3_interrupt(db->handle);
}
