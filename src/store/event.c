/*
 * The last step of the one insert path. A tool call is known by its tool call id, everything else
 * by the transcript's own id; what a hook brings first stands under its spool file's name until
 * the transcript's copy takes its row over (event_pair.c). History that an agent copied into
 * another session's file is recognised by id and time.
 */
#include "store/room.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "store/event_put.h"
#include "text/hash.h"

static struct str fit(struct arena *a, struct str text, size_t max, uint64_t *cut_size)
{
	text = utf8_repair(a, text);
	if (text.n <= max)
		return text;
	*cut_size += text.n;
	return utf8_head_tail(a, text, max);
}

static const char *fit_name(struct arena *a, const char *name)
{
	if (!name || !*name)
		return NULL;
	struct str s = utf8_repair(a, str_of(name));
	if (s.n > EVENT_NAME_MAX)
		s.n = utf8_cut(s.p, s.n, EVENT_NAME_MAX);
	return s.p[s.n] ? arena_dup(a, s.p, s.n) : s.p;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void take_files(struct arena *a, const struct captured_event *c, struct event_row *e)
{
	size_t n = MIN(c->nfiles, EVENT_FILES_MAX), kept = 0;

	if (!n)
		return;
	e->files = ARENA_ARRAY(a, const char *, n);
	for (size_t i = 0; i < n; i++) {
		const char *path = fit_name(a, c->files[i]);
		if (path && (e->cwd || path[0] == '/'))
			path = path_clean(a, e->cwd, path);
		if (path)
			e->files[e->nfiles++] = path;
	}
	qsort(e->files, e->nfiles, sizeof(*e->files), by_name);
	for (size_t i = 0; i < e->nfiles; i++)
		if (!kept || strcmp(e->files[kept - 1], e->files[i]) != 0)
			e->files[kept++] = e->files[i];
	e->nfiles = kept;
}

/* An event without any id of its own gets one from what it is, so that it is the same when it
 * is read again. */
static const char *make_key(struct arena *a, const struct event_row *e)
{
	char hex[HASH_HEX];
	AUTO(buf_done) struct buf b = { 0 };

	buf_printf(&b, "%d %lld %s ", e->kind, (long long)e->at, e->subagent ? e->subagent : "");
	buf_add(&b, e->text.p, e->text.n);
	buf_add(&b, e->input.p, e->input.n);
	hash_hex(b.data, b.len, hex);
	return arena_printf(a, "x%.16s", hex);
}

static int said_by(const struct event_row *e)
{
	int said = 0;

	if (e->source != SOURCE_TRANSCRIPT)
		return 0;
	said |= e->text.n ? SAID_TEXT : 0;
	said |= e->input.n ? SAID_INPUT : 0;
	said |= e->output.n ? SAID_OUTPUT : 0;
	said |= e->diff.n ? SAID_DIFF : 0;
	said |= e->status ? SAID_STATUS : 0;
	said |= e->exit_code >= 0 ? SAID_EXIT : 0;
	said |= e->at ? SAID_AT : 0;
	said |= e->agent_turn ? SAID_TURN : 0;
	said |= e->tool ? SAID_TOOL : 0;
	said |= e->cwd ? SAID_CWD : 0;
	said |= e->branch ? SAID_BRANCH : 0;
	return said;
}

static void take_capture(struct arena *a, const struct event_put *p, const struct captured_event *c,
	int64_t session_project, struct event_row *e)
{
	uint64_t cut = 0;

	*e = (struct event_row){ .session = p->session,
		.at = c->at > 0 ? c->at : clock_now(),
		.kind = c->kind,
		.source = c->source,
		.status = c->status,
		.exit_code = c->exit_code,
		.subagent = fit_name(a, c->subagent),
		.tool = fit_name(a, c->tool),
		.cwd = fit_name(a, c->cwd),
		.branch = fit_name(a, c->branch),
		.agent_turn = fit_name(a, c->turn) };
	e->text = fit(a, c->text, EVENT_TEXT_MAX, &cut);
	e->input = fit(a, c->input, EVENT_INPUT_MAX, &cut);
	e->output = fit(a, c->output, EVENT_OUTPUT_MAX, &cut);
	e->diff = fit(a, c->diff, EVENT_DIFF_MAX, &cut);
	e->true_size = c->true_size ? c->true_size : cut;
	e->project = p->project == session_project ? 0 : p->project;
	e->flags = (c->writes_files ? FLAG_WRITES : 0) | (c->is_meta ? FLAG_META : 0);
	take_files(a, c, e);
	e->key = c->kind == EVENT_TOOL && c->tool_use_id ? c->tool_use_id
		 : c->id                                 ? c->id
							 : p->spool_name;
	e->key = fit_name(a, e->key);
	if (!e->key)
		e->key = make_key(a, e);
	e->ident = event_ident(p->agent, e->key);
	e->said = said_by(e);
}

/* The second telling of a call that was read together with it, as if it had come after it. */
static void take_later(struct event_putter *u, struct event_row *e)
{
	struct event_row later;

	if (!u->put->event->later)
		return;
	take_capture(u->arena, u->put, u->put->event->later, u->session_project, &later);
	event_merge(u->arena, e, &later);
}

int event_find(struct event_putter *u, int64_t ident, int64_t session, struct event_row *ret,
	bool *ret_found, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	int rc = store_row(u->store,
		"SELECT " EVENT_COLUMNS EVENT_FROM "WHERE e.ident = ?1 AND e.session = ?2",
		DB_ARGS(db_i(ident), db_i(session)), &r, err);

	*ret_found = rc > 0;
	return rc > 0 ? event_row_read(u->store, u->arena, r, ret, err) : rc;
}

int event_save(
	struct event_putter *u, struct event_row *e, const struct event_row *old, struct err *err)
{
	struct store *s = u->store;

	e->id = old ? old->id : 0;
	if (turn_place(s, e, old, err) || event_row_write(s, e, err) ||
		turn_settle(s, e, old, err) || session_touch(s, e->session, e->at, err))
		return -1;
	return store_note(s, CHANGE_EVENT, e->id, false, err);
}

static int merge_into(struct event_putter *u, const struct event_row *known,
	const struct event_row *from, struct err *err)
{
	struct event_row merged = *known;

	u->id = known->id;
	u->result = PUT_SAME;
	bool is_changed = event_merge(u->arena, &merged, from);
	if (is_changed)
		u->result = PUT_MERGED;
	if (is_changed)
		return event_save(u, &merged, known, err);
	if (merged.said != known->said)
		return db_run(u->store->db, "UPDATE event SET said = ?2 WHERE id = ?1",
			DB_ARGS(db_i(known->id), db_i(merged.said)), err);
	return 0;
}

/* A transcript's later line about a tool call may bring only the result: it tells no tool and
 * no input. */
static bool is_result_only(const struct event_row *e)
{
	return e->kind == EVENT_TOOL && !e->tool && !e->input.n;
}

struct known {
	struct event_row row; /* in this session */
	bool is_known;
	int64_t original; /* in another session of the agent */
	bool comes_home;
};

/*
 * Looks where the key is known: in this session, and in others, which means that an agent copied
 * history. A copy keeps id and time. Should the other session be the fork of this one, then it is
 * the other that holds the copy: the event comes home.
 */
static int look_up(
	struct event_putter *u, const struct event_row *e, struct known *ret, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	int rc;

	*ret = (struct known){ 0 };
	if (db_query(u->store->db,
		    "SELECT " EVENT_COLUMNS ", s.parent" EVENT_FROM
		    "WHERE e.ident = ?1 ORDER BY e.id",
		    DB_ARGS(db_i(e->ident)), &r, err))
		return -1;
	while ((rc = db_next(r, err)) > 0) {
		if (db_int(r, EVENT_COL_SESSION) == e->session) {
			ret->is_known = true;
			return event_row_read(u->store, u->arena, r, &ret->row, err);
		}
		bool is_copy = e->source == SOURCE_TRANSCRIPT &&
			       db_int(r, EVENT_COL_KIND) == e->kind &&
			       db_int(r, EVENT_COL_AGENT) == (int64_t)u->put->agent &&
			       (db_int(r, EVENT_COL_AT) == e->at || is_result_only(e));
		if (!is_copy || ret->original)
			continue;
		ret->original = db_int(r, EVENT_COL_ID);
		ret->comes_home = db_int(r, EVENT_COL_PARENT) == e->session;
	}
	return rc;
}

/* The copy in the fork goes; the event is then put here as a new one. */
static int come_home(struct event_putter *u, int64_t id, struct err *err)
{
	struct event_row old;

	if (event_row_load(u->store, u->arena, id, &old, err) ||
		db_run(u->store->db, "DELETE FROM hook_copy WHERE event = ?1", DB_ARGS(db_i(id)),
			err) ||
		db_run(u->store->db, "DELETE FROM event WHERE id = ?1", DB_ARGS(db_i(id)), err) ||
		store_note(u->store, CHANGE_EVENT, id, true, err))
		return -1;
	return turn_leave(u->store, &old, err);
}

static int put_new(struct event_putter *u, struct event_row *e, struct err *err)
{
	if (e->kind != EVENT_TOOL && e->kind != EVENT_START && e->kind != EVENT_END)
		return event_pair(u, e, err);
	u->result = PUT_NEW;
	if (event_save(u, e, NULL, err))
		return -1;
	u->id = e->id;
	return 0;
}

static int put_keyed(struct event_putter *u, struct event_row *e, struct err *err)
{
	struct known k;

	if (look_up(u, e, &k, err))
		return -1;
	if (k.is_known && k.row.kind != e->kind) {
		/* One spool file gave two events. */
		e->key = arena_printf(u->arena, "%s#%s", e->key, event_kind_names[e->kind]);
		e->ident = event_ident(u->put->agent, e->key);
		if (look_up(u, e, &k, err))
			return -1;
	}
	if (k.is_known)
		return merge_into(u, &k.row, e, err);
	if (k.original && k.comes_home && come_home(u, k.original, err))
		return -1;
	if (k.original && !k.comes_home) {
		u->id = k.original;
		u->result = PUT_SAME;
		return 0;
	}
	return put_new(u, e, err);
}

/* Token use of one message counts once, however many lines tell it; the largest that was told
 * holds. */
static int count_tokens(struct event_putter *u, const struct captured_event *c,
	const struct event_row *e, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	struct token_use t = c->tokens, k = { 0 };
	const char *id = c->usage_id ? c->usage_id : e->key;
	int64_t session = e->session;

	if (!t.input && !t.output && !t.cache_read && !t.cache_write)
		return 0;
	int64_t ident = event_ident(u->put->agent, id);
	int rc = store_row(u->store,
		"SELECT session, tokens_in, tokens_out, cache_read, cache_write FROM token_use "
		"WHERE ident = ?1 AND author = ?2",
		DB_ARGS(db_i(ident), db_i(u->store->me)), &r, err);
	if (rc < 0)
		return -1;
	if (rc) {
		session = db_int(r, 0);
		k = (struct token_use){ db_int(r, 1), db_int(r, 2), db_int(r, 3), db_int(r, 4) };
	}
	t = (struct token_use){ MAX(t.input, k.input), MAX(t.output, k.output),
		MAX(t.cache_read, k.cache_read), MAX(t.cache_write, k.cache_write) };
	if (memcmp(&t, &k, sizeof(t)) == 0)
		return 0;
	if (db_run(u->store->db,
		    "INSERT INTO token_use (author, ident, session, tokens_in, tokens_out, "
		    "cache_read, cache_write)"
		    " VALUES (?7, ?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (author, ident) DO UPDATE SET tokens_in "
		    "= excluded.tokens_in,"
		    " tokens_out = excluded.tokens_out, cache_read = excluded.cache_read, "
		    "cache_write = excluded.cache_write",
		    DB_ARGS(db_i(ident), db_i(session), db_i(t.input), db_i(t.output),
			    db_i(t.cache_read), db_i(t.cache_write), db_i(u->store->me)),
		    err))
		return -1;
	return db_run(u->store->db,
		"UPDATE session SET tokens_in = tokens_in + ?2, tokens_out = tokens_out + ?3, "
		"cache_read = cache_read + ?4,"
		" cache_write = cache_write + ?5 WHERE id = ?1",
		DB_ARGS(db_i(session), db_i(t.input - k.input), db_i(t.output - k.output),
			db_i(t.cache_read - k.cache_read), db_i(t.cache_write - k.cache_write)),
		err);
}

int store_event_put(struct store *s, const struct event_put *p, enum put_result *ret,
	int64_t *ret_id, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct event_putter u = { .store = s, .arena = &a, .put = p };
	struct event_row e;
	bool is_seen = false;

	if (p->event->kind <= EVENT_NONE || p->event->kind >= EVENT_KIND_COUNT)
		return err_set(err, ERR_INTERNAL, "an event of kind %d cannot be stored",
			(int)p->event->kind);
	if (db_one(s->db, "SELECT project FROM session WHERE id = ?1", DB_ARGS(db_i(p->session)), 0,
		    &u.session_project, err))
		return -1;
	take_capture(&a, p, p->event, u.session_project, &e);
	take_later(&u, &e);
	if (p->spool_name && event_pair_seen(&u, &e, &is_seen, err))
		return -1;
	if (!is_seen && put_keyed(&u, &e, err))
		return -1;
	if (count_tokens(&u, p->event, &e, err) ||
		(p->event->later && count_tokens(&u, p->event->later, &e, err)))
		return -1;
	if (!db_is_in_transaction(s->db) && session_flush(s, err))
		return -1;
	*ret = u.result;
	if (ret_id)
		*ret_id = u.id;
	return 0;
}
