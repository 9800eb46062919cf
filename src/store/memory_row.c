/*
 * A memory between memory and its row. Everything that SQL need not look into is one pack: texts,
 * names of rule, slot, model, branch and commit, and the evidence with its excerpts, which mostly
 * quote what the body says and so cost next to nothing.
 */
#include "store/memory_row.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "store/author.h"
#include "text/hash.h"

#define CONFIDENCE_STEPS 1000

enum { FIELD_EVIDENCE = 31 };

/* Before a hash that is no hexadecimal number, its NUL included; a column holds bytes only. */
#define TEXT_MARK "\0text"

/* Fields of the pack that are plain texts. Numbers are stored: rows are only added. */
static const struct {
	unsigned field;
	size_t offset;
} fields[] = {
	{ 1, offsetof(struct memory, title) },
	{ 2, offsetof(struct memory, subtitle) },
	{ 3, offsetof(struct memory, body) },
	{ 4, offsetof(struct memory, facts) },
	{ 5, offsetof(struct memory, concepts) },
	{ 6, offsetof(struct memory, request) },
	{ 7, offsetof(struct memory, investigated) },
	{ 8, offsetof(struct memory, learned) },
	{ 9, offsetof(struct memory, completed) },
	{ 10, offsetof(struct memory, next_steps) },
	{ 11, offsetof(struct memory, notes) },
	{ 12, offsetof(struct memory, commands) },
	{ 13, offsetof(struct memory, rule) },
	{ 14, offsetof(struct memory, slot) },
	{ 15, offsetof(struct memory, model) },
	{ 16, offsetof(struct memory, branch) },
	{ 17, offsetof(struct memory, commit) },
	{ 18, offsetof(struct memory, tally) },
	{ 19, offsetof(struct memory, refines) },
};

static const char **field_of(struct memory *m, size_t i)
{
	return (const char **)((char *)m + fields[i].offset);
}

static void read_evidence(struct str value, struct evidence *ret)
{
	uint64_t event = 0;

	pack_read_number(&value, &event);
	ret->event = (int64_t)event;
	ret->role = value.p;
	ret->excerpt = value.p + strlen(value.p) + 1;
	if (ret->excerpt >= value.p + value.n || !*ret->excerpt)
		ret->excerpt = NULL;
}

static int read_pack(
	struct store *s, struct arena *a, struct str blob, struct memory *m, struct err *err)
{
	struct str rest, value;
	unsigned field;
	size_t cap = 0;

	if (packer_open(s->packer, a, blob.p, blob.n, &rest, err))
		return -1;
	while (pack_next(&rest, &field, &value)) {
		if (field == FIELD_EVIDENCE) {
			struct evidence e;
			read_evidence(value, &e);
			ARENA_PUSH(a, m->evidence, m->nevidence, cap, e);
		}
		for (size_t i = 0; i < ARRAY_LEN(fields); i++)
			if (fields[i].field == field)
				*field_of(m, i) = value.p;
	}
	return 0;
}

/* What a colleague's memory was made of is the colleague's: sessions, turns and events. */
static int hide_origin(
	struct store *s, struct arena *a, int64_t author, struct memory *m, struct err *err)
{
	if (store_author_name(s, a, author, &m->author, err))
		return -1;
	if (!m->author)
		return 0;
	m->session = m->turn = 0;
	m->evidence = NULL;
	m->nevidence = 0;
	return 0;
}

int memory_row_read(
	struct store *s, struct arena *a, struct db_rows *r, struct memory *ret, struct err *err)
{
	struct memory m = { .id = db_int(r, 0),
		.project = db_int(r, 1),
		.session = db_int(r, 2),
		.turn = db_int(r, 3),
		.at = db_int(r, 4),
		.kind = (enum memory_kind)db_int(r, 5),
		.type = (enum memory_type)db_int(r, 6),
		.status = (enum memory_status)db_int(r, 7),
		.origin = (enum memory_origin)db_int(r, 8),
		.trust = (enum trust)db_int(r, 9),
		.is_pinned = db_int(r, 10),
		.confidence = (double)db_int(r, 11) / CONFIDENCE_STEPS,
		.created_at = db_int(r, 12),
		.updated_at = db_is_null(r, 13) ? db_int(r, 12) : db_int(r, 13),
		.valid_from = db_int(r, 14),
		.valid_to = db_int(r, 15),
		.superseded_by = db_int(r, 16),
		.is_team = db_int(r, 19) == VISIBLE_TEAM };
	struct str blob;

