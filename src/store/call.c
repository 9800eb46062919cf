/*
 * What each request to a model came to. A row is written before anything is sent, so that an attempt
 * that nobody lived to finish is counted too. Tokens that the server does not count are taken to be
 * BYTES_PER_TOKEN bytes of text.
 */
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "store/job.h"
#include "store/room.h"

#define QUARTER_MS 900000 /* local days begin at a quarter of an hour everywhere */

#define TOKENS_IN "CASE WHEN c.tokens_in < 0 THEN c.bytes_in / 4 ELSE c.tokens_in END"
#define TOKENS_OUT "CASE WHEN c.tokens_out < 0 THEN c.bytes_out / 4 ELSE c.tokens_out END"
/* ok, nothing, cut: an answer that was of use */
#define IS_OK "CASE WHEN c.outcome IN (1, 2, 6) THEN 1 ELSE 0 END"
#define IS_FAILED "CASE WHEN c.outcome IN (0, 1, 2, 6) THEN 0 ELSE 1 END" /* 0: under way */
#define SUM(x) "CAST(coalesce(sum(" x "), 0) AS BIGINT)"
#define SUMS                                                                           \
	"count(*), " SUM("c.units") ", " SUM(TOKENS_IN) ", " SUM(TOKENS_OUT) ", " SUM( \
		IS_OK) ", " SUM(IS_FAILED) ", coalesce(sum(c.cost), 0)"
#define IS_NOT_EMBED "kind <> 5"
_Static_assert(JOB_EMBED == 5, "numbers in the statements");
_Static_assert(CALL_OK == 1 && CALL_NOTHING == 2 && CALL_CUT == 6 && BYTES_PER_TOKEN == 4,
	"numbers in the statements");

int store_call_put(struct store *s, struct model_call *c, struct err *err)
{
	static const char insert[] =
		"INSERT INTO model_call (job, kind, project, at, provider, model, units, bytes_in, "
		"bytes_out, bytes_shared, tokens_in, tokens_out, cost, queue_ms, connect_ms, "
		"first_byte_ms, total_ms, outcome, detail, reply) VALUES (?1, ?2, ?3, ?4, ?5, ?6, "
		"?7, "
		"?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)";
	static const char update[] =
		"UPDATE model_call SET job = ?1, kind = ?2, project = ?3, at = ?4, provider = ?5, "
		"model "
		"= ?6, units = ?7, bytes_in = ?8, bytes_out = ?9, bytes_shared = ?10, tokens_in = "
		"?11, "
		"tokens_out = ?12, cost = ?13, queue_ms = ?14, connect_ms = ?15, first_byte_ms = "
		"?16, "
		"total_ms = ?17, outcome = ?18, detail = ?19, reply = ?20 WHERE id = ?21";
	size_t reply = c->reply ? utf8_cut(c->reply, strlen(c->reply), CALL_REPLY_MAX) : 0;
	const struct db_arg args[] = { db_id(c->job), db_i(c->kind), db_id(c->project), db_i(c->at),
		db_t(c->provider ? c->provider : ""), db_t(c->model ? c->model : ""),
		db_i(c->units), db_i(c->bytes_in), db_i(c->bytes_out), db_i(c->bytes_shared),
		db_i(c->tokens_in), db_i(c->tokens_out), db_r(c->cost), db_i(c->queue_ms),
		db_i(c->connect_ms), db_i(c->first_byte_ms), db_i(c->total_ms), db_i(c->outcome),
		db_t(c->detail && *c->detail ? c->detail : NULL),
		c->reply ? db_b(c->reply, reply) : db_t(NULL), db_i(c->id) };

	if (db_run(s->db, c->id ? update : insert, args, ARRAY_LEN(args) - !c->id, err))
		return -1;
	if (!c->id)
		c->id = db_last_id(s->db);
	return 0;
}

