/* Housekeeping: checks, backups, retention. */
#include "store/room.h"

#include <string.h>

#include "base/mem.h"

#define RETENTION_BATCH 500

static int check_references(struct store *s, struct buf *report, struct err *err)
{
	static const struct {
		const char *what, *sql;
	} checks[] = {
		{ "events without their session", "SELECT count(*) FROM event WHERE session NOT IN "
						  "(SELECT id FROM session)" },
		{ "events in a turn of another session",
			"SELECT count(*) FROM event e JOIN turn t ON t.id = e.turn WHERE t.session "
			"<> e.session" },
		{ "sessions without their project",
			"SELECT count(*) FROM session WHERE project NOT IN (SELECT id FROM project)"
			" AND project <> 0" },
		{ "files of memories that are gone", "SELECT count(*) FROM memory_file WHERE "
						     "memory NOT IN (SELECT id FROM memory)" },
		{ "events that the index is not told of",
			"SELECT count(*) FROM event WHERE id NOT IN (SELECT ref / 4 FROM change "
			"WHERE ref % 4 = 0)" },
		{ "memories that the index is not told of",
			"SELECT count(*) FROM memory WHERE id NOT IN (SELECT ref / 4 FROM change "
			"WHERE ref % 4 = 1)" },
	};

	for (size_t i = 0; i < ARRAY_LEN(checks); i++) {
		int64_t n;
		if (db_one(s->db, checks[i].sql, NULL, 0, 0, &n, err))
			return -1;
		if (n)
			buf_printf(report, "%lld %s\n", (long long)n, checks[i].what);
	}
	return 0;
}

struct pack_check {
	struct buf *report;
	const char *sign; /* before the number of a row */
	struct arena arena;
};

static int check_pack(struct store *s, struct db_rows *r, void *ctx, struct err *err)
{
	struct pack_check *c = ctx;
	struct str text;
	struct err why;
	size_t n;
	const void *blob = db_blob(r, 1, &n);

	arena_reset(&c->arena);
	if (packer_open(s->packer, &c->arena, blob, n, &text, &why))
		buf_printf(c->report, "%s%lld: %s\n", c->sign, (long long)db_int(r, 0), why.text);
	return 0;
}

/* Every text can be read. */
static int check_packs(struct store *s, struct buf *report, struct err *err)
{
	static const struct {
		const char *sql, *sign;
	} tables[] = {
		{ "SELECT id, pack FROM event WHERE id > ?1 AND pack IS NOT NULL ORDER BY id LIMIT "
		  "?2",
			"e" },
		{ "SELECT id, pack FROM memory WHERE id > ?1 ORDER BY id LIMIT ?2", "" },
		{ "SELECT id, pack FROM candidate WHERE id > ?1 ORDER BY id LIMIT ?2",
			"candidate " },
	};
	struct pack_check c = { .report = report };
	int failed = 0;

	for (size_t i = 0; i < ARRAY_LEN(tables) && !failed; i++) {
		c.sign = tables[i].sign;
		failed = store_scan(s, tables[i].sql, check_pack, &c, err);
	}
	arena_done(&c.arena);
	return failed;
}

int store_check(struct store *s, bool is_deep, struct buf *report, struct err *err)
{
	if (db_check(s->db, is_deep, report, err))
		return -1;
	if (!is_deep)
		return 0;
	return check_references(s, report, err) || check_packs(s, report, err) ? -1 : 0;
}

int store_backup(struct store *s, const char *path, struct err *err)
{
	return db_is_shared(s->db) ? copy_to_file(s, path, err) : db_backup(s->db, path, err);
}

int store_compact(struct store *s, struct err *err)
{
	return db_compact(s->db, err);
}

int store_checkpoint(struct store *s, bool truncate, struct err *err)
{
	return db_checkpoint(s->db, truncate, err);
}

/* Events go, memories stay with the excerpts in their packs; a turn without events is not run
 * again, so it keeps what it has. */
static int prune(struct store *s, const struct ids *events, struct err *err)
{
	static const char *const tables[] = {
		"DELETE FROM hook_copy WHERE event = ?1",
		"DELETE FROM evidence WHERE event = ?1",
		"DELETE FROM event WHERE id = ?1",
	};

	for (size_t i = 0; i < ARRAY_LEN(tables); i++)
		if (store_each(s, tables[i], events, err))
			return -1;
	for (size_t i = 0; i < events->n; i++)
		if (store_note(s, CHANGE_EVENT, events->p[i], true, err))
			return -1;
	return 0;
}

int store_retention(struct store *s, int64_t events_before, int64_t max_bytes, int64_t *ret_removed,
	struct err *err)
{
	*ret_removed = 0;
	for (;;) {
		AUTO(ids_done) struct ids old = { 0 };
		bool is_large = max_bytes > 0 && db_bytes_used(s->db) > max_bytes;
		/* Whole turns only, whose rules have run: half a turn would be remembered
		 * wrongly when it is run again. */
		if (!is_large && events_before <= 0)
			return 0;
		if (store_ids(s,
			    "SELECT e.id FROM event e LEFT JOIN turn t ON t.id = e.turn WHERE e.at "
			    "< ?1"
			    " AND (t.id IS NULL OR (t.is_dirty = 0 AND t.last_event_at < ?1)) "
			    "ORDER BY e.at, e.id LIMIT ?2",
			    DB_ARGS(db_i(is_large ? INT64_MAX : events_before),
				    db_i(RETENTION_BATCH)),
			    &old, err))
			return -1;
		if (!old.n)
			return 0;
		if (prune(s, &old, err))
			return -1;
		*ret_removed += (int64_t)old.n;
	}
}
