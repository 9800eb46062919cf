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
	if (db_one(s->db, "SELECT n FROM counter WHERE author = 0 AND name = 'change.last'", NULL,
		    0, 0, &kept, err))
		return -1;
	if (db_one(s->db, "SELECT max(seq) FROM change", NULL, 0, 0, ret, err))
		return -1;
	*ret = MAX(*ret, kept);
	return 0;
}

struct note {
	int64_t ref;
	bool is_gone, is_team;
};

static int note(struct store *s, const struct note *n, struct err *err)
{
	if (!s->is_seq_known && store_change_last(s, &s->seq, err))
		return -1;
	/* Where others write too the number holds as long as the transaction keeps them out. */
	s->is_seq_known = !db_is_shared(s->db) || db_is_in_transaction(s->db);
	return db_run(s->db,
		"INSERT INTO change (ref, seq, is_gone, is_team) VALUES (?1, ?2, ?3, ?4)"
		" ON CONFLICT (ref) DO UPDATE SET seq = excluded.seq, is_gone = excluded.is_gone,"
		" is_team = CASE WHEN change.is_team = 1 THEN 1 ELSE excluded.is_team END",
		DB_ARGS(db_i(n->ref), db_i(++s->seq), db_i(n->is_gone), db_i(n->is_team)), err);
}

int store_note(struct store *s, enum change_kind kind, int64_t id, bool is_gone, struct err *err)
{
	const struct note n = { .ref = id * CHANGE_REF_STEP + kind, .is_gone = is_gone };

	return note(s, &n, err);
}

int store_note_team(struct store *s, int64_t memory, struct err *err)
{
	const struct note n = { .ref = memory * CHANGE_REF_STEP + CHANGE_MEMORY, .is_team = true };

	return note(s, &n, err);
}

/* ?3: the author. Rows of others that nobody else ever saw are not even asked for. */
#define CHANGE_COLUMNS "seq, ref, CASE WHEN author <> ?3 THEN 1 ELSE 0 END"
#define IS_MINE "(author = ?3 OR is_team = 1)"

static int changes_read(
	struct db_rows *r, struct arena *a, struct change **ret, size_t *ret_n, struct err *err)
{
	struct change *list = NULL;
	size_t n = 0, cap = 0;
	int rc;

	while ((rc = db_next(r, err)) > 0) {
		int64_t ref = db_int(r, 1);
		struct change c = { db_int(r, 0), (enum change_kind)(ref % CHANGE_REF_STEP),
			ref / CHANGE_REF_STEP, db_int(r, 2) };
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

	if (db_query(s->db,
		    "SELECT " CHANGE_COLUMNS " FROM change WHERE seq > ?1 AND " IS_MINE
		    " ORDER BY seq LIMIT ?2",
		    DB_ARGS(db_i(after), db_i((int64_t)max), db_i(s->me)), &r, err))
		return -1;
	return changes_read(r, a, ret, ret_n, err);
}

int store_changes_down(struct store *s, struct arena *a, const struct change_range *range,
	struct change **ret, size_t *ret_n, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;

	if (db_query(s->db,
		    "SELECT " CHANGE_COLUMNS
		    " FROM change WHERE seq > ?1 AND seq <= ?2 AND " IS_MINE
		    " ORDER BY seq DESC LIMIT ?4",
		    DB_ARGS(db_i(range->after), db_i(range->up_to), db_i(s->me),
			    db_i((int64_t)range->max)),
		    &r, err))
		return -1;
	return changes_read(r, a, ret, ret_n, err);
}

int store_change_prune(struct store *s, int64_t up_to, struct err *err)
{
	int64_t last;

	if (store_change_last(s, &last, err) ||
		db_run(s->db,
			"INSERT INTO counter (author, name, n) VALUES (0, 'change.last', ?1)"
			" ON CONFLICT (author, name) DO UPDATE SET n = excluded.n",
			DB_ARGS(db_i(last)), err))
		return -1;
	/* What colleagues saw stays: one of them may be away for months, and must hear of it then. */
	return db_run(s->db,
		"DELETE FROM change WHERE is_gone = 1 AND is_team = 0 AND author = ?2 AND seq <= "
		"?1",
		DB_ARGS(db_i(up_to), db_i(s->me)), err);
}
