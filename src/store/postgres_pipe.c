/*
 * Writes whose results nobody has asked for yet. They are sent at once and nobody waits for them, so that a transaction takes
 * as many round trips as it reads, not as many as it has statements. The server works them off in order and skips what follows
 * a failure: what comes out is what would have come out one by one, only the failure is told later, and so it names its
 * statement. Nothing of it outlives a transaction, and nothing is sent ahead of a savepoint's end.
 *
 * Numbers of rows are asked for by the block, twice as many each time, since an insert whose number its caller needs would
 * have to be waited for. A block ends with its transaction: later numbers belong to later transactions (postgres.c).
 */
#include "store/postgres.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

/* --- Sending. --- */

int pg_pipe_send(
	struct postgres *db, const struct pg_sent *sent, const struct pg_args *w, struct err *err)
{
	struct pg_pipe *p = &db->pipe;

	if ((p->n == PG_PIPE_MAX || p->bytes >= PG_PIPE_BYTES) && pg_pipe_settle(db, err))
		return -1;
	if ((!p->n && !PQenterPipelineMode(db->conn)) ||
		!PQsendQueryPrepared(
			db->conn, sent->name, w->n, w->values, w->lengths, w->formats, 1))
		return pg_fail_at(db, NULL, sent->sql, err);
	p->sent[p->n++] = *sent;
	for (int i = 0; i < w->n; i++)
		p->bytes += (size_t)w->lengths[i];
	if (sent->gives_id || sent->id)
		p->is_id_late = sent->gives_id;
	return 0;
}

/* --- Waiting. --- */

/* The first failure is why all that follows was skipped. */
static void note(struct postgres *db, const struct pg_sent *sent, PGresult *r)
{
	struct pg_pipe *p = &db->pipe;

	if (pg_is_good(r)) {
		pg_heed(db, r, sent);
	} else if (!p->has_failed) {
		p->has_failed = true;
		p->late = (struct err){ 0 };
		pg_fail_at(db, r, sent->sql, &p->late);
	}
}

/* Each result is followed by a NULL. False when the connection is gone. */
static bool take(struct postgres *db, PGresult **ret)
{
	*ret = db->conn ? PQgetResult(db->conn) : NULL;
	PGresult *rest = *ret && db->conn ? PQgetResult(db->conn) : NULL;

	PQclear(rest);
	return *ret != NULL;
}

static int late(struct postgres *db, struct err *err)
{
	if (db->pipe.has_failed && err)
		*err = db->pipe.late;
	return db->pipe.has_failed ? -1 : 0;
}

static void leave(struct postgres *db)
{
	PGresult *end = db->conn ? PQgetResult(db->conn) : NULL;
	bool is_over = PQresultStatus(end) == PGRES_PIPELINE_SYNC;

	PQclear(end);
	if (db->conn && (!is_over || !PQexitPipelineMode(db->conn)) && !db->pipe.has_failed) {
		db->pipe.has_failed = true;
		db->pipe.late = (struct err){ 0 };
		pg_fail(db, NULL, "waiting", &db->pipe.late);
	}
}

/* `ret_last`: what was sent behind the writes; NULL when nothing was. */
static int collect(struct postgres *db, PGresult **ret_last, struct err *err)
{
	struct pg_pipe *p = &db->pipe;
	size_t n = p->n;
	PGresult *r;

	p->n = p->bytes = 0;
	p->is_id_late = false;
	if (!PQpipelineSync(db->conn))
		note(db, &p->sent[0], NULL);
	for (size_t i = 0; i < n && db->conn; i++) {
		take(db, &r);
		note(db, &p->sent[i], r);
		PQclear(r);
	}
	if (ret_last)
		take(db, ret_last);
	leave(db);
	if (!p->has_failed)
		return 0;
	if (ret_last)
		PQclear(*ret_last);
	return late(db, err);
}

int pg_pipe_settle(struct postgres *db, struct err *err)
{
	return db->pipe.n && db->conn ? collect(db, NULL, err) : late(db, err);
}

PGresult *pg_pipe_last(struct postgres *db, struct err *err)
{
	PGresult *r;

	return collect(db, &r, err) ? NULL : r;
}

void pg_pipe_forget(struct postgres *db)
{
	if (db->pipe.n)
		pg_pipe_settle(db, NULL);
	db->pipe.n = db->pipe.bytes = 0;
	db->pipe.has_failed = db->pipe.is_id_late = false;
}

/* --- One question about many rows. --- */

static int send_each(struct postgres *db, const struct pg_sent *sent, const int64_t *ids, size_t n,
	struct err *err)
{
	static const int length = sizeof(uint64_t), format = 1;

	if (!PQenterPipelineMode(db->conn))
		return pg_fail_at(db, NULL, sent->sql, err);
	for (size_t i = 0; i < n; i++) {
		uint64_t bits = htobe64((uint64_t)ids[i]);
		const char *value = (const char *)&bits;
		if (!PQsendQueryPrepared(db->conn, sent->name, 1, &value, &length, &format, 1))
			return pg_fail_at(db, NULL, sent->sql, err);
	}
	return PQpipelineSync(db->conn) ? 0 : pg_fail_at(db, NULL, sent->sql, err);
}

/* So many that what is sent never waits for what comes back to be read. */
static int each_of(struct postgres *db, const struct pg_sent *sent, const int64_t *ids, size_t n,
	PGresult **ret, struct err *err)
{
	int failed = send_each(db, sent, ids, n, err);

	for (size_t i = 0; i < n && db->conn; i++) {
		take(db, &ret[i]);
		if (!failed && !pg_is_good(ret[i]))
			failed = pg_fail_at(db, ret[i], sent->sql, err);
	}
	PGresult *end = db->conn ? PQgetResult(db->conn) : NULL;
	PQclear(end);
	if (db->conn && !PQexitPipelineMode(db->conn))
		return failed ? -1 : pg_fail_at(db, NULL, sent->sql, err);
	return failed;
}

int pg_pipe_each(struct postgres *db, const struct pg_sent *sent, const int64_t *ids, size_t n,
	PGresult **ret, struct err *err)
{
	int failed = 0;

	for (size_t i = 0; i < n && !failed; i += PG_PIPE_MAX)
		failed = each_of(db, sent, ids + i, MIN(n - i, PG_PIPE_MAX), ret + i, err);
	return failed;
}

/* --- Numbers. --- */

static int more_ids(struct postgres *db, struct pg_table *t, struct err *err)
{
	static const char sql[] = "SELECT nextval(pg_get_serial_sequence(quote_ident(?1), 'id')) "
				  "FROM generate_series(1, ?2)";
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	size_t want = t->n ? MIN(t->n * 2, ARRAY_LEN(t->ids)) : 1;
	int rc;

	t->n = t->at = 0;
	if (db_query(&db->base, sql, DB_ARGS(db_t(t->name), db_i((int64_t)want)), &r, err))
		return -1;
	while ((rc = db_next(r, err)) > 0 && t->n < want)
		t->ids[t->n++] = db_int(r, 0);
	return rc < 0 ? -1 : 0;
}

int pg_id_take(struct postgres *db, struct pg_table *t, int64_t *ret, struct err *err)
{
	if (t->at == t->n && more_ids(db, t, err))
		return -1;
	if (t->at == t->n)
		return err_set(err, ERR_STORE, "table '%s' gives no numbers", t->name);
	*ret = t->ids[t->at++];
	return 0;
}

void pg_ids_drop(struct postgres *db)
{
	for (size_t i = 0; i < db->ntables; i++)
		db->tables[i].n = db->tables[i].at = 0;
}
