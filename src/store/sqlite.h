#ifndef STORE_SQLITE_H
#define STORE_SQLITE_H

#include <sqlite3.h>
#include <stdbool.h>

#include "store/driver.h"

/* Shared by sqlite.c (statements) and sqlite_file.c (whole files) only. */

#define STATEMENTS_MAX 257 /* of one connection; more are prepared anew each time */

struct sqlite_rows {
	struct db_rows base;
	struct sqlite *db;
	sqlite3_stmt *stmt;
	bool is_kept, is_busy;
};

struct statement {
	const char *sql;
	struct sqlite_rows rows;
};

struct sqlite {
	struct db base;
	sqlite3 *handle;
	char *path;
	struct statement cache[STATEMENTS_MAX];
};

static inline struct sqlite *sqlite_of(struct db *db)
{
	return (struct sqlite *)db;
}

/* What SQLite said last, as an error with advice. Returns -1. */
int sqlite_fail(struct sqlite *db, const char *what, struct err *err);
int sqlite_refuse_network(const char *path, struct err *err);

int sqlite_version(struct db *db, int64_t *ret, struct err *err);
int sqlite_set_version(struct db *db, int64_t version, struct err *err);
int sqlite_backup(struct db *db, const char *path, struct err *err);
int sqlite_check(struct db *db, bool is_deep, struct buf *report, struct err *err);
int sqlite_checkpoint(struct db *db, bool truncate, struct err *err);
int sqlite_scrub(struct db *db, struct err *err);
int sqlite_compact(struct db *db, struct err *err);
int64_t sqlite_bytes(struct db *db);
int64_t sqlite_bytes_used(struct db *db);
int sqlite_snapshot(struct db *db, struct err *err);
int sqlite_number(struct db *db, const char *table, int64_t at_least, int64_t *ret, struct err *err);

#endif
