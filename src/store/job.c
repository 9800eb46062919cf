/* Jobs: what waits for a model, who has it, and how it ended. */
#include "store/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/fact.h"
#include "store/query_ids.h"
#include "store/room.h"
#include "text/hash.h"

#define JOB_COLUMNS                                                                       \
	"j.id, j.kind, j.job_key, j.turn, j.session, j.project, j.at, j.input, j.state, " \
	"j.attempts, j.run_after, j.leased_until, j.last_error, j.bytes"

void job_key_turn(int64_t turn, int part, char out[JOB_KEY_MAX])
{
	snprintf(out, JOB_KEY_MAX, "t%lld.%d", (long long)turn, part);
}

void job_key_session(int64_t session, char out[JOB_KEY_MAX])
{
	snprintf(out, JOB_KEY_MAX, "s%lld", (long long)session);
}

int job_part(const struct job *job)
{
	const char *dot = strchr(job->key, '.');

	return dot ? atoi(dot + 1) : 0;
}

static void read_job(struct arena *a, struct db_rows *r, struct job *ret)
{
	*ret = (struct job){ .id = db_int(r, 0),
		.kind = (enum job_kind)db_int(r, 1),
		.key = row_str(a, r, 2),
		.turn = db_int(r, 3),
		.session = db_int(r, 4),
		.project = db_int(r, 5),
		.at = db_int(r, 6),
		.input = (uint64_t)db_int(r, 7),
		.state = (enum job_state)db_int(r, 8),
		.attempts = db_int(r, 9),
		.run_after = db_int(r, 10),
		.leased_until = db_int(r, 11),
		.last_error = row_str(a, r, 12),
		.bytes = db_int(r, 13) };
}

static int read_jobs(
	struct arena *a, struct db_rows *r, struct job **ret, size_t *ret_n, struct err *err)
{
	struct job *list = NULL;
	size_t n = 0, cap = 0;
	int rc;

	while ((rc = db_next(r, err)) > 0) {
		struct job j;
		read_job(a, r, &j);
		ARENA_PUSH(a, list, n, cap, j);
	}
	*ret = list;
	*ret_n = n;
	return rc;
}

/* ---- putting ---- */

static int insert_job(struct store *s, struct job *j, struct err *err)
{
	static const char insert[] =
		"INSERT INTO job (kind, job_key, turn, session, project, at, input, bytes, state, "
		"attempts, run_after, leased_until) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 0, "
		"?10, 0)";

	if (db_run(s->db, insert,
		    DB_ARGS(db_i(j->kind), db_t(j->key), db_id(j->turn), db_id(j->session),
			    db_id(j->project), db_i(j->at), db_i((int64_t)j->input), db_i(j->bytes),
			    db_i(j->state), db_i(j->run_after)),
		    err))
		return -1;
	j->id = db_last_id(s->db);
	return 0;
}

static int change_job(struct store *s, const struct job *j, struct err *err)
{
	static const char change[] =
		"UPDATE job SET at = ?2, input = ?3, bytes = ?4, state = ?5, run_after = ?6, "
		"project = "
		"?7, attempts = 0, leased_until = 0, last_error = NULL WHERE id = ?1";

	return db_run(s->db, change,
		DB_ARGS(db_i(j->id), db_i(j->at), db_i((int64_t)j->input), db_i(j->bytes),
			db_i(j->state), db_i(j->run_after), db_id(j->project)),
		err);
}

/* *ret_is_changed: its input is another than before; not when it is new. */
static int put(
	struct store *s, struct job *j, bool *ret_is_new, bool *ret_is_changed, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	struct job old;
	int rc = store_row(s,
		"SELECT " JOB_COLUMNS " FROM job j WHERE j.job_key = ?1 AND j.kind = ?2",
		DB_ARGS(db_t(j->key), db_i(j->kind)), &r, err);

	*ret_is_new = *ret_is_changed = false;
	if (rc < 0)
		return -1;
	if (rc == 0) {
		*ret_is_new = j->state == JOB_STATE_WAITING;
		return insert_job(s, j, err);
	}
	read_job(&a, r, &old);
	db_end(r);
	r = NULL;
	j->id = old.id;
	if (old.input == j->input)
		return 0;
	*ret_is_changed = true;
	*ret_is_new = j->state == JOB_STATE_WAITING && old.state != JOB_STATE_WAITING;
	return change_job(s, j, err);
}

