#ifndef STORE_DRIVER_H
#define STORE_DRIVER_H

#include "store/db.h"

/*
 * What a driver is to db.c: a table of functions, found by the beginning of the url. Each function keeps the contract of the
 * one of that name in db.h. A driver's own connection and rows begin with these structs. For the drivers only.
 */

struct db_ops {
	const char *scheme; /* "sqlite:" */
	int (*open)(const char *url, enum db_mode mode, struct db **ret, struct err *err);
	void (*close)(struct db *db);
	int (*query)(struct db *db, const char *sql, bool is_kept, const struct db_arg *args, size_t n, struct db_rows **ret,
		struct err *err);
	/* NULL: one after another will do. */
	int (*query_each)(struct db *db, const char *sql, const int64_t *ids, size_t n, struct db_rows **ret, struct err *err);
	int (*next)(struct db_rows *r, struct err *err);
	void (*end)(struct db_rows *r);
	bool (*is_null)(struct db_rows *r, int col);
	enum db_type (*kind)(struct db_rows *r, int col);
	int64_t (*integer)(struct db_rows *r, int col);
	double (*real)(struct db_rows *r, int col);
	const char *(*text)(struct db_rows *r, int col);
	const void *(*blob)(struct db_rows *r, int col, size_t *ret_n);
	int (*script)(struct db *db, const char *sql, struct err *err); /* its words are spelled already */
	int64_t (*last_id)(struct db *db);
	int64_t (*changes)(struct db *db);
	int (*begin)(struct db *db, struct err *err);
	int (*commit)(struct db *db, struct err *err);
	void (*rollback)(struct db *db);
	bool (*is_in_transaction)(struct db *db);
	void (*interrupt)(struct db *db);
	int (*version)(struct db *db, int64_t *ret, struct err *err);
	int (*set_version)(struct db *db, int64_t version, struct err *err);
	int (*backup)(struct db *db, const char *path, struct err *err);
	int (*check)(struct db *db, bool is_deep, struct buf *report, struct err *err);
	int (*checkpoint)(struct db *db, bool truncate, struct err *err);
	int (*scrub)(struct db *db, struct err *err);
	int (*compact)(struct db *db, struct err *err);
	int64_t (*bytes)(struct db *db);
	int64_t (*bytes_used)(struct db *db);
	int (*wait)(struct db *db, int ms, struct err *err);
	/* NULL where a store is one person's. */
	int (*identify)(struct db *db, int64_t author, bool keeps_login, struct err *err);
	int (*as_login)(struct db *db, bool is_login, struct err *err);
	int (*everyone)(struct db *db, bool is_writer, struct err *err);
	int (*everyone_end)(struct db *db, struct err *err);
	/* For copies. */
	int (*snapshot)(struct db *db, struct err *err);
	int (*stream)(struct db *db, const char *sql, struct db_rows **ret, struct err *err);
	int (*columns)(struct db_rows *r);
	const char *(*column)(struct db_rows *r, int col, bool *ret_is_blob);
	int (*number)(struct db *db, const char *table, int64_t at_least, int64_t *ret, struct err *err);
	bool is_shared;
	const char *tables_sql; /* the names of all tables, oldest first */
	/* Pairs of a word of a schema and how it is spelled, up to NULL. */
	const char *const *spelling;
};

struct db {
	const struct db_ops *ops;
	uint64_t rollbacks;
};

struct db_rows {
	const struct db_ops *ops;
};

/* db_query_each by db_query. */
int db_each_slowly(struct db *db, const char *sql, const int64_t *ids, size_t n, struct db_rows **ret, struct err *err);

extern const struct db_ops sqlite_ops;
extern const struct db_ops postgres_ops; /* where libpq was there at build time */

#endif
