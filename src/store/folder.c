/*
 * When a file changes, each new chunk takes the row of an old one with the same content, so that
 * nothing is indexed or embedded again that did not change; then, in order, rows that are left
 * over; the rest is new or goes.
 */
#include "store/folder.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "store/author.h"
#include "store/forget.h"
#include "store/memory_row.h"
#include "text/hash.h"

#define FOLDER_COLUMNS                                                                            \
	"f.id, f.project, f.namespace, f.root, f.globs, f.created_at, f.synced_at, f.error, "     \
	"(SELECT count(*) FROM source_file sf WHERE sf.folder = f.id AND sf.checksum IS NOT "     \
	"NULL), "                                                                                 \
	"(SELECT count(*) FROM chunk c JOIN source_file sf ON sf.id = c.source_file WHERE "       \
	"sf.folder = f.id), "                                                                     \
	"(SELECT count(*) FROM source_file sf WHERE sf.folder = f.id AND sf.error IS NOT NULL), " \
	"f.visibility"

static struct folder folder_read(struct arena *a, struct db_rows *r)
{
	return (struct folder){
		.id = db_int(r, 0),
		.project = db_int(r, 1),
		.namespace = row_str(a, r, 2),
		.root = row_str(a, r, 3),
		.globs = row_str(a, r, 4),
		.created_at = db_int(r, 5),
		.synced_at = db_int(r, 6),
		.error = row_str(a, r, 7),
		.files = db_int(r, 8),
		.chunks = db_int(r, 9),
		.failed = db_int(r, 10),
		.is_team = db_int(r, 11) == VISIBLE_TEAM,
	};
}

int folder_page(struct store *s, struct arena *a, const char *behind, size_t max,
	struct folder **ret, size_t *ret_n, struct err *err)
{
	static const char sql[] = "SELECT " FOLDER_COLUMNS " FROM folder f WHERE f.author = ?3 AND "
				  "(f.namespace > ?1 OR ?1 IS NULL) ORDER BY f.namespace LIMIT ?2";
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	size_t cap = 0;
	int rc;

	*ret = NULL;
	*ret_n = 0;
	if (db_query(s->db, sql, DB_ARGS(db_t(behind), db_i((int64_t)max), db_i(s->me)), &r, err))
		return -1;
	while ((rc = db_next(r, err)) > 0) {
		struct folder f = folder_read(a, r);
		ARENA_PUSH(a, *ret, *ret_n, cap, f);
	}
	return rc;
}

int folder_list(
	struct store *s, struct arena *a, struct folder **ret, size_t *ret_n, struct err *err)
{
	return folder_page(s, a, NULL, INT32_MAX, ret, ret_n, err);
}

int folder_find(struct store *s, struct arena *a, const char *namespace, struct folder *ret,
	struct err *err)
{
	static const char sql[] =
		"SELECT " FOLDER_COLUMNS " FROM folder f WHERE f.namespace = ?1 AND "
		"f.author = ?2";
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	int rc = store_row(s, sql, DB_ARGS(db_t(namespace), db_i(s->me)), &r, err);

	*ret = rc > 0 ? folder_read(a, r) : (struct folder){ 0 };
	return rc < 0 ? -1 : 0;
}

/* The chunks that there are follow what was decided of their folder. */
static int chunks_show(struct store *s, const struct folder *f, struct err *err)
{
	static const char others[] =
		"SELECT m.id FROM source_file sf JOIN chunk c ON c.source_file = sf.id "
		"JOIN memory m ON m.id = c.memory WHERE sf.folder = ?1 AND m.visibility <> ?2";
	AUTO(arena_done) struct arena a = { 0 };
	AUTO(ids_done) struct ids ids = { 0 };

	if (store_ids(s, others,
		    DB_ARGS(db_i(f->id), db_i(f->is_team ? VISIBLE_TEAM : VISIBLE_AUTHOR)), &ids,
		    err))
		return -1;
	for (size_t i = 0; i < ids.n; i++) {
		struct memory m;
		arena_reset(&a);
		if (store_memory_get(s, &a, ids.p[i], &m, err))
			return -1;
		m.is_team = f->is_team;
		if (memory_write_shared(s, &m, err))
			return -1;
	}
	return 0;
}

