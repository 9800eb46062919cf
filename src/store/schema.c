/*
 * Tables are kept narrow: kinds are numbers, all texts of a row are one pack (pack.h), keys that
 * are texts are looked up by their hash, and no index repeats what another one gives.
 */
#include "store/schema.h"

#include <stdio.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "store/fact.h"

static const char *const tables_1[] = {
	"CREATE TABLE meta (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) {clustered};",
	"CREATE TABLE counter (name TEXT NOT NULL PRIMARY KEY, n BIGINT NOT NULL) {clustered};",
	"CREATE TABLE dictionary (id {key}, class INTEGER NOT NULL, at BIGINT NOT NULL, data "
	"{blob} NOT NULL);",

	"CREATE TABLE project (id {key}, name TEXT NOT NULL, root TEXT, created_at BIGINT NOT "
	"NULL);",
	"CREATE TABLE project_alias (kind INTEGER NOT NULL, value TEXT NOT NULL, project BIGINT "
	"NOT NULL,"
	" PRIMARY KEY (kind, value)) {clustered};",
	"CREATE INDEX project_alias_project ON project_alias (project);",
	"CREATE TABLE project_merge (merged BIGINT NOT NULL PRIMARY KEY, name TEXT NOT NULL, "
	"project BIGINT NOT NULL,"
	" at BIGINT NOT NULL) {clustered};",

	"CREATE TABLE session (id {key}, agent INTEGER NOT NULL, agent_session TEXT NOT NULL, "
	"project BIGINT NOT NULL,"
	" parent BIGINT, parent_ref TEXT, branch TEXT, cwd TEXT, model TEXT, title TEXT, "
	"end_reason TEXT,"
	" transcript_path TEXT, started_at BIGINT NOT NULL, last_event_at BIGINT NOT NULL, "
	"ended_at BIGINT NOT NULL,"
	" is_headless INTEGER NOT NULL, tokens_in BIGINT NOT NULL, tokens_out BIGINT NOT NULL,"
	" cache_read BIGINT NOT NULL, cache_write BIGINT NOT NULL);",
	"CREATE UNIQUE INDEX session_agent ON session (agent_session, agent);",
	"CREATE INDEX session_project ON session (project, last_event_at);",
	"CREATE INDEX session_last ON session (last_event_at);",

	"CREATE TABLE turn (id {key}, session BIGINT NOT NULL REFERENCES session (id), agent_turn "
	"TEXT,"
	" started_at BIGINT NOT NULL, last_event_at BIGINT NOT NULL, is_dirty INTEGER NOT NULL,"
	" is_stopped INTEGER NOT NULL);",
	"CREATE UNIQUE INDEX turn_agent ON turn (session, agent_turn);",
	"CREATE INDEX turn_start ON turn (session, started_at);",
	"CREATE INDEX turn_dirty ON turn (id) WHERE is_dirty = 1;",

	/* ident: hash of agent and key; likeness: hash of what both copies of a message share. */
	"CREATE TABLE event (id {key}, session BIGINT NOT NULL REFERENCES session (id), ident "
	"BIGINT NOT NULL,"
	" at BIGINT NOT NULL, kind INTEGER NOT NULL, source INTEGER NOT NULL, status INTEGER NOT "
	"NULL,"
	" exit_code INTEGER, flags INTEGER NOT NULL, said INTEGER NOT NULL, anchor INTEGER, turn "
	"BIGINT, project BIGINT,"
	" likeness BIGINT, true_size BIGINT, event_key TEXT NOT NULL, subagent TEXT, tool TEXT, "
	"cwd TEXT, branch TEXT,"
	" pack {blob});",
	"CREATE UNIQUE INDEX event_ident ON event (ident, session);",
	"CREATE INDEX event_at ON event (session, at);",
	"CREATE INDEX event_anchor ON event (session, at) WHERE anchor = 1;",
	"CREATE INDEX event_project ON event (project) WHERE project IS NOT NULL;",
	"CREATE INDEX event_likeness ON event (likeness) WHERE likeness IS NOT NULL;",
	"CREATE TABLE hook_copy (session BIGINT NOT NULL, name TEXT NOT NULL, kind INTEGER NOT "
	"NULL, event BIGINT NOT NULL,"
	" at BIGINT NOT NULL, agent_turn TEXT, PRIMARY KEY (session, name, kind)) {clustered};",
	"CREATE INDEX hook_copy_event ON hook_copy (event);",
	/* Token use of one message of an agent, counted in one session only. */
	"CREATE TABLE token_use (ident BIGINT NOT NULL PRIMARY KEY, session BIGINT NOT NULL, "
	"tokens_in BIGINT NOT NULL,"
	" tokens_out BIGINT NOT NULL, cache_read BIGINT NOT NULL, cache_write BIGINT NOT NULL) "
	"{clustered};",

	"CREATE TABLE memory (id {key}, project BIGINT NOT NULL, session BIGINT, turn BIGINT, at "
	"BIGINT NOT NULL,"
	" kind INTEGER NOT NULL, type INTEGER NOT NULL, status INTEGER NOT NULL, origin INTEGER "
	"NOT NULL,"
	" trust INTEGER NOT NULL, is_pinned INTEGER NOT NULL, confidence INTEGER NOT NULL, "
	"created_at BIGINT NOT NULL,"
	" updated_at BIGINT, valid_from BIGINT, valid_to BIGINT, superseded_by BIGINT, hash BIGINT "
	"NOT NULL,"
	" pack {blob} NOT NULL);",
	"CREATE INDEX memory_project ON memory (project, at);",
	/* A session start asks for the newest of one kind; it must not walk over all the others. */
	"CREATE INDEX memory_kind ON memory (project, kind, at, type, status);",
	"CREATE INDEX memory_pinned ON memory (project, at) WHERE is_pinned = 1;",
	"CREATE INDEX memory_at ON memory (at);",
	"CREATE INDEX memory_session ON memory (session) WHERE session IS NOT NULL;",
	"CREATE INDEX memory_turn ON memory (turn) WHERE turn IS NOT NULL;",
	"CREATE TABLE file (id {key}, path TEXT NOT NULL UNIQUE);",
	"CREATE TABLE memory_file (memory BIGINT NOT NULL, file BIGINT NOT NULL, role INTEGER NOT "
	"NULL, size BIGINT,"
	" hash {blob}, PRIMARY KEY (memory, file, role)) {clustered};",
	"CREATE INDEX memory_file_file ON memory_file (file);",
	/* Which memories rest on an event; order, role and excerpt are in the memory's pack. */
	"CREATE TABLE evidence (event BIGINT NOT NULL, memory BIGINT NOT NULL, PRIMARY KEY (event, "
	"memory)) {clustered};",
	"CREATE TABLE chunk (memory BIGINT NOT NULL PRIMARY KEY, source_file BIGINT NOT NULL, "
	"section TEXT,"
	" position INTEGER NOT NULL) {clustered};",
	"CREATE TABLE source_file (id {key}, namespace TEXT NOT NULL, path TEXT NOT NULL, checksum "
	"TEXT,"
	" chunks INTEGER NOT NULL, synced_at BIGINT NOT NULL);",
	"CREATE UNIQUE INDEX source_file_path ON source_file (namespace, path);",
	"CREATE TABLE entity (id {key}, kind INTEGER NOT NULL, name TEXT NOT NULL);",
	"CREATE UNIQUE INDEX entity_name ON entity (name, kind);",
	"CREATE TABLE mention (entity BIGINT NOT NULL, memory BIGINT NOT NULL, event BIGINT NOT "
	"NULL, n INTEGER NOT NULL,"
	" at BIGINT NOT NULL, PRIMARY KEY (entity, memory, event)) {clustered};",
	"CREATE TABLE vector (memory BIGINT NOT NULL, embedder TEXT NOT NULL, data {blob} NOT NULL,"
	" PRIMARY KEY (memory, embedder)) {clustered};",

	/* One row per thing, its last change. ref: id and kind in one number (change.c), so
	 * that both trees are of numbers. */
	"CREATE TABLE change (ref {number}, seq BIGINT NOT NULL, is_gone INTEGER NOT NULL);",
	"CREATE UNIQUE INDEX change_seq ON change (seq);",
	"CREATE INDEX change_gone ON change (seq) WHERE is_gone = 1;",

	"CREATE TABLE job (id {key}, kind INTEGER NOT NULL, job_key TEXT NOT NULL, state INTEGER "
	"NOT NULL,"
	" attempts INTEGER NOT NULL, run_after BIGINT NOT NULL, leased_until BIGINT NOT NULL, "
	"last_error TEXT);",
	"CREATE UNIQUE INDEX job_job_key ON job (job_key, kind);",
	"CREATE INDEX job_state ON job (state, run_after);",
	"CREATE TABLE model_call (id {key}, job BIGINT, at BIGINT NOT NULL, provider TEXT NOT "
	"NULL, model TEXT NOT NULL,"
	" tokens_in BIGINT NOT NULL, tokens_out BIGINT NOT NULL, cost {real} NOT NULL, queue_ms "
	"BIGINT NOT NULL,"
	" first_byte_ms BIGINT NOT NULL, total_ms BIGINT NOT NULL, outcome INTEGER NOT NULL, reply "
	"{blob});",
	"CREATE INDEX model_call_at ON model_call (at);",
	"CREATE TABLE injection (id {key}, session BIGINT NOT NULL, at BIGINT NOT NULL, place TEXT "
	"NOT NULL,"
	" chars BIGINT NOT NULL);",
	"CREATE INDEX injection_session ON injection (session, at);",
	"CREATE TABLE injection_memory (injection BIGINT NOT NULL, position INTEGER NOT NULL, "
	"memory BIGINT NOT NULL,"
	" is_used INTEGER, PRIMARY KEY (injection, position)) {clustered};",
	"CREATE INDEX injection_memory_memory ON injection_memory (memory);",
	"CREATE TABLE search_log (id {key}, at BIGINT NOT NULL, scope TEXT, namespace TEXT, "
	"results INTEGER NOT NULL,"
	" top_score {real}, took_us BIGINT NOT NULL, query TEXT);",

	"CREATE TABLE transcript (id {key}, path TEXT NOT NULL UNIQUE, agent INTEGER NOT NULL, "
	"at_offset BIGINT NOT NULL,"
	" lines BIGINT NOT NULL, size BIGINT NOT NULL, mtime BIGINT NOT NULL, inode BIGINT NOT "
	"NULL, state TEXT,"
	" head_hash TEXT, bad_lines BIGINT NOT NULL);",
	/* kind: what the hash is of (forget.c). */
	"CREATE TABLE tombstone (kind INTEGER NOT NULL, hash BIGINT NOT NULL, at BIGINT NOT NULL,"
	" PRIMARY KEY (kind, hash)) {clustered};",
	"CREATE TABLE pause (id {key}, session BIGINT NOT NULL, project BIGINT NOT NULL, from_at "
	"BIGINT NOT NULL,"
	" until_at BIGINT NOT NULL);",
	NULL,
};

