#ifndef TESTS_STORE_FIXTURE_H
#define TESTS_STORE_FIXTURE_H

#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "store/store.h"

/* A store in a folder of its own, open for writing, and an arena for what is read. */

struct fixture {
	struct arena arena;
	char root[64];
	char url[512], path[128];
	struct store *s;
	struct err err;
};

#define ok(expression)                                                \
	do {                                                          \
		f->err.text[0] = '\0';                                \
		if ((expression) != 0)                                \
			fail_msg("%s: %s", #expression, f->err.text); \
	} while (0)

/*
 * REMANENCE_TEST_STORE names a PostgreSQL database; each fixture is a schema of its own in it. Else it is a file below the root.
 */
static inline void fixture_url(struct fixture *f)
{
	static unsigned made;
	const char *database = getenv("REMANENCE_TEST_STORE");

	if (database && *database)
		snprintf(f->url, sizeof(f->url), "%s%cschema=unit_%d_%u", database, strchr(database, '?') ? '&' : '?',
			(int)getpid(), ++made);
	else
		snprintf(f->url, sizeof(f->url), "sqlite:%s", f->path);
}

/* Only where the store is a file has it files to look into, log and all. */
static inline bool is_file(const struct fixture *f)
{
	return str_starts(f->url, "sqlite:");
}

static inline int fixture_open(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	snprintf(f->root, sizeof(f->root), "/tmp/remanence-unit-XXXXXX");
	assert_non_null(mkdtemp(f->root));
	snprintf(f->path, sizeof(f->path), "%s/remanence.db", f->root);
	fixture_url(f);
	ok(store_open(f->url, DB_CREATE, NULL, &f->s, &f->err));
	*state = f;
	return 0;
}

/* For what only the owner of the tables may do: changing them. */
static inline void reopen_as_owner(struct fixture *f)
{
	const struct store_setup setup = { .url = f->url, .mode = DB_WRITE, .keeps_login = true };

	store_close(f->s);
	ok(store_open_as(&setup, &f->s, &f->err));
}

static inline int fixture_close(void **state)
{
	struct fixture *f = *state;

	store_close(f->s);
	file_remove_tree(f->root, NULL);
	arena_done(&f->arena);
	free(f);
	return 0;
}

static inline int64_t make_project(struct fixture *f, const char *path)
{
	const struct project_identity p = { .root = path, .path = path, .name = path_base(path) };
	int64_t id;

	ok(store_project_resolve(f->s, &p, &id, &f->err));
	return id;
}

static inline int64_t make_session(struct fixture *f, const char *name, int64_t project)
{
	const struct captured_session c = {
		.agent = AGENT_CLAUDE, .agent_session = name, .cwd = "/src/app"
	};
	int64_t id;

	ok(store_session_put(f->s, &c, project, &id, &f->err));
	return id;
}

static inline enum put_result put_event(struct fixture *f, int64_t session,
	const struct captured_event *e, const char *spool_name, int64_t *ret_id)
{
	const struct event_put p = {
		.session = session, .agent = AGENT_CLAUDE, .event = e, .spool_name = spool_name
	};
	enum put_result result;

	ok(store_event_put(f->s, &p, &result, ret_id, &f->err));
	return result;
}

/* As a transcript tells it. */
static inline struct captured_event event_of(enum event_kind kind, const char *id, const char *text, int64_t at)
{
	return (struct captured_event){ .kind = kind,
		.source = SOURCE_TRANSCRIPT,
		.id = id,
		.text = str_of(text),
		.at = at,
		.exit_code = -1 };
}

static inline int64_t put_prompt(
	struct fixture *f, int64_t session, const char *id, const char *text, int64_t at)
{
	const struct captured_event e = event_of(EVENT_PROMPT, id, text, at);
	int64_t event;

	put_event(f, session, &e, NULL, &event);
	return event;
}

/* The turn that an event belongs to. */
static inline struct turn turn_of(struct fixture *f, int64_t event)
{
	struct event e;
	struct turn t;

	ok(store_event_get(f->s, &f->arena, event, &e, &f->err));
	ok(store_turn_get(f->s, &f->arena, e.turn, &t, &f->err));
	return t;
}

/* Does any file below the root hold these bytes? */
static inline bool tree_holds(const char *dir, const void *needle, size_t n)
{
	AUTO(arena_done) struct arena a = { 0 };
	char **names;
	size_t count;

	assert_int_equal(file_list(&a, dir, &names, &count, NULL), 0);
	for (size_t i = 0; i < count; i++) {
		AUTO(buf_done) struct buf b = { 0 };
		const char *path = path_join(&a, dir, names[i]);
		if (file_is_dir(path)) {
			if (tree_holds(path, needle, n))
				return true;
			continue;
		}
		assert_int_equal(file_read(path, (size_t)1 << 30, &b, NULL), 0);
		if (b.len >= n && memmem(b.data, b.len, needle, n))
			return true;
	}
	return false;
}

/* How many rows of a table show these bytes: as text, or among the bytes of a column. */
static inline int64_t table_holds(struct fixture *f, const char *table, const char *needle)
{
	AUTO(buf_done) struct buf hex = { 0 };
	const char *sql = arena_printf(&f->arena,
		"SELECT count(*) FROM \"%s\" t WHERE t::text LIKE '%%' || ?1 || '%%' OR t::text LIKE '%%' || ?2 || '%%'", table);
	struct db_rows *r;

	for (const char *p = needle; *p; p++)
		buf_printf(&hex, "%02x", (unsigned char)*p);
	ok(db_query_once(store_db(f->s), sql, DB_ARGS(db_t(needle), db_t(buf_cstr(&hex))), &r, &f->err));
	assert_int_equal(db_next(r, &f->err), 1);
	int64_t n = db_int(r, 0);
	db_end(r);
	return n;
}

/* Can these bytes be found where the store is? In files, or in the rows of the database. */
static inline bool store_holds(struct fixture *f, const char *needle)
{
	struct db_rows *r;
	int64_t n = 0;

	if (is_file(f))
		return tree_holds(f->root, needle, strlen(needle));
	ok(db_query_once(store_db(f->s),
		"SELECT relname::text FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace", NULL, 0,
		&r, &f->err));
	while (db_next(r, &f->err) > 0)
		n += table_holds(f, db_text(r, 0), needle);
	db_end(r);
	return n > 0;
}

#endif
