/* A store: a connection, its compression state, and the number of the last change. */
#include "store/room.h"

#include "base/mem.h"
#include "store/author.h"
#include "store/schema.h"

#define SCAN_PAGE 1000

int store_open_as(const struct store_setup *setup, struct store **ret, struct err *err)
{
	struct db *db;

	if (db_open(setup->url, setup->mode, &db, err))
		return -1;
	if (setup->mode == DB_CREATE ? schema_migrate(db, setup->backup_dir, err)
				     : schema_check(db, err)) {
		db_close(db);
		return -1;
	}
	struct store *s = mem_alloc(sizeof(*s));
	s->db = db;
	s->packer = packer_new(db);
	s->is_writer = setup->mode != DB_READ;
	if (author_enter(s, setup->author, setup->keeps_login, err)) {
		store_close(s);
		return -1;
	}
	*ret = s;
	return 0;
}

int store_open(const char *url, enum db_mode mode, const char *backup_dir, struct store **ret,
	struct err *err)
{
	const struct store_setup setup = { .url = url, .mode = mode, .backup_dir = backup_dir };

	return store_open_as(&setup, ret, err);
}

void store_close(struct store *s)
{
	if (!s)
		return;
	session_told_forget(s);
	packer_free(s->packer);
	db_close(s->db);
	free(s->my_name);
	free(s->names);
	arena_done(&s->names_arena);
	buf_done(&s->raw);
	buf_done(&s->blob);
	free(s);
}

struct db *store_db(struct store *s)
{
	return s->db;
}

int store_begin(struct store *s, struct err *err)
{
	s->bars.is_known = s->shares.is_known = false;
	session_told_forget(s);
	if (db_is_shared(s->db))
		s->is_seq_known = false;
	return db_begin(s->db, err);
}

int store_commit(struct store *s, struct err *err)
{
	return session_flush(s, err) ? -1 : db_commit(s->db, err);
}

void store_rollback(struct store *s)
{
	db_rollback(s->db);
	s->is_seq_known = false;
	s->touched.session = 0;
	s->bars.is_known = s->shares.is_known = false;
	session_told_forget(s);
}

int store_look_begin(struct store *s, struct err *err)
{
	return db_run(s->db, "BEGIN", NULL, 0, err);
}

void store_look_end(struct store *s)
{
	if (db_is_in_transaction(s->db) && db_run(s->db, "COMMIT", NULL, 0, NULL))
		db_rollback(s->db);
}

int store_row(struct store *s, const char *sql, const struct db_arg *args, size_t n,
	struct db_rows **ret, struct err *err)
{
	*ret = NULL;
	if (db_query(s->db, sql, args, n, ret, err))
		return -1;
	int rc = db_next(*ret, err);
	if (rc <= 0) {
		db_end(*ret);
		*ret = NULL;
	}
	return rc;
}

char *row_str(struct arena *a, struct db_rows *r, int col)
{
	return arena_str(a, db_text(r, col));
}

void ids_add(struct ids *list, int64_t id)
{
	MEM_GROW(list->p, list->cap, list->n + 1);
	list->p[list->n++] = id;
}

void ids_done(struct ids *list)
{
	free(list->p);
	*list = (struct ids){ 0 };
}

int store_ids(struct store *s, const char *sql, const struct db_arg *args, size_t n,
	struct ids *ret, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	int rc;

	if (db_query(s->db, sql, args, n, &r, err))
		return -1;
	while ((rc = db_next(r, err)) > 0)
		ids_add(ret, db_int(r, 0));
	return rc;
}

int store_scan(struct store *s, const char *sql,
	int (*row)(struct store *s, struct db_rows *r, void *ctx, struct err *err), void *ctx,
	struct err *err)
{
	int64_t last = 0;

	for (;;) {
		AUTO(db_end_ptr) struct db_rows *r = NULL;
		int64_t n = 0;
		int rc;
		if (db_query(s->db, sql, DB_ARGS(db_i(last), db_i(SCAN_PAGE)), &r, err))
			return -1;
		for (; (rc = db_next(r, err)) > 0; n++) {
			last = db_int(r, 0);
			rc = row(s, r, ctx, err);
			if (rc)
				return rc < 0 ? -1 : 0;
		}
		if (rc < 0 || n < SCAN_PAGE)
			return rc;
	}
}

int store_each(struct store *s, const char *sql, const struct ids *ids, struct err *err)
{
	for (size_t i = 0; i < ids->n; i++)
		if (db_run(s->db, sql, DB_ARGS(db_i(ids->p[i])), err))
			return -1;
	return 0;
}
