#ifndef STORE_DB_H
#define STORE_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

/*
 * The driver: the little that the store needs of a database, so that another one can stand behind it. A connection belongs to
 * one thread. SQL is written portably with ?1 … ?9; statements are static strings, prepared once per connection and found
 * again by pointer. The url says which driver it is (driver.h).
 */

struct db;

enum db_mode { DB_READ, DB_WRITE, DB_CREATE };

enum db_type { DB_NULL, DB_INT, DB_REAL, DB_TEXT, DB_BLOB };
struct db_arg {
	enum db_type type;
	int64_t i;
	double r;
	const void *p;
	size_t n;
};
struct db_arg db_i(int64_t i);
struct db_arg db_id(int64_t i);          /* 0 becomes NULL */
struct db_arg db_r(double r);
struct db_arg db_t(const char *text);    /* NULL becomes NULL */
struct db_arg db_tn(const char *text, size_t n);
struct db_arg db_b(const void *blob, size_t n);
#define DB_ARGS(...) (const struct db_arg[]){ __VA_ARGS__ }, sizeof((const struct db_arg[]){ __VA_ARGS__ }) / sizeof(struct db_arg)

#define DB_VALUES_MAX 32 /* arguments of one statement */
#define STORE_URL_MAX (64u << 10)

/*
 * url: "sqlite:PATH" or "postgres://USER@HOST/DATABASE". A file on a network file system is refused (ERR_STORE): locks and
 * shared memory do not hold there. A database that cannot be reached is ERR_BUSY; once open, a connection that was lost is
 * made anew, with pauses, by the statement that needs it, and everything until db_rollback fails when there was a transaction.
 */
int db_open(const char *url, enum db_mode mode, struct db **ret, struct err *err);
void db_close(struct db *db);

/*
 * Runs a statement that gives no rows. Within a transaction a driver may send a write without waiting for it: should it fail,
 * then the next call that waits fails with its error, which names it, and so does everything until a rollback. The end of a
 * savepoint and a commit wait, so do queries, db_last_id and db_changes (whose 0 may then be no news).
 */
int db_run(struct db *db, const char *sql, const struct db_arg *args, size_t n, struct err *err);
/*
 * Several statements in one text, without arguments (migrations). The words that databases spell differently are written
 * {key} (generated row id, never used twice), {number} (row id that the caller gives), {blob}, {real} and {clustered} (the
 * primary key is the table).
 */
int db_script(struct db *db, const char *sql, struct err *err);
int64_t db_last_id(struct db *db);
int64_t db_changes(struct db *db);

/* Rows: struct db_rows *r; if (db_query(…, &r, err)) return -1; while ((n = db_next(r, err)) > 0) …; db_end(r). Texts are valid until the next db_next. */
struct db_rows;
int db_query(struct db *db, const char *sql, const struct db_arg *args, size_t n, struct db_rows **ret, struct err *err);
/* As db_query for a text made at run time (filters): not cached. */
int db_query_once(struct db *db, const char *sql, const struct db_arg *args, size_t n, struct db_rows **ret, struct err *err);
/*
 * The same question about each of these ids, its only argument; `ids` stays the caller's until db_end. The rows of one follow
 * those of the other; a column has to say whose a row is. Over a network it takes one round trip, not n.
 */
int db_query_each(struct db *db, const char *sql, const int64_t *ids, size_t n, struct db_rows **ret, struct err *err);
int db_next(struct db_rows *r, struct err *err); /* 1 a row, 0 the end, -1 */
void db_end(struct db_rows *r);                  /* NULL is fine */
void db_end_ptr(struct db_rows **r);             /* for AUTO */
bool db_is_null(struct db_rows *r, int col);
enum db_type db_kind(struct db_rows *r, int col); /* asked before the value is */
int64_t db_int(struct db_rows *r, int col);
double db_real(struct db_rows *r, int col);
const char *db_text(struct db_rows *r, int col);              /* NULL for NULL */
const void *db_blob(struct db_rows *r, int col, size_t *ret_n);
/* One integer, or `otherwise` when there is no row. */
int db_one(struct db *db, const char *sql, const struct db_arg *args, size_t n, int64_t otherwise, int64_t *ret, struct err *err);

