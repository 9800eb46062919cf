/*
 * Candidates of facts. A row's texts are one pack, closed as those of memories are, whose words they
 * share. The hash of a row's content tells whether anything changed when its turn is looked
 * at again, so that a turn that only grew does not make all its topics due.
 */
#include "store/fact.h"

#include <stddef.h>
#include <string.h>

#include "base/mem.h"
#include "store/room.h"
#include "text/hash.h"

enum { FIELD_NUMBERS = 20, FIELD_FILE, FIELD_EVIDENCE };

static const struct {
	unsigned field;
	size_t offset;
} fields[] = {
	{ 1, offsetof(struct fact_candidate, rule) },
	{ 2, offsetof(struct fact_candidate, slot) },
	{ 3, offsetof(struct fact_candidate, subject) },
	{ 4, offsetof(struct fact_candidate, value) },
	{ 5, offsetof(struct fact_candidate, title) },
	{ 6, offsetof(struct fact_candidate, body) },
	{ 7, offsetof(struct fact_candidate, key) },
	{ 8, offsetof(struct fact_candidate, branch) },
};

static void pack_evidence(struct buf *out, const struct evidence *e)
{
	AUTO(buf_done) struct buf one = { 0 };

	pack_number(&one, (uint64_t)e->event);
	buf_str(&one, e->role ? e->role : "");
	buf_char(&one, '\0');
	if (e->excerpt)
		buf_add(&one, e->excerpt,
			utf8_cut(e->excerpt, strlen(e->excerpt), CANDIDATE_EXCERPT_MAX));
	pack_add(out, FIELD_EVIDENCE, (struct str){ one.data, one.len });
}

static void candidate_pack(const struct fact_candidate *c, struct buf *out)
{
	AUTO(buf_done) struct buf one = { 0 };
	const uint64_t numbers[] = { (uint64_t)c->category, (uint64_t)c->part, (uint64_t)c->trust,
		(uint64_t)(c->outcome + 1), (uint64_t)c->times, (uint64_t)c->strength };

	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		const char *text = *(const char *const *)((const char *)c + fields[i].offset);

		if (text && *text)
			pack_add_text(out, fields[i].field, text);
	}
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		pack_number(&one, numbers[i]);
	pack_add(out, FIELD_NUMBERS, (struct str){ one.data, one.len });
	for (size_t i = 0; i < c->nfiles && i < CANDIDATE_FILES_MAX; i++) {
		buf_cut(&one, 0);
		buf_printf(&one, "%d%s", c->files[i].role, c->files[i].path);
		pack_add(out, FIELD_FILE, (struct str){ one.data, one.len });
	}
	for (size_t i = 0; i < c->nevidence && i < CANDIDATE_EVIDENCE_MAX; i++)
		pack_evidence(out, &c->evidence[i]);
}

static void read_numbers(struct str value, struct fact_candidate *c)
{
	uint64_t n[6] = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(n) && pack_read_number(&value, &n[i]); i++)
		;
	c->category = (enum memory_type)n[0];
	c->part = (enum fact_part)n[1];
	c->trust = (enum trust)n[2];
	c->outcome = (int)n[3] - 1;
	c->times = (int64_t)n[4];
	c->strength = (int)n[5];
}

static struct evidence read_evidence(struct str value)
{
	uint64_t event = 0;
	const char *end = value.p + value.n;
	struct evidence e = { 0 };

	pack_read_number(&value, &event);
	e.event = (int64_t)event;
	e.role = value.p;
	e.excerpt = value.p + strlen(value.p) + 1;
	if (e.excerpt >= end || !*e.excerpt)
		e.excerpt = NULL;
	return e;
}

static void candidate_unpack(struct arena *a, struct str pack, struct fact_candidate *c)
{
	size_t files_cap = 0, evidence_cap = 0;
	struct str value;
	unsigned field;

	while (pack_next(&pack, &field, &value)) {
		if (field == FIELD_NUMBERS) {
			read_numbers(value, c);
		} else if (field == FIELD_FILE && value.n) {
			struct memory_file f = { .path = value.p + 1,
				.role = (enum file_role)(value.p[0] - '0'),
				.size = -1 };
			ARENA_PUSH(a, c->files, c->nfiles, files_cap, f);
		} else if (field == FIELD_EVIDENCE) {
			ARENA_PUSH(
				a, c->evidence, c->nevidence, evidence_cap, read_evidence(value));
		}
		for (size_t i = 0; i < ARRAY_LEN(fields); i++)
			if (fields[i].field == field)
				*(const char **)((char *)c + fields[i].offset) = value.p;
	}
}

/* ---- writing ---- */

