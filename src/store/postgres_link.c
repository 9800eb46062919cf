/*
 * Connections to PostgreSQL. A lost one is made anew by the statement that needs it, with pauses that grow, unless it took a
 * transaction with it: then everything fails until that is rolled back, so that no half of a transaction is ever stored.
 */
#include "store/postgres.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "text/hash.h"

#define PAUSE_MIN_US 100000
#define PAUSE_MAX_US 10000000
#define SQL_HEAD_MAX 96
#define SCHEMA_PARAMETER "schema="

/*
 * lock_timeout ends the wait for another daemon's transaction before the writer's patience does; a daemon that was stopped in
 * the middle of one must not hold up the others; plans made by a compiler do not pay for statements of this size.
 */
#define SETTINGS                                                                                   \
	"SET lock_timeout = '8s'; SET idle_in_transaction_session_timeout = '60s'; SET jit = off;" \
	"SET statement_timeout = '120s'; SET client_min_messages = warning;"

/* --- The url. --- */

/* Takes our own parameter out of the url: libpq would refuse it. */
static int take_schema(struct postgres *db, struct err *err)
{
	char *query = strchr(db->conninfo, '?');
	char *at = query ? strstr(query, SCHEMA_PARAMETER) : NULL;

	if (!at || (at[-1] != '?' && at[-1] != '&')) {
		db->schema = mem_strdup(PG_SCHEMA);
		return 0;
	}
	char *value = at + strlen(SCHEMA_PARAMETER);
	size_t n = strcspn(value, "&");
	db->schema = mem_alloc(n + 1);
	memcpy(db->schema, value, n);
	bool is_last = !value[n];
	memmove(at, value + n + (is_last ? 0 : 1), strlen(value + n) + (is_last ? 1 : 0));
	if (is_last)
		at[-1] = '\0';
	if (n && n <= PG_NAME_MAX &&
		strspn(db->schema, "abcdefghijklmnopqrstuvwxyz0123456789_") == n)
		return 0;
	return err_set(err, ERR_USAGE, "'%s' cannot be the schema of the store: use a-z, 0-9 and _",
		db->schema);
}

static int take_url(struct postgres *db, const char *url, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };

	db->shown = mem_strdup(db_url_shown(&a, url));
	db->conninfo = mem_strdup(url);
	if (take_schema(db, err))
		return -1;
	db->lock = (int64_t)hash64(db->schema, strlen(db->schema));
	return 0;
}

/* --- Errors. --- */

static bool is_class(const char *state, const char *class)
{
	return strncmp(state, class, strlen(class)) == 0;
}

/* What SQLSTATEs mean to us; the first that fits. The empty one fits all. */
static const struct {
	const char *state; /* or its beginning */
	bool is_lost;      /* the connection goes with it */
	enum err_code code;
	const char *text, *hint;
} troubles[] = {
	{ "08", true, ERR_BUSY, "the connection to the database was lost", NULL },
	{ "57P", true, ERR_BUSY, "the database is stopping or starting", NULL },
	{ "25P03", true, ERR_BUSY, "the database gave up a transaction that stood still", NULL },
	{ "53300", true, ERR_BUSY, "the database has no connection free",
		"Raise max_connections of the server." },
	{ "40", false, ERR_BUSY, "another connection was in the way", NULL },
	{ "55P03", false, ERR_BUSY, "another daemon is writing", NULL },
	{ "57014", false, ERR_BUSY, "it took too long or was interrupted", NULL },
	{ "53100", false, ERR_STORE, "the disk of the database is full",
		"Free some space there; nothing is lost, it is tried again." },
	{ "28", false, ERR_STORE, "the database lets nobody in with this name and password",
		"Put the password into ~/.pgpass; see docs/postgresql.md." },
	{ "3D", false, ERR_STORE, "there is no such database",
		"Make it first; see docs/postgresql.md." },
	{ "42501", false, ERR_STORE, "the role may not do this",
		"See docs/postgresql.md for what it needs." },
	{ "25006", false, ERR_STORE, "the database takes no writes",
		"Point `store` to the primary server." },
	{ "", false, ERR_STORE, "the database refused", NULL },
};

/* Messages of libpq end with a line feed and may hold several lines; people get the first. */
static int first_line(const char *message)
{
	return (int)strcspn(message, "\n");
}

static void lose(struct postgres *db, bool was_in_transaction)
{
	if (was_in_transaction)
		db->is_lost = true;
	pthread_mutex_lock(&db->mutex);
	PQfreeCancel(db->cancel);
	db->cancel = NULL;
	pthread_mutex_unlock(&db->mutex);
	PQfinish(db->conn);
	db->conn = NULL;
}

int pg_fail(struct postgres *db, const PGresult *r, const char *what, struct err *err)
{
	const char *state = r ? PQresultErrorField(r, PG_DIAG_SQLSTATE) : NULL;
	const char *message = r ? PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY) : NULL;
	/* The server gives a state with each of its errors; libpq has none to say that it is gone. */
	bool is_down = PQstatus(db->conn) == CONNECTION_BAD || !state;
	size_t i = 0;

	if (!state)
		state = "08006";
	if (!message)
		message = PQerrorMessage(db->conn);
	while (!is_class(state, troubles[i].state))
		i++;
	err_set(err, troubles[i].code, "%s (%s on '%s': %.*s)", troubles[i].text, what, db->shown,
		first_line(message), message);
	if (troubles[i].hint)
		err_hint(err, "%s", troubles[i].hint);
	if (is_down || troubles[i].is_lost)
		lose(db, db->has_begun);
	return -1;
}

