/*
 * The PostgreSQL driver: statements, rows and transactions. Statements are found again by the address of their text and are
 * prepared with the types of their arguments, which SQLite does not need: whatever the server would make of an argument from
 * what stands around it (?1 = 0) is not asked. Everything goes over in binary. Results are whole in memory when the first row
 * is read, so that statements may be nested as they are on SQLite.
 *
 * One transaction writes at a time, over all daemons of a store: db_begin takes an advisory lock that ends with the
 * transaction. What a transaction reads is therefore what it writes upon, and changes are numbered in the order in which
 * they become visible: whoever has seen number N will see none below N later.
 */
#include "store/postgres.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

#define SQL_WORD_MAX 64

/* --- Arguments. --- */

static void put_number(struct pg_args *w, int i, Oid type, uint64_t bits)
{
	w->types[i] = type;
	w->numbers[i] = htobe64(bits);
	w->values[i] = (const char *)&w->numbers[i];
	w->lengths[i] = sizeof(bits);
}

static void put_bytes(struct pg_args *w, int i, Oid type, struct str s)
{
	w->types[i] = type;
	w->values[i] = s.n ? s.p : "";
	w->lengths[i] = (int)s.n;
}

static void put_arg(struct pg_args *w, int i, const struct db_arg *a)
{
	uint64_t bits;

	w->types[i] = 0;
	w->values[i] = NULL;
	w->formats[i] = 1;
	switch (a->type) {
	case DB_NULL:
		break;
	case DB_INT:
		put_number(w, i, OID_INT8, (uint64_t)a->i);
		break;
	case DB_REAL:
		memcpy(&bits, &a->r, sizeof(bits));
		put_number(w, i, OID_FLOAT8, bits);
		break;
	case DB_TEXT:
		/* The server takes no other. */
		put_bytes(w, i, OID_TEXT, utf8_repair(&w->arena, (struct str){ a->p, a->n }));
		break;
	case DB_BLOB:
		put_bytes(w, i, OID_BYTEA, (struct str){ a->p, a->n });
		break;
	}
}

static void put_args(struct pg_args *w, const struct db_arg *args, size_t n)
{
	w->n = (int)n;
	for (int i = 0; i < w->n; i++)
		put_arg(w, i, &args[i]);
}

/* --- Statements. --- */

/* "?1" becomes "$1", and LIKE heeds no case, as on SQLite; but not within quotes. */
static void translate(const char *sql, struct buf *out)
{
	static const char like[] = " LIKE ";
	bool is_quoted = false;

	for (; *sql; sql++) {
		if (*sql == '\'')
			is_quoted = !is_quoted;
		if (!is_quoted && str_starts(sql, like)) {
			buf_str(out, " ILIKE");
			sql += sizeof(like) - 3;
			continue;
		}
		buf_char(out, *sql == '?' && !is_quoted ? '$' : *sql);
	}
}

static bool is_write(const char *sql)
{
	return str_starts(sql, "INSERT") || str_starts(sql, "UPDATE") || str_starts(sql, "DELETE");
}

void pg_forget_tables(struct postgres *db)
{
	for (size_t i = 0; i < db->ntables; i++)
		free(db->tables[i].name);
	free(db->tables);
	db->tables = NULL;
	db->ntables = 0;
}

static int load_tables(struct postgres *db, struct err *err)
{
	PGresult *r = PQexec(db->conn,
		"SELECT c.relname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid WHERE "
		"c.relnamespace = current_schema()::regnamespace AND a.attname = 'id' AND "
		"a.attidentity <> ''");

	if (PQresultStatus(r) != PGRES_TUPLES_OK) {
		pg_fail(db, r, "reading the schema", err);
		PQclear(r);
		return -1;
	}
	db->ntables = (size_t)PQntuples(r);
	db->tables = mem_alloc((db->ntables + 1) * sizeof(*db->tables));
	for (size_t i = 0; i < db->ntables; i++)
		db->tables[i].name = mem_strdup(PQgetvalue(r, (int)i, 0));
	PQclear(r);
	return 0;
}

/*
 * Is it an insert into a table that numbers its rows? Then the server gives the number back, or it is taken beforehand where
 * the statement surely makes one row and does not say the number itself.
 */
