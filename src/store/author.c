/*
 * Authors, and what they share. A memory that is shared is packed without a dictionary: dictionaries
 * hold pieces of what they were taught with, and are private for that reason.
 */
#include "store/author.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "store/memory_row.h"
#include "store/query_ids.h"

int author_check(const char *name, struct err *err)
{
	const struct str s = str_of(name);

	if (s.n && s.n <= AUTHOR_NAME_MAX && utf8_is_valid(s.p, s.n) && s.p[0] != ' ' &&
		s.p[s.n - 1] != ' ' && !str_has_control(s))
		return 0;
	err_set(err, ERR_USAGE, "'%.*s' cannot be the name of an author", AUTHOR_NAME_MAX,
		name ? name : "");
	return err_hint(err, "Set `author` to a name of 1 to %d bytes without control characters.",
		AUTHOR_NAME_MAX);
}

int64_t store_me(const struct store *s)
{
	return s->me;
}

const char *store_my_name(const struct store *s)
{
	return s->my_name ? s->my_name : "";
}

static int find(struct store *s, const char *name, int64_t *ret, struct err *err)
{
	return db_one(
		s->db, "SELECT id FROM author WHERE name = ?1", DB_ARGS(db_t(name)), 0, ret, err);
}

static int rename_author(struct store *s, int64_t id, const char *name, struct err *err)
{
	return db_run(s->db, "UPDATE author SET name = ?2 WHERE id = ?1",
		DB_ARGS(db_i(id), db_t(name)), err);
}

/* What was stored before anybody had a name is the first author's who comes. */
static int claim(struct store *s, const char *name, int64_t *ret, struct err *err)
{
	int64_t nameless;

	if (find(s, name, ret, err) || *ret)
		return *ret ? 0 : -1;
	if (find(s, "", &nameless, err))
		return -1;
	if (nameless) {
		*ret = nameless;
		return rename_author(s, nameless, name, err);
	}
	if (db_run(s->db, "INSERT INTO author (name, created_at) VALUES (?1, ?2)",
		    DB_ARGS(db_t(name), db_i(clock_now())), err))
		return -1;
	*ret = db_last_id(s->db);
	return 0;
}

/* ---- files ---- */

/* Two authors of a file change their numbers, in all tables. */
static int swap_numbers(struct store *s, int64_t other, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	const char **tables;
	size_t n;

	if (db_tables(s->db, &a, &tables, &n, err) ||
		db_script(s->db,
			arena_printf(&a,
				"UPDATE author SET id = -1 WHERE id = 1; UPDATE author SET id = 1 "
				"WHERE id = %lld; UPDATE author SET id = %lld WHERE id = -1;",
				(long long)other, (long long)other),
			err))
		return -1;
	for (size_t i = 0; i < n; i++) {
		const char *sql = arena_printf(&a,
			"SELECT count(*) FROM pragma_table_info('%s') WHERE name = 'author'",
			tables[i]);
		AUTO(db_end_ptr) struct db_rows *r = NULL;
		if (db_query_once(s->db, sql, NULL, 0, &r, err) || db_next(r, err) < 0)
			return -1;
		bool has_author = db_int(r, 0);
		db_end(r);
		r = NULL;
		if (has_author &&
			db_script(s->db,
				arena_printf(&a,
					"UPDATE %s SET author = CASE author WHEN 1 THEN -1 ELSE 1 "
					"END WHERE author IN (1, %lld); UPDATE %s SET author = "
					"%lld "
					"WHERE author = -1;",
					tables[i], (long long)other, tables[i], (long long)other),
				err))
			return -1;
	}
	return 0;
}

/* A file is one person's, whatever they are called now; one that was copied from a shared store holds others' too. */
static int enter_file(struct store *s, const char *name, struct err *err)
{
	int64_t authors, id;

	if (find(s, name, &id, err) || id == AUTHOR_FIRST)
		return id == AUTHOR_FIRST ? 0 : -1;
	if (store_authors(s, &authors, err))
		return -1;
	if (authors == 1)
		return rename_author(s, AUTHOR_FIRST, name, err);
	if (claim(s, name, &id, err))
		return -1;
	return id == AUTHOR_FIRST ? 0 : swap_numbers(s, id, err);
}

/* ---- entering ---- */

static int within(struct store *s, const char *name, int64_t *ret, struct err *err)
{
	if (db_begin(s->db, err))
		return -1;
	int failed = db_is_shared(s->db) ? claim(s, name, ret, err) : enter_file(s, name, err);
	if (!failed && !db_commit(s->db, err))
		return 0;
	db_rollback(s->db);
	return -1;
}

static int number_of(
	struct store *s, const char *name, bool is_reader, int64_t *ret, struct err *err)
{
	int64_t known;

	*ret = AUTHOR_FIRST;
	if (!name)
		return 0;
	if (author_check(name, err) || find(s, name, &known, err))
		return -1;
	if (db_is_shared(s->db) ? known : known == AUTHOR_FIRST || is_reader) {
		*ret = db_is_shared(s->db) ? known : AUTHOR_FIRST;
		return 0;
	}
	if (is_reader)
		return err_set(err, ERR_BUSY, "the store does not know the author '%s' yet", name);
	return within(s, name, ret, err);
}