int store_job_put(struct store *s, struct job *job, bool *ret_is_new, struct err *err)
{
	bool is_changed;

	return put(s, job, ret_is_new, &is_changed, err);
}

/* What a model made of a part that is no longer as it was. */
static int drop_made(struct store *s, const struct turn *t, int part, struct err *err)
{
	return store_model_memories(s, t, part, NULL, 0, err) ||
			       store_model_candidates(s, t, part, NULL, 0, err)
		       ? -1
		       : 0;
}

/* Parts that there are no longer, with what was made of them. */
static int drop_parts(struct store *s, const struct turn *t, size_t n, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	struct job *jobs;
	size_t njobs;

	if (db_query(s->db, "SELECT " JOB_COLUMNS " FROM job j WHERE j.turn = ?1 AND j.kind = ?2",
		    DB_ARGS(db_i(t->id), db_i(JOB_OBSERVE)), &r, err) ||
		read_jobs(&a, r, &jobs, &njobs, err))
		return -1;
	for (size_t i = 0; i < njobs; i++) {
		int part = job_part(&jobs[i]);
		if ((size_t)part < n)
			continue;
		if (store_job_drop(s, jobs[i].id, err) || drop_made(s, t, part, err))
			return -1;
	}
	return 0;
}

int store_turn_jobs(struct store *s, const struct turn *t, struct job *jobs, size_t n,
	bool *ret_is_new, struct err *err)
{
	*ret_is_new = false;
	for (size_t i = 0; i < n; i++) {
		bool is_new, is_changed;
		if (put(s, &jobs[i], &is_new, &is_changed, err) ||
			(is_changed && drop_made(s, t, (int)i, err)))
			return -1;
		*ret_is_new = *ret_is_new || is_new;
	}
	return drop_parts(s, t, n, err);
}

/* ---- leases ---- */

static int next_job(struct store *s, struct arena *a, const struct job_lease *l, struct job *ret,
	struct err *err)
{
	/*
	 * A turn that will be looked at again is not sent before. A session that ended need not wait
	 * until it is quiet.
	 */
	static const char next[] =
		"SELECT " JOB_COLUMNS " FROM job j WHERE j.kind = ?1 AND j.state = 0 AND "
		"(j.run_after <= ?2 OR (j.kind = 2 "
		"AND j.attempts = 0 AND j.last_error IS NULL AND EXISTS (SELECT 1 FROM session s "
		"WHERE "
		"s.id = j.session AND s.ended_at > 0 AND s.ended_at >= s.last_event_at))) AND (?3 "
		"= 0 OR "
		"j.project = ?3) AND (?4 = 0 OR j.attempts = 0) AND NOT EXISTS (SELECT 1 FROM turn "
		"t "
		"WHERE t.id = j.turn AND t.is_dirty = 1 AND t.is_stopped = 1) ORDER BY j.at DESC, "
		"j.id "
		"LIMIT 1";
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	_Static_assert(JOB_STATE_WAITING == 0 && JOB_STATE_RUNNING == 1 && JOB_SUMMARY == 2 &&
			       JOB_CANARY == 3,
		"in statements");
	int rc = store_row(s, next,
		DB_ARGS(db_i(l->kind), db_i(l->now), db_i(l->project), db_i(l->is_fresh)), &r, err);

	if (rc > 0)
		read_job(a, r, ret);
	return rc < 0 ? -1 : 0;
}

