/* Which driver an url is for, and what is the same for all of them. */
#include "store/driver.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"

#define SAVEPOINT_NAME "part"

static const struct db_ops *const drivers[] = {
	&sqlite_ops,
#ifdef HAVE_POSTGRES
	&postgres_ops,
#endif
};

struct db_arg db_i(int64_t i)
{
	return (struct db_arg){ .type = DB_INT, .i = i };
}

struct db_arg db_id(int64_t i)
{
	return (struct db_arg){ .type = i ? DB_INT : DB_NULL, .i = i };
}

struct db_arg db_r(double r)
{
	return (struct db_arg){ .type = DB_REAL, .r = r };
}

struct db_arg db_t(const char *text)
{
	return db_tn(text, text ? strlen(text) : 0);
}

struct db_arg db_tn(const char *text, size_t n)
{
	return (struct db_arg){ .type = text ? DB_TEXT : DB_NULL, .p = text, .n = n };
}

struct db_arg db_b(const void *blob, size_t n)
{
	return (struct db_arg){ .type = blob ? DB_BLOB : DB_NULL, .p = blob, .n = n };
}

bool db_is_postgres(const char *url)
{
	return url && (str_starts(url, "postgres://") || str_starts(url, "postgresql://"));
}

static int refuse(const char *url, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };

	if (db_is_postgres(url)) {
		err_set(err, ERR_USAGE, "this program was built without PostgreSQL");
		return err_hint(err, "Build it where libpq is, or set `store` to sqlite:PATH.");
	}
	err_set(err, ERR_USAGE, "'%s' is not a store", db_url_shown(&a, url));
	return err_hint(err, "Set `store` to sqlite:PATH or postgres://USER@HOST/DATABASE.");
}

int db_open(const char *url, enum db_mode mode, struct db **ret, struct err *err)
{
	const char *same = db_is_postgres(url) ? "postgres:" : url;

	for (size_t i = 0; same && i < ARRAY_LEN(drivers); i++)
		if (str_starts(same, drivers[i]->scheme))
			return drivers[i]->open(url, mode, ret, err);
	return refuse(url, err);
}

/* The part of "scheme://user:secret@host" between the second colon and the last "@" before the path. */
static struct str find_password(const char *url)
{
	const char *from = strstr(url, "://");

	if (!from)
		return (struct str){ 0 };
	from += 3;
	size_t n = strcspn(from, "/?#");
	const char *at = memrchr(from, '@', n);
	const char *colon = at ? memchr(from, ':', (size_t)(at - from)) : NULL;
	return colon ? (struct str){ colon + 1, (size_t)(at - colon - 1) } : (struct str){ 0 };
}

const char *db_url_shown(struct arena *a, const char *url)
{
	if (!url)
		return "";
	struct str password = find_password(url);
	const char *rest = password.p ? password.p + password.n : url;
	const char *head =
		password.p ? arena_printf(a, "%.*s***", (int)(password.p - url), url) : "";
	/* It may stand among the parameters too. */
	const char *named = strstr(rest, "password=");
	if (!named)
		return arena_printf(a, "%s%s", head, rest);
	const char *value = named + strlen("password=");
	return arena_printf(
		a, "%s%.*s***%s", head, (int)(value - rest), rest, value + strcspn(value, "& "));
}

void db_close(struct db *db)
{
	if (db)
		db->ops->close(db);
}

int db_query(struct db *db, const char *sql, const struct db_arg *args, size_t n,
	struct db_rows **ret, struct err *err)
{
	return db->ops->query(db, sql, true, args, n, ret, err);
}

int db_query_once(struct db *db, const char *sql, const struct db_arg *args, size_t n,
	struct db_rows **ret, struct err *err)
{
	return db->ops->query(db, sql, false, args, n, ret, err);
}

int db_next(struct db_rows *r, struct err *err)
{
	return r->ops->next(r, err);
}

void db_end(struct db_rows *r)
{
	if (r)
		r->ops->end(r);
}

void db_end_ptr(struct db_rows **r)
{
	db_end(*r);
}

bool db_is_null(struct db_rows *r, int col)
{
	return r->ops->is_null(r, col);
}

enum db_type db_kind(struct db_rows *r, int col)
{
	return r->ops->kind(r, col);
}

int64_t db_int(struct db_rows *r, int col)
{
	return r->ops->integer(r, col);
}

double db_real(struct db_rows *r, int col)
{
	return r->ops->real(r, col);
}

const char *db_text(struct db_rows *r, int col)
{
	return r->ops->text(r, col);
}

const void *db_blob(struct db_rows *r, int col, size_t *ret_n)
{
	return r->ops->blob(r, col, ret_n);
}

int db_run(struct db *db, const char *sql, const struct db_arg *args, size_t n, struct err *err)
{
	struct db_rows *r;

	if (db_query(db, sql, args, n, &r, err))
		return -1;
	int rc = r->ops->next(r, err);
	r->ops->end(r);
	return rc < 0 ? -1 : 0;
}

int db_one(struct db *db, const char *sql, const struct db_arg *args, size_t n, int64_t otherwise,
	int64_t *ret, struct err *err)
{
	struct db_rows *r;

	if (db_query(db, sql, args, n, &r, err))
		return -1;
	int rc = r->ops->next(r, err);
	if (rc >= 0)
		*ret = rc && !r->ops->is_null(r, 0) ? r->ops->integer(r, 0) : otherwise;
	r->ops->end(r);
	return rc < 0 ? -1 : 0;
}

