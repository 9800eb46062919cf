/*
 * Migration 11: whose rows are whose. Every table that holds what somebody did or wrote gets a column `author`, filled by its
 * default, and on PostgreSQL a policy; so no statement has to remember either. What is unique within a table is unique within
 * what one author sees.
 *
 * On PostgreSQL the connection says for whom it works (`remanence.author`, postgres_owner.c), and an author belongs to the login
 * that first worked for that name: a login of one's own is a border that a colleague's SQL does not cross either. Tables are
 * forced, since the daemons' role mostly owns them.
 */
#include "store/schema.h"

#include <string.h>

#include "base/arena.h"
#include "base/mem.h"

/* Rows that stay as they are: the first author's. */
static const char *const owned[] = { "session", "turn", "event", "hook_copy", "evidence", "entity",
	"mention", "candidate", "fact", "stale_due", "visible", "job", "model_call", "injection",
	"injection_memory", "search_log", "pause", "dictionary", "memory", "memory_file", "suspect",
	"branch_memory", "chunk", "vector", "change", "project", "source_file" };

const char *const owner_tables[] = {
	"CREATE TABLE author (id {key}, name TEXT NOT NULL UNIQUE, created_at BIGINT NOT NULL, "
	"login TEXT);",
	"INSERT INTO author (name, created_at) VALUES ('', 0);",
	"CREATE TABLE project_share (author BIGINT NOT NULL DEFAULT 1, project BIGINT NOT NULL, "
	"PRIMARY KEY "
	"(author, project)) {clustered};",
	"DROP INDEX session_agent;",
	"DROP INDEX entity_name;",
	"DROP INDEX source_file_path;",
	NULL,
};

/* When all have the column. */
static const char indexes[] =
	"ALTER TABLE memory ADD COLUMN visibility INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE change ADD COLUMN is_team INTEGER NOT NULL DEFAULT 0;"
	"CREATE UNIQUE INDEX session_agent ON session (agent_session, agent, author);"
	"CREATE UNIQUE INDEX entity_name ON entity (name, kind, author);"
	"CREATE UNIQUE INDEX source_file_path ON source_file (folder, path);"
	"CREATE INDEX memory_team ON memory (project) WHERE visibility = 1;"
	"UPDATE counter SET author = 0 WHERE name = 'change.last';"
	"UPDATE project_alias SET author = 0 WHERE kind = 1;";

#define AUTHOR "author BIGINT NOT NULL DEFAULT 1"

/*
 * Whose keys now end with the author: a statement that does not name one, since a file has one alone, still finds its rows by
 * the key. SQLite cannot change a key: there the table is made anew, its key's columns first (older versions of its own check
 * find fault with others).
 */
