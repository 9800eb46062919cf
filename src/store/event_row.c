/* An event between memory and its row. Its four texts and its files are one pack. */
#include "store/room.h"

#include <string.h>

#include "base/mem.h"
#include "text/hash.h"

enum { FIELD_TEXT = 1, FIELD_INPUT, FIELD_OUTPUT, FIELD_DIFF, FIELD_FILE };

int64_t event_ident(enum agent_id agent, const char *key)
{
	AUTO(buf_done) struct buf b = { 0 };

	buf_char(&b, (char)agent);
	buf_str(&b, key);
	return (int64_t)hash64(b.data, b.len);
}

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

uint64_t text_likeness(struct str text)
{
	text = str_trim(text);
	AUTO(mem_free_ptr) char *words = mem_alloc(text.n + 1);
	size_t n = 0;

	for (size_t i = 0; i < text.n; i++) {
		if (!is_space(text.p[i]))
			words[n++] = text.p[i];
		else if (!is_space(text.p[i - 1]))
			words[n++] = ' ';
	}
	return hash64(words, n);
}

/* The transcript's compaction may hold another summary than the hook's, or the hook's none: it
 * is one anyway. */
int64_t event_likeness(const struct event_row *e)
{
	struct {
		int64_t session, kind;
		uint64_t subagent, text;
	} parts = { e->session, e->kind, 0, 0 };

	if (e->kind != EVENT_PROMPT && e->kind != EVENT_REPLY && e->kind != EVENT_COMPACTION)
		return 0;
	if (e->subagent)
		parts.subagent = hash64(e->subagent, strlen(e->subagent));
	if (e->kind != EVENT_COMPACTION)
		parts.text = text_likeness(e->text);
	int64_t h = (int64_t)hash64(&parts, sizeof(parts));
	return h ? h : 1;
}

static int read_pack(struct store *s, struct arena *a, const void *blob, size_t n,
	struct event_row *e, struct err *err)
{
	struct str *const texts[] = { [FIELD_TEXT] = &e->text,
		[FIELD_INPUT] = &e->input,
		[FIELD_OUTPUT] = &e->output,
		[FIELD_DIFF] = &e->diff };
	struct str rest, value;
	unsigned field;
	size_t cap = 0;

	if (packer_open(s->packer, a, blob, n, &rest, err))
		return -1;
	while (pack_next(&rest, &field, &value)) {
		if (field >= FIELD_TEXT && field <= FIELD_DIFF)
			*texts[field] = value;
		else if (field == FIELD_FILE)
			ARENA_PUSH(a, e->files, e->nfiles, cap, value.p);
	}
	return 0;
}

int event_row_read(
	struct store *s, struct arena *a, struct db_rows *r, struct event_row *ret, struct err *err)
{
	struct event_row e = { .id = db_int(r, 0),
		.session = db_int(r, 1),
		.ident = db_int(r, 2),
		.at = db_int(r, 3),
		.kind = (int)db_int(r, 4),
		.source = (int)db_int(r, 5),
		.status = (int)db_int(r, 6),
		.exit_code = db_is_null(r, 7) ? -1 : (int)db_int(r, 7),
		.flags = (int)db_int(r, 8),
		.said = (int)db_int(r, 9),
		.turn = db_int(r, 10),
		.likeness = db_int(r, 11),
		.true_size = (uint64_t)db_int(r, 12),
		.key = row_str(a, r, 13),
		.subagent = row_str(a, r, 14),
		.tool = row_str(a, r, 15),
		.cwd = row_str(a, r, 16),
		.branch = row_str(a, r, 17),
		.project = db_int(r, 18) };
	size_t n;
	const void *blob = db_blob(r, 19, &n);

	if (!(e.flags & FLAG_LOOSE))
		e.agent_turn = row_str(a, r, 20);
	if (read_pack(s, a, blob, n, &e, err))
		return err_prefix(err, "event e%lld: ", (long long)e.id);
	*ret = e;
	return 0;
}