#define TURNS_AGAIN                                                                             \
	"UPDATE turn SET is_dirty = 1 WHERE started_at > 0 AND EXISTS (SELECT 1 FROM event e "  \
	"WHERE "                                                                                \
	"e.session = turn.session AND e.at BETWEEN turn.started_at AND turn.last_event_at AND " \
	"e.turn = "                                                                             \
	"turn.id);"

/* Candidates of facts, the topics of facts, and the topics that must be merged anew. */
static const char *const tables_2[] = {
	"CREATE TABLE candidate (id {key}, turn BIGINT NOT NULL, slot BIGINT NOT NULL, session "
	"BIGINT NOT NULL, project BIGINT NOT NULL, topic BIGINT NOT NULL, chain BIGINT,"
	" at BIGINT NOT NULL, hash BIGINT NOT NULL, pack {blob} NOT NULL);",
	"CREATE UNIQUE INDEX candidate_slot ON candidate (turn, slot);",
	"CREATE INDEX candidate_topic ON candidate (topic, project);",
	"CREATE INDEX candidate_chain ON candidate (session, chain) WHERE chain IS NOT NULL;",
	"CREATE TABLE fact (memory {number}, project BIGINT NOT NULL, topic BIGINT NOT NULL);",
	"CREATE INDEX fact_topic ON fact (topic, project);",
	"CREATE TABLE fact_due (project BIGINT NOT NULL, topic BIGINT NOT NULL, PRIMARY KEY "
	"(project, topic)) {clustered};",
	/* What was captured before is looked at for facts too; a turn whose events are gone keeps what was made of it. */
	TURNS_AGAIN,
	NULL,
};