static const struct {
	const char *table, *columns /* with their types */, *names, *key, *rest;
	const char *constraint; /* its name on PostgreSQL */
} keyed[] = {
	{ "counter", "name TEXT NOT NULL, " AUTHOR ", n BIGINT NOT NULL", "name, n",
		"PRIMARY KEY (name, author)", "{clustered}", "counter_pkey" },
	{ "project_alias",
		"kind INTEGER NOT NULL, value TEXT NOT NULL, " AUTHOR ", project BIGINT NOT NULL",
		"kind, value, project", "PRIMARY KEY (kind, value, author)", "{clustered}",
		"project_alias_pkey" },
	{ "token_use",
		"ident BIGINT NOT NULL, " AUTHOR
		", session BIGINT NOT NULL, tokens_in BIGINT NOT NULL, "
		"tokens_out BIGINT NOT NULL, cache_read BIGINT NOT NULL, cache_write BIGINT NOT "
		"NULL",
		"ident, session, tokens_in, tokens_out, cache_read, cache_write",
		"PRIMARY KEY (ident, author)", "{clustered}", "token_use_pkey" },
	{ "fact_due", "project BIGINT NOT NULL, topic BIGINT NOT NULL, " AUTHOR, "project, topic",
		"PRIMARY KEY (project, topic, author)", "{clustered}", "fact_due_pkey" },
	{ "tombstone",
		"kind INTEGER NOT NULL, hash BIGINT NOT NULL, " AUTHOR ", at BIGINT NOT NULL",
		"kind, hash, at", "PRIMARY KEY (kind, hash, author)", "{clustered}",
		"tombstone_pkey" },
	{ "file_base",
		"file BIGINT NOT NULL, role INTEGER NOT NULL, " AUTHOR ", size BIGINT, hash {blob}",
		"file, role, size, hash", "PRIMARY KEY (file, role, author)", "{clustered}",
		"file_base_pkey" },
	{ "file_state",
		"project BIGINT NOT NULL, file BIGINT NOT NULL, " AUTHOR ", size BIGINT NOT NULL, "
		"mtime BIGINT NOT NULL, hash TEXT, seen_at BIGINT NOT NULL",
		"project, file, size, mtime, hash, seen_at", "PRIMARY KEY (project, file, author)",
		"{clustered}", "file_state_pkey" },
	{ "transcript",
		"id {key}, path TEXT NOT NULL, " AUTHOR
		", agent INTEGER NOT NULL, at_offset BIGINT NOT NULL, "
		"lines BIGINT NOT NULL, size BIGINT NOT NULL, mtime BIGINT NOT NULL, inode BIGINT "
		"NOT NULL, "
		"state TEXT, "
		"head_hash TEXT, bad_lines BIGINT NOT NULL",
		"id, path, agent, at_offset, lines, size, mtime, inode, state, head_hash, "
		"bad_lines",
		"UNIQUE (path, author)", "", "transcript_path_key" },
	{ "file", "id {key}, path TEXT NOT NULL, " AUTHOR, "id, path", "UNIQUE (path, author)", "",
		"file_path_key" },
	{ "checkout",
		"id {key}, project BIGINT NOT NULL, root TEXT NOT NULL, " AUTHOR ", head TEXT, "
		"asked_at BIGINT NOT NULL",
		"id, project, root, head, asked_at", "UNIQUE (root, author)", "",
		"checkout_root_key" },
	{ "folder",
		"id {key}, namespace TEXT NOT NULL, " AUTHOR
		", root TEXT NOT NULL, globs TEXT NOT NULL, "
		"project BIGINT NOT NULL, created_at BIGINT NOT NULL, synced_at BIGINT NOT NULL, "
		"error TEXT",
		"id, namespace, root, globs, project, created_at, synced_at, error",
		"UNIQUE (namespace, author)", "", "folder_namespace_key" },
};

static const char again[] = "CREATE INDEX project_alias_project ON project_alias (project);"
			    "CREATE INDEX file_state_seen ON file_state (seen_at);";

static int remake(struct db *db, struct arena *a, size_t i, struct err *err)
{
	return db_script(db,
		arena_printf(a,
			"ALTER TABLE %s RENAME TO old_%s; CREATE TABLE %s (%s, %s) %s; INSERT "
			"INTO %s (%s) SELECT %s FROM old_%s; DROP TABLE old_%s;",
			keyed[i].table, keyed[i].table, keyed[i].table, keyed[i].columns,
			keyed[i].key, keyed[i].rest, keyed[i].table, keyed[i].names, keyed[i].names,
			keyed[i].table, keyed[i].table),
		err);
}

static int rekey(struct db *db, struct arena *a, size_t i, struct err *err)
{
	return db_script(db,
		arena_printf(a,
			"ALTER TABLE %s ADD COLUMN " AUTHOR
			"; ALTER TABLE %s DROP CONSTRAINT %s, ADD %s;",
			keyed[i].table, keyed[i].table, keyed[i].constraint, keyed[i].key),
		err);
}

/* ---- PostgreSQL ---- */

/* Looked up once in a statement. Without an author nothing is anybody's. */
#define ME                                                                                    \
	"(SELECT w.id FROM author w WHERE w.id = nullif(current_setting('remanence.author', " \
	"true), "                                                                             \
	"'')::bigint AND w.login = session_user::text)"

