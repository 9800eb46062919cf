/* Facts by topic. What a person decided about a fact is not lost when it is written anew. */
#include "store/fact.h"

#include <string.h>

#include "base/mem.h"
#include "store/forget.h"
#include "store/memory_row.h"

struct kept_fact {
	struct memory m;
	int64_t hash;
	bool is_used;
};

static int load_kept(struct store *s, struct arena *a, const struct fact_topic *t,
	struct kept_fact **ret, size_t *ret_n, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	size_t cap = 0;
	int rc;

	*ret = NULL;
	*ret_n = 0;
	if (db_query(s->db,
		    "SELECT " MEMORY_COLUMNS
		    ", m.hash FROM fact f JOIN memory m ON m.id = f.memory WHERE f.topic = ?1 AND "
		    "f.project = ?2 ORDER BY m.id",
		    DB_ARGS(db_i(t->topic), db_i(t->project)), &r, err))
		return -1;
	while ((rc = db_next(r, err)) > 0) {
		struct kept_fact k = { .hash = db_int(r, MEMORY_COLUMNS_N) };

		if (memory_row_read(s, a, r, &k.m, err))
			return -1;
		ARENA_PUSH(a, *ret, *ret_n, cap, k);
	}
	return rc;
}

static struct kept_fact *find_kept(struct kept_fact *list, size_t n, const char *slot)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].m.slot && strcmp(list[i].m.slot, slot) == 0 && !list[i].is_used)
			return &list[i];
	return NULL;
}

/* What a person said of it: pinned, approved, rejected. */
static void keep_word(struct memory *m, const struct memory *kept)
{
	m->id = kept->id;
	m->created_at = kept->created_at;
	m->is_pinned = kept->is_pinned;
	if (kept->status == MEMORY_REJECTED)
		m->status = MEMORY_REJECTED;
	if (kept->trust == TRUST_PERSON && m->trust != TRUST_PERSON) {
		m->trust = TRUST_PERSON;
		m->confidence = MAX(m->confidence, kept->confidence);
		if (m->status == MEMORY_PENDING)
			m->status = MEMORY_ACTIVE;
	}
}

static int put_fact(struct store *s, const struct fact_topic *t, struct topic_fact *f,
	struct kept_fact *k, struct err *err)
{
	int64_t hash;
	bool is_new = !k;

	if (k) {
		k->is_used = true;
		if (k->m.origin != ORIGIN_RULES && k->m.origin != ORIGIN_MODEL) {
			f->m.id = k->m.id;
			return 0;
		}
		keep_word(&f->m, &k->m);
	}
	hash = memory_pack(s, &f->m);
	if (k && k->hash == hash && k->m.status == f->m.status &&
		k->m.superseded_by == f->m.superseded_by && k->m.at == f->m.at)
		return 0;
	if (memory_write(s, &f->m, hash, err))
		return -1;
	if (!is_new)
		return 0;
	return db_run(s->db, "INSERT INTO fact (memory, project, topic) VALUES (?1, ?2, ?3)",
		DB_ARGS(db_i(f->m.id), db_i(t->project), db_i(t->topic)), err);
}

static int drop_unused(struct store *s, const struct kept_fact *list, size_t n, struct err *err)
{
	AUTO(ids_done) struct ids gone = { 0 };

	for (size_t i = 0; i < n; i++)
		/* A rejected one stays, so that it is known again when its turns come back. */
		if (!list[i].is_used && !list[i].m.is_pinned &&
			list[i].m.status != MEMORY_REJECTED &&
			(list[i].m.origin == ORIGIN_RULES || list[i].m.origin == ORIGIN_MODEL))
			ids_add(&gone, list[i].m.id);
	return gone.n ? memory_delete(s, &gone, err) : 0;
}

/* Successors are written first, so that their number is known to those they follow. */
static int put_all(struct store *s, const struct fact_topic *t, struct topic_fact *facts, size_t n,
	struct kept_fact *kept, size_t nkept, struct err *err)
{
	for (size_t i = n; i-- > 0;) {
		struct topic_fact *f = &facts[i];
		bool is_forgotten;

		f->m.project = t->project;
		f->m.kind = KIND_FACT;
		if (f->successor >= 0 && (size_t)f->successor < n)
			f->m.superseded_by = facts[f->successor].m.id;
		if (forget_is_buried_memory(s, &f->m, &is_forgotten, err))
			return -1;
		if (!is_forgotten && put_fact(s, t, f, find_kept(kept, nkept, f->m.slot), err))
			return -1;
	}
	return drop_unused(s, kept, nkept, err);
}

int store_topic_facts(struct store *s, const struct fact_topic *t, struct topic_fact *facts,
	size_t n, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct kept_fact *kept;
	size_t nkept;

	if (load_kept(s, &a, t, &kept, &nkept, err) || put_all(s, t, facts, n, kept, nkept, err))
		return -1;
	return db_run(s->db, "DELETE FROM fact_due WHERE project = ?1 AND topic = ?2",
		DB_ARGS(db_i(t->project), db_i(t->topic)), err);
}

int store_facts_due(struct store *s, struct arena *a, size_t max, struct fact_topic **ret,
	size_t *ret_n, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	size_t cap = 0;
	int rc;

	*ret = NULL;
	*ret_n = 0;
	if (db_query(s->db, "SELECT project, topic FROM fact_due ORDER BY project, topic LIMIT ?1",
		    DB_ARGS(db_i((int64_t)max)), &r, err))
		return -1;
	while ((rc = db_next(r, err)) > 0) {
		struct fact_topic t = { db_int(r, 0), db_int(r, 1) };

		ARENA_PUSH(a, *ret, *ret_n, cap, t);
	}
	return rc;
}

int store_facts_all_due(struct store *s, struct err *err)
{
	return db_run(s->db,
		"INSERT INTO fact_due (project, topic) SELECT DISTINCT project, topic FROM "
		"candidate WHERE 1 = 1 ON CONFLICT (author, project, topic) DO NOTHING",
		NULL, 0, err);
}

int store_fact_siblings(struct store *s, struct arena *a, int64_t memory, int64_t **ret,
	size_t *ret_n, struct err *err)
{
	AUTO(ids_done) struct ids list = { 0 };

	if (store_ids(s,
		    "SELECT o.memory FROM fact f JOIN fact o ON o.topic = f.topic AND o.project = "
		    "f.project WHERE f.memory = ?1 AND o.memory <> ?1 ORDER BY o.memory DESC LIMIT "
		    "?2",
		    DB_ARGS(db_i(memory), db_i(SIBLINGS_MAX)), &list, err))
		return -1;
	*ret = arena_dup(a, list.p ? list.p : &(int64_t){ 0 }, sizeof(*list.p) * list.n);
	*ret_n = list.n;
	return 0;
}