static int look_for_id(struct postgres *db, struct pg_statement *s, int nargs, struct err *err)
{
	char table[SQL_WORD_MAX], column[SQL_WORD_MAX] = "";

	s->gives_id = false;
	s->takes_id = 0;
	if (sscanf(s->sql, "INSERT INTO %63[a-z_] (%63[a-z_]", table, column) < 1)
		return 0;
	if (!db->tables && load_tables(db, err))
		return -1;
	for (size_t i = 0; i < db->ntables; i++) {
		if (strcmp(db->tables[i].name, table) != 0)
			continue;
		bool is_plain = *column && strcmp(column, "id") != 0 && nargs < DB_VALUES_MAX &&
				strstr(s->sql, ") VALUES (") && !strstr(s->sql, " ON CONFLICT");
		s->takes_id = is_plain ? i + 1 : 0;
		s->gives_id = !is_plain;
	}
	return 0;
}

static struct pg_statement *find_slot(struct postgres *db, const char *sql)
{
	size_t at = ((uintptr_t)sql >> 3) * 0x9e3779b97f4a7c15u >> 32;

	for (size_t i = 0; i < PG_STATEMENTS_MAX; i++) {
		struct pg_statement *s = &db->statements[(at + i) % PG_STATEMENTS_MAX];
		if (!s->sql || s->sql == sql)
			return s;
	}
	return NULL;
}

/* Do the arguments fit what was prepared? Those that were NULL so far teach their types. */
static bool fits(struct pg_statement *s, const struct pg_args *w)
{
	bool is_same = true;

	for (int i = 0; i < w->n; i++) {
		if (!w->types[i] || w->types[i] == s->types[i])
			continue;
		s->types[i] = w->types[i];
		is_same = false;
	}
	return is_same;
}

static void statement_name(char name[24], unsigned number)
{
	snprintf(name, 24, "s%u", number);
}

/* "INSERT INTO t (a, …) VALUES (?1, …)" becomes "INSERT INTO t (id, a, …) VALUES ($9, $1, …)". */
static void translate_insert(const struct pg_statement *s, int nargs, struct buf *out)
{
	AUTO(buf_done) struct buf text = { 0 };
	static const char values[] = ") VALUES (";

	translate(s->sql, &text);
	const char *columns = strchr(buf_cstr(&text), '(') + 1, *at = strstr(columns, values);
	at += strlen(values);
	buf_add(out, text.data, (size_t)(columns - text.data));
	buf_printf(out, "id, %.*s$%d, %s", (int)(at - columns), columns, nargs + 1, at);
}

static void drop_statement(struct postgres *db, const struct pg_statement *s)
{
	char sql[48];

	snprintf(sql, sizeof(sql), "DEALLOCATE s%u", s->number);
	PQclear(PQexec(db->conn, sql));
}

static int prepare(
	struct postgres *db, struct pg_statement *s, const struct pg_args *w, struct err *err)
{
	AUTO(buf_done) struct buf text = { 0 };
	char name[24];

	if (pg_pipe_settle(db, err))
		return -1;
	if (s->number && s->link == db->link)
		drop_statement(db, s);
	s->number = 0;
	if (look_for_id(db, s, w->n, err))
		return -1;
	int n = w->n;
	if (s->takes_id) {
		translate_insert(s, n, &text);
		s->types[n++] = OID_INT8;
	} else {
		translate(s->sql, &text);
	}
	if (s->gives_id)
		buf_str(&text, " RETURNING id");
	statement_name(name, ++db->numbers);
	PGresult *r = PQprepare(db->conn, name, buf_cstr(&text), n, s->types);
	if (PQresultStatus(r) != PGRES_COMMAND_OK) {
		pg_fail(db, r, "preparing", err);
		PQclear(r);
		return -1;
	}
	PQclear(r);
	s->number = db->numbers;
	s->link = db->link;
	return 0;
}

/* --- Running. --- */

void pg_heed(struct postgres *db, PGresult *r, const struct pg_sent *sent)
{
	int n = PQntuples(r);
	uint64_t bits;

	db->changed = atoll(PQcmdTuples(r));
	if (sent->id)
		db->last_id = sent->id;
	if (!sent->gives_id || !n)
		return;
	memcpy(&bits, PQgetvalue(r, n - 1, 0), sizeof(bits));
	db->last_id = (int64_t)be64toh(bits);
}

/* A statement, its arguments, and whether its end may wait. */
struct order {
	struct pg_statement *s; /* NULL: not kept */
	struct pg_sent sent;
	struct pg_args args;
	bool may_wait;
};

static void order_done(struct order *o)
{
	arena_done(&o->args.arena);
}

