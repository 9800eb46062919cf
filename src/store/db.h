#ifndef STORE_DB_H
#define STORE_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/*
 * The driver: the little that the store needs of a database, so that another one can stand behind it. A connection belongs to
 * one thread. SQL is written portably with ?1 … ?9; statements are static strings, prepared once per connection and found
 * again by pointer. SQLite is included in sqlite.c only.
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

int db_open(const char *url, enum db_mode mode, struct db **ret, struct err *err);
void db_close(struct db *db);

/* Runs a statement that gives no rows. */
int db_run(struct db *db, const char *sql, const struct db_arg *args, size_t n, struct err *err);
/* Several statements in one text, without arguments (migrations). */
int db_script(struct db *db, const char *sql, struct err *err);
int64_t db_last_id(struct db *db);
int64_t db_changes(struct db *db);

/* Rows: struct db_rows *r; if (db_query(…, &r, err)) return -1; while ((n = db_next(r, err)) > 0) …; db_end(r). Texts are valid until the next db_next. */
struct db_rows;
int db_query(struct db *db, const char *sql, const struct db_arg *args, size_t n, struct db_rows **ret, struct err *err);
/* As db_query for a text made at run time (filters): not cached. */
int db_query_once(struct db *db, const char *sql, const struct db_arg *args, size_t n, struct db_rows **ret, struct err *err);
int db_next(struct db_rows *r, struct err *err); /* 1 a row, 0 the end, -1 */
void db_end(struct db_rows *r);                  /* NULL is fine */
bool db_is_null(struct db_rows *r, int col);
int64_t db_int(struct db_rows *r, int col);
double db_real(struct db_rows *r, int col);
const char *db_text(struct db_rows *r, int col);              /* NULL for NULL */
const void *db_blob(struct db_rows *r, int col, size_t *ret_n);
/* One integer, or `otherwise` when there is no row. */
int db_one(struct db *db, const char *sql, const struct db_arg *args, size_t n, int64_t otherwise, int64_t *ret, struct err *err);

int db_begin(struct db *db, struct err *err); /* write transaction (immediate) */
int db_commit(struct db *db, struct err *err);
void db_rollback(struct db *db);
int db_savepoint(struct db *db, struct err *err);
int db_release(struct db *db, struct err *err);
void db_rollback_to(struct db *db);
void db_interrupt(struct db *db);

#endif