/* Write transaction. There is one at a time, whoever asks: another waits, then fails with ERR_BUSY. */
int db_begin(struct db *db, struct err *err);
int db_commit(struct db *db, struct err *err);
void db_rollback(struct db *db);
bool db_is_in_transaction(struct db *db);
int db_savepoint(struct db *db, struct err *err);
int db_release(struct db *db, struct err *err);
void db_rollback_to(struct db *db); /* and ends the savepoint */
/* Counts rollbacks: what was remembered of rows may be wrong when it has changed. */
uint64_t db_rollbacks(struct db *db);
void db_interrupt(struct db *db); /* from any thread */

/*
 * Whose rows the connection may see and write from now on (author.h), for as long as it is made anew too. keeps_login: nothing
 * else about it changes, even where its login is let past row-level security. ERR_STORE: another login works for that author, or this
 * one sees everybody's rows and cannot be kept from it.
 */
int db_identify(struct db *db, int64_t author, bool keeps_login, struct err *err);
/* A role that was taken for the author's sake is left, outside a transaction, and taken again. */
int db_as_login(struct db *db, bool is_login, struct err *err);
/*
 * Copies of whole stores: this connection reads all rows (is_writer false), or reads and writes them until `db_everyone_end`, in the
 * transaction that is open. ERR_USAGE: its login has not the right to.
 */
int db_everyone(struct db *db, bool is_writer, struct err *err);
int db_everyone_end(struct db *db, struct err *err);

bool db_is_postgres(const char *url);
/* The url as people may see it: without a password. */
const char *db_url_shown(struct arena *a, const char *url);
/* Do others write to it too? Then nothing that was read may be remembered beyond a transaction. */
bool db_is_shared(const struct db *db);
/* Waits until another connection has committed something: 1, 0 after `ms`, -1. For shared stores; a connection of its own. */
int db_wait(struct db *db, int ms, struct err *err);

/* For copies of whole stores. */
int db_snapshot(struct db *db, struct err *err); /* what is read until db_rollback is of one moment */
/* Our tables, in the order in which they were made: a row names rows of earlier tables only. */
int db_tables(struct db *db, struct arena *a, const char ***ret, size_t *ret_n, struct err *err);
/* As db_query_once, but one row at a time is in memory; until the end nothing else may be asked of this connection. */
int db_stream(struct db *db, const char *sql, struct db_rows **ret, struct err *err);
int db_columns(struct db_rows *r);
const char *db_column(struct db_rows *r, int col, bool *ret_is_blob); /* its name; valid until db_end */
/* The highest number that a row of this table ever had, first raised to `at_least`; 0 where rows are not numbered. */
int db_number(struct db *db, const char *table, int64_t at_least, int64_t *ret, struct err *err);

/* What only the driver can do. */
int db_version(struct db *db, int64_t *ret, struct err *err);          /* of the schema; 0 for an empty database */
int db_set_version(struct db *db, int64_t version, struct err *err);   /* inside the migration's transaction */
int db_backup(struct db *db, const char *path, struct err *err);       /* online, whole, 0600; written beside and renamed */
int db_check(struct db *db, bool is_deep, struct buf *report, struct err *err); /* a line per damage; empty when sound */
int db_checkpoint(struct db *db, bool truncate, struct err *err);      /* ERR_BUSY when readers stand in the way of truncate */
int db_scrub(struct db *db, struct err *err);                          /* no file holds a byte of a deleted row afterwards */
int db_compact(struct db *db, struct err *err);                        /* gives free space back to the file system */
int64_t db_bytes(struct db *db);                                       /* on disk, log included */
int64_t db_bytes_used(struct db *db);                                  /* pages that hold rows */

#endif