int folder_put(struct store *s, struct folder *f, struct err *err)
{
	static const char insert[] =
		"INSERT INTO folder (namespace, root, globs, project, "
		"created_at, synced_at, visibility) VALUES (?1, ?2, ?3, ?4, ?5, 0, ?6)";
	static const char update[] = "UPDATE folder SET root = ?2, globs = ?3, project = ?4, "
				     "visibility = ?5 WHERE id = ?1";

	const int visible = f->is_team ? VISIBLE_TEAM : VISIBLE_AUTHOR;

	if (f->id)
		return db_run(s->db, update,
			       DB_ARGS(db_i(f->id), db_t(f->root), db_t(f->globs), db_i(f->project),
				       db_i(visible)),
			       err) || chunks_show(s, f, err)
			       ? -1
			       : 0;
	f->created_at = clock_now();
	if (db_run(s->db, insert,
		    DB_ARGS(db_t(f->namespace), db_t(f->root), db_t(f->globs), db_i(f->project),
			    db_i(f->created_at), db_i(visible)),
		    err))
		return -1;
	f->id = db_last_id(s->db);
	return 0;
}

int folder_synced(struct store *s, int64_t id, int64_t at, const char *error, struct err *err)
{
	return db_run(s->db,
		"UPDATE folder SET synced_at = CASE WHEN ?2 > 0 THEN ?2 ELSE synced_at END, error "
		"= ?3 WHERE id = ?1",
		DB_ARGS(db_i(id), db_i(at), db_t(error)), err);
}

static int chunks_remove(struct store *s, const char *sql, int64_t of, struct err *err)
{
	AUTO(ids_done) struct ids memories = { 0 };

	return store_ids(s, sql, DB_ARGS(db_i(of)), &memories, err) ||
			       memory_delete(s, &memories, err)
		       ? -1
		       : 0;
}

int folder_remove(struct store *s, int64_t id, struct err *err)
{
	static const char chunks[] = "SELECT c.memory FROM chunk c JOIN source_file f ON f.id = "
				     "c.source_file WHERE f.folder = ?1";

	return chunks_remove(s, chunks, id, err) ||
			       db_run(s->db, "DELETE FROM source_file WHERE folder = ?1",
				       DB_ARGS(db_i(id)), err) ||
			       db_run(s->db, "DELETE FROM folder WHERE id = ?1", DB_ARGS(db_i(id)),
				       err)
		       ? -1
		       : 0;
}

/* --- Files. --- */

static int by_path(const void *x, const void *y)
{
	return strcmp(((const struct folder_file *)x)->path, ((const struct folder_file *)y)->path);
}

int folder_files(struct store *s, struct arena *a, int64_t folder, struct folder_file **ret,
	size_t *ret_n, struct err *err)
{
	static const char sql[] = "SELECT id, path, checksum, stamp, chunks, synced_at, error FROM "
				  "source_file WHERE folder = ?1";
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	size_t cap = 0;
	int rc;

	*ret = NULL;
	*ret_n = 0;
	if (db_query(s->db, sql, DB_ARGS(db_i(folder)), &r, err))
		return -1;
	while ((rc = db_next(r, err)) > 0) {
		struct folder_file f = { db_int(r, 0), row_str(a, r, 1), row_str(a, r, 2),
			db_int(r, 3), db_int(r, 4), db_int(r, 5), row_str(a, r, 6) };
		ARENA_PUSH(a, *ret, *ret_n, cap, f);
	}
	if (*ret_n)
		qsort(*ret, *ret_n, sizeof(**ret), by_path);
	return rc;
}

static int file_find(
	struct store *s, int64_t folder, const char *path, int64_t *ret, struct err *err)
{
	return db_one(s->db, "SELECT id FROM source_file WHERE folder = ?1 AND path = ?2",
		DB_ARGS(db_i(folder), db_t(path)), 0, ret, err);
}

static int file_made(
	struct store *s, const struct folder *f, const char *path, int64_t *ret, struct err *err)
{
	static const char insert[] = "INSERT INTO source_file (folder, namespace, path, stamp, "
				     "chunks, synced_at) VALUES (?1, ?2, ?3, 0, 0, 0)";

	if (file_find(s, f->id, path, ret, err))
		return -1;
	if (*ret)
		return 0;
	if (db_run(s->db, insert, DB_ARGS(db_i(f->id), db_t(f->namespace), db_t(path)), err))
		return -1;
	*ret = db_last_id(s->db);
	return 0;
}

/* --- Chunks of one file. --- */

struct old_chunk {
	int64_t memory, hash;
	bool is_taken;
};

struct putting {
	struct store *s;
	const struct folder *f;
	const struct file_text *t;
	int64_t file;
	struct old_chunk *old;
	size_t nold, old_cap, next_old;
	struct file_result *ret;
	bool hides_front; /* the first chunk was forgotten: what the front matter says too */
};

