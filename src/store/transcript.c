/* How far each transcript was read, written in the transaction that stores what was read. */
#include "store/room.h"

#include <string.h>

#include "base/mem.h"

int store_transcript_get(
	struct store *s, struct arena *a, const char *path, struct transcript *ret, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	int rc = store_row(s,
		"SELECT id, path, agent, at_offset, lines, size, mtime, inode, state, head_hash, "
		"bad_lines FROM transcript"
		" WHERE path = ?1 AND author = ?2",
		DB_ARGS(db_t(path), db_i(s->me)), &r, err);

	if (rc < 0)
		return -1;
	*ret = (struct transcript){ .path = arena_str(a, path) };
	if (rc == 0)
		return 0;
	*ret = (struct transcript){ .id = db_int(r, 0),
		.path = row_str(a, r, 1),
		.agent = (enum agent_id)db_int(r, 2),
		.offset = (uint64_t)db_int(r, 3),
		.lines = (uint64_t)db_int(r, 4),
		.size = db_int(r, 5),
		.mtime = db_int(r, 6),
		.inode = db_int(r, 7),
		.state = row_str(a, r, 8),
		.head_hash = row_str(a, r, 9),
		.bad_lines = db_int(r, 10) };
	return 0;
}

int store_transcript_put(struct store *s, const struct transcript *t, struct err *err)
{
	return db_run(s->db,
		"INSERT INTO transcript (author, path, agent, at_offset, lines, size, mtime, inode, state, "
		"head_hash, bad_lines)"
		" VALUES (?11, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT (author, path) DO UPDATE "
		"SET agent = excluded.agent,"
		" at_offset = excluded.at_offset, lines = excluded.lines, size = excluded.size, "
		"mtime = excluded.mtime,"
		" inode = excluded.inode, state = excluded.state, head_hash = excluded.head_hash, "
		"bad_lines = excluded.bad_lines",
		DB_ARGS(db_t(t->path), db_i(t->agent), db_i((int64_t)t->offset),
			db_i((int64_t)t->lines), db_i(t->size), db_i(t->mtime), db_i(t->inode),
			db_t(t->state), db_t(t->head_hash), db_i(t->bad_lines),
			db_i(s->me)),
		err);
}