/* Tables whose rows others see too, and which; "" all. */
static const struct {
	const char *table, *seen;
} seen[] = {
	{ "memory", "visibility = 1" },
	{ "memory_file", "EXISTS (SELECT 1 FROM memory m WHERE m.id = memory_file.memory AND "
			 "m.visibility = 1)" },
	{ "suspect", "EXISTS (SELECT 1 FROM memory m WHERE m.id = suspect.memory AND m.visibility "
		     "= 1)" },
	{ "branch_memory", "EXISTS (SELECT 1 FROM memory m WHERE m.id = branch_memory.memory AND "
			   "m.visibility = 1)" },
	{ "chunk",
		"EXISTS (SELECT 1 FROM memory m WHERE m.id = chunk.memory AND m.visibility = 1)" },
	{ "vector",
		"EXISTS (SELECT 1 FROM memory m WHERE m.id = vector.memory AND m.visibility = 1)" },
	{ "file",
		"EXISTS (SELECT 1 FROM memory_file f WHERE f.file = file.id)" }, /* that is seen itself */
	{ "folder", "visibility = 1" },
	{ "source_file", "EXISTS (SELECT 1 FROM folder d WHERE d.id = source_file.folder AND "
			 "d.visibility = 1)" },
	/* Numbers without texts; those who number the next change need the last. */
	{ "change", "true" },
	{ "project", "EXISTS (SELECT 1 FROM project_alias p WHERE p.project = project.id AND "
		     "p.author = " ME ") OR EXISTS (SELECT 1 FROM memory m WHERE m.project = "
		     "project.id AND m.visibility = 1)" },
};

/* A project that was merged into another stays for colleagues who did not come by since; its author has left it. */
static const char project_policies[] =
	"CREATE POLICY mine ON project FOR SELECT USING (author = " ME
	" AND NOT EXISTS (SELECT 1 FROM project_merge g WHERE g.merged = project.id));"
	"CREATE POLICY made ON project FOR INSERT WITH CHECK (author = " ME ");"
	"CREATE POLICY changed ON project FOR UPDATE USING (author = " ME ");"
	"CREATE POLICY gone ON project FOR DELETE USING (author = " ME ");";

/* Who works for whom is no secret; each name is the login's that came with it. */
static const char author_policies[] =
	"ALTER TABLE author ALTER COLUMN login SET DEFAULT session_user;"
	"UPDATE author SET login = session_user;"
	"ALTER TABLE author ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;"
	"CREATE POLICY seen ON author FOR SELECT USING (true);"
	"CREATE POLICY made ON author FOR INSERT WITH CHECK (login = session_user::text);"
	"CREATE POLICY changed ON author FOR UPDATE USING (login = session_user::text);";

static int guard(struct db *db, struct arena *a, const char *table, struct err *err)
{
	/* Rows of nobody are the store's own: its last change, and the remotes of projects. */
	bool has_common = !strcmp(table, "counter") || !strcmp(table, "project_alias");
	const char *mine = has_common ? "author = 0 OR author = " ME : "author = " ME;

	if (db_script(db,
		    arena_printf(a,
			    "ALTER TABLE %s ALTER COLUMN author SET DEFAULT "
			    "nullif(current_setting('remanence.author', true), '')::bigint; ALTER "
			    "TABLE %s "
			    "ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;",
			    table, table),
		    err))
		return -1;
	return strcmp(table, "project")
		       ? db_script(db,
				 arena_printf(
					 a, "CREATE POLICY mine ON %s USING (%s);", table, mine),
				 err)
		       : db_script(db, project_policies, err);
}

static int guard_all(struct db *db, struct arena *a, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(owned); i++)
		if (guard(db, a, owned[i], err))
			return -1;
	for (size_t i = 0; i < ARRAY_LEN(keyed); i++)
		if (guard(db, a, keyed[i].table, err))
			return -1;
	if (guard(db, a, "project_share", err))
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(seen); i++)
		if (db_script(db,
			    arena_printf(a, "CREATE POLICY seen ON %s FOR SELECT USING (%s);",
				    seen[i].table, seen[i].seen),
			    err))
			return -1;
	return db_script(db, author_policies, err);
}

int owner_migrate(struct db *db, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	bool is_shared = db_is_shared(db);

	for (size_t i = 0; i < ARRAY_LEN(owned); i++)
		if (db_script(db,
			    arena_printf(&a, "ALTER TABLE %s ADD COLUMN " AUTHOR ";", owned[i]),
			    err))
			return -1;
	for (size_t i = 0; i < ARRAY_LEN(keyed); i++)
		if (is_shared ? rekey(db, &a, i, err) : remake(db, &a, i, err))
			return -1;
	if (db_script(db, "ALTER TABLE folder ADD COLUMN visibility INTEGER NOT NULL DEFAULT 0;",
		    err) ||
		(!is_shared && db_script(db, again, err)) || db_script(db, indexes, err))
		return -1;
	return is_shared ? guard_all(db, &a, err) : 0;
}