/*
 * What the keeper found out about memories (stale.h). file_base holds one memory's files while it is
 * written anew.
 */
static const char *const tables_3[] = {
	"CREATE TABLE stale_due (memory {number}, stamp BIGINT NOT NULL);",
	"CREATE TABLE file_base (file BIGINT NOT NULL, role INTEGER NOT NULL, size BIGINT, hash "
	"{blob},"
	" PRIMARY KEY (file, role)) {clustered};",
	"CREATE TABLE file_state (project BIGINT NOT NULL, file BIGINT NOT NULL, size BIGINT NOT "
	"NULL, mtime "
	"BIGINT NOT NULL, hash TEXT, seen_at BIGINT NOT NULL, PRIMARY KEY (project, file)) "
	"{clustered};",
	"CREATE INDEX file_state_seen ON file_state (seen_at);",
	"CREATE TABLE suspect (memory BIGINT NOT NULL, file BIGINT NOT NULL, reason TEXT NOT NULL, "
	"since BIGINT "
	"NOT NULL, PRIMARY KEY (memory, file)) {clustered};",
	"CREATE TABLE branch_memory (memory {number}, project BIGINT NOT NULL, branch TEXT NOT "
	"NULL, landed TEXT, "
	"tip TEXT);",
	"CREATE INDEX branch_memory_project ON branch_memory (project);",
	"CREATE TABLE checkout (id {key}, project BIGINT NOT NULL, root TEXT NOT NULL UNIQUE, head "
	"TEXT, asked_at "
	"BIGINT NOT NULL);",
	"CREATE TABLE visible (checkout BIGINT NOT NULL, memory BIGINT NOT NULL, PRIMARY KEY "
	"(checkout, memory)) "
	"{clustered};",
	"CREATE INDEX visible_memory ON visible (memory);",
	"INSERT INTO stale_due (memory, stamp) SELECT id, 1 FROM memory WHERE id > 0;",
	NULL,
};

