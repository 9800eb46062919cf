#ifndef STORE_POSTGRES_H
#define STORE_POSTGRES_H

#include <libpq-fe.h>
#include <pthread.h>
#include <stdbool.h>

#include "store/driver.h"

/*
 * Shared by postgres.c (statements), postgres_rows.c (values), postgres_pipe.c (writes that nobody waits for), postgres_link.c
 * (connections and errors), postgres_owner.c (whom they work for) and postgres_care.c (what only a driver can do) only.
 */

#define PG_SCHEMA "remanence"    /* unless the url says otherwise: ?schema=NAME */
#define PG_NAME_MAX 63           /* of a schema */
#define PG_STATEMENTS_MAX 512    /* of one connection, a power of two; more are planned anew each time */
#define PG_VERSION_MIN 130000
#define PG_PIPE_MAX 256          /* statements that were sent and not waited for */
#define PG_PIPE_BYTES (4u << 20) /* and their arguments, before the last */
#define PG_IDS_MAX 64            /* numbers of rows that are asked for at once */

/* Arguments as libpq takes them. One more than a statement may have: the number of a new row. */
struct pg_args {
	int n;
	Oid types[DB_VALUES_MAX + 1];
	const char *values[DB_VALUES_MAX + 1];
	int lengths[DB_VALUES_MAX + 1], formats[DB_VALUES_MAX + 1];
	uint64_t numbers[DB_VALUES_MAX + 1];
	struct arena arena; /* texts that had to be repaired */
};

/* A table whose rows are numbered, and numbers that this transaction may still give. */
struct pg_table {
	char *name;
	size_t at, n;
	int64_t ids[PG_IDS_MAX];
};

/* A prepared statement. Types are those of the arguments so far; 0: only NULL was seen. */
struct pg_statement {
	const char *sql;
	Oid types[DB_VALUES_MAX + 1];
	unsigned number, link; /* prepared under this name, on this link */
	bool gives_id;         /* the server says the number of the new row */
	size_t takes_id;       /* 1 + the place of its table: the number is an argument behind the others */
};

/* One run of it. */
struct pg_sent {
	const char *sql;
	char name[24];
	bool gives_id;
	int64_t id; /* that the new row was given; 0: none */
};

/* Writes that were sent and not waited for; what failed among them, until the transaction or its savepoint is rolled back. */
struct pg_pipe {
	struct pg_sent sent[PG_PIPE_MAX];
	size_t n, bytes;
	bool has_failed, is_id_late; /* one of those sent numbers a row */
	struct err late;
};

struct postgres {
	struct db base;
	enum db_mode mode;
	char *conninfo, *schema, *shown; /* without our own parameters; …; the url without its password */
	int64_t lock;                    /* the number of the advisory lock of writers */
	int64_t author; /* whom it works for; 0: not said yet */
	bool takes_role; /* PG_MEMBER, since its login is let past row-level security */
	PGconn *conn;
	unsigned link;      /* counts connections: what was prepared on another is not there */
	bool has_begun;     /* a transaction, as far as we know */
	bool is_lost;       /* within a transaction, of which nothing remains */
	bool has_written;   /* in this transaction: others are told at its end */
	unsigned listening; /* on this link */
	uint64_t retry_us, pause_us; /* no new attempt before; the next pause */
	pthread_mutex_t mutex;
	PGcancel *cancel; /* under the mutex */
	struct pg_table *tables; /* whose rows get a number; NULL: not asked yet */
	size_t ntables;
	struct pg_pipe pipe;
	int64_t last_id, changed;
	unsigned numbers;
	struct pg_statement statements[PG_STATEMENTS_MAX];
};

enum { OID_BOOL = 16, OID_BYTEA = 17, OID_INT8 = 20, OID_INT2 = 21, OID_INT4 = 23, OID_TEXT = 25 };
enum { OID_FLOAT4 = 700, OID_FLOAT8 = 701, OID_NUMERIC = 1700 };

struct pg_rows {
	struct db_rows base;
	PGresult *result;
	int at, n;
	struct postgres *stream; /* rows come one by one over it; else NULL */
	PGresult *
		*all; /* of several questions, `result` being the last that was begun; else NULL */
	size_t nall, begun;
};

static inline struct pg_rows *rows_of(struct db_rows *r)
{
	return (struct pg_rows *)r;
}

