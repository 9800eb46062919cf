/* Memories: put one, get some, list many. */
#include "store/memory_row.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

int store_memory_put(struct store *s, struct memory *m, struct err *err)
{
	if (memory_write(s, m, memory_pack(s, m), err))
		return -1;
	return m->refines && m->turn ? turn_refine(s, m->turn, err) : 0;
}

static const char by_id[] = "SELECT " MEMORY_COLUMNS " FROM memory m WHERE m.id = ?1";

static int load(struct store *s, struct arena *a, int64_t id, struct memory *ret, struct err *err)
{
	struct db_rows *r;
	int rc = store_row(s, by_id, DB_ARGS(db_i(id)), &r, err);

	if (rc <= 0)
		return rc;
	rc = memory_row_read(s, a, r, ret, err);
	db_end(r);
	return rc ? -1 : 1;
}

/* An event that retention took away leaves its excerpt and the number 0. */
static int check_evidence(struct store *s, struct memory *m, struct err *err)
{
	for (size_t i = 0; i < m->nevidence; i++)
		if (m->evidence[i].event &&
			db_one(s->db, "SELECT id FROM event WHERE id = ?1",
				DB_ARGS(db_i(m->evidence[i].event)), 0, &m->evidence[i].event, err))
			return -1;
	return 0;
}

int store_memory_get(
	struct store *s, struct arena *a, int64_t id, struct memory *ret, struct err *err)
{
	int rc = load(s, a, id, ret, err);

	if (rc < 0)
		return -1;
	if (rc == 0)
		return err_set(err, ERR_NOT_FOUND, "there is no memory %lld", (long long)id);
	return memory_files_read(s, a, ret, err) || check_evidence(s, ret, err) ? -1 : 0;
}

int store_memories(struct store *s, struct arena *a, const int64_t *ids, size_t n,
	struct memory *ret, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	int rc;

	if (db_query_each(s->db, by_id, ids, n, &r, err) || (rc = db_next(r, err)) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		ret[i] = (struct memory){ 0 };
		if (!rc || db_int(r, 0) != ids[i])
			continue;
		if (memory_row_read(s, a, r, &ret[i], err) || (rc = db_next(r, err)) < 0)
			return -1;
	}
	return 0;
}

#define CONDITIONS_MAX 20

/* The text of a query that is put together from what was asked. */
struct clauses {
	struct buf sql;
	struct db_arg args[CONDITIONS_MAX];
	size_t n;
};

static void clauses_done(struct clauses *c)
{
	buf_done(&c->sql);
}

/* Every # of the condition becomes the number of its argument. */
static void where(struct clauses *c, const char *condition, struct db_arg arg)
{
	char number[8];
	const char *at = strchr(condition, '#');

	c->args[c->n++] = arg;
	snprintf(number, sizeof(number), "?%zu", c->n);
	buf_str(&c->sql, " AND ");
	for (; at; condition = at + 1, at = strchr(condition, '#')) {
		buf_add(&c->sql, condition, (size_t)(at - condition));
		buf_str(&c->sql, number);
	}
	buf_str(&c->sql, condition);
}

static void where_columns(struct clauses *c, const struct memory_query *q)
{
	if (q->project)
		where(c, "m.project = #", db_i(q->project));
	if (q->session)
		where(c, "m.session = #", db_i(q->session));
	if (q->turn)
		where(c, "m.turn = #", db_i(q->turn));
	if (q->kind >= 0)
		where(c, "m.kind = #", db_i(q->kind));
	if (q->type >= 0)
		where(c, "m.type = #", db_i(q->type));
	if (q->status >= 0)
		where(c, "m.status = #", db_i(q->status));
	if (q->origin >= 0)
		where(c, "m.origin = #", db_i(q->origin));
	if (q->after)
		where(c, "m.at >= #", db_i(q->after));
	if (q->before)
		where(c, "m.at < #", db_i(q->before));
	if (q->pinned_only)
		where(c, "m.is_pinned = #", db_i(1));
}

/* "%/x" with the signs of LIKE taken literally. */
static const char *ending_pattern(struct arena *a, const char *file)
{
	AUTO(buf_done) struct buf b = { 0 };

	buf_str(&b, "%/");
	for (; *file; file++) {
		if (strchr("%_\\", *file))
			buf_char(&b, '\\');
		buf_char(&b, *file);
	}
	return arena_str(a, buf_cstr(&b));
}