/* Mentions are counted per turn and replaced with it. Nothing was ever written in the old shape. */
static const char *const tables_4[] = {
	"DROP TABLE mention;",
	"DROP TABLE entity;",
	"CREATE TABLE entity (id {key}, kind INTEGER NOT NULL, name TEXT NOT NULL);",
	"CREATE UNIQUE INDEX entity_name ON entity (name, kind);",
	"CREATE TABLE mention (turn BIGINT NOT NULL, entity BIGINT NOT NULL, n BIGINT NOT NULL, at "
	"BIGINT NOT NULL, last_at BIGINT NOT NULL, PRIMARY KEY (turn, entity)) {clustered};",
	"CREATE INDEX mention_entity ON mention (entity, at);",
	TURNS_AGAIN,
	NULL,
};

/* What waits for a person is found whatever is stored beside it. */
static const char *const tables_5[] = {
	"CREATE INDEX memory_waiting ON memory (status, project, at) WHERE status <> 0;",
	NULL,
};

/* Sessions get a title of what happened in them where their agent gives none. */
static const char *const tables_6[] = {
	"ALTER TABLE session ADD COLUMN made_title TEXT;",
	NULL,
};

/* Candidates were the largest table: their texts are packed as those of memories are. */
static const char *const tables_7[] = {
	"ALTER TABLE candidate RENAME TO candidate_plain;",
	"DROP INDEX candidate_slot;",
	"DROP INDEX candidate_topic;",
	"DROP INDEX candidate_chain;",
	"CREATE TABLE candidate (id {key}, turn BIGINT NOT NULL, slot BIGINT NOT NULL, session "
	"BIGINT NOT NULL, project BIGINT NOT NULL, topic BIGINT NOT NULL, chain BIGINT,"
	" at BIGINT NOT NULL, hash BIGINT NOT NULL, pack {blob} NOT NULL);",
	"CREATE UNIQUE INDEX candidate_slot ON candidate (turn, slot);",
	"CREATE INDEX candidate_topic ON candidate (topic, project);",
	"CREATE INDEX candidate_chain ON candidate (session, chain) WHERE chain IS NOT NULL;",
	NULL,
};