static int old_read(struct putting *p, struct arena *a, struct err *err)
{
	static const char sql[] =
		"SELECT memory, hash FROM chunk WHERE source_file = ?1 ORDER BY position";
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	int rc;

	if (db_query(p->s->db, sql, DB_ARGS(db_i(p->file)), &r, err))
		return -1;
	while ((rc = db_next(r, err)) > 0) {
		struct old_chunk o = { .memory = db_int(r, 0), .hash = db_int(r, 1) };
		ARENA_PUSH(a, p->old, p->nold, p->old_cap, o);
	}
	return rc;
}

static struct memory memory_of(const struct putting *p, size_t i)
{
	const struct chunk_text *c = &p->t->chunks[i];

	return (struct memory){
		.project = p->f->project,
		.kind = KIND_CHUNK,
		.is_team = p->f->is_team,
		.title = c->path,
		.subtitle = p->t->title && !strstr(c->path, p->t->title) ? p->t->title : NULL,
		.body = c->body,
		.concepts = p->t->tags,
		.notes = i == 0 ? p->t->notes : NULL,
		.confidence = 1,
		.trust = TRUST_PERSON,
		.origin = ORIGIN_FILE,
		.at = p->t->at,
	};
}

/* Of all that is searched. Not of its place in the file, nor of the file's time. */
static int64_t hash_of(const struct memory *m, const char *section)
{
	const char *const parts[] = { m->title, m->subtitle, m->body, m->concepts, m->notes,
		section };
	AUTO(buf_done) struct buf b = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		buf_printf(&b, "%s\n", parts[i] ? parts[i] : "");
	buf_printf(&b, "%lld", (long long)m->project);
	return (int64_t)hash64(b.data, b.len);
}

static int chunk_row(struct putting *p, size_t i, int64_t memory, int64_t hash, struct err *err)
{
	static const char sql[] = "INSERT INTO chunk (memory, source_file, section, chunk_index, "
				  "position, first_line, last_line, hash)"
				  " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (memory) "
				  "DO UPDATE SET section = excluded.section,"
				  " chunk_index = excluded.chunk_index, position = "
				  "excluded.position, first_line = excluded.first_line,"
				  " last_line = excluded.last_line, hash = excluded.hash";
	const struct chunk_text *c = &p->t->chunks[i];

	return db_run(p->s->db, sql,
		DB_ARGS(db_i(memory), db_i(p->file), db_t(c->section), db_i(c->index),
			db_i((int64_t)i), db_i(c->first_line), db_i(c->last_line), db_i(hash)),
		err);
}

static int64_t *kept_ids(struct putting *p, struct arena *a, const int64_t *hashes)
{
	int64_t *ids = ARENA_ARRAY(a, int64_t, p->t->n + 1);

	/* Texts mostly keep their order: the search goes on where the last was found. */
	for (size_t i = 0, from = 0; i < p->t->n; i++)
		for (size_t k = 0; k < p->nold; k++) {
			struct old_chunk *o = &p->old[(from + k) % p->nold];
			if (o->is_taken || o->hash != hashes[i])
				continue;
			o->is_taken = true;
			ids[i] = o->memory;
			from = (size_t)(o - p->old) + 1;
			break;
		}
	return ids;
}

static int64_t left_over(struct putting *p)
{
	while (p->next_old < p->nold && p->old[p->next_old].is_taken)
		p->next_old++;
	if (p->next_old == p->nold)
		return 0;
	p->old[p->next_old].is_taken = true;
	return p->old[p->next_old].memory;
}

static int chunk_write(struct putting *p, size_t i, int64_t hash, struct err *err)
{
	struct memory m = memory_of(p, i);
	bool is_buried;

	if (forget_is_buried_memory(p->s, &m, &is_buried, err))
		return -1;
	p->ret->buried += is_buried;
	p->hides_front |= is_buried && i == 0;
	if (is_buried)
		return 0;
	m.id = left_over(p);
	p->ret->written++;
	p->ret->chunks++;
	return memory_write(p->s, &m, memory_pack(p->s, &m), err) ||
			       chunk_row(p, i, m.id, hash, err)
		       ? -1
		       : 0;
}

static int chunks_write(struct putting *p, struct arena *a, struct err *err)
{
	int64_t *hashes = ARENA_ARRAY(a, int64_t, p->t->n + 1);

	for (size_t i = 0; i < p->t->n; i++) {
		struct memory m = memory_of(p, i);
		hashes[i] = hash_of(&m, p->t->chunks[i].section);
	}
	int64_t *ids = kept_ids(p, a, hashes);
	for (size_t i = 0; i < p->t->n; i++) {
		p->ret->chunks += ids[i] != 0;
		if (ids[i] ? chunk_row(p, i, ids[i], hashes[i], err)
			   : chunk_write(p, i, hashes[i], err))
			return -1;
	}
	return 0;
}