static inline bool pg_is_good(const PGresult *r)
{
	return PQresultStatus(r) == PGRES_TUPLES_OK || PQresultStatus(r) == PGRES_COMMAND_OK;
}

static inline struct postgres *postgres_of(struct db *db)
{
	return (struct postgres *)db;
}

/* postgres_link.c */
int pg_open(const char *url, enum db_mode mode, struct db **ret, struct err *err);
void pg_close(struct db *db);
/* A connection that can be used, made anew when it was lost. In a transaction that was lost: ERR_BUSY. */
int pg_ready(struct postgres *db, struct err *err);
/* What the server or the connection said, as an error with advice. Returns -1. Notes that a connection was lost. */
int pg_fail(struct postgres *db, const PGresult *r, const char *what, struct err *err);
/* As that, of a statement that is told by its first words. */
int pg_fail_at(struct postgres *db, const PGresult *r, const char *sql, struct err *err);
void pg_interrupt(struct db *db);

/* postgres_owner.c */
#define PG_MEMBER "remanence_member" /* a role without a login, for logins that see everything */
int pg_identify(struct db *db, int64_t author, bool keeps_login, struct err *err);
/* On a connection that was made anew: says again whom it is for. */
int pg_identify_again(struct postgres *db, struct err *err);
int pg_as_login(struct db *db, bool is_login, struct err *err);
int pg_everyone(struct db *db, bool is_writer, struct err *err);
int pg_everyone_end(struct db *db, struct err *err);
/* Around what only the owner of the tables may do. */
int pg_role_leave(struct postgres *db, struct err *err);
int pg_role_take(struct postgres *db, struct err *err);

/* postgres.c: a text of one or more statements without arguments, and its last result. */
int pg_simple(struct postgres *db, const char *sql, PGresult **ret, struct err *err);
int pg_begin(struct db *db, struct err *err);
int pg_commit(struct db *db, struct err *err);
void pg_rollback(struct db *db);
void pg_forget_tables(struct postgres *db);

/* What is known of the server's answer to a statement: db_changes, db_last_id. */
void pg_heed(struct postgres *db, PGresult *r, const struct pg_sent *sent);

/* postgres_pipe.c. Within a transaction only. */
int pg_pipe_send(struct postgres *db, const struct pg_sent *sent, const struct pg_args *w, struct err *err);
/* Waits for all that was sent. -1 with the first failure, also when it was met before. */
int pg_pipe_settle(struct postgres *db, struct err *err);
/* As that, and gives the result of a statement that was sent behind; NULL when one of the others failed. */
PGresult *pg_pipe_last(struct postgres *db, struct err *err);
/* Runs a statement once for each id, its only argument, with nothing waiting: ret[n] results, the caller's to clear. */
int pg_pipe_each(struct postgres *db, const struct pg_sent *sent, const int64_t *ids, size_t n, PGresult **ret, struct err *err);
/* Before a rollback: waits, and forgets failures. */
void pg_pipe_forget(struct postgres *db);
int pg_id_take(struct postgres *db, struct pg_table *t, int64_t *ret, struct err *err);
void pg_ids_drop(struct postgres *db);

/* postgres_rows.c */
bool pg_is_null(struct db_rows *r, int col);
enum db_type pg_kind(struct db_rows *r, int col);
int64_t pg_int(struct db_rows *r, int col);
double pg_real(struct db_rows *r, int col);
const char *pg_text(struct db_rows *r, int col);
const void *pg_blob(struct db_rows *r, int col, size_t *ret_n);

/* postgres_care.c */
int pg_version(struct db *db, int64_t *ret, struct err *err);
int pg_set_version(struct db *db, int64_t version, struct err *err);
int pg_backup(struct db *db, const char *path, struct err *err);
int pg_check(struct db *db, bool is_deep, struct buf *report, struct err *err);
int pg_checkpoint(struct db *db, bool truncate, struct err *err);
int pg_scrub(struct db *db, struct err *err);
int pg_compact(struct db *db, struct err *err);
int64_t pg_bytes(struct db *db);
int pg_snapshot(struct db *db, struct err *err);
int pg_number(struct db *db, const char *table, int64_t at_least, int64_t *ret, struct err *err);
int pg_wait(struct db *db, int ms, struct err *err);

#endif