	blob.p = db_blob(r, 17, &blob.n);
	if (read_pack(s, a, blob, &m, err))
		return err_prefix(err, "memory %lld: ", (long long)m.id);
	*ret = m;
	return hide_origin(s, a, db_int(r, 18), ret, err);
}

static char *hex_of(struct arena *a, const unsigned char *p, size_t n)
{
	char *hex = arena_alloc(a, 2 * n + 1);

	for (size_t i = 0; i < n; i++) {
		hex[2 * i] = "0123456789abcdef"[p[i] >> 4];
		hex[2 * i + 1] = "0123456789abcdef"[p[i] & 15];
	}
	return hex;
}

struct db_arg memory_text_arg(struct arena *a, const char *text, size_t n)
{
	char *marked = arena_alloc(a, n + sizeof(TEXT_MARK));

	memcpy(marked, TEXT_MARK, sizeof(TEXT_MARK));
	memcpy(marked + sizeof(TEXT_MARK), text, n);
	return db_b(marked, n + sizeof(TEXT_MARK));
}

struct db_arg memory_hash_arg(struct arena *a, const char *hash)
{
	size_t n = hash ? strlen(hash) : 0;

	if (!n)
		return db_t(NULL);
	if (n % 2 || strspn(hash, "0123456789abcdef") != n)
		return memory_text_arg(a, hash, n);
	unsigned char *bytes = arena_alloc(a, n / 2);
	for (size_t i = 0; i < n; i++) {
		unsigned digit =
			hash[i] <= '9' ? (unsigned)(hash[i] - '0') : (unsigned)(hash[i] - 'a') + 10;
		bytes[i / 2] = (unsigned char)(bytes[i / 2] << 4 | digit);
	}
	return db_b(bytes, n / 2);
}

const char *memory_hash_read(struct arena *a, struct db_rows *r, int col)
{
	enum db_type form = db_kind(r, col);
	size_t n;
	const void *hash = db_blob(r, col, &n);

	if (!n)
		return NULL;
	if (n > sizeof(TEXT_MARK) && !memcmp(hash, TEXT_MARK, sizeof(TEXT_MARK)))
		return arena_dup(a, (const char *)hash + sizeof(TEXT_MARK), n - sizeof(TEXT_MARK));
	return form == DB_BLOB ? hex_of(a, hash, n) : row_str(a, r, col);
}

int memory_files_read(struct store *s, struct arena *a, struct memory *m, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	size_t cap = 0;
	int rc;

	m->nfiles = 0;
	m->files = NULL;
	if (db_query(s->db,
		    "SELECT f.path, mf.role, mf.size, mf.hash FROM memory_file mf JOIN file f ON "
		    "f.id = mf.file"
		    " WHERE mf.memory = ?1 ORDER BY mf.role DESC, f.path",
		    DB_ARGS(db_i(m->id)), &r, err))
		return -1;
	while ((rc = db_next(r, err)) > 0) {
		struct memory_file f = { .path = row_str(a, r, 0),
			.role = (enum file_role)db_int(r, 1),
			.size = db_is_null(r, 2) ? -1 : db_int(r, 2) };
		f.hash = memory_hash_read(a, r, 3);
		ARENA_PUSH(a, m->files, m->nfiles, cap, f);
	}
	return rc;
}

static void write_pack(struct store *s, struct memory *m)
{
	AUTO(buf_done) struct buf one = { 0 };

	buf_cut(&s->raw, 0);
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		const char *text = *field_of(m, i);
		if (text && *text)
			pack_add(&s->raw, fields[i].field,
				(struct str){
					text, utf8_cut(text, strlen(text), MEMORY_TEXT_MAX) });
	}
	for (size_t i = 0; i < m->nevidence && i < MEMORY_EVIDENCE_MAX; i++) {
		const struct evidence *e = &m->evidence[i];
		buf_cut(&one, 0);
		pack_number(&one, (uint64_t)e->event);
		buf_str(&one, e->role ? e->role : "");
		buf_char(&one, '\0');
		if (e->excerpt)
			buf_add(&one, e->excerpt,
				utf8_cut(e->excerpt, strlen(e->excerpt), EVIDENCE_EXCERPT_MAX));
		pack_add(&s->raw, FIELD_EVIDENCE, (struct str){ one.data, one.len });
	}
}