static void read_call(struct arena *a, struct db_rows *r, struct model_call *ret)
{
	size_t n;
	const char *reply;

	*ret = (struct model_call){ .id = db_int(r, 0),
		.job = db_int(r, 1),
		.kind = (enum job_kind)db_int(r, 2),
		.project = db_int(r, 3),
		.at = db_int(r, 4),
		.provider = row_str(a, r, 5),
		.model = row_str(a, r, 6),
		.units = db_int(r, 7),
		.bytes_in = db_int(r, 8),
		.bytes_out = db_int(r, 9),
		.bytes_shared = db_int(r, 10),
		.tokens_in = db_int(r, 11),
		.tokens_out = db_int(r, 12),
		.cost = db_real(r, 13),
		.queue_ms = db_int(r, 14),
		.connect_ms = db_int(r, 15),
		.first_byte_ms = db_int(r, 16),
		.total_ms = db_int(r, 17),
		.outcome = (enum call_outcome)db_int(r, 18),
		.detail = row_str(a, r, 19) };
	reply = db_blob(r, 20, &n);
	if (n)
		ret->reply = arena_dup(a, reply, n);
}

int store_call_list(struct store *s, struct arena *a, int64_t after, size_t max,
	struct model_call **ret, size_t *ret_n, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	size_t cap = 0;
	int rc;

	*ret = NULL;
	*ret_n = 0;
	if (db_query(s->db,
		    "SELECT id, job, kind, project, at, provider, model, units, bytes_in, "
		    "bytes_out, "
		    "bytes_shared, tokens_in, tokens_out, cost, queue_ms, connect_ms, "
		    "first_byte_ms, "
		    "total_ms, outcome, detail, reply FROM model_call WHERE at > ?1 ORDER BY id "
		    "DESC "
		    "LIMIT ?2",
		    DB_ARGS(db_i(after), db_i((int64_t)max)), &r, err))
		return -1;
	while ((rc = db_next(r, err)) > 0) {
		struct model_call c;
		read_call(a, r, &c);
		ARENA_PUSH(a, *ret, *ret_n, cap, c);
	}
	return rc;
}

/* Seven sums from this column on. */
static void read_sums(struct db_rows *r, int col, struct cost_row *ret)
{
	ret->calls = db_int(r, col);
	ret->units = db_int(r, col + 1);
	ret->tokens_in = db_int(r, col + 2);
	ret->tokens_out = db_int(r, col + 3);
	ret->ok = db_int(r, col + 4);
	ret->failed = db_int(r, col + 5);
	ret->cost = db_real(r, col + 6);
}

static void add_sums(struct cost_row *to, const struct cost_row *more)
{
	to->calls += more->calls;
	to->units += more->units;
	to->tokens_in += more->tokens_in;
	to->tokens_out += more->tokens_out;
	to->ok += more->ok;
	to->failed += more->failed;
	to->cost += more->cost;
}

/* Grouped by quarters of an hour there, by local days here. */
static int cost_by_day(struct store *s, struct arena *a, const struct cost_query *q,
	struct cost_row **ret, size_t *ret_n, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	size_t cap = 0;
	int rc;

	if (db_query(s->db,
		    "SELECT c.at / 900000, " SUMS
		    " FROM model_call c WHERE c.at >= ?1 AND (?2 = 0 OR "
		    "c.project = ?2) GROUP BY c.at / 900000 ORDER BY c.at / 900000 DESC",
		    DB_ARGS(db_i(q->from), db_i(q->project)), &r, err))
		return -1;
	while ((rc = db_next(r, err)) > 0) {
		struct cost_row row = { .day = clock_day_start(db_int(r, 0) * QUARTER_MS) };
		read_sums(r, 1, &row);
		if (*ret_n && (*ret)[*ret_n - 1].day == row.day) {
			add_sums(&(*ret)[*ret_n - 1], &row);
			continue;
		}
		row.name = clock_day(a, row.day);
		ARENA_PUSH(a, *ret, *ret_n, cap, row);
	}
	return rc;
}

