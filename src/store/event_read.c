/* Events as others read them. */
#include "store/room.h"

#include "base/mem.h"

int store_event_get(
	struct store *s, struct arena *a, int64_t id, struct event *ret, struct err *err)
{
	struct event_row e;
	struct db_rows *r;
	int rc = store_row(s, "SELECT " EVENT_COLUMNS EVENT_FROM "WHERE e.id = ?1",
		DB_ARGS(db_i(id)), &r, err);

	if (rc < 0)
		return -1;
	if (rc == 0)
		return err_set(err, ERR_NOT_FOUND, "there is no event e%lld", (long long)id);
	int64_t project = db_int(r, EVENT_COL_PROJECT);
	rc = event_row_read(s, a, r, &e, err);
	db_end(r);
	if (rc)
		return -1;
	event_row_show(&e, project, ret);
	return 0;
}

/*
 * What is kept of an event's texts, when those before it came to so many times the bytes that are
 * given whole. Messages say most, outputs least; an input is JSON, of which a part says little.
 */
static const struct gist {
	size_t times, text, input, output;
} gists[] = {
	{ 0, SIZE_MAX, SIZE_MAX, SIZE_MAX },
	{ 1, 16u << 10, 8u << 10, 1u << 10 },
	{ 2, 512, 512, 512 },
};

static const struct gist *gist_after(size_t read, size_t whole)
{
	size_t i = ARRAY_LEN(gists) - 1;

	while (read < gists[i].times * whole)
		i--;
	return &gists[i];
}

static struct str cut_copy(struct arena *a, struct str text, size_t max)
{
	struct str kept = text.n > max ? utf8_head_tail(a, text, max) : text;

	return kept.n ? (struct str){ arena_dup(a, kept.p, kept.n), kept.n } : kept;
}

/* A row that was read into another arena: all that it points to moves, its texts cut. */
static void row_move(struct arena *a, const struct gist *g, struct event_row *e)
{
	const char **const names[] = { &e->key, &e->subagent, &e->tool, &e->cwd, &e->branch,
		&e->agent_turn };
	const char **files = e->nfiles ? ARENA_ARRAY(a, const char *, e->nfiles) : NULL;

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		*names[i] = arena_str(a, *names[i]);
	for (size_t i = 0; i < e->nfiles; i++)
		files[i] = arena_str(a, e->files[i]);
	e->files = files;
	e->text = cut_copy(a, e->text, g->text);
	e->input = cut_copy(a, e->input, g->input);
	e->output = cut_copy(a, e->output, g->output);
	e->diff = cut_copy(a, e->diff, g->output);
}

static int read_row(struct store *s, struct arena *a, struct db_rows *r, const struct gist *g,
	struct event_row *ret, struct err *err)
{
	AUTO(arena_done) struct arena whole = { 0 };

	if (g == gists)
		return event_row_read(s, a, r, ret, err);
	if (event_row_read(s, &whole, r, ret, err))
		return -1;
	row_move(a, g, ret);
	return 0;
}

/* whole: bytes of events that are not cut. */
static int read_list(struct store *s, struct arena *a, struct db_rows *r, size_t whole,
	struct event **ret, size_t *ret_n, struct err *err)
{
	struct event *list = NULL;
	size_t n = 0, cap = 0, before = a->used;
	int rc;

	while ((rc = db_next(r, err)) > 0) {
		struct event_row row;
		struct event e;
		int64_t project = db_int(r, EVENT_COL_PROJECT);
		if (read_row(s, a, r, gist_after(a->used - before, whole), &row, err))
			return -1;
		event_row_show(&row, project, &e);
		ARENA_PUSH(a, list, n, cap, e);
	}
	*ret = list;
	*ret_n = n;
	return rc;
}

/* A turn's events lie between its times: the index by session and time serves both. */
static const char of_turn[] =
	"SELECT " EVENT_COLUMNS " FROM turn t JOIN event e ON e.session = t.session AND e.at "
	"BETWEEN t.started_at AND t.last_event_at AND e.turn = t.id JOIN session s ON s.id = "
	"e.session WHERE t.id = ?1 AND (?2 = 0 OR t.session = ?2)"
	" ORDER BY e.at, e.event_key LIMIT ?3 OFFSET ?4";

int store_events(struct store *s, struct arena *a, int64_t session, int64_t turn, size_t skip,
	size_t max, struct event **ret, size_t *ret_n, struct err *err)
{
	static const char of_session[] =
		"SELECT " EVENT_COLUMNS EVENT_FROM
		"WHERE e.session = ?2 AND ?1 = 0 ORDER BY e.at, e.event_key LIMIT ?3 OFFSET ?4";
	AUTO(db_end_ptr) struct db_rows *r = NULL;

	if (db_query(s->db, turn ? of_turn : of_session,
		    DB_ARGS(db_i(turn), db_i(session), db_i((int64_t)MIN(max, INT64_MAX)),
			    db_i((int64_t)skip)),
		    &r, err))
		return -1;
	return read_list(s, a, r, SIZE_MAX, ret, ret_n, err);
}

int store_turn_events(struct store *s, struct arena *a, const struct turn_events *q,
	struct event **ret, size_t *ret_n, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;

	if (db_query(s->db, of_turn,
		    DB_ARGS(db_i(q->turn), db_i(q->session), db_i((int64_t)q->max), db_i(0)), &r,
		    err))
		return -1;
	return read_list(s, a, r, q->whole, ret, ret_n, err);
}