static void where_file(struct clauses *c, struct arena *a, const char *file)
{
	where(c,
		"m.id IN (SELECT mf.memory FROM memory_file mf JOIN file f ON f.id = mf.file WHERE "
		"f.path = #",
		db_t(file));
	c->args[c->n++] = db_t(ending_pattern(a, file));
	buf_printf(&c->sql, " OR f.path LIKE ?%zu ESCAPE '\\')", c->n);
}

static void where_behind(struct clauses *c, const struct memory_query *q)
{
	char sign = q->oldest_first ? '>' : '<';

	if (!q->behind_id)
		return;
	c->args[c->n++] = db_i(q->behind_at);
	c->args[c->n++] = db_i(q->behind_id);
	buf_printf(&c->sql, " AND (m.at %c ?%zu OR (m.at = ?%zu AND m.id %c ?%zu))", sign, c->n - 1,
		c->n - 1, sign, c->n);
}

static int read_list(struct store *s, struct arena *a, struct db_rows *r, struct memory **ret,
	size_t *ret_n, struct err *err)
{
	struct memory *list = NULL;
	size_t n = 0, cap = 0;
	int rc;

	while ((rc = db_next(r, err)) > 0) {
		struct memory m;
		if (memory_row_read(s, a, r, &m, err) || memory_files_read(s, a, &m, err))
			return -1;
		ARENA_PUSH(a, list, n, cap, m);
	}
	*ret = list;
	*ret_n = n;
	return rc;
}

int store_memory_list(struct store *s, struct arena *a, const struct memory_query *q,
	struct memory **ret, size_t *ret_n, struct err *err)
{
	AUTO(clauses_done) struct clauses c = { 0 };
	AUTO(db_end_ptr) struct db_rows *r = NULL;

	buf_str(&c.sql, "SELECT " MEMORY_COLUMNS " FROM memory m WHERE 1 = 1");
	where_columns(&c, q);
	if (q->file && *q->file)
		where_file(&c, a, q->file);
	where_behind(&c, q);
	const char *order = q->oldest_first ? "ASC" : "DESC";
	buf_printf(&c.sql, " ORDER BY m.at %s, m.id %s LIMIT %zu OFFSET %zu", order, order, q->max,
		q->skip);
	if (db_query_once(s->db, buf_cstr(&c.sql), c.args, c.n, &r, err))
		return -1;
	return read_list(s, a, r, ret, ret_n, err);
}

/* The n memories next to a point of time on one side; nearest first. */
static int side(struct store *s, struct arena *a, const struct memory_query *q, bool is_before,
	struct memory **ret, size_t *ret_n, struct err *err)
{
	static const char before[] =
		"SELECT " MEMORY_COLUMNS " FROM memory m WHERE m.at < ?1 AND (?2 = 0 OR m.project "
		"= ?2) AND (m.kind = ?3 OR ?3 < 0 AND m.kind <> 5)"
		" AND m.status <= 1 ORDER BY m.at DESC, m.id DESC LIMIT ?4";
	static const char after[] =
		"SELECT " MEMORY_COLUMNS " FROM memory m WHERE m.at >= ?1 AND (?2 = 0 OR m.project "
		"= ?2) AND (m.kind = ?3 OR ?3 < 0 AND m.kind <> 5)"
		" AND m.status <= 1 ORDER BY m.at, m.id LIMIT ?4";
	AUTO(db_end_ptr) struct db_rows *r = NULL;

	if (db_query(s->db, is_before ? before : after,
		    DB_ARGS(db_i(q->after), db_i(q->project), db_i(q->kind), db_i((int64_t)q->max)),
		    &r, err))
		return -1;
	return read_list(s, a, r, ret, ret_n, err);
}

int store_memory_neighbours(struct store *s, struct arena *a, int64_t project, int64_t at,
	size_t before, size_t after, int kind, struct memory **ret, size_t *ret_n, struct err *err)
{
	struct memory_query q = { .project = project, .after = at, .kind = kind > 0 ? kind : -1 };
	struct memory *earlier, *later;
	size_t nearlier, nlater;

	q.max = before;
	if (side(s, a, &q, true, &earlier, &nearlier, err))
		return -1;
	q.max = after;
	if (side(s, a, &q, false, &later, &nlater, err))
		return -1;
	struct memory *all = ARENA_ARRAY(a, struct memory, nearlier + nlater + 1);
	for (size_t i = 0; i < nearlier; i++)
		all[i] = earlier[nearlier - 1 - i];
	for (size_t i = 0; i < nlater; i++)
		all[nearlier + i] = later[i];
	*ret = all;
	*ret_n = nearlier + nlater;
	return 0;
}
