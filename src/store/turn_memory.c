/*
 * What the rules made of a turn takes the place of what they made of it before. A memory is the
 * same when turn, rule and slot are; with the same content its row stays as it is. What a person
 * changed, pinned or forgot is the person's.
 */
#include "store/memory_row.h"

#include <string.h>

#include "base/mem.h"
#include "store/forget.h"

struct kept {
	int64_t id, hash;
	const char *rule, *slot;
	enum memory_status status;
	enum memory_origin origin;
	enum trust trust;
	bool is_pinned, is_used;
	int64_t created_at, superseded_by;
};

static const char *or_empty(const char *s)
{
	return s ? s : "";
}

static int load_kept(struct store *s, struct arena *a, int64_t turn, struct kept **ret,
	size_t *ret_n, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	struct kept *list = NULL;
	size_t n = 0, cap = 0;
	int rc;

	if (db_query(s->db, "SELECT " MEMORY_COLUMNS ", m.hash FROM memory m WHERE m.turn = ?1",
		    DB_ARGS(db_i(turn)), &r, err))
		return -1;
	while ((rc = db_next(r, err)) > 0) {
		struct memory m;
		if (memory_row_read(s, a, r, &m, err))
			return -1;
		if (!m.rule)
			continue;
		struct kept k = { m.id, db_int(r, 18), m.rule, or_empty(m.slot), m.status, m.origin,
			m.trust, m.is_pinned, false, m.created_at, m.superseded_by };
		ARENA_PUSH(a, list, n, cap, k);
	}
	*ret = list;
	*ret_n = n;
	return rc;
}

static struct kept *find_kept(struct kept *list, size_t n, const struct memory *m)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i].rule, or_empty(m->rule)) == 0 &&
			strcmp(list[i].slot, or_empty(m->slot)) == 0)
			return &list[i];
	return NULL;
}

/* A person's approval outlives another run of the rules. */
static void approve(struct memory *m)
{
	m->trust = TRUST_PERSON;
	m->confidence = 1;
	if (m->status == MEMORY_PENDING)
		m->status = MEMORY_ACTIVE;
}

static int put_one(struct store *s, struct memory *m, struct kept *k, struct err *err)
{
	if (k) {
		k->is_used = true;
		m->id = k->id;
		m->created_at = k->created_at;
		m->is_pinned = k->is_pinned;
		if (k->status == MEMORY_REJECTED || k->status == MEMORY_SUPERSEDED) {
			m->status = k->status;
			m->superseded_by = k->superseded_by;
		}
		if (k->origin != ORIGIN_RULES)
			return 0;
		if (k->trust == TRUST_PERSON)
			approve(m);
	}
	int64_t hash = memory_pack(s, m);
	if (k && k->hash == hash)
		return 0;
	return memory_write(s, m, hash, err);
}

/* A slot that the rules used twice counts once. */
static bool is_repeated(const struct memory *memories, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (strcmp(or_empty(memories[j].rule), or_empty(memories[i].rule)) == 0 &&
			strcmp(or_empty(memories[j].slot), or_empty(memories[i].slot)) == 0)
			return true;
	return false;
}

static int drop_unused(struct store *s, const struct kept *list, size_t n, struct err *err)
{
	AUTO(ids_done) struct ids gone = { 0 };

	for (size_t i = 0; i < n; i++)
		if (!list[i].is_used && list[i].origin == ORIGIN_RULES && !list[i].is_pinned &&
			list[i].status != MEMORY_REJECTED)
			ids_add(&gone, list[i].id);
	return gone.n ? memory_delete(s, &gone, err) : 0;
}

int store_turn_memories(
	struct store *s, const struct turn *t, struct memory *memories, size_t n, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct kept *kept;
	size_t nkept;

	if (load_kept(s, &a, t->id, &kept, &nkept, err))
		return -1;
	for (size_t i = 0; i < n; i++) {
		struct memory *m = &memories[i];
		bool is_forgotten;
		m->turn = t->id;
		m->session = t->session;
		if (!m->project)
			m->project = t->project;
		if (m->origin == ORIGIN_NONE)
			m->origin = ORIGIN_RULES;
		if (forget_is_buried_memory(s, m, &is_forgotten, err))
			return -1;
		if (!is_forgotten && !is_repeated(memories, i) &&
			put_one(s, m, find_kept(kept, nkept, m), err))
			return -1;
	}
	if (drop_unused(s, kept, nkept, err))
		return -1;
	return db_run(
		s->db, "UPDATE turn SET is_dirty = 0 WHERE id = ?1", DB_ARGS(db_i(t->id)), err);
}