int store_job_lease(struct store *s, struct arena *a, const struct job_lease *l, struct job *ret,
	struct err *err)
{
	static const char expire[] =
		"UPDATE job SET state = 0, leased_until = 0 WHERE kind = ?1 AND state = 1 AND "
		"leased_until <= ?2";

	*ret = (struct job){ 0 };
	if (db_run(s->db, expire, DB_ARGS(db_i(l->kind), db_i(l->now)), err) ||
		next_job(s, a, l, ret, err))
		return -1;
	if (!ret->id)
		return 0;
	ret->state = JOB_STATE_RUNNING;
	ret->leased_until = l->until;
	return db_run(s->db, "UPDATE job SET state = 1, leased_until = ?2 WHERE id = ?1",
		DB_ARGS(db_i(ret->id), db_i(l->until)), err);
}

int store_job_end(struct store *s, const struct job_end *e, bool *ret_is_held, struct err *err)
{
	static const char end[] =
		"UPDATE job SET state = ?2, run_after = ?3, last_error = ?4, attempts = attempts + "
		"?5, "
		"leased_until = 0 WHERE id = ?1 AND state = 1 AND leased_until = ?6 AND input = ?7";
	const struct job *j = e->job;

	*ret_is_held = false;
	if (db_run(s->db, end,
		    DB_ARGS(db_i(j->id), db_i(e->state), db_i(e->run_after), db_t(e->error),
			    db_i(e->is_attempt), db_i(j->leased_until), db_i((int64_t)j->input)),
		    err))
		return -1;
	*ret_is_held = db_changes(s->db) > 0;
	return 0;
}

int store_jobs_release(struct store *s, int64_t now, struct err *err)
{
	if (db_run(s->db, "UPDATE job SET state = 0, leased_until = 0 WHERE state = 1", NULL, 0,
		    err))
		return -1;
	return db_run(s->db,
		"UPDATE model_call SET outcome = ?1, detail = ?2 WHERE outcome = ?3 AND at <= ?4",
		DB_ARGS(db_i(CALL_ABORTED), db_t("the daemon ended while it was under way"),
			db_i(CALL_NONE), db_i(now)),
		err);
}

/* ---- looking ---- */

int store_job_list(struct store *s, struct arena *a, const struct job_query *q, struct job **ret,
	size_t *ret_n, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;

	if (db_query(s->db,
		    "SELECT " JOB_COLUMNS
		    " FROM job j WHERE (j.kind = ?1 OR (?1 < 0 AND j.kind <> 3)) AND (?2 < 0 OR "
		    "j.state = ?2) AND (?3 = 0 OR j.id < ?3) AND (?4 = 0 OR j.project = ?4) AND "
		    "(?5 "
		    "= 0 OR j.state <> 2) ORDER BY j.id DESC LIMIT ?6",
		    DB_ARGS(db_i(q->kind), db_i(q->state), db_i(q->below), db_i(q->project),
			    db_i(q->is_open), db_i((int64_t)q->max)),
		    &r, err))
		return -1;
	return read_jobs(a, r, ret, ret_n, err);
}

int store_job_get(struct store *s, struct arena *a, int64_t id, struct job *ret, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	int rc = store_row(
		s, "SELECT " JOB_COLUMNS " FROM job j WHERE j.id = ?1", DB_ARGS(db_i(id)), &r, err);

	if (rc < 0)
		return -1;
	if (rc == 0)
		return err_set(err, ERR_NOT_FOUND, "there is no job %lld", (long long)id);
	read_job(a, r, ret);
	return 0;
}

int store_job_counts(
	struct store *s, enum job_kind kind, int64_t ret[JOB_STATE_COUNT], struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	int rc;

	memset(ret, 0, sizeof(*ret) * JOB_STATE_COUNT);
	if (db_query(s->db,
		    "SELECT state, count(*) FROM job WHERE kind = ?1 OR (?1 = 0 AND kind <> 3) "
		    "GROUP BY "
		    "state",
		    DB_ARGS(db_i(kind)), &r, err))
		return -1;
	while ((rc = db_next(r, err)) > 0)
		if (db_int(r, 0) >= 0 && db_int(r, 0) < JOB_STATE_COUNT)
			ret[db_int(r, 0)] = db_int(r, 1);
	return rc;
}