static int make_due(struct store *s, int64_t project, int64_t topic, struct err *err)
{
	return db_run(s->db,
		"INSERT INTO fact_due (project, topic) VALUES (?1, ?2) ON CONFLICT (author, "
		"project, topic) DO NOTHING",
		DB_ARGS(db_i(project), db_i(topic)), err);
}

/* A half that comes or goes may join or part others of its chain. */
static int chain_due(struct store *s, int64_t session, int64_t chain, struct err *err)
{
	if (!chain)
		return 0;
	return db_run(s->db,
		"INSERT INTO fact_due (project, topic) SELECT DISTINCT project, topic FROM "
		"candidate "
		"WHERE session = ?1 AND chain = ?2 ON CONFLICT (author, project, topic) DO NOTHING",
		DB_ARGS(db_i(session), db_i(chain)), err);
}

/* As stored: 0 for the rules, 1 + part for a model; OF_ALL asks for any. */
enum { OF_RULES = 0, OF_PART_0 = 1, OF_ALL = -1 };

struct old_row {
	int64_t id, slot, hash, project, topic, chain, session;
	bool is_used;
};

static int load_old(struct store *s, struct arena *a, int64_t turn, int origin,
	struct old_row **ret, size_t *ret_n, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	size_t cap = 0;
	int rc;

	*ret = NULL;
	*ret_n = 0;
	if (db_query(s->db,
		    "SELECT id, slot, hash, project, topic, chain, session FROM candidate WHERE "
		    "turn = ?1 AND (origin = ?2 OR ?2 < 0)",
		    DB_ARGS(db_i(turn), db_i(origin)), &r, err))
		return -1;
	while ((rc = db_next(r, err)) > 0) {
		struct old_row o = { db_int(r, 0), db_int(r, 1), db_int(r, 2), db_int(r, 3),
			db_int(r, 4), db_int(r, 5), db_int(r, 6), false };

		ARENA_PUSH(a, *ret, *ret_n, cap, o);
	}
	return rc;
}

static int drop_old(struct store *s, const struct old_row *o, struct err *err)
{
	if (db_run(s->db, "DELETE FROM candidate WHERE id = ?1", DB_ARGS(db_i(o->id)), err) ||
		make_due(s, o->project, o->topic, err))
		return -1;
	return chain_due(s, o->session, o->chain, err);
}

static int64_t slot_hash(const struct fact_candidate *c)
{
	AUTO(buf_done) struct buf b = { 0 };

	buf_printf(&b, "%s %s", c->rule, c->slot);
	return (int64_t)hash64(b.data, b.len);
}

static int put_candidate(struct store *s, const struct turn *t, const struct fact_candidate *c,
	int origin, struct old_row *old, size_t nold, struct err *err)
{
	AUTO(buf_done) struct buf pack = { 0 };
	int64_t slot = slot_hash(c), hash;
	struct old_row *same = NULL;

	candidate_pack(c, &pack);
	hash = (int64_t)(hash64(pack.data, pack.len) ^ (uint64_t)c->at ^
			 (uint64_t)t->project * 0x9e3779b97f4a7c15u);
	for (size_t i = 0; i < nold && !same; i++)
		same = old[i].slot == slot && !old[i].is_used ? &old[i] : NULL;
	if (same && same->hash == hash && same->topic == c->topic) {
		same->is_used = true;
		return 0;
	}
	if (same && drop_old(s, same, err))
		return -1;
	if (same)
		same->is_used = true;
	if (packer_close(s->packer, PACK_MEMORY, &pack, &s->blob, err))
		return -1;
	if (db_run(s->db,
		    "INSERT INTO candidate (turn, slot, session, project, topic, chain, at, hash, "
		    "pack, origin) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"
		    " ON CONFLICT (turn, slot) DO NOTHING",
		    DB_ARGS(db_i(t->id), db_i(slot), db_i(t->session), db_i(t->project),
			    db_i(c->topic), db_id(c->chain), db_i(c->at), db_i(hash),
			    db_b(s->blob.data, s->blob.len), db_i(origin)),
		    err) ||
		make_due(s, t->project, c->topic, err))
		return -1;
	return chain_due(s, t->session, c->chain, err);
}

static int replace(struct store *s, const struct turn *t, int origin,
	const struct fact_candidate *list, size_t n, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct old_row *old;
	size_t nold;

	if (load_old(s, &a, t->id, origin, &old, &nold, err))
		return -1;
	for (size_t i = 0; i < n; i++)
		if (put_candidate(s, t, &list[i], origin, old, nold, err))
			return -1;
	for (size_t i = 0; i < nold; i++)
		if (!old[i].is_used && drop_old(s, &old[i], err))
			return -1;
	return 0;
}

int store_turn_candidates(struct store *s, const struct turn *t, const struct fact_candidate *list,
	size_t n, struct err *err)
{
	return replace(s, t, OF_RULES, list, n, err);
}