int event_row_load(
	struct store *s, struct arena *a, int64_t id, struct event_row *ret, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	int rc = store_row(s, "SELECT " EVENT_COLUMNS EVENT_FROM "WHERE e.id = ?1",
		DB_ARGS(db_i(id)), &r, err);

	if (rc < 0)
		return -1;
	if (rc == 0)
		return err_set(err, ERR_NOT_FOUND, "there is no event e%lld", (long long)id);
	return event_row_read(s, a, r, ret, err);
}

static int write_pack(struct store *s, const struct event_row *e, struct err *err)
{
	const struct str texts[] = { e->text, e->input, e->output, e->diff };

	buf_cut(&s->raw, 0);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (texts[i].n)
			pack_add(&s->raw, FIELD_TEXT + (unsigned)i, texts[i]);
	for (size_t i = 0; i < e->nfiles; i++)
		pack_add_text(&s->raw, FIELD_FILE, e->files[i]);
	buf_cut(&s->blob, 0);
	return s->raw.len ? packer_close(s->packer, PACK_EVENT, &s->raw, &s->blob, err) : 0;
}

int event_row_write(struct store *s, struct event_row *e, struct err *err)
{
	static const char insert[] =
		"INSERT INTO event (session, ident, at, kind, source, status, exit_code, flags, "
		"said, anchor, turn, likeness,"
		" true_size, event_key, subagent, tool, cwd, branch, project, pack) VALUES"
		" (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, "
		"?18, ?19, ?20)";
	static const char update[] = "UPDATE event SET session = ?1, ident = ?2, at = ?3, kind = "
				     "?4, source = ?5, status = ?6, exit_code = ?7,"
				     " flags = ?8, said = ?9, anchor = ?10, turn = ?11, likeness = "
				     "?12, true_size = ?13, event_key = ?14,"
				     " subagent = ?15, tool = ?16, cwd = ?17, branch = ?18, "
				     "project = ?19, pack = ?20 WHERE id = ?21";

	if (write_pack(s, e, err))
		return -1;
	e->likeness = event_likeness(e);
	struct db_arg exit_code = e->exit_code < 0 ? db_id(0) : db_i(e->exit_code);
	struct db_arg pack = s->blob.len ? db_b(s->blob.data, s->blob.len) : db_id(0);
	const struct db_arg args[] = { db_i(e->session), db_i(e->ident), db_i(e->at), db_i(e->kind),
		db_i(e->source), db_i(e->status), exit_code, db_i(e->flags), db_i(e->said),
		db_id(event_is_anchor(e)), db_id(e->turn), db_id(e->likeness),
		db_id((int64_t)e->true_size), db_t(e->key), db_t(e->subagent), db_t(e->tool),
		db_t(e->cwd), db_t(e->branch), db_id(e->project), pack, db_i(e->id) };
	if (db_run(s->db, e->id ? update : insert, args, ARRAY_LEN(args) - !e->id, err))
		return -1;
	if (!e->id)
		e->id = db_last_id(s->db);
	return 0;
}

static const char *text_or_null(struct str s)
{
	return s.n ? s.p : NULL;
}

void event_row_show(const struct event_row *e, int64_t project, struct event *ret)
{
	*ret = (struct event){ .id = e->id,
		.session = e->session,
		.turn = e->turn,
		.project = e->project ? e->project : project,
		.key = e->key,
		.kind = (enum event_kind)e->kind,
		.source = (enum source)e->source,
		.at = e->at,
		.agent_turn = e->agent_turn,
		.subagent = e->subagent,
		.tool = e->tool,
		.tool_use_id = e->kind == EVENT_TOOL ? e->key : NULL,
		.cwd = e->cwd,
		.branch = e->branch,
		.status = (enum event_status)e->status,
		.exit_code = e->exit_code,
		.text = text_or_null(e->text),
		.input = text_or_null(e->input),
		.output = text_or_null(e->output),
		.diff = text_or_null(e->diff),
		.files = e->files,
		.nfiles = e->nfiles,
		.writes_files = e->flags & FLAG_WRITES,
		.is_meta = e->flags & FLAG_META,
		.true_size = e->true_size };
}
