/*
 * Identities to projects. An alias is a git common folder, a remote or a path; the first that is
 * known decides. Two facts keep this honest: a folder whose remote has become another holds
 * another project now, and two projects that one identity names were one all along, unless their
 * remotes differ.
 *
 * Paths and common folders are those of one author: another's /home/dev/app is another folder. A remote is everybody's, which
 * makes one project of what colleagues work on; its rows are nobody's own.
 */
#include "store/room.h"

#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "store/author.h"

struct candidate {
	enum alias_kind kind;
	const char *value; /* NULL: the identity has none */
	int64_t project;   /* 0: unknown alias */
};

static int64_t owner_of(const struct store *s, enum alias_kind kind)
{
	return kind == ALIAS_REMOTE ? AUTHOR_NOBODY : s->me;
}

static int find_alias(
	struct store *s, enum alias_kind kind, const char *value, int64_t *ret, struct err *err)
{
	*ret = 0;
	if (!value || !*value)
		return 0;
	return db_one(s->db,
		"SELECT project FROM project_alias WHERE author = ?3 AND kind = ?1 AND value = ?2",
		DB_ARGS(db_i(kind), db_t(value), db_i(owner_of(s, kind))), 0, ret, err);
}

static int put_alias(struct store *s, const struct candidate *c, int64_t project, struct err *err)
{
	if (!c->value || !*c->value || c->project == project)
		return 0;
	return db_run(s->db,
		"INSERT INTO project_alias (author, kind, value, project) VALUES (?4, ?1, ?2, ?3)"
		" ON CONFLICT (author, kind, value) DO UPDATE SET project = excluded.project",
		DB_ARGS(db_i(c->kind), db_t(c->value), db_i(project), db_i(owner_of(s, c->kind))),
		err);
}

/* Has this project remotes, and is this one not among them? */
static int has_other_remote(
	struct store *s, int64_t project, const char *remote, bool *ret, struct err *err)
{
	int64_t known, same;

	*ret = false;
	if (!project || !remote)
		return 0;
	if (db_one(s->db, "SELECT count(*) FROM project_alias WHERE project = ?1 AND kind = ?2",
		    DB_ARGS(db_i(project), db_i(ALIAS_REMOTE)), 0, &known, err) ||
		db_one(s->db,
			"SELECT count(*) FROM project_alias WHERE project = ?1 AND kind = ?2 AND "
			"value = ?3",
			DB_ARGS(db_i(project), db_i(ALIAS_REMOTE), db_t(remote)), 0, &same, err))
		return -1;
	*ret = known > 0 && same == 0;
	return 0;
}

/* A folder below a known work tree that is gone belongs to it. */
static int find_above(struct store *s, const char *path, int64_t *ret, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	const char *at = path;

	*ret = 0;
	while (strlen(at) > 1 && !*ret) {
		int64_t with_git;
		at = path_parent(&a, at);
		if (find_alias(s, ALIAS_PATH, at, ret, err))
			return -1;
		if (*ret && db_one(s->db,
				    "SELECT count(*) FROM project_alias WHERE project = ?1 AND "
				    "kind = ?2",
				    DB_ARGS(db_i(*ret), db_i(ALIAS_COMMON_DIR)), 0, &with_git, err))
			return -1;
		if (*ret && !with_git)
			*ret = 0;
	}
	return 0;
}