int pg_fail_at(struct postgres *db, const PGresult *r, const char *sql, struct err *err)
{
	char what[SQL_HEAD_MAX];
	int n = 0;

	/* Only the words of writes say anything to those who did not make the statement. */
	if (sscanf(sql, "INSERT INTO %*[a-z_.]%n", &n) < 0 || !n)
		if (sscanf(sql, "DELETE FROM %*[a-z_.]%n", &n) < 0 || !n)
			sscanf(sql, "UPDATE %*[a-z_.]%n", &n);
	snprintf(what, sizeof(what), "%.*s", n, sql);
	return pg_fail(db, r, n ? what : "reading", err);
}

/* --- Connecting. --- */

static void no_notice(void *ctx, const PGresult *r)
{
}

static int configure(struct postgres *db, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	const char *sql = arena_printf(&a, SETTINGS "SET search_path TO \"%s\"%s", db->schema,
		db->mode == DB_READ ? "; SET default_transaction_read_only = on" : "");
	PGresult *r = PQexec(db->conn, sql);
	int failed = PQresultStatus(r) == PGRES_COMMAND_OK ? 0 : pg_fail(db, r, "opening", err);

	PQclear(r);
	return failed;
}

static int no_link(struct postgres *db, struct err *err)
{
	const char *message = PQerrorMessage(db->conn);
	/* libpq tells no SQLSTATE here. What time does not mend is told apart from what it does. */
	static const char *const lasting[] = { "authentication failed", "no password supplied",
		"does not exist", "pg_hba.conf", "invalid connection option", "invalid URI",
		"could not translate host name", "certificate", "SSL" };
	enum err_code code = ERR_BUSY;

	for (size_t i = 0; i < ARRAY_LEN(lasting); i++)
		if (strstr(message, lasting[i]))
			code = ERR_STORE;
	err_set(err, code, "cannot reach the store '%s': %.*s", db->shown, first_line(message),
		message);
	return err_hint(
		err, code == ERR_BUSY
			     ? "It is tried again; what agents do meanwhile is kept in the spool."
			     : "Check `store`, the server and ~/.pgpass; see docs/postgresql.md.");
}

static int check_server(struct postgres *db, struct err *err)
{
	int version = PQserverVersion(db->conn);

	if (version >= PG_VERSION_MIN)
		return 0;
	return err_set(err, ERR_STORE, "'%s' is PostgreSQL %d; the store needs %d or later",
		db->shown, version / 10000, PG_VERSION_MIN / 10000);
}

static int link_up(struct postgres *db, struct err *err)
{
	/* Before the url, which may say otherwise. A server that vanished is noticed within half a minute. */
	const char *const names[] = { "application_name", "connect_timeout", "keepalives_idle",
		"keepalives_interval", "keepalives_count", "tcp_user_timeout", "dbname",
		"client_encoding", NULL };
	const char *const values[] = { "remanence", "5", "10", "5", "3", "25000", db->conninfo,
		"UTF8", NULL };

	db->conn = PQconnectdbParams(names, values, 1);
	if (!db->conn)
		die("out of memory");
	if (PQstatus(db->conn) != CONNECTION_OK) {
		no_link(db, err);
		lose(db, false);
		return -1;
	}
	db->link++;
	PQsetNoticeReceiver(db->conn, no_notice, NULL);
	pthread_mutex_lock(&db->mutex);
	db->cancel = PQgetCancel(db->conn);
	pthread_mutex_unlock(&db->mutex);
	if (check_server(db, err) || configure(db, err) || pg_identify_again(db, err)) {
		if (db->conn)
			lose(db, false);
		return -1;
	}
	return 0;
}

int pg_ready(struct postgres *db, struct err *err)
{
	if (db->is_lost)
		return err_set(err, ERR_BUSY,
			"the connection to '%s' was lost within a transaction", db->shown);
	if (db->conn)
		return 0;
	uint64_t now = clock_mono_us();
	if (now < db->retry_us)
		return err_set(err, ERR_BUSY, "'%s' did not answer a moment ago", db->shown);
	if (link_up(db, err)) {
		db->pause_us = MIN(MAX(db->pause_us * 2, PAUSE_MIN_US), PAUSE_MAX_US);
		db->retry_us = clock_mono_us() + db->pause_us;
		return -1;
	}
	db->pause_us = db->retry_us = 0;
	return 0;
}

int pg_open(const char *url, enum db_mode mode, struct db **ret, struct err *err)
{
	struct postgres *db = mem_alloc(sizeof(*db));

	db->base.ops = &postgres_ops;
	db->mode = mode;
	pthread_mutex_init(&db->mutex, NULL);
	if (take_url(db, url, err) || pg_ready(db, err)) {
		pg_close(&db->base);
		return -1;
	}
	*ret = &db->base;
	return 0;
}

void pg_close(struct db *base)
{
	struct postgres *db = postgres_of(base);

	lose(db, false);
	pg_forget_tables(db);
	pthread_mutex_destroy(&db->mutex);
	free(db->conninfo);
	free(db->schema);
	free(db->shown);
	free(db);
}

void pg_interrupt(struct db *base)
{
	struct postgres *db = postgres_of(base);
	char why[256];

	pthread_mutex_lock(&db->mutex);
	if (db->cancel)
		PQcancel(db->cancel, why, sizeof(why));
	pthread_mutex_unlock(&db->mutex);
}