int store_cost(struct store *s, struct arena *a, const struct cost_query *q, struct cost_row **ret,
	size_t *ret_n, struct err *err)
{
	static const char by_project[] = "SELECT coalesce(min(p.name), ''), " SUMS
					 " FROM model_call c LEFT JOIN project p ON "
					 "p.id = c.project WHERE c.at >= ?1 AND (?2 = 0 OR "
					 "c.project = ?2) GROUP BY c.project "
					 "ORDER BY 3 DESC";
	static const char by_model[] =
		"SELECT c.provider || ' ' || c.model, " SUMS
		" FROM model_call c WHERE c.at >= ?1 AND "
		"(?2 = 0 OR c.project = ?2) GROUP BY c.provider, c.model ORDER BY 3 DESC";
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	size_t cap = 0;
	int rc;

	*ret = NULL;
	*ret_n = 0;
	if (q->by == COST_DAY)
		return cost_by_day(s, a, q, ret, ret_n, err);
	if (db_query(s->db, q->by == COST_PROJECT ? by_project : by_model,
		    DB_ARGS(db_i(q->from), db_i(q->project)), &r, err))
		return -1;
	while ((rc = db_next(r, err)) > 0) {
		struct cost_row row = { .name = row_str(a, r, 0) };
		read_sums(r, 1, &row);
		ARENA_PUSH(a, *ret, *ret_n, cap, row);
	}
	return rc;
}

int store_cost_total(
	struct store *s, int64_t from, int64_t project, struct cost_row *ret, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	int rc = store_row(s,
		"SELECT " SUMS
		" FROM model_call c WHERE c.at >= ?1 AND (?2 = 0 OR c.project = ?2) AND "
		"c." IS_NOT_EMBED,
		DB_ARGS(db_i(from), db_i(project)), &r, err);

	*ret = (struct cost_row){ 0 };
	if (rc > 0)
		read_sums(r, 0, ret);
	return rc < 0 ? -1 : 0;
}

int store_call_outcomes(
	struct store *s, int64_t from, int64_t ret[CALL_OUTCOME_COUNT], struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	int rc;

	memset(ret, 0, sizeof(*ret) * CALL_OUTCOME_COUNT);
	if (db_query(s->db,
		    "SELECT outcome, count(*) FROM model_call WHERE at >= ?1 AND " IS_NOT_EMBED
		    " GROUP BY outcome",
		    DB_ARGS(db_i(from)), &r, err))
		return -1;
	while ((rc = db_next(r, err)) > 0)
		if (db_int(r, 0) >= 0 && db_int(r, 0) < CALL_OUTCOME_COUNT)
			ret[db_int(r, 0)] = db_int(r, 1);
	return rc;
}

int store_cost_saved(struct store *s, int64_t from, struct cost_saved *ret, struct err *err)
{
	struct cost_saved t = { 0 };

	if (db_one(s->db,
		    "SELECT " SUM("units - 1") " FROM model_call WHERE at >= ?1 AND units > 1",
		    DB_ARGS(db_i(from)), 0, &t.requests, err) ||
		db_one(s->db, "SELECT " SUM("bytes_shared") " FROM model_call WHERE at >= ?1",
			DB_ARGS(db_i(from)), 0, &t.shared_tokens, err) ||
		db_one(s->db,
			"SELECT count(*) FROM job WHERE kind = 1 AND state = 2 AND attempts = 0 "
			"AND at "
			">= ?1",
			DB_ARGS(db_i(from)), 0, &t.skipped, err) ||
		db_one(s->db,
			"SELECT " SUM("bytes") " FROM job WHERE kind = 1 AND state = 2 AND "
					       "attempts = 0 AND at >= ?1",
			DB_ARGS(db_i(from)), 0, &t.skipped_tokens, err))
		return -1;
	t.shared_tokens /= BYTES_PER_TOKEN;
	t.skipped_tokens /= BYTES_PER_TOKEN;
	*ret = t;
	return 0;
}

int store_calls_prune(struct store *s, int64_t before, struct err *err)
{
	return db_run(s->db,
		"UPDATE model_call SET reply = NULL WHERE reply IS NOT NULL AND at < ?1",
		DB_ARGS(db_i(before)), err);
}