static void spell(const struct db_ops *ops, const char *sql, struct buf *out)
{
	while (*sql) {
		const char *const *s = ops->spelling;
		while (*s && !str_starts(sql, *s))
			s += 2;
		if (*s) {
			buf_str(out, s[1]);
			sql += strlen(*s);
		} else {
			buf_char(out, *sql++);
		}
	}
}

int db_script(struct db *db, const char *sql, struct err *err)
{
	AUTO(buf_done) struct buf text = { 0 };

	spell(db->ops, sql, &text);
	return db->ops->script(db, buf_cstr(&text), err);
}

int64_t db_last_id(struct db *db)
{
	return db->ops->last_id(db);
}

int64_t db_changes(struct db *db)
{
	return db->ops->changes(db);
}

int db_begin(struct db *db, struct err *err)
{
	return db->ops->begin(db, err);
}

int db_commit(struct db *db, struct err *err)
{
	return db->ops->commit(db, err);
}

void db_rollback(struct db *db)
{
	db->rollbacks++;
	db->ops->rollback(db);
}

bool db_is_in_transaction(struct db *db)
{
	return db->ops->is_in_transaction(db);
}

int db_savepoint(struct db *db, struct err *err)
{
	return db_run(db, "SAVEPOINT " SAVEPOINT_NAME, NULL, 0, err);
}

int db_release(struct db *db, struct err *err)
{
	return db_run(db, "RELEASE " SAVEPOINT_NAME, NULL, 0, err);
}

void db_rollback_to(struct db *db)
{
	db->rollbacks++;
	if (db_run(db, "ROLLBACK TO " SAVEPOINT_NAME, NULL, 0, NULL) == 0)
		db_run(db, "RELEASE " SAVEPOINT_NAME, NULL, 0, NULL);
}

uint64_t db_rollbacks(struct db *db)
{
	return db->rollbacks;
}

void db_interrupt(struct db *db)
{
	db->ops->interrupt(db);
}

int db_identify(struct db *db, int64_t author, bool keeps_login, struct err *err)
{
	return db->ops->identify ? db->ops->identify(db, author, keeps_login, err) : 0;
}

int db_as_login(struct db *db, bool is_login, struct err *err)
{
	return db->ops->as_login ? db->ops->as_login(db, is_login, err) : 0;
}

int db_everyone(struct db *db, bool is_writer, struct err *err)
{
	return db->ops->everyone ? db->ops->everyone(db, is_writer, err) : 0;
}

int db_everyone_end(struct db *db, struct err *err)
{
	return db->ops->everyone_end ? db->ops->everyone_end(db, err) : 0;
}

bool db_is_shared(const struct db *db)
{
	return db->ops->is_shared;
}

int db_wait(struct db *db, int ms, struct err *err)
{
	return db->ops->wait
		       ? db->ops->wait(db, ms, err)
		       : err_set(err, ERR_INTERNAL, "this store has no other writers to wait for");
}

int db_snapshot(struct db *db, struct err *err)
{
	return db->ops->snapshot(db, err);
}

int db_tables(struct db *db, struct arena *a, const char ***ret, size_t *ret_n, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	size_t cap = 0;
	int rc;

	*ret = NULL;
	*ret_n = 0;
	if (db_query(db, db->ops->tables_sql, NULL, 0, &r, err))
		return -1;
	while ((rc = db_next(r, err)) > 0)
		ARENA_PUSH(a, *ret, *ret_n, cap, arena_str(a, db_text(r, 0)));
	return rc;
}

int db_stream(struct db *db, const char *sql, struct db_rows **ret, struct err *err)
{
	return db->ops->stream(db, sql, ret, err);
}

int db_columns(struct db_rows *r)
{
	return r->ops->columns(r);
}

const char *db_column(struct db_rows *r, int col, bool *ret_is_blob)
{
	return r->ops->column(r, col, ret_is_blob);
}

int db_number(struct db *db, const char *table, int64_t at_least, int64_t *ret, struct err *err)
{
	return db->ops->number(db, table, at_least, ret, err);
}

int db_version(struct db *db, int64_t *ret, struct err *err)
{
	return db->ops->version(db, ret, err);
}

int db_set_version(struct db *db, int64_t version, struct err *err)
{
	return db->ops->set_version(db, version, err);
}

int db_backup(struct db *db, const char *path, struct err *err)
{
	return db->ops->backup(db, path, err);
}

int db_check(struct db *db, bool is_deep, struct buf *report, struct err *err)
{
	return db->ops->check(db, is_deep, report, err);
}

int db_checkpoint(struct db *db, bool truncate, struct err *err)
{
	return db->ops->checkpoint(db, truncate, err);
}

int db_scrub(struct db *db, struct err *err)
{
	return db->ops->scrub(db, err);
}

int db_compact(struct db *db, struct err *err)
{
	return db->ops->compact(db, err);
}

int64_t db_bytes(struct db *db)
{
	return db->ops->bytes(db);
}

int64_t db_bytes_used(struct db *db)
{
	return db->ops->bytes_used(db);
}