static int make_ready(struct postgres *db, struct order *o, struct err *err)
{
	struct pg_statement *s = o->s;
	bool is_there = fits(s, &o->args) && s->number && s->link == db->link;

	if (!is_there && prepare(db, s, &o->args, err))
		return -1;
	statement_name(o->sent.name, s->number);
	o->sent.gives_id = s->gives_id;
	if (!s->takes_id)
		return 0;
	if (pg_id_take(db, &db->tables[s->takes_id - 1], &o->sent.id, err))
		return -1;
	o->args.formats[o->args.n] = 1;
	put_number(&o->args, o->args.n++, OID_INT8, (uint64_t)o->sent.id);
	return 0;
}

/* Waits for the result. What was sent before is waited for in the same round trip. NULL with an error set. */
static PGresult *run_kept(struct postgres *db, struct order *o, struct err *err)
{
	struct pg_args *w = &o->args;
	const char *name = o->sent.name;

	if (!db->pipe.n)
		return PQexecPrepared(db->conn, name, w->n, w->values, w->lengths, w->formats, 1);
	if (PQsendQueryPrepared(db->conn, name, w->n, w->values, w->lengths, w->formats, 1))
		return pg_pipe_last(db, err);
	pg_fail_at(db, NULL, o->sent.sql, err);
	return NULL;
}

static PGresult *run_once(struct postgres *db, struct order *o, struct err *err)
{
	AUTO(buf_done) struct buf text = { 0 };
	struct pg_args *w = &o->args;

	if (pg_pipe_settle(db, err))
		return NULL;
	translate(o->sent.sql, &text);
	return PQexecParams(
		db->conn, buf_cstr(&text), w->n, w->types, w->values, w->lengths, w->formats, 1);
}

static int attempt(struct postgres *db, struct order *o, PGresult **ret, struct err *err)
{
	*ret = NULL;
	if (pg_ready(db, err) || (db->pipe.has_failed && pg_pipe_settle(db, err)) ||
		(o->s && make_ready(db, o, err)))
		return -1;
	if (o->may_wait) {
		db->last_id = o->sent.id ? o->sent.id : db->last_id;
		return pg_pipe_send(db, &o->sent, &o->args, err);
	}
	PGresult *r = o->s ? run_kept(db, o, err) : run_once(db, o, err);
	if (!r)
		return -1;
	if (!pg_is_good(r)) {
		pg_fail_at(db, r, o->sent.sql, err);
		PQclear(r);
		return -1;
	}
	pg_heed(db, r, &o->sent);
	*ret = r;
	return 0;
}

static int run(struct postgres *db, struct order *o, PGresult **ret, struct err *err)
{
	bool had_link = db->conn && !db->has_begun;

	if (!attempt(db, o, ret, err))
		return 0;
	/* A server that was restarted in between is noticed only now; nothing was done yet. */
	if (!had_link || db->conn || is_write(o->sent.sql))
		return -1;
	return attempt(db, o, ret, err);
}

/* A savepoint is sent with what follows it; what came before is known to be well. */
static bool may_wait(const struct postgres *db, const struct order *o)
{
	return db->has_begun && o->s &&
	       (is_write(o->sent.sql) || (str_starts(o->sent.sql, "SAVEPOINT") && !db->pipe.n));
}

static int pg_query(struct db *base, const char *sql, bool is_kept, const struct db_arg *args,
	size_t n, struct db_rows **ret, struct err *err)
{
	struct postgres *db = postgres_of(base);
	AUTO(order_done) struct order o = { .sent.sql = sql };
	PGresult *result;

	if (n > DB_VALUES_MAX)
		return err_set(err, ERR_INTERNAL, "a statement with %zu arguments", n);
	put_args(&o.args, args, n);
	o.s = is_kept ? find_slot(db, sql) : NULL;
	if (o.s)
		o.s->sql = sql;
	if (str_starts(sql, "ROLLBACK"))
		pg_pipe_forget(db);
	o.may_wait = may_wait(db, &o);
	bool is_alone = is_write(sql) && !db->has_begun;
	if (is_alone && pg_begin(base, err))
		return -1;
	db->has_written |= is_write(sql);
	if (run(db, &o, &result, err)) {
		if (is_alone)
			pg_rollback(base);
		return -1;
	}
	int64_t changed = db->changed;
	if (is_alone && pg_commit(base, err)) {
		pg_rollback(base);
		PQclear(result);
		return -1;
	}
	db->changed = changed;
	struct pg_rows *r = mem_alloc(sizeof(*r));
	*r = (struct pg_rows){ .base.ops = &postgres_ops, .result = result, .at = -1 };
	r->n = is_write(sql) || !result ? 0 : PQntuples(result);
	*ret = &r->base;
	return 0;
}

