#ifndef STORE_SQLITE_H
#define STORE_SQLITE_H

#include <sqlite3.h>
#include <stdbool.h>

#include "store/db.h"

/* Shared by sqlite.c (statements) and sqlite_file.c (whole files) only. */

#define STATEMENTS_MAX 257 /* of one connection; more are prepared anew each time */

struct db_rows {
	struct db *db;
	sqlite3_stmt *stmt;
	bool is_kept, is_busy;
};

struct statement {
	const char *sql;
	struct db_rows rows;
};

struct db {
	sqlite3 *handle;
	char *path;
	uint64_t rollbacks;
	struct statement cache[STATEMENTS_MAX];
};

/* What SQLite said last, as an error with advice. Returns -1. */
int sqlite_fail(struct db *db, const char *what, struct err *err);
int sqlite_refuse_network(const char *path, struct err *err);

#endif