/* What belongs to the one project (?1) belongs to the other (?2). */
static const char *const moves[] = {
	"UPDATE project_alias SET project = ?2 WHERE project = ?1",
	"UPDATE session SET project = ?2 WHERE project = ?1",
	"UPDATE memory SET project = ?2 WHERE project = ?1",
	"UPDATE folder SET project = ?2 WHERE project = ?1",
	("INSERT INTO fact_due (project, topic) SELECT DISTINCT ?2, topic FROM candidate "
	 "WHERE project = ?1 ON CONFLICT (author, project, topic) DO NOTHING"),
	"UPDATE candidate SET project = ?2 WHERE project = ?1",
	"UPDATE fact SET project = ?2 WHERE project = ?1",
	"DELETE FROM fact_due WHERE project = ?1 AND project <> ?2",
	"UPDATE event SET project = ?2 WHERE project = ?1",
	"UPDATE pause SET project = ?2 WHERE project = ?1",
	"UPDATE branch_memory SET project = ?2 WHERE project = ?1",
	"UPDATE checkout SET project = ?2, head = NULL WHERE project = ?1",
	"DELETE FROM file_state WHERE project = ?1 AND project <> ?2",
	/* What was made in the one was not made under the other's choice. */
	"DELETE FROM project_share WHERE project = ?1 AND project <> ?2",
	"UPDATE project_merge SET project = ?2 WHERE project = ?1",
};

static int merge(struct store *s, int64_t from, int64_t into, struct err *err)
{
	static const char due[] = "INSERT INTO stale_due (memory, stamp) SELECT id, 1 FROM memory "
				  "WHERE project = ?1 AND "
				  "author = ?2 ON CONFLICT (memory) DO NOTHING";
	AUTO(ids_done) struct ids memories = { 0 };
	AUTO(ids_done) struct ids sessions = { 0 };
	AUTO(ids_done) struct ids events = { 0 };

	session_told_forget(s);
	if (store_ids(s, "SELECT id FROM memory WHERE project = ?1 AND author = ?2",
		    DB_ARGS(db_i(from), db_i(s->me)), &memories, err) ||
		store_ids(s, "SELECT id FROM session WHERE project = ?1", DB_ARGS(db_i(from)),
			&sessions, err) ||
		store_ids(s,
			"SELECT e.id FROM event e JOIN session s ON s.id = e.session WHERE "
			"s.project = ?1"
			" UNION SELECT id FROM event WHERE project = ?1",
			DB_ARGS(db_i(from)), &events, err))
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(moves); i++)
		if (db_run(s->db, moves[i], DB_ARGS(db_i(from), db_i(into)), err))
			return -1;
	if (db_run(s->db, due, DB_ARGS(db_i(into), db_i(s->me)), err) ||
		db_run(s->db,
			"INSERT INTO project_merge (merged, name, project, at) SELECT id, name, "
			"?2, ?3 "
			"FROM project WHERE id = ?1 ON CONFLICT (merged) DO NOTHING",
			DB_ARGS(db_i(from), db_i(into), db_i(clock_now())), err) ||
		/* Colleagues may have rows in it until they come by with the same identity. */
		(!db_is_shared(s->db) && db_run(s->db, "DELETE FROM project WHERE id = ?1",
						 DB_ARGS(db_i(from)), err)))
		return -1;
	for (size_t i = 0; i < memories.n; i++)
		if (store_note(s, CHANGE_MEMORY, memories.p[i], false, err))
			return -1;
	for (size_t i = 0; i < sessions.n; i++)
		if (store_note(s, CHANGE_SESSION, sessions.p[i], false, err))
			return -1;
	for (size_t i = 0; i < events.n; i++)
		if (store_note(s, CHANGE_EVENT, events.p[i], false, err))
			return -1;
	log_info("project %lld turned out to be project %lld: merged", (long long)from,
		(long long)into);
	return 0;
}

static int create(
	struct store *s, const char *name, const char *root, int64_t *ret, struct err *err)
{
	if (db_run(s->db, "INSERT INTO project (name, root, created_at) VALUES (?1, ?2, ?3)",
		    DB_ARGS(db_t(name && *name ? name : "unnamed"), db_t(root), db_i(clock_now())),
		    err))
		return -1;
	*ret = db_last_id(s->db);
	return 0;
}

/* Looks up all aliases; those of folders that hold another project now count as unknown. */
static int look_up(struct store *s, struct candidate *c, const char *remote, struct err *err)
{
	for (size_t i = 0; i < ALIAS_KIND_COUNT; i++) {
		bool is_other;
		if (find_alias(s, c[i].kind, c[i].value, &c[i].project, err) ||
			has_other_remote(s, c[i].project, remote, &is_other, err))
			return -1;
		if (is_other)
			c[i].project = 0;
	}
	return 0;
}

