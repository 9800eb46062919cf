/*
 * Hook copies and transcript copies of like messages: same session, sub-agent, kind and text. All
 * copies of such a group are paired anew whenever one is added, and rows are rewritten where that
 * changes who goes with whom. Thus any order of arrival leaves the same rows. The usual group has
 * one or two copies.
 */
#include "store/event_put.h"

#include <string.h>

#include "base/mem.h"

/* One row of the group as it will be: a transcript's copy, a hook's copy, or both. */
struct unit {
	const struct copy *script, *hook;
	int64_t row; /* 0: a new one */
};

struct group {
	struct event_row *rows;
	size_t nrows, cap;
	struct copy *scripts, *hooks;
	size_t nscripts, nhooks;
	struct unit *units;
	size_t nunits;
};

/* The copy that is being put has this row number. */
#define ROW_NEW 0

int event_pair_seen(struct event_putter *u, const struct event_row *e, bool *ret, struct err *err)
{
	if (db_one(u->store->db,
		    "SELECT event FROM hook_copy WHERE session = ?1 AND name = ?2 AND kind = ?3",
		    DB_ARGS(db_i(e->session), db_t(u->put->spool_name), db_i(e->kind)), 0, &u->id,
		    err))
		return -1;
	*ret = u->id != 0;
	u->result = PUT_SAME;
	return 0;
}

static int load_rows(
	struct event_putter *u, const struct event_row *e, struct group *g, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	int rc;

	if (db_query(u->store->db,
		    "SELECT " EVENT_COLUMNS EVENT_FROM
		    "WHERE e.likeness = ?1 AND e.session = ?2 AND e.kind = ?3",
		    DB_ARGS(db_i(e->likeness), db_i(e->session), db_i(e->kind)), &r, err))
		return -1;
	while ((rc = db_next(r, err)) > 0) {
		struct event_row row;
		if (event_row_read(u->store, u->arena, r, &row, err))
			return -1;
		ARENA_PUSH(u->arena, g->rows, g->nrows, g->cap, row);
	}
	return rc;
}

/* A sub-agent's turn is its parent's, which its hooks do not know: it decides nothing there. */
static const char *turn_of_copy(const struct event_row *e, const char *turn)
{
	return e->subagent || (turn && !*turn) ? NULL : turn;
}

static int add_hook_of(
	struct event_putter *u, struct group *g, const struct event_row *row, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	int rc = store_row(u->store, "SELECT at, agent_turn, name FROM hook_copy WHERE event = ?1",
		DB_ARGS(db_i(row->id)), &r, err);

	if (rc <= 0)
		return rc;
	const char *turn = row_str(u->arena, r, 1);
	g->hooks[g->nhooks++] = (struct copy){ row->id, db_int(r, 0), turn_of_copy(row, turn), turn,
		row_str(u->arena, r, 2) };
	return 0;
}

static int load_group(
	struct event_putter *u, const struct event_row *e, struct group *g, struct err *err)
{
	struct copy fresh = { ROW_NEW, e->at, turn_of_copy(e, e->agent_turn), e->agent_turn,
		e->key };

	if (load_rows(u, e, g, err))
		return -1;
	g->scripts = ARENA_ARRAY(u->arena, struct copy, g->nrows + 1);
	g->hooks = ARENA_ARRAY(u->arena, struct copy, g->nrows + 1);
	for (size_t i = 0; i < g->nrows; i++) {
		const struct event_row *row = &g->rows[i];
		const char *turn = row->said & SAID_TURN ? row->agent_turn : NULL;
		if (row->source == SOURCE_TRANSCRIPT)
			g->scripts[g->nscripts++] = (struct copy){ row->id, row->at,
				turn_of_copy(row, turn), turn, row->key };
		if (add_hook_of(u, g, row, err))
			return -1;
	}
	if (e->source == SOURCE_TRANSCRIPT) {
		g->scripts[g->nscripts++] = fresh;
	} else {
		fresh.key = u->put->spool_name ? u->put->spool_name : e->key;
		g->hooks[g->nhooks++] = fresh;
	}
	copies_sort(g->scripts, g->nscripts);
	copies_sort(g->hooks, g->nhooks);
	return 0;
}

static bool is_claimed(const struct group *g, int64_t row)
{
	for (size_t i = 0; i < g->nunits; i++)
		if (g->units[i].row == row)
			return true;
	return false;
}

/* A transcript's copy keeps its row, then a hook's copy its own, unless that one went to the
 * transcript's. */
static void claim_rows(struct group *g)
{
	for (size_t i = 0; i < g->nunits; i++)
		if (g->units[i].script)
			g->units[i].row = g->units[i].script->row;
	for (size_t i = 0; i < g->nunits; i++) {
		struct unit *n = &g->units[i];
		if (!n->row && n->hook && !is_claimed(g, n->hook->row))
			n->row = n->hook->row;
	}
	for (size_t i = 0; i < g->nunits; i++)
		for (size_t j = 0; j < g->nrows && !g->units[i].row; j++)
			if (!is_claimed(g, g->rows[j].id))
				g->units[i].row = g->rows[j].id;
}

