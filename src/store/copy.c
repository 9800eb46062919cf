/*
 * Copies of whole stores, from one kind of database to another. Tables and columns are asked of the source, so that none is
 * forgotten; a text that stands in a column of bytes (SQLite allows it) is marked as one.
 */
#include "store/memory_row.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "store/schema.h"

#define COLUMNS_MAX DB_VALUES_MAX

struct shape {
	int n;
	const char *names[COLUMNS_MAX];
	bool is_blob[COLUMNS_MAX];
};

static int read_shape(
	struct db *db, struct arena *a, const char *table, struct shape *ret, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	const char *sql = arena_printf(a, "SELECT * FROM %s LIMIT 0", table);

	if (db_query_once(db, sql, NULL, 0, &r, err))
		return -1;
	ret->n = db_columns(r);
	if (ret->n > COLUMNS_MAX)
		return err_set(err, ERR_INTERNAL, "table '%s' has %d columns", table, ret->n);
	for (int i = 0; i < ret->n; i++)
		ret->names[i] = arena_str(a, db_column(r, i, &ret->is_blob[i]));
	return 0;
}

static const char *columns_of(struct arena *a, const struct shape *s)
{
	AUTO(buf_done) struct buf b = { 0 };

	for (int i = 0; i < s->n; i++)
		buf_printf(&b, "%s%s", i ? ", " : "", s->names[i]);
	return arena_str(a, buf_cstr(&b));
}

static const char *insert_of(struct arena *a, const char *table, const struct shape *s)
{
	AUTO(buf_done) struct buf b = { 0 };

	buf_printf(&b, "INSERT INTO %s (%s) VALUES (", table, columns_of(a, s));
	for (int i = 0; i < s->n; i++)
		buf_printf(&b, "%s?%d", i ? ", " : "", i + 1);
	buf_str(&b, ")");
	return arena_str(a, buf_cstr(&b));
}

static struct db_arg value_at(struct arena *a, struct db_rows *r, int col, bool is_blob)
{
	size_t n;
	const void *p;

	switch (db_kind(r, col)) {
	case DB_NULL:
		break;
	case DB_INT:
		return db_i(db_int(r, col));
	case DB_REAL:
		return db_r(db_real(r, col));
	case DB_TEXT:
		p = db_blob(r, col, &n);
		return is_blob ? memory_text_arg(a, p, n) : db_tn(n ? p : "", n);
	case DB_BLOB:
		p = db_blob(r, col, &n);
		return db_b(n ? p : "", n);
	}
	return db_id(0);
}

/* Statements are known by their address: their texts live in `a` as long as the connection. */
static int copy_rows(struct db *from, struct db *to, struct arena *a, const char *table,
	int64_t *ret, struct err *err)
{
	AUTO(arena_done) struct arena row = { 0 };
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	struct db_arg args[COLUMNS_MAX];
	struct shape shape;
	int rc;

	if (read_shape(to, a, table, &shape, err))
		return -1;
	const char *insert = insert_of(a, table, &shape);
	if (db_stream(from, arena_printf(a, "SELECT %s FROM %s", columns_of(a, &shape), table), &r,
		    err))
		return -1;
	while ((rc = db_next(r, err)) > 0) {
		for (int i = 0; i < shape.n; i++)
			args[i] = value_at(&row, r, i, shape.is_blob[i]);
		if (db_run(to, insert, args, (size_t)shape.n, err))
			return -1;
		arena_reset(&row);
		++*ret;
	}
	return rc;
}

static int copy_table(struct db *from, struct db *to, struct arena *a, const char *table,
	int64_t *io_rows, struct err *err)
{
	int64_t n = 0, there, number;

	if (copy_rows(from, to, a, table, &n, err))
		return err_prefix(err, "table '%s': ", table);
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	if (db_query_once(
		    to, arena_printf(a, "SELECT count(*) FROM %s", table), NULL, 0, &r, err) ||
		db_next(r, err) < 0)
		return -1;
	there = db_int(r, 0);
	if (there != n)
		return err_set(err, ERR_STORE,
			"table '%s': %lld rows were written and %lld are there", table,
			(long long)n, (long long)there);
	*io_rows += n;
	if (db_number(from, table, 0, &number, err))
		return -1;
	return number ? db_number(to, table, number, &number, err) : 0;
}

/* A new store has a few rows that its daemon or its migrations made; they give way. */
static int make_room(struct db *to, const char **tables, size_t n, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	int64_t rows;

	if (db_one(to, "SELECT (SELECT count(*) FROM session) + (SELECT count(*) FROM memory)",
		    NULL, 0, 0, &rows, err))
		return -1;
	if (rows) {
		err_set(err, ERR_USAGE, "the store to copy to is not empty");
		return err_hint(
			err, "Name a file that is not there yet, or another database or schema.");
	}
	while (n--)
		if (db_script(to, arena_printf(&a, "DELETE FROM %s", tables[n]), err))
			return -1;
	return 0;
}

static int copy_all(struct store *from, struct store *to, struct copy_counts *ret, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	const char **tables;
	size_t n;

	if (db_tables(from->db, &a, &tables, &n, err) || db_everyone(to->db, true, err) ||
		make_room(to->db, tables, n, err))
		return -1;
	for (size_t i = 0; i < n; i++)
		if (copy_table(from->db, to->db, &a, tables[i], &ret->rows, err))
			return -1;
	if (db_everyone_end(to->db, err))
		return -1;
	ret->tables = (int64_t)n;
	struct store_stats stats;
	if (store_stats(to, 0, &stats, err))
		return -1;
	ret->sessions = stats.sessions;
	ret->events = stats.events;
	for (int i = 0; i < MEMORY_KIND_COUNT; i++)
		ret->memories += stats.memories[i];
	return 0;
}

static int copy_between(
	struct store *from, struct store *to, struct copy_counts *ret, struct err *err)
{
	if (db_snapshot(from->db, err))
		return -1;
	int failed = db_begin(to->db, err);
	if (!failed) {
		failed = copy_all(from, to, ret, err) || db_commit(to->db, err) ? -1 : 0;
		if (failed)
			db_rollback(to->db);
	}
	db_rollback(from->db);
	return failed;
}

int store_copy(const struct copy_wish *w, struct copy_counts *ret, struct err *err)
{
	const struct store_setup source = { .url = w->from,
		.mode = DB_READ,
		.author = w->is_all ? NULL : w->author,
		.keeps_login = w->is_all };
	const struct store_setup target = { .url = w->to, .mode = DB_CREATE, .keeps_login = true };
	struct store *from, *to;

	*ret = (struct copy_counts){ 0 };
	if (store_open_as(&source, &from, err))
		return -1;
	int failed = w->is_all && db_everyone(from->db, false, err) ? -1 : 0;
	if (!failed)
		failed = store_open_as(&target, &to, err);
	if (!failed) {
		failed = copy_between(from, to, ret, err);
		store_close(to);
	}
	store_close(from);
	return failed;
}

/* A backup of what is no file is a copy into one. */
int copy_to_file(struct store *s, const char *path, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	const char *part = arena_printf(&a, "%s.part", path);
	struct copy_counts counts = { 0 };
	struct store *to;

	remove(part);
	if (store_open(arena_printf(&a, "sqlite:%s", part), DB_CREATE, NULL, &to, err))
		return -1;
	int failed = copy_between(s, to, &counts, err) || db_checkpoint(to->db, true, err);
	store_close(to);
	if (!failed && rename(part, path) == 0)
		return 0;
	remove(part);
	return failed ? -1 : err_set(err, ERR_IO, "cannot rename the backup to '%s'", path);
}