int store_model_candidates(struct store *s, const struct turn *t, int part,
	const struct fact_candidate *list, size_t n, struct err *err)
{
	return replace(s, t, OF_PART_0 + part, list, n, err);
}

int candidates_drop(struct store *s, int64_t turn, struct err *err)
{
	const struct turn t = { .id = turn };

	return replace(s, &t, OF_ALL, NULL, 0, err);
}

/* ---- reading ---- */

#define CANDIDATE_COLUMNS "id, turn, session, project, topic, chain, at, pack"

static int candidate_order(const void *x, const void *y)
{
	const struct fact_candidate *a = x, *b = y;
	int order;

	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	order = strcmp(a->key ? a->key : "", b->key ? b->key : "");
	if (!order)
		order = strcmp(a->rule, b->rule);
	if (!order)
		order = strcmp(a->slot, b->slot);
	return order ? order : strcmp(a->title, b->title);
}

static int read_candidates(struct store *s, struct arena *a, struct db_rows *r,
	struct fact_candidate **ret, size_t *ret_n, struct err *err)
{
	struct fact_candidate *list = NULL;
	size_t n = 0, cap = 0;
	int rc;

	while ((rc = db_next(r, err)) > 0) {
		struct fact_candidate c = { .turn = db_int(r, 1),
			.session = db_int(r, 2),
			.project = db_int(r, 3),
			.topic = db_int(r, 4),
			.chain = db_int(r, 5),
			.at = db_int(r, 6) };
		struct str pack;

		pack.p = db_blob(r, 7, &pack.n);
		if (packer_open(s->packer, a, pack.p, pack.n, &pack, err))
			return -1;
		candidate_unpack(a, pack, &c);
		ARENA_PUSH(a, list, n, cap, c);
	}
	if (n)
		qsort(list, n, sizeof(*list), candidate_order);
	*ret = list;
	*ret_n = n;
	return rc;
}

int store_topic_candidates(struct store *s, struct arena *a, int64_t project, int64_t topic,
	size_t max, struct fact_candidate **ret, size_t *ret_n, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;

	if (db_query(s->db,
		    "SELECT " CANDIDATE_COLUMNS " FROM candidate WHERE topic = ?1 AND project = ?2 "
		    "ORDER BY at DESC LIMIT ?3",
		    DB_ARGS(db_i(topic), db_i(project), db_i((int64_t)max)), &r, err))
		return -1;
	return read_candidates(s, a, r, ret, ret_n, err);
}

int store_chain_candidates(struct store *s, struct arena *a, int64_t session, int64_t chain,
	struct fact_candidate **ret, size_t *ret_n, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;

	if (db_query(s->db,
		    "SELECT " CANDIDATE_COLUMNS " FROM candidate WHERE session = ?1 AND chain = ?2 "
		    "ORDER BY at LIMIT ?3",
		    DB_ARGS(db_i(session), db_i(chain), db_i(CHAIN_MAX)), &r, err))
		return -1;
	return read_candidates(s, a, r, ret, ret_n, err);
}

/* ---- schema 7 ---- */

static int pack_row(
	struct db *db, struct packer *p, struct db_rows *r, struct buf *packed, struct err *err)
{
	static const char insert[] =
		"INSERT INTO candidate (id, turn, slot, session, project, topic, chain, at, hash, "
		"pack) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
	AUTO(buf_done) struct buf raw = { 0 };
	size_t n;
	const char *blob = db_blob(r, 9, &n);

	buf_add(&raw, blob, n);
	if (packer_close(p, PACK_MEMORY, &raw, packed, err))
		return -1;
	return db_run(db, insert,
		DB_ARGS(db_i(db_int(r, 0)), db_i(db_int(r, 1)), db_i(db_int(r, 2)),
			db_i(db_int(r, 3)), db_i(db_int(r, 4)), db_i(db_int(r, 5)),
			db_id(db_int(r, 6)), db_i(db_int(r, 7)), db_i(db_int(r, 8)),
			db_b(packed->data, packed->len)),
		err);
}

static int pack_rows(struct db *db, struct packer *p, struct err *err)
{
	AUTO(buf_done) struct buf packed = { 0 };
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	int rc;

	if (db_query(db,
		    "SELECT id, turn, slot, session, project, topic, chain, at, hash, pack FROM "
		    "candidate_plain ORDER BY id",
		    NULL, 0, &r, err))
		return -1;
	while ((rc = db_next(r, err)) > 0)
		if (pack_row(db, p, r, &packed, err))
			return -1;
	return rc;
}

int candidates_pack(struct db *db, struct err *err)
{
	struct packer *p = packer_new(db);
	int rc = pack_rows(db, p, err);

	packer_free(p);
	return rc ? -1 : db_script(db, "DROP TABLE candidate_plain;", err);
}