static void make_units(struct arena *a, struct group *g)
{
	int *pair = ARENA_ARRAY(a, int, g->nhooks + 1);

	copies_match(g->hooks, g->nhooks, g->scripts, g->nscripts, pair);
	g->units = ARENA_ARRAY(a, struct unit, g->nhooks + g->nscripts);
	for (size_t i = 0; i < g->nscripts; i++)
		g->units[g->nunits++].script = &g->scripts[i];
	for (size_t i = 0; i < g->nhooks; i++) {
		if (pair[i] >= 0)
			g->units[pair[i]].hook = &g->hooks[i];
		else
			g->units[g->nunits++].hook = &g->hooks[i];
	}
	claim_rows(g);
}

static const struct event_row *row_of(const struct group *g, int64_t id)
{
	for (size_t i = 0; i < g->nrows; i++)
		if (g->rows[i].id == id)
			return &g->rows[i];
	return NULL;
}

/* The content of a unit's row, made from its copies. `e` is the copy that is being put. */
static void compose(struct event_putter *u, const struct group *g, const struct unit *n,
	const struct event_row *e, struct event_row *ret)
{
	const struct event_row *script =
		n->script ? (n->script->row ? row_of(g, n->script->row) : e) : NULL;
	const struct event_row *hook =
		n->hook ? (n->hook->row ? row_of(g, n->hook->row) : e) : NULL;

	*ret = script ? *script : *hook;
	if (script) {
		if (!(ret->said & SAID_TURN))
			ret->agent_turn = n->hook ? n->hook->label : NULL;
		if (hook && hook != script) {
			struct event_row from = *hook;
			from.said = 0;
			from.source = SOURCE_HOOK;
			from.agent_turn = NULL;
			event_merge(u->arena, ret, &from);
		}
		return;
	}
	if (ret->source == SOURCE_TRANSCRIPT) {
		ret->source = SOURCE_HOOK;
		ret->flags &= ~FLAG_META;
		ret->said = 0;
	}
	ret->at = n->hook->at;
	ret->agent_turn = n->hook->label;
	ret->key = n->hook->key;
}

static int keep_copy(struct event_putter *u, const struct unit *n, int64_t row,
	const struct event_row *e, struct err *err)
{
	if (!n->hook || (n->hook->row && n->hook->row == row))
		return 0;
	return db_run(u->store->db,
		"INSERT INTO hook_copy (session, name, kind, event, at, agent_turn) VALUES (?1, "
		"?2, ?3, ?4, ?5, ?6)"
		" ON CONFLICT (session, name, kind) DO UPDATE SET event = excluded.event",
		DB_ARGS(db_i(e->session), db_t(n->hook->key), db_i(e->kind), db_i(row),
			db_i(n->hook->at), db_t(n->hook->label)),
		err);
}

/* The name of a spool file that gave two events is taken already by the other kind. */
static int find_free_key(struct event_putter *u, struct event_row *e, int64_t row, struct err *err)
{
	struct event_row other;
	bool is_found;

	e->ident = event_ident(u->put->agent, e->key);
	if (event_find(u, e->ident, e->session, &other, &is_found, err))
		return -1;
	if (is_found && other.id != row && other.kind != e->kind) {
		e->key = arena_printf(u->arena, "%s#%s", e->key, event_kind_names[e->kind]);
		e->ident = event_ident(u->put->agent, e->key);
	}
	return 0;
}

static int write_unit(struct event_putter *u, struct group *g, const struct unit *n,
	struct event_row *e, struct err *err)
{
	const struct event_row *old = n->row ? row_of(g, n->row) : NULL;
	bool is_put = (n->script && !n->script->row) || (n->hook && !n->hook->row);
	struct event_row want;

	compose(u, g, n, e, &want);
	if (!n->script && find_free_key(u, &want, n->row, err))
		return -1;
	want.id = n->row;
	if (!old || !event_equal(old, &want)) {
		if (old)
			want.turn = old->turn;
		if (event_save(u, &want, old, err))
			return -1;
		if (is_put)
			u->result = old ? PUT_MERGED : PUT_NEW;
	} else if (is_put) {
		u->result = PUT_SAME;
	}
	if (is_put)
		u->id = want.id;
	return keep_copy(u, n, want.id, e, err);
}

static int drop_unclaimed(struct event_putter *u, struct group *g, struct err *err)
{
	for (size_t i = 0; i < g->nrows; i++) {
		int64_t id = g->rows[i].id;
		if (is_claimed(g, id))
			continue;
		if (db_run(u->store->db, "DELETE FROM event WHERE id = ?1", DB_ARGS(db_i(id)),
			    err) ||
			store_note(u->store, CHANGE_EVENT, id, true, err) ||
			turn_leave(u->store, &g->rows[i], err))
			return -1;
	}
	return 0;
}

static int pair_group(struct event_putter *u, struct group *g, struct event_row *e, struct err *err)
{
	make_units(u->arena, g);
	/* Rows without a transcript's copy come last: their keys may just have become free. */
	for (size_t i = 0; i < g->nunits; i++)
		if (write_unit(u, g, &g->units[i], e, err))
			return -1;
	return drop_unclaimed(u, g, err);
}

int event_pair(struct event_putter *u, struct event_row *e, struct err *err)
{
	struct group g = { 0 };

	e->likeness = event_likeness(e);
	if (load_group(u, e, &g, err))
		return -1;
	return pair_group(u, &g, e, err);
}