int author_enter(struct store *s, const char *name, bool keeps_login, struct err *err)
{
	if (number_of(s, name, !s->is_writer, &s->me, err) ||
		db_identify(s->db, s->me, keeps_login, err))
		return -1;
	s->my_name = name ? mem_strdup(name) : NULL;
	return 0;
}

static int ask_name(struct store *s, struct arena *a, int64_t id, const char **ret, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	int rc = store_row(s, "SELECT name FROM author WHERE id = ?1", DB_ARGS(db_i(id)), &r, err);

	if (rc < 0)
		return -1;
	const char *name = rc ? db_text(r, 0) : NULL;
	*ret = name && *name ? arena_str(a, name) : arena_printf(a, "author %lld", (long long)id);
	return 0;
}

int store_author_name(
	struct store *s, struct arena *a, int64_t id, const char **ret, struct err *err)
{
	struct author_called called = { .id = id };

	*ret = NULL;
	if (id == s->me)
		return 0;
	for (size_t i = 0; i < s->nnames && !*ret; i++)
		if (s->names[i].id == id)
			*ret = s->names[i].name;
	if (!*ret) {
		if (ask_name(s, &s->names_arena, id, &called.name, err))
			return -1;
		MEM_GROW(s->names, s->names_cap, s->nnames + 1);
		s->names[s->nnames++] = called;
		*ret = called.name;
	}
	*ret = arena_str(a, *ret);
	return 0;
}

int store_authors(struct store *s, int64_t *ret, struct err *err)
{
	return db_one(s->db, "SELECT count(*) FROM author", NULL, 0, 0, ret, err);
}

/* ---- sharing ---- */

int memory_must_be_mine(const struct memory *m, const char *what, struct err *err)
{
	if (!m->author)
		return 0;
	err_set(err, ERR_USAGE, "memory %lld is %.*s's: only its author may %s", (long long)m->id,
		AUTHOR_NAME_MAX, m->author, what);
	return err_hint(err, "Ask its author, or save what you know better as a note of your own.");
}

static int share_one(struct store *s, int64_t id, bool is_team, size_t *io_changed, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct memory m;

	if (store_memory_get(s, &a, id, &m, err) ||
		memory_must_be_mine(&m, is_team ? "share it" : "take it back", err))
		return -1;
	if (m.is_team == is_team)
		return 0;
	if (m.kind == KIND_CHUNK) {
		err_set(err, ERR_USAGE, "memory %lld is a section of a markdown file",
			(long long)id);
		return err_hint(
			err, "Share its folder: `remanence sync add FOLDER --team` or --private.");
	}
	m.is_team = is_team;
	++*io_changed;
	return memory_write_shared(s, &m, err);
}

int store_share(struct store *s, const int64_t *ids, size_t n, bool is_team, size_t *ret_changed,
	struct err *err)
{
	size_t changed = 0;

	for (size_t i = 0; i < n; i++)
		if (share_one(s, ids[i], is_team, &changed, err))
			return -1;
	*ret_changed = changed;
	return 0;
}

int store_project_shared(struct store *s, int64_t project, bool *ret, struct err *err)
{
	int64_t found;
	int rc = db_one(s->db,
		"SELECT count(*) FROM project_share WHERE author = ?1 AND project = ?2",
		DB_ARGS(db_i(s->me), db_i(project)), 0, &found, err);

	*ret = !rc && found;
	return rc;
}

int store_projects_shared(struct store *s, struct arena *a, size_t max, const char ***ret,
	size_t *ret_n, struct err *err)
{
	static const char sql[] =
		"SELECT p.name FROM project_share h JOIN project p ON p.id = h.project WHERE "
		"h.author = ?1 ORDER BY (SELECT coalesce(max(last_event_at), 0) FROM session WHERE "
		"project = p.id) DESC, p.id LIMIT ?2";
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	size_t cap = 0;
	int rc;

	*ret = NULL;
	*ret_n = 0;
	if (db_query(s->db, sql, DB_ARGS(db_i(s->me), db_i((int64_t)max)), &r, err))
		return -1;
	while ((rc = db_next(r, err)) > 0)
		ARENA_PUSH(a, *ret, *ret_n, cap, arena_str(a, db_text(r, 0)));
	return rc;
}

int store_project_share(struct store *s, int64_t project, bool is_shared, struct err *err)
{
	static const char share[] =
		"INSERT INTO project_share (author, project) VALUES (?1, ?2) ON "
		"CONFLICT (author, project) DO NOTHING";
	static const char unshare[] =
		"DELETE FROM project_share WHERE author = ?1 AND project = ?2";

	return db_run(s->db, is_shared ? share : unshare, DB_ARGS(db_i(s->me), db_i(project)), err);
}

int store_unshared(struct store *s, struct arena *a, int64_t project, bool is_team, int64_t after,
	int64_t **ret, size_t *ret_n, struct err *err)
{
	static const char sql[] = "SELECT id FROM memory WHERE author = ?1 AND project = ?2 AND "
				  "visibility <> ?3 AND kind "
				  "<> ?4 AND id > ?5 ORDER BY id LIMIT ?6";

	return query_ids(s, a, sql,
		DB_ARGS(db_i(s->me), db_i(project), db_i(is_team), db_i(KIND_CHUNK), db_i(after),
			db_i(SHARE_PAGE)),
		ret, ret_n, err);
}
