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
	const char *rule, *slot, *refines;
	enum memory_status status;
	enum memory_origin origin;
	enum trust trust;
	bool is_pinned, is_used, is_team;
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
		struct kept k = { m.id, db_int(r, MEMORY_COLUMNS_N), m.rule, or_empty(m.slot), m.refines,
			m.status, m.origin, m.trust, m.is_pinned, false, m.is_team, m.created_at,
			m.superseded_by };
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
		if (k->origin != m->origin)
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

/* origin: whose; those that a person had a word in stay. */
static int drop_unused(struct store *s, const struct kept *list, size_t n,
	enum memory_origin origin, struct err *err)
{
	AUTO(ids_done) struct ids gone = { 0 };

	for (size_t i = 0; i < n; i++)
		if (!list[i].is_used && list[i].origin == origin && !list[i].is_pinned &&
			list[i].status != MEMORY_REJECTED &&
			(origin == ORIGIN_RULES || list[i].trust != TRUST_PERSON))
			ids_add(&gone, list[i].id);
	return gone.n ? memory_delete(s, &gone, err) : 0;
}

/*
 * The memory that stands for this one of the rules; 0: none. What a person decided stands for itself, and what is shared is not
 * taken from colleagues by what they may not see.
 */
static int64_t refined_by(const struct kept *list, size_t n, const struct kept *k)
{
	size_t rule = strlen(k->rule);

	if (k->is_pinned || k->trust == TRUST_PERSON)
		return 0;
	for (size_t i = 0; i < n; i++)
		if (list[i].refines && list[i].status == MEMORY_ACTIVE &&
			!strncmp(list[i].refines, k->rule, rule) && list[i].refines[rule] == '/' &&
			!strcmp(list[i].refines + rule + 1, k->slot) &&
			(list[i].is_team || !k->is_team))
			return list[i].id;
	return 0;
}

int turn_refine(struct store *s, int64_t turn, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct kept *list;
	size_t n;

	if (load_kept(s, &a, turn, &list, &n, err))
		return -1;
	for (size_t i = 0; i < n; i++) {
		const struct kept *k = &list[i];
		int64_t by = k->origin == ORIGIN_RULES ? refined_by(list, n, k) : 0;
		bool is_refined = k->status == MEMORY_SUPERSEDED;
		if (k->origin != ORIGIN_RULES || (!is_refined && k->status != MEMORY_ACTIVE) ||
			(is_refined ? k->superseded_by == by : !by))
			continue;
		if (memory_supersede(s, k->id, by, err))
			return -1;
	}
	return 0;
}

static int put_each(struct store *s, const struct turn *t, struct memory *memories, size_t n,
	struct kept *kept, size_t nkept, struct err *err)
{
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
	return 0;
}

static bool has_refined(const struct kept *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].refines || list[i].status == MEMORY_SUPERSEDED)
			return true;
	return false;
}

int store_turn_memories(
	struct store *s, const struct turn *t, struct memory *memories, size_t n, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct kept *kept;
	size_t nkept;

	if (load_kept(s, &a, t->id, &kept, &nkept, err) ||
		put_each(s, t, memories, n, kept, nkept, err) ||
		drop_unused(s, kept, nkept, ORIGIN_RULES, err))
		return -1;
	if (has_refined(kept, nkept) && turn_refine(s, t->id, err))
		return -1;
	return db_run(
		s->db, "UPDATE turn SET is_dirty = 0 WHERE id = ?1", DB_ARGS(db_i(t->id)), err);
}

/* Slots of a model's memories begin with the part of the turn that they were made of. */
static bool is_of_part(const struct kept *k, int part)
{
	return part < 0 || atoi(k->slot) == part;
}

int store_model_memories(struct store *s, const struct turn *t, int part,
	struct memory *memories, size_t n, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct kept *kept;
	size_t nkept, mine = 0;

	if (load_kept(s, &a, t->id, &kept, &nkept, err))
		return -1;
	for (size_t i = 0; i < nkept; i++)
		if (!strcmp(kept[i].rule, MODEL_RULE) && is_of_part(&kept[i], part))
			kept[mine++] = kept[i];
	if (put_each(s, t, memories, n, kept, mine, err) ||
		drop_unused(s, kept, mine, ORIGIN_MODEL, err))
		return -1;
	return turn_refine(s, t->id, err);
}

int store_session_memory(struct store *s, struct memory *m, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	AUTO(ids_done) struct ids ids = { 0 };
	bool is_forgotten;

	if (forget_is_buried_memory(s, m, &is_forgotten, err) ||
		store_ids(s, "SELECT id FROM memory WHERE session = ?1 AND turn IS NULL",
			DB_ARGS(db_i(m->session)), &ids, err))
		return -1;
	for (size_t i = 0; i < ids.n && !is_forgotten; i++) {
		struct memory old;
		if (store_memory_get(s, &a, ids.p[i], &old, err))
			return -1;
		if (strcmp(or_empty(old.rule), or_empty(m->rule)) ||
			strcmp(or_empty(old.slot), or_empty(m->slot)))
			continue;
		struct kept k = { .id = old.id, .status = old.status, .origin = old.origin,
			.trust = old.trust, .is_pinned = old.is_pinned,
			.created_at = old.created_at, .superseded_by = old.superseded_by };
		return put_one(s, m, &k, err);
	}
	return is_forgotten ? 0 : put_one(s, m, NULL, err);
}