int store_project_resolve(
	struct store *s, const struct project_identity *p, int64_t *ret, struct err *err)
{
	struct candidate c[ALIAS_KIND_COUNT] = {
		{ ALIAS_COMMON_DIR, p->common_dir, 0 },
		{ ALIAS_REMOTE, p->remote, 0 },
		{ ALIAS_PATH, p->path, 0 },
	};
	int64_t project = 0;

	if (look_up(s, c, p->remote, err))
		return -1;
	/* The oldest of those that are one lives on: its number is what people know. */
	for (size_t i = 0; i < ARRAY_LEN(c); i++)
		if (c[i].project && (!project || c[i].project < project))
			project = c[i].project;
	if (!project && !p->common_dir && p->path && find_above(s, p->path, &project, err))
		return -1;
	if (!project && create(s, p->name, p->root ? p->root : p->path, &project, err))
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(c); i++) {
		int64_t other = c[i].project;
		if (other && other != project) {
			if (merge(s, other, project, err))
				return -1;
			for (size_t j = 0; j < ARRAY_LEN(c); j++)
				if (c[j].project == other)
					c[j].project = project;
		}
		if (put_alias(s, &c[i], project, err))
			return -1;
	}
	*ret = project;
	return 0;
}

int store_project_create(struct store *s, const char *name, int64_t *ret, struct err *err)
{
	return create(s, name, NULL, ret, err);
}

int store_project_find(struct store *s, const char *name_or_path, int64_t *ret, struct err *err)
{
	static const char *const ways[] = {
		"SELECT id FROM project WHERE id = ?2",
		"SELECT project FROM project_merge WHERE merged = ?2",
		/* Of several with one name the one that was last worked on. */
		"SELECT p.id FROM project p LEFT JOIN session s ON s.project = p.id WHERE p.name = "
		"?1"
		" GROUP BY p.id ORDER BY max(s.last_event_at) DESC, p.id LIMIT 1",
		"SELECT project FROM project_alias WHERE value = ?1 ORDER BY kind LIMIT 1",
		"SELECT id FROM project WHERE root = ?1 LIMIT 1",
		"SELECT p.id FROM project p WHERE lower(p.name) = lower(?1) ORDER BY p.id LIMIT 1",
	};
	int64_t number = 0;

	*ret = 0;
	if (!name_or_path || !*name_or_path)
		return 0;
	bool is_number = str_to_i64(name_or_path, &number);
	for (size_t i = is_number ? 0 : 2; i < ARRAY_LEN(ways) && !*ret; i++)
		/* The first two ask by number only, the others by text only. */
		if (i < 2 ? db_one(s->db, ways[i], DB_ARGS(db_t(name_or_path), db_i(number)), 0,
				    ret, err)
			  : db_one(s->db, ways[i], DB_ARGS(db_t(name_or_path)), 0, ret, err))
			return -1;
	if (!*ret && name_or_path[0] == '/')
		return find_above(s, name_or_path, ret, err);
	return 0;
}

int store_project_get(
	struct store *s, struct arena *a, int64_t id, struct project *ret, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	int rc = store_row(s,
		"SELECT p.id, p.name, p.root, (SELECT count(*) FROM session WHERE project = p.id),"
		" (SELECT count(*) FROM memory WHERE project = p.id),"
		" (SELECT coalesce(max(last_event_at), 0) FROM session WHERE project = p.id) FROM "
		"project p WHERE p.id = ?1",
		DB_ARGS(db_i(id)), &r, err);

	if (rc < 0)
		return -1;
	if (rc == 0)
		return err_set(err, ERR_NOT_FOUND, "there is no project %lld", (long long)id);
	*ret = (struct project){ .id = db_int(r, 0),
		.name = row_str(a, r, 1),
		.root = row_str(a, r, 2),
		.sessions = db_int(r, 3),
		.memories = db_int(r, 4),
		.last_event_at = db_int(r, 5) };
	return 0;
}