int store_job_retry(struct store *s, int64_t id, int64_t *ret_n, struct err *err)
{
	if (db_run(s->db,
		    "UPDATE job SET state = 0, run_after = 0, attempts = 0, last_error = NULL "
		    "WHERE "
		    "state = 3 AND (?1 = 0 OR id = ?1)",
		    DB_ARGS(db_i(id)), err))
		return -1;
	*ret_n = db_changes(s->db);
	return 0;
}

int store_job_drop(struct store *s, int64_t id, struct err *err)
{
	if (db_run(s->db, "DELETE FROM job WHERE id = ?1", DB_ARGS(db_i(id)), err))
		return -1;
	if (!db_changes(s->db))
		return err_set(err, ERR_NOT_FOUND, "there is no job %lld", (long long)id);
	return 0;
}

int store_job_next_at(struct store *s, enum job_kind kind, int64_t *ret, struct err *err)
{
	int64_t next;

	if (db_one(s->db,
		    "SELECT coalesce(min(run_after), -1) FROM job WHERE kind = ?1 AND state = 0",
		    DB_ARGS(db_i(kind)), -1, &next, err))
		return -1;
	*ret = next < 0 ? 0 : next ? next : 1;
	return 0;
}

int store_session_has_jobs(struct store *s, int64_t session, bool *ret, struct err *err)
{
	int64_t n;

	if (db_one(s->db,
		    "SELECT count(*) FROM job WHERE session = ?1 AND kind = ?2 AND state IN (0, 1)",
		    DB_ARGS(db_i(session), db_i(JOB_OBSERVE)), 0, &n, err))
		return -1;
	*ret = n > 0;
	return 0;
}

int store_session_input(
	struct store *s, int64_t session, uint64_t *ret, int64_t *ret_n, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	uint64_t hash = 0;
	int64_t n = 0;
	int rc;

	if (db_query(s->db,
		    "SELECT turn, input FROM job WHERE session = ?1 AND kind = ?2 ORDER BY turn, "
		    "job_key",
		    DB_ARGS(db_i(session), db_i(JOB_OBSERVE)), &r, err))
		return -1;
	for (int64_t last = 0; (rc = db_next(r, err)) > 0;) {
		const int64_t row[] = { (int64_t)hash, db_int(r, 0), db_int(r, 1) };
		hash = hash64((const char *)row, sizeof(row));
		n += row[1] != last;
		last = row[1];
	}
	*ret = hash;
	*ret_n = n;
	return rc;
}

int store_turns_without_job(struct store *s, size_t max, int64_t *ret_n, struct err *err)
{
	static const char without[] =
		"UPDATE turn SET is_dirty = 1 WHERE id IN (SELECT t.id FROM turn t WHERE "
		"t.is_dirty = "
		"0 AND t.started_at > 0 AND NOT EXISTS (SELECT 1 FROM job j WHERE j.turn = t.id) "
		"AND "
		"EXISTS (SELECT 1 FROM event e WHERE e.session = t.session AND e.at BETWEEN "
		"t.started_at AND t.last_event_at AND e.turn = t.id) ORDER BY t.last_event_at DESC "
		"LIMIT ?1)";

	if (db_run(s->db, without, DB_ARGS(db_i((int64_t)max)), err))
		return -1;
	*ret_n = db_changes(s->db);
	return 0;
}

int store_turns_newest(
	struct store *s, struct arena *a, size_t max, int64_t **ret, size_t *ret_n, struct err *err)
{
	static const char sql[] = "SELECT t.id FROM turn t WHERE t.started_at > 0 ORDER BY "
				  "t.last_event_at DESC LIMIT ?1";

	return query_ids(s, a, sql, DB_ARGS(db_i((int64_t)max)), ret, ret_n, err);
}
