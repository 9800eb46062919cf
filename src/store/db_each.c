/* One question about many rows, where the driver has no better way than to ask for each. */
#include "store/driver.h"

#include <stdlib.h>

#include "base/mem.h"

struct each_rows {
	struct db_rows base;
	struct db *db;
	const char *sql;
	const int64_t *ids;
	size_t n, at;
	struct db_rows *now; /* of the one before `at`; NULL before the first */
};

static struct each_rows *each_of(struct db_rows *r)
{
	return (struct each_rows *)r;
}

static int each_next(struct db_rows *base, struct err *err)
{
	struct each_rows *r = each_of(base);

	for (;;) {
		int rc = r->now ? db_next(r->now, err) : 0;
		if (rc || r->at == r->n)
			return rc;
		db_end(r->now);
		r->now = NULL;
		if (db_query(r->db, r->sql, DB_ARGS(db_i(r->ids[r->at])), &r->now, err))
			return -1;
		r->at++;
	}
}

static void each_end(struct db_rows *base)
{
	db_end(each_of(base)->now);
	free(base);
}

static bool each_is_null(struct db_rows *r, int col)
{
	return db_is_null(each_of(r)->now, col);
}

static enum db_type each_kind(struct db_rows *r, int col)
{
	return db_kind(each_of(r)->now, col);
}

static int64_t each_int(struct db_rows *r, int col)
{
	return db_int(each_of(r)->now, col);
}

static double each_real(struct db_rows *r, int col)
{
	return db_real(each_of(r)->now, col);
}

static const char *each_text(struct db_rows *r, int col)
{
	return db_text(each_of(r)->now, col);
}

static const void *each_blob(struct db_rows *r, int col, size_t *ret_n)
{
	return db_blob(each_of(r)->now, col, ret_n);
}

static const struct db_ops each_ops = {
	.next = each_next,
	.end = each_end,
	.is_null = each_is_null,
	.kind = each_kind,
	.integer = each_int,
	.real = each_real,
	.text = each_text,
	.blob = each_blob,
};

int db_each_slowly(struct db *db, const char *sql, const int64_t *ids, size_t n,
	struct db_rows **ret, struct err *err)
{
	struct each_rows *r = mem_alloc(sizeof(*r));

	*r = (struct each_rows){ .base.ops = &each_ops, .db = db, .sql = sql, .ids = ids, .n = n };
	*ret = &r->base;
	return 0;
}

int db_query_each(struct db *db, const char *sql, const int64_t *ids, size_t n,
	struct db_rows **ret, struct err *err)
{
	return (db->ops->query_each ? db->ops->query_each : db_each_slowly)(
		db, sql, ids, n, ret, err);
}