int pg_simple(struct postgres *db, const char *sql, PGresult **ret, struct err *err)
{
	if (pg_ready(db, err) || pg_pipe_settle(db, err))
		return -1;
	PGresult *r = PQexec(db->conn, sql);
	if (!pg_is_good(r)) {
		pg_fail(db, r, "asking", err);
		PQclear(r);
		return -1;
	}
	if (ret)
		*ret = r;
	else
		PQclear(r);
	return 0;
}

/* --- Rows. --- */

/* Each row of a stream is a result of its own, and so is the end. */
static int stream_next(struct pg_rows *r, struct err *err)
{
	PQclear(r->result);
	r->result = PQgetResult(r->stream->conn);
	r->at = 0;
	if (PQresultStatus(r->result) == PGRES_SINGLE_TUPLE)
		return 1;
	if (PQresultStatus(r->result) == PGRES_TUPLES_OK)
		return 0;
	return pg_fail(r->stream, r->result, "reading", err);
}

static int pg_next(struct db_rows *base, struct err *err)
{
	struct pg_rows *r = rows_of(base);

	if (r->stream)
		return stream_next(r, err);
	while (++r->at >= r->n && r->begun < r->nall) {
		r->result = r->all[r->begun++];
		r->n = PQntuples(r->result);
		r->at = -1;
	}
	return r->at < r->n;
}

static void each_clear(struct pg_rows *r)
{
	for (size_t i = 0; i < r->nall; i++) {
		PQclear(r->all[i]);
		r->all[i] = NULL;
	}
}

static void pg_end(struct db_rows *base)
{
	struct pg_rows *r = rows_of(base);
	PGresult *rest;

	if (!r->all)
		PQclear(r->result);
	each_clear(r);
	free(r->all);
	while (r->stream && r->stream->conn && (rest = PQgetResult(r->stream->conn)))
		PQclear(rest);
	free(base);
}

static int pg_stream(struct db *base, const char *sql, struct db_rows **ret, struct err *err)
{
	struct postgres *db = postgres_of(base);

	if (pg_ready(db, err) || pg_pipe_settle(db, err))
		return -1;
	if (!PQsendQueryParams(db->conn, sql, 0, NULL, NULL, NULL, NULL, 1) ||
		!PQsetSingleRowMode(db->conn))
		return pg_fail(db, NULL, "reading", err);
	struct pg_rows *r = mem_alloc(sizeof(*r));
	*r = (struct pg_rows){ .base.ops = &postgres_ops, .stream = db };
	*ret = &r->base;
	return 0;
}

static int pg_columns(struct db_rows *r)
{
	return PQnfields(rows_of(r)->result);
}

static const char *pg_column(struct db_rows *r, int col, bool *ret_is_blob)
{
	*ret_is_blob = PQftype(rows_of(r)->result, col) == OID_BYTEA;
	return PQfname(rows_of(r)->result, col);
}

static int each_attempt(struct postgres *db, const char *sql, const int64_t *ids, size_t n,
	PGresult **ret, struct err *err)
{
	AUTO(order_done) struct order o = { .sent.sql = sql, .s = find_slot(db, sql) };

	put_args(&o.args, DB_ARGS(db_i(0)));
	if (pg_ready(db, err) || pg_pipe_settle(db, err))
		return -1;
	o.s->sql = sql;
	return make_ready(db, &o, err) ? -1 : pg_pipe_each(db, &o.sent, ids, n, ret, err);
}

static int pg_query_each(struct db *base, const char *sql, const int64_t *ids, size_t n,
	struct db_rows **ret, struct err *err)
{
	struct postgres *db = postgres_of(base);
	bool had_link = db->conn && !db->has_begun;

	if (!find_slot(db, sql)) /* too many are kept */
		return db_each_slowly(base, sql, ids, n, ret, err);
	struct pg_rows *r = mem_alloc(sizeof(*r));

	*r = (struct pg_rows){ .base.ops = &postgres_ops,
		.all = mem_alloc((n + 1) * sizeof(PGresult *)),
		.nall = n,
		.at = -1 };
	int failed = each_attempt(db, sql, ids, n, r->all, err);
	if (failed && had_link && !db->conn) {
		each_clear(r);
		failed = each_attempt(db, sql, ids, n, r->all, err);
	}
	if (!failed)
		*ret = &r->base;
	else
		pg_end(&r->base);
	return failed;
}

/* --- Transactions. --- */

