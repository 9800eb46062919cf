/*
 * What the index follows. A thing has one row here, that of its last change: whoever starts at 0
 * sees everything that exists once, and what is gone until it is pruned.
 */
#include "store/room.h"

#include <string.h>

#include "base/mem.h"

_Static_assert(CHANGE_KIND_COUNT <= CHANGE_REF_STEP, "a kind that does not fit beside the id");

int store_change_last(struct store *s, int64_t *ret, struct err *err)
{
	int64_t kept;

	/* The rows say less than the number once gave when the last of them was pruned. */
	if (db_one(s->db, "SELECT n FROM counter WHERE name = 'change.last'", NULL, 0, 0, &kept,
		    err))
		return -1;
	if (db_one(s->db, "SELECT max(seq) FROM change", NULL, 0, 0, ret, err))
		return -1;
	*ret = MAX(*ret, kept);
	return 0;
}

int store_note(struct store *s, enum change_kind kind, int64_t id, bool is_gone, struct err *err)
{
	if (!s->is_seq_known && store_change_last(s, &s->seq, err))
		return -1;
	/* Where others write too the number holds as long as the transaction keeps them out. */
	s->is_seq_known = !db_is_shared(s->db) || db_is_in_transaction(s->db);
	return db_run(s->db,
		"INSERT INTO change (ref, seq, is_gone) VALUES (?1, ?2, ?3)"
		" ON CONFLICT (ref) DO UPDATE SET seq = excluded.seq, is_gone = excluded.is_gone",
		DB_ARGS(db_i(id * CHANGE_REF_STEP + kind), db_i(++s->seq), db_i(is_gone)), err);
}

static int changes_read(
	struct db_rows *r, struct arena *a, struct change **ret, size_t *ret_n, struct err *err)
{
	struct change *list = NULL;
	size_t n = 0, cap = 0;
	int rc;

	while ((rc = db_next(r, err)) > 0) {
		int64_t ref = db_int(r, 1);
		struct change c = { db_int(r, 0), (enum change_kind)(ref % CHANGE_REF_STEP),
			ref / CHANGE_REF_STEP };
		ARENA_PUSH(a, list, n, cap, c);
	}
	if (rc < 0)
		return -1;
	*ret = list;
	*ret_n = n;
	return 0;
}

int store_changes(struct store *s, struct arena *a, int64_t after, size_t max, struct change **ret,
	size_t *ret_n, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;

	if (db_query(s->db, "SELECT seq, ref FROM change WHERE seq > ?1 ORDER BY seq LIMIT ?2",
		    DB_ARGS(db_i(after), db_i((int64_t)max)), &r, err))
		return -1;
	return changes_read(r, a, ret, ret_n, err);
}

int store_changes_down(struct store *s, struct arena *a, const struct change_range *range,
	struct change **ret, size_t *ret_n, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;

	if (db_query(s->db,
		    "SELECT seq, ref FROM change WHERE seq > ?1 AND seq <= ?2"
		    " ORDER BY seq DESC LIMIT ?3",
		    DB_ARGS(db_i(range->after), db_i(range->up_to), db_i((int64_t)range->max)), &r,
		    err))
		return -1;
	return changes_read(r, a, ret, ret_n, err);
}

int store_change_prune(struct store *s, int64_t up_to, struct err *err)
{
	int64_t last;

	if (store_change_last(s, &last, err) ||
		db_run(s->db,
			"INSERT INTO counter (name, n) VALUES ('change.last', ?1)"
			" ON CONFLICT (name) DO UPDATE SET n = excluded.n",
			DB_ARGS(db_i(last)), err))
		return -1;
	return db_run(s->db, "DELETE FROM change WHERE is_gone = 1 AND seq <= ?1",
		DB_ARGS(db_i(up_to)), err);
}