/*
 * Jobs of the model observer, what each request came to, and whose a candidate is. Nothing was ever
 * written in the old shapes of the first two.
 */
static const char *const tables_8[] = {
	"DROP TABLE job;",
	"DROP TABLE model_call;",
	"CREATE TABLE job (id {key}, kind INTEGER NOT NULL, job_key TEXT NOT NULL, turn BIGINT, "
	"session BIGINT, project BIGINT, at BIGINT NOT NULL, input BIGINT NOT NULL, bytes BIGINT "
	"NOT "
	"NULL, state INTEGER NOT NULL, attempts INTEGER NOT NULL, run_after BIGINT NOT NULL, "
	"leased_until BIGINT NOT NULL, last_error TEXT);",
	"CREATE UNIQUE INDEX job_job_key ON job (job_key, kind);",
	"CREATE INDEX job_due ON job (kind, state, at);",
	"CREATE INDEX job_turn ON job (turn) WHERE turn IS NOT NULL;",
	"CREATE INDEX job_session ON job (session) WHERE session IS NOT NULL;",
	"CREATE TABLE model_call (id {key}, job BIGINT, kind INTEGER NOT NULL, project BIGINT, at "
	"BIGINT NOT NULL, provider TEXT NOT NULL, model TEXT NOT NULL, units INTEGER NOT NULL, "
	"bytes_in BIGINT NOT NULL, bytes_out BIGINT NOT NULL, bytes_shared BIGINT NOT NULL, "
	"tokens_in "
	"BIGINT NOT NULL, tokens_out BIGINT NOT NULL, cost {real} NOT NULL, queue_ms BIGINT NOT "
	"NULL, "
	"connect_ms BIGINT NOT NULL, first_byte_ms BIGINT NOT NULL, total_ms BIGINT NOT NULL, "
	"outcome "
	"INTEGER NOT NULL, detail TEXT, reply {blob});",
	"CREATE INDEX model_call_at ON model_call (at);",
	"CREATE INDEX model_call_reply ON model_call (at) WHERE reply IS NOT NULL;",
	"ALTER TABLE candidate ADD COLUMN origin INTEGER NOT NULL DEFAULT 0;",
	NULL,
};