static int old_remove(struct putting *p, struct err *err)
{
	AUTO(ids_done) struct ids gone = { 0 };

	for (size_t i = 0; i < p->nold; i++)
		if (!p->old[i].is_taken)
			ids_add(&gone, p->old[i].memory);
	return memory_delete(p->s, &gone, err);
}

int folder_file_put(struct store *s, const struct folder *f, const struct file_text *t,
	struct file_result *ret, struct err *err)
{
	static const char update[] = "UPDATE source_file SET checksum = ?2, stamp = ?3, chunks = "
				     "?4, synced_at = ?5, title = ?6, metadata = ?7, error = NULL"
				     " WHERE id = ?1";
	AUTO(arena_done) struct arena a = { 0 };
	struct folder now = *f;
	struct putting p = { .s = s, .f = &now, .t = t, .ret = ret };
	int64_t visible;

	*ret = (struct file_result){ 0 };
	/* It may have been decided anew since the folder was read. */
	if (db_one(s->db, "SELECT visibility FROM folder WHERE id = ?1", DB_ARGS(db_i(f->id)),
		    VISIBLE_AUTHOR, &visible, err))
		return -1;
	now.is_team = visible == VISIBLE_TEAM;
	if (file_made(s, f, t->path, &p.file, err) || old_read(&p, &a, err) ||
		chunks_write(&p, &a, err) || old_remove(&p, err))
		return -1;
	return db_run(s->db, update,
		DB_ARGS(db_i(p.file), db_t(t->checksum), db_i(t->stamp), db_i(ret->chunks),
			db_i(clock_now()), db_t(p.hides_front ? NULL : t->title),
			db_t(p.hides_front ? NULL : t->metadata)),
		err);
}

int folder_file_move(
	struct store *s, int64_t file, const char *path, int64_t stamp, struct err *err)
{
	AUTO(ids_done) struct ids memories = { 0 };

	/* The index knows chunks by their file's path too. */
	if (db_run(s->db,
		    "UPDATE source_file SET path = ?2, stamp = ?3, synced_at = ?4, error = NULL "
		    "WHERE id = ?1",
		    DB_ARGS(db_i(file), db_t(path), db_i(stamp), db_i(clock_now())), err) ||
		store_ids(s, "SELECT memory FROM chunk WHERE source_file = ?1", DB_ARGS(db_i(file)),
			&memories, err))
		return -1;
	for (size_t i = 0; i < memories.n; i++)
		if (store_note(s, CHANGE_MEMORY, memories.p[i], false, err))
			return -1;
	return 0;
}

int folder_file_remove(struct store *s, int64_t file, struct err *err)
{
	return chunks_remove(s, "SELECT memory FROM chunk WHERE source_file = ?1", file, err) ||
			       db_run(s->db, "DELETE FROM source_file WHERE id = ?1",
				       DB_ARGS(db_i(file)), err)
		       ? -1
		       : 0;
}

int folder_file_seen(
	struct store *s, int64_t file, int64_t stamp, const char *error, struct err *err)
{
	return db_run(s->db, "UPDATE source_file SET stamp = ?2, error = ?3 WHERE id = ?1",
		DB_ARGS(db_i(file), db_i(stamp), db_t(error)), err);
}

int folder_file_failed(struct store *s, const struct folder *f, const char *path, const char *error,
	bool drop, struct err *err)
{
	int64_t file;

	if (file_made(s, f, path, &file, err))
		return -1;
	if (drop &&
		(chunks_remove(s, "SELECT memory FROM chunk WHERE source_file = ?1", file, err) ||
			db_run(s->db,
				"UPDATE source_file SET checksum = NULL, chunks = 0 WHERE id = ?1",
				DB_ARGS(db_i(file)), err)))
		return -1;
	return folder_file_seen(s, file, 0, error, err);
}

/* --- The search log. --- */

int search_log_put(struct store *s, const struct search_record *r, struct err *err)
{
	static const char sql[] = "INSERT INTO search_log (at, scope, namespace, results, "
				  "top_score, took_us, query) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";

	return db_run(s->db, sql,
		DB_ARGS(db_i(r->at), db_t(r->scope), db_t(r->namespace), db_i(r->results),
			db_r(r->top), db_i(r->took_us), db_t(r->query)),
		err);
}

int search_log_prune(struct store *s, int64_t before, int64_t keep, struct err *err)
{
	return db_run(s->db,
		"DELETE FROM search_log WHERE at < ?1 OR id <= (SELECT coalesce(max(id), 0) FROM "
		"search_log) - ?2",
		DB_ARGS(db_i(before), db_i(keep)), err);
}