/* What the rules or a model said: the pack, the columns, the files. Not what a person decided
 * about it (pin, status). */
static int64_t content_hash(struct store *s, const struct memory *m)
{
	AUTO(buf_done) struct buf b = { 0 };

	buf_add(&b, s->raw.data, s->raw.len);
	buf_printf(&b, "%d %d %d %lld %.3f %lld %lld ", m->kind, m->type, m->trust,
		(long long)m->at, m->confidence, (long long)m->valid_from, (long long)m->valid_to);
	for (size_t i = 0; i < m->nfiles && i < MEMORY_FILES_MAX; i++)
		buf_printf(&b, "%s %d %s %lld\n", m->files[i].path, m->files[i].role,
			m->files[i].hash ? m->files[i].hash : "", (long long)m->files[i].size);
	return (int64_t)hash64(b.data, b.len);
}

int64_t memory_pack(struct store *s, struct memory *m)
{
	if (!m->created_at)
		m->created_at = clock_now();
	if (!m->at)
		m->at = m->created_at;
	write_pack(s, m);
	return content_hash(s, m);
}

static int write_columns(struct store *s, struct memory *m, int64_t hash, struct err *err)
{
	static const char insert[] =
		"INSERT INTO memory (project, session, turn, at, kind, type, status, origin, "
		"trust, is_pinned, confidence,"
		" created_at, updated_at, valid_from, valid_to, superseded_by, hash, pack, "
		"visibility) VALUES"
		" (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, "
		"?18, ?19)";
	static const char update[] =
		"UPDATE memory SET project = ?1, session = ?2, turn = ?3, at = ?4, kind = ?5, type "
		"= ?6, status = ?7, origin = ?8,"
		" trust = ?9, is_pinned = ?10, confidence = ?11, created_at = ?12, updated_at = "
		"?13, valid_from = ?14,"
		" valid_to = ?15, superseded_by = ?16, hash = ?17, pack = ?18, visibility = ?19 "
		"WHERE id = ?20";
	int confidence = (int)lround(MAX(0.0, MIN(1.0, m->confidence)) * CONFIDENCE_STEPS);

	if (packer_close(s->packer, m->is_team ? PACK_ALONE : PACK_MEMORY, &s->raw, &s->blob, err))
		return -1;
	const struct db_arg args[] = { db_i(m->project), db_id(m->session), db_id(m->turn),
		db_i(m->at), db_i(m->kind), db_i(m->type), db_i(m->status), db_i(m->origin),
		db_i(m->trust), db_i(m->is_pinned), db_i(confidence), db_i(m->created_at),
		db_id(m->updated_at == m->created_at ? 0 : m->updated_at), db_id(m->valid_from),
		db_id(m->valid_to), db_id(m->superseded_by), db_i(hash),
		db_b(s->blob.data, s->blob.len), db_i(m->is_team ? VISIBLE_TEAM : VISIBLE_AUTHOR),
		db_i(m->id) };
	if (db_run(s->db, m->id ? update : insert, args, ARRAY_LEN(args) - !m->id, err))
		return -1;
	if (!m->id)
		m->id = db_last_id(s->db);
	return 0;
}

static int file_id(struct store *s, const char *path, int64_t *ret, struct err *err)
{
	if (db_one(s->db, "SELECT id FROM file WHERE path = ?1 AND author = ?2",
		    DB_ARGS(db_t(path), db_i(s->me)), 0, ret, err))
		return -1;
	if (*ret)
		return 0;
	if (db_run(s->db, "INSERT INTO file (path) VALUES (?1)", DB_ARGS(db_t(path)), err))
		return -1;
	*ret = db_last_id(s->db);
	return 0;
}