int pg_begin(struct db *base, struct err *err)
{
	struct postgres *db = postgres_of(base);
	char sql[96];

	if (db->has_begun)
		return err_set(err, ERR_STORE, "a transaction within a transaction");
	snprintf(
		sql, sizeof(sql), "BEGIN; SELECT pg_advisory_xact_lock(%lld)", (long long)db->lock);
	int failed = pg_simple(db, sql, NULL, err);
	/* The connection may be one that the server had closed long ago. */
	if (failed && !db->conn && !db->is_lost)
		failed = pg_simple(db, sql, NULL, err);
	if (failed && db->conn)
		PQclear(PQexec(db->conn, "ROLLBACK"));
	db->has_begun = !failed;
	db->has_written = false;
	pg_ids_drop(db);
	return failed;
}

int pg_commit(struct db *base, struct err *err)
{
	struct postgres *db = postgres_of(base);
	char sql[PG_NAME_MAX + 32];
	PGresult *r;

	snprintf(sql, sizeof(sql), "NOTIFY \"%s\"; COMMIT", db->schema);
	if (pg_simple(db, db->has_written ? sql : "COMMIT", &r, err))
		return -1;
	bool is_stored = strcmp(PQcmdStatus(r), "COMMIT") == 0;
	PQclear(r);
	db->has_begun = false;
	return is_stored ? 0 : err_set(err, ERR_STORE, "a transaction that had failed was undone");
}

void pg_rollback(struct db *base)
{
	struct postgres *db = postgres_of(base);

	pg_pipe_forget(db);
	if (db->has_begun && db->conn)
		PQclear(PQexec(db->conn, "ROLLBACK"));
	db->has_begun = db->is_lost = false;
	pg_ids_drop(db);
}

static bool pg_is_in_transaction(struct db *base)
{
	struct postgres *db = postgres_of(base);

	/* Also one that only reads, which began as a statement. */
	return db->conn && PQtransactionStatus(db->conn) != PQTRANS_IDLE;
}

static int pg_script(struct db *base, const char *sql, struct err *err)
{
	pg_forget_tables(postgres_of(base));
	return pg_simple(postgres_of(base), sql, NULL, err);
}

static int64_t pg_last_id(struct db *base)
{
	struct postgres *db = postgres_of(base);

	/* A failure is told by whatever is asked next. */
	if (db->pipe.is_id_late)
		pg_pipe_settle(db, NULL);
	return db->last_id;
}

static int64_t pg_changes(struct db *base)
{
	struct postgres *db = postgres_of(base);

	return pg_pipe_settle(db, NULL) ? 0 : db->changed;
}

/* Texts are sorted by their bytes, as the programs do it. */
/* clang-format off */
static const char *const spelling[] = {
	"{key}", "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY",
	"{number}", "BIGINT PRIMARY KEY",
	"{blob}", "BYTEA",
	"{real}", "DOUBLE PRECISION",
	"{clustered}", "",
	" TEXT", " TEXT COLLATE \"C\"",
	NULL,
};
/* clang-format on */

const struct db_ops postgres_ops = {
	.scheme = "postgres:",
	.open = pg_open,
	.close = pg_close,
	.query = pg_query,
	.query_each = pg_query_each,
	.next = pg_next,
	.end = pg_end,
	.is_null = pg_is_null,
	.kind = pg_kind,
	.integer = pg_int,
	.real = pg_real,
	.text = pg_text,
	.blob = pg_blob,
	.script = pg_script,
	.last_id = pg_last_id,
	.changes = pg_changes,
	.begin = pg_begin,
	.commit = pg_commit,
	.rollback = pg_rollback,
	.is_in_transaction = pg_is_in_transaction,
	.interrupt = pg_interrupt,
	.version = pg_version,
	.set_version = pg_set_version,
	.backup = pg_backup,
	.check = pg_check,
	.checkpoint = pg_checkpoint,
	.scrub = pg_scrub,
	.compact = pg_compact,
	.bytes = pg_bytes,
	.bytes_used = pg_bytes,
	.wait = pg_wait,
	.identify = pg_identify,
	.as_login = pg_as_login,
	.everyone = pg_everyone,
	.everyone_end = pg_everyone_end,
	.is_shared = true,
	.snapshot = pg_snapshot,
	.tables_sql = "SELECT relname::text FROM pg_class WHERE relkind = 'r' AND relnamespace = "
		      "current_schema()::regnamespace ORDER BY oid",
	.stream = pg_stream,
	.columns = pg_columns,
	.column = pg_column,
	.number = pg_number,
	.spelling = spelling,
};