/* Markdown folders and their files. Nothing was ever written in the old shape of chunks and files. */
static const char *const tables_9[] = {
	"DROP TABLE chunk;",
	"DROP TABLE source_file;",
	"CREATE TABLE folder (id {key}, namespace TEXT NOT NULL UNIQUE, root TEXT NOT NULL, globs TEXT NOT "
	"NULL, project BIGINT NOT NULL, created_at BIGINT NOT NULL, synced_at BIGINT NOT NULL, error TEXT);",
	"CREATE TABLE source_file (id {key}, folder BIGINT NOT NULL, namespace TEXT NOT NULL, path TEXT NOT "
	"NULL, checksum TEXT, stamp BIGINT NOT NULL, chunks INTEGER NOT NULL, synced_at BIGINT NOT NULL, "
	"title TEXT, metadata TEXT, error TEXT);",
	"CREATE UNIQUE INDEX source_file_path ON source_file (namespace, path);",
	"CREATE INDEX source_file_folder ON source_file (folder);",
	/* hash: of all that is searched of it (folder.c). */
	"CREATE TABLE chunk (memory {number}, source_file BIGINT NOT NULL, section TEXT, chunk_index INTEGER "
	"NOT NULL, position INTEGER NOT NULL, first_line BIGINT NOT NULL, last_line BIGINT NOT NULL, hash "
	"BIGINT NOT NULL);",
	"CREATE INDEX chunk_file ON chunk (source_file, position);",
	"CREATE INDEX search_log_at ON search_log (at);",
	NULL,
};

/* Counts what happened to a turn: several daemons may run its rules, and only one that saw all of it writes. */
static const char *const tables_10[] = {
	"ALTER TABLE turn ADD COLUMN touched BIGINT NOT NULL DEFAULT 0;",
	NULL,
};

const struct migration migrations[] = {
	{ 1, tables_1 },
	{ 2, tables_2 },
	{ 3, tables_3 },
	{ 4, tables_4 },
	{ 5, tables_5 },
	{ 6, tables_6 },
	{ 7, tables_7, candidates_pack },
	{ 8, tables_8 },
	{ 9, tables_9 },
	{ 10, tables_10 },
	{ 11, owner_tables, owner_migrate },
};
const size_t migrations_n = ARRAY_LEN(migrations);

static int refuse_newer(int64_t version, struct err *err)
{
	err_set(err, ERR_STORE,
		"the store was made by a newer version (schema %lld, this one knows %lld)",
		(long long)version, (long long)migrations[migrations_n - 1].version);
	return err_hint(err, "Install that version or a later one; nothing was changed.");
}

static int apply(struct db *db, const struct migration *m, struct err *err)
{
	int64_t version;

	if (db_begin(db, err))
		return -1;
	int rc = db_version(db, &version, err);
	if (!rc && version >= m->version) { /* another daemon was faster */
		db_rollback(db);
		return 0;
	}
	for (size_t i = 0; m->statements[i] && !rc; i++)
		rc = db_script(db, m->statements[i], err);
	if (!rc && m->run)
		rc = m->run(db, err);
	if (rc || db_set_version(db, m->version, err) || db_commit(db, err)) {
		db_rollback(db);
		return err_prefix(err, "schema %lld: ", (long long)m->version);
	}
	return 0;
}

static int backup_before(struct db *db, const char *dir, int64_t version, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };

	/* Where the server undoes a migration that fails whole, its own backups are enough. */
	if (!dir || !version || db_is_shared(db))
		return 0;
	if (file_mkdirs(dir, 0700, err))
		return -1;
	return db_backup(db,
		arena_printf(&a, "%s/before-schema-%lld-%lld.db", dir,
			(long long)migrations[migrations_n - 1].version, (long long)clock_now()),
		err);
}

int schema_migrate(struct db *db, const char *backup_dir, struct err *err)
{
	int64_t version;

	if (db_version(db, &version, err))
		return -1;
	if (version > migrations[migrations_n - 1].version)
		return refuse_newer(version, err);
	if (version == migrations[migrations_n - 1].version)
		return 0;
	if (backup_before(db, backup_dir, version, err))
		return -1;
	for (size_t i = 0; i < migrations_n; i++)
		if (migrations[i].version > version && apply(db, &migrations[i], err))
			return -1;
	return 0;
}

int schema_check(struct db *db, struct err *err)
{
	int64_t version;

	if (db_version(db, &version, err))
		return -1;
	if (version > migrations[migrations_n - 1].version)
		return refuse_newer(version, err);
	if (version < migrations[migrations_n - 1].version)
		return err_set(err, ERR_STORE,
			"the store has not been brought up to date yet (schema %lld)",
			(long long)version);
	return 0;
}