static int write_files(struct store *s, const struct memory *m, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	int64_t file;

	for (size_t i = 0; i < m->nfiles && i < MEMORY_FILES_MAX; i++) {
		const struct memory_file *f = &m->files[i];
		if (!f->path || !*f->path)
			continue;
		if (file_id(s, f->path, &file, err) ||
			db_run(s->db,
				"INSERT INTO memory_file (memory, file, role, size, hash) VALUES "
				"(?1, ?2, ?3, ?4, ?5)"
				" ON CONFLICT (memory, file, role) DO NOTHING",
				DB_ARGS(db_i(m->id), db_i(file), db_i(f->role),
					f->size < 0 ? db_id(0) : db_i(f->size),
					memory_hash_arg(&a, f->hash)),
				err))
			return -1;
	}
	return 0;
}

static int write_evidence(struct store *s, const struct memory *m, struct err *err)
{
	for (size_t i = 0; i < m->nevidence && i < MEMORY_EVIDENCE_MAX; i++)
		if (m->evidence[i].event &&
			db_run(s->db,
				"INSERT INTO evidence (event, memory) VALUES (?1, ?2) ON CONFLICT "
				"(event, memory) DO NOTHING",
				DB_ARGS(db_i(m->evidence[i].event), db_i(m->id)), err))
			return -1;
	return 0;
}

/*
 * Evidence has its index by event; the events of a memory are in its old pack. A colleague's memory is refused here, so that no
 * way of changing one gets further.
 */
static int clear_evidence(struct store *s, int64_t id, bool *ret_team, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct memory old;
	struct db_rows *r;
	int rc = store_row(s, "SELECT " MEMORY_COLUMNS " FROM memory m WHERE m.id = ?1",
		DB_ARGS(db_i(id)), &r, err);

	if (rc <= 0)
		return rc;
	rc = memory_row_read(s, &a, r, &old, err);
	db_end(r);
	if (rc || memory_must_be_mine(&old, "change it", err))
		return -1;
	*ret_team = old.is_team;
	for (size_t i = 0; !rc && i < old.nevidence; i++)
		rc = db_run(s->db, "DELETE FROM evidence WHERE event = ?1 AND memory = ?2",
			DB_ARGS(db_i(old.evidence[i].event), db_i(id)), err);
	return rc;
}

/* What its files were is still true when it is written anew about the same time. */
static int keep_bases(struct store *s, const struct memory *m, struct err *err)
{
	static const char clear[] = "DELETE FROM file_base";
	static const char keep[] =
		"INSERT INTO file_base (file, role, size, hash) SELECT mf.file, mf.role, mf.size, "
		"mf.hash FROM memory_file mf JOIN memory m ON m.id = mf.memory"
		" WHERE mf.memory = ?1 AND m.at = ?2 AND (mf.size IS NOT NULL OR mf.hash IS NOT "
		"NULL)";

	if (db_run(s->db, clear, NULL, 0, err))
		return -1;
	return db_run(s->db, keep, DB_ARGS(db_i(m->id), db_i(m->at)), err);
}

static int restore_bases(struct store *s, const struct memory *m, struct err *err)
{
	static const char restore[] =
		"UPDATE memory_file SET (size, hash) = (SELECT b.size, b.hash FROM file_base b"
		" WHERE b.file = memory_file.file AND b.role = memory_file.role)"
		" WHERE memory = ?1 AND size IS NULL AND hash IS NULL AND EXISTS (SELECT 1 FROM "
		"file_base b"
		" WHERE b.file = memory_file.file AND b.role = memory_file.role)";

	return db_run(s->db, restore, DB_ARGS(db_i(m->id)), err);
}

/* The keeper looks at what a memory rests on after it was written. */
static int note_stale(struct store *s, const struct memory *m, struct err *err)
{
	static const char note[] =
		"INSERT INTO stale_due (memory, stamp) VALUES (?1, 1)"
		" ON CONFLICT (memory) DO UPDATE SET stamp = stale_due.stamp + 1";

	if (!m->nfiles && !m->branch)
		return 0;
	return db_run(s->db, note, DB_ARGS(db_i(m->id)), err);
}

/* A new memory is shared when its author shares the project. Sections of files follow their folder. */
static int take_default(struct store *s, struct memory *m, struct err *err)
{
	if (m->is_team || m->kind == KIND_CHUNK)
		return 0;
	if (!s->shares.is_known) {
		int64_t n;
		if (db_one(s->db, "SELECT count(*) FROM project_share WHERE author = ?1",
			    DB_ARGS(db_i(s->me)), 0, &n, err))
			return -1;
		s->shares.any = n;
		s->shares.is_known = db_is_in_transaction(s->db);
	}
	return s->shares.any ? store_project_shared(s, m->project, &m->is_team, err) : 0;
}

int memory_write_shared(struct store *s, struct memory *m, struct err *err)
{
	if (db_run(s->db, "UPDATE memory SET visibility = ?2 WHERE id = ?1",
		    DB_ARGS(db_i(m->id), db_i(m->is_team ? VISIBLE_TEAM : VISIBLE_AUTHOR)), err))
		return -1;
	return memory_write(s, m, memory_pack(s, m), err);
}

int memory_write(struct store *s, struct memory *m, int64_t hash, struct err *err)
{
	bool is_new = !m->id;

	if (is_new && take_default(s, m, err))
		return -1;
	if (!is_new && keep_bases(s, m, err))
		return -1;
	if (!is_new && (clear_evidence(s, m->id, &m->is_team, err) ||
			       db_run(s->db, "DELETE FROM memory_file WHERE memory = ?1",
				       DB_ARGS(db_i(m->id)), err)))
		return -1;
	if (!is_new)
		m->updated_at = clock_now();
	else if (!m->updated_at)
		m->updated_at = m->created_at;
	if (write_columns(s, m, hash, err) || write_files(s, m, err) || write_evidence(s, m, err))
		return -1;
	if ((!is_new && restore_bases(s, m, err)) || note_stale(s, m, err))
		return -1;
	return m->is_team ? store_note_team(s, m->id, err)
			  : store_note(s, CHANGE_MEMORY, m->id, false, err);
}

/* What it stood for holds again. Facts that follow each other are the merge's business. */
static int restore_refined(struct store *s, const struct ids *gone, struct err *err)
{
	static const char refined[] =
		"SELECT id FROM memory WHERE turn = (SELECT turn FROM memory WHERE id = ?1) AND "
		"superseded_by = ?1 AND origin = ?2 AND kind <> ?3";
	AUTO(ids_done) struct ids back = { 0 };

	for (size_t i = 0; i < gone->n; i++)
		if (store_ids(s, refined,
			    DB_ARGS(db_i(gone->p[i]), db_i(ORIGIN_RULES), db_i(KIND_FACT)), &back,
			    err))
			return -1;
	for (size_t i = 0; i < back.n; i++)
		if (memory_supersede(s, back.p[i], 0, err))
			return -1;
	return 0;
}

int memory_supersede(struct store *s, int64_t id, int64_t by, struct err *err)
{
	if (db_run(s->db, "UPDATE memory SET status = ?2, superseded_by = ?3 WHERE id = ?1",
		    DB_ARGS(db_i(id), db_i(by ? MEMORY_SUPERSEDED : MEMORY_ACTIVE), db_id(by)),
		    err))
		return -1;
	return store_note(s, CHANGE_MEMORY, id, false, err);
}

int memory_delete(struct store *s, const struct ids *ids, struct err *err)
{
	static const char *const tables[] = {
		"DELETE FROM memory_file WHERE memory = ?1",
		"DELETE FROM vector WHERE memory = ?1",
		"DELETE FROM chunk WHERE memory = ?1",
		"DELETE FROM injection_memory WHERE memory = ?1",
		"DELETE FROM fact WHERE memory = ?1",
		"DELETE FROM stale_due WHERE memory = ?1",
		"DELETE FROM suspect WHERE memory = ?1",
		"DELETE FROM branch_memory WHERE memory = ?1",
		"DELETE FROM visible WHERE memory = ?1",
		"DELETE FROM memory WHERE id = ?1",
	};

	if (restore_refined(s, ids, err))
		return -1;
	for (size_t i = 0; i < ids->n; i++) {
		bool was_team;
		if (clear_evidence(s, ids->p[i], &was_team, err))
			return -1;
	}
	for (size_t i = 0; i < ARRAY_LEN(tables); i++)
		if (store_each(s, tables[i], ids, err))
			return -1;
	for (size_t i = 0; i < ids->n; i++)
		if (store_note(s, CHANGE_MEMORY, ids->p[i], true, err))
			return -1;
	return 0;
}
