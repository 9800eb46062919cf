/*
 * What the index is told of a row. A tool call is told by its tool, what it was for, its command
 * or file, the head of its output and the lines that look like errors: the whole output would
 * drown everything else.
 */
#include "store/room.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "store/query_chunk.h"

#define EVENT_BODY_MAX (8u << 10)
#define OUTPUT_HEAD_MAX 1500
#define INPUT_MAX 2000
#define ERROR_LINES_MAX 12
#define ERROR_LINE_MAX 240
#define SCANNED_MAX (64u << 10) /* of the output, for lines that look like errors */
#define MESSAGE_MAX (64u << 10) /* a prompt or reply; beyond, its head and tail */

static void add_line(struct buf *b, struct str text, size_t max)
{
	if (!text.n)
		return;
	if (b->len)
		buf_char(b, '\n');
	buf_add(b, text.p, utf8_cut(text.p, text.n, max));
}

/* The members of a tool's input that say what was done, as text; the rest is of no use in a
 * search. */
static void add_input(struct buf *b, struct str input)
{
	static const char *const members[] = { "description", "command", "cmd", "file_path", "path",
		"pattern", "query", "url", "prompt", "text", "question" };
	json *j = NULL;

	if (!input.n)
		return;
	if (json_parse(input.p, input.n, &j, NULL) || json_type(j) != JSON_OBJECT) {
		json_free(j);
		add_line(b, input, INPUT_MAX);
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		json *value = json_get(j, members[i]);
		if (json_type(value) == JSON_STRING) {
			add_line(b, json_slice(value), INPUT_MAX);
		} else if (json_type(value) == JSON_ARRAY) {
			for (size_t k = 0; k < json_len(value) && k < ERROR_LINES_MAX; k++)
				add_line(b, json_slice(json_at(value, k)), INPUT_MAX);
		}
	}
	json_free(j);
}

/*
 * What tells of an error. Whole outputs are looked through, so that each byte is looked at once:
 * `pair` are two letters of a sign that stand together in few other words, `at` is where.
 */
static const struct {
	char pair[3];
	unsigned at;
	const char *sign;
} error_signs[] = {
	{ "rr", 1, "error" },
	{ "il", 2, "fail" },
	{ "xc", 1, "exception" },
	{ "ni", 2, "panic" },
	{ "ni", 2, "denied" },
	{ "eb", 4, "traceback" },
	{ "ss", 1, "assert" },
	{ "ef", 3, "undefined" },
	{ "nn", 2, "cannot" },
	{ "fo", 4, "not found" },
};

static unsigned char small(char c)
{
	return (unsigned char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

static bool sign_at(struct str text, size_t at)
{
	for (size_t i = 0; i < ARRAY_LEN(error_signs); i++) {
		const char *pair = error_signs[i].pair, *sign = error_signs[i].sign;
		size_t n = strlen(sign), k = 0;

		if (small(text.p[at]) != (unsigned char)pair[0] ||
			small(text.p[at + 1]) != (unsigned char)pair[1] || at < error_signs[i].at ||
			text.n - (at - error_signs[i].at) < n)
			continue;
		while (k < n && small(text.p[at - error_signs[i].at + k]) == (unsigned char)sign[k])
			k++;
		if (k == n)
			return true;
	}
	return false;
}

/* Where the next sign of an error stands, or the text's end. */
static size_t find_sign(struct str text, size_t from)
{
	/* Second letters of the pairs. */
	static const bool second[256] = { ['r'] = true,
		['l'] = true,
		['c'] = true,
		['i'] = true,
		['b'] = true,
		['s'] = true,
		['f'] = true,
		['n'] = true,
		['o'] = true };
	/* Their first letters, by second letter; small letters only, by five bits. */
	static const uint32_t first[256] = { ['r'] = 1u << ('r' & 31),
		['l'] = 1u << ('i' & 31),
		['c'] = 1u << ('x' & 31),
		['i'] = 1u << ('n' & 31),
		['b'] = 1u << ('e' & 31),
		['s'] = 1u << ('s' & 31),
		['f'] = 1u << ('e' & 31),
		['n'] = 1u << ('n' & 31),
		['o'] = 1u << ('f' & 31) };

	for (size_t i = from; i + 1 < text.n; i++) {
		unsigned char c = small(text.p[i + 1]);

		if (second[c] && (first[c] >> ((unsigned char)text.p[i] & 31) & 1) &&
			sign_at(text, i))
			return i;
	}
	return text.n;
}

static void add_errors(struct buf *b, struct str rest)
{
	struct str line;
	int n = 0;

	if (rest.n > SCANNED_MAX) {
		rest.p += rest.n - SCANNED_MAX; /* what went wrong is told at the end */
		rest.n = SCANNED_MAX;
		str_line(&rest, &line);
	}
	size_t at = find_sign(rest, 0), next = 0;
	const struct str all = rest;

	while (n < ERROR_LINES_MAX && at < all.n && str_line(&rest, &line)) {
		next = (size_t)(line.p + line.n - all.p);
		if (at >= next)
			continue;
		add_line(b, str_trim(line), ERROR_LINE_MAX);
		at = find_sign(all, next);
		n++;
	}
}

static const char *tool_body(struct arena *a, const struct event_row *e)
{
	AUTO(buf_done) struct buf b = { .max = 4 * EVENT_BODY_MAX };
	size_t head = utf8_cut(e->output.p, e->output.n, OUTPUT_HEAD_MAX);

	add_line(&b, str_of(e->tool), EVENT_NAME_MAX);
	add_line(&b, e->text, INPUT_MAX);
	add_input(&b, e->input);
	add_line(&b, e->output, head);
	add_errors(&b, (struct str){ e->output.p + head, e->output.n - head });
	return arena_dup(a, buf_cstr(&b), utf8_cut(buf_cstr(&b), b.len, EVENT_BODY_MAX));
}

static const char *join_files(struct arena *a, const char *const *files, size_t n)
{
	AUTO(buf_done) struct buf b = { .max = EVENT_BODY_MAX };

	for (size_t i = 0; i < n; i++)
		add_line(&b, str_of(files[i]), EVENT_NAME_MAX);
	return b.len ? arena_str(a, buf_cstr(&b)) : NULL;
}

static int event_doc(struct store *s, struct arena *a, const struct change *c,
	struct index_row *ret, struct err *err)
{
	struct event_row e;
	struct db_rows *r;
	int rc = store_row(s, "SELECT " EVENT_COLUMNS ", s.branch" EVENT_FROM "WHERE e.id = ?1",
		DB_ARGS(db_i(c->id)), &r, err);

	if (rc <= 0)
		return rc;
	int64_t project = db_int(r, EVENT_COL_PROJECT);
	enum agent_id agent = (enum agent_id)db_int(r, EVENT_COL_AGENT);
	const char *branch = row_str(a, r, EVENT_COL_AGENT + 1);
	rc = event_row_read(s, a, r, &e, err);
	db_end(r);
	if (rc)
		return -1;
	*ret = (struct index_row){ .kind = CHANGE_EVENT,
		.id = e.id,
		.project = e.project ? e.project : project,
		.session = e.session,
		.at = e.at,
		.agent = agent,
		.doc_kind = e.kind,
		.confidence = 1,
		.is_meta = e.flags & FLAG_META,
		.branch = e.branch ? e.branch : branch,
		.rest = join_files(a, e.files, e.nfiles) };
	if (e.kind == EVENT_TOOL)
		ret->body = tool_body(a, &e);
	else
		ret->body = e.text.n ? utf8_head_tail(a, e.text, MESSAGE_MAX).p : NULL;
	return 0;
}

/* The texts of a JSON array of strings, or of one member of its objects. */
static void add_array(struct buf *b, const char *array, const char *member)
{
	json *j = NULL;

	if (!array || json_parse(array, strlen(array), &j, NULL))
		return;
	for (size_t i = 0; i < json_len(j); i++) {
		json *item = json_at(j, i);
		add_line(b, json_slice(member ? json_get(item, member) : item), INPUT_MAX);
	}
	json_free(j);
}

static const char *memory_body(struct arena *a, const struct memory *m)
{
	const char *const parts[] = { m->subtitle, m->body, m->request, m->investigated, m->learned,
		m->completed, m->next_steps, m->notes };
	AUTO(buf_done) struct buf b = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		add_line(&b, str_of(parts[i]), MEMORY_TEXT_MAX);
	add_array(&b, m->facts, NULL);
	return arena_str(a, buf_cstr(&b));
}

/* file: that it is a chunk of, or NULL. */
static const char *memory_rest(struct arena *a, const struct memory *m, const char *file)
{
	AUTO(buf_done) struct buf b = { 0 };

	add_line(&b, str_of(file), EVENT_NAME_MAX);
	for (size_t i = 0; i < m->nfiles; i++)
		add_line(&b, str_of(m->files[i].path), EVENT_NAME_MAX);
	add_array(&b, m->concepts, NULL);
	add_array(&b, m->commands, "command");
	return arena_str(a, buf_cstr(&b));
}

static int memory_doc(struct store *s, struct arena *a, const struct change *c,
	struct index_row *ret, struct err *err)
{
	struct memory m;
	struct db_rows *r;
	int rc = store_row(s,
		"SELECT " MEMORY_COLUMNS
		", s.agent, EXISTS (SELECT 1 FROM suspect su WHERE su.memory = m.id)"
		" FROM memory m LEFT JOIN session s ON s.id = m.session WHERE m.id = ?1",
		DB_ARGS(db_i(c->id)), &r, err);

	if (rc <= 0)
		return rc;
	enum agent_id agent = (enum agent_id)db_int(r, MEMORY_COLUMNS_N);
	bool is_suspect = db_int(r, MEMORY_COLUMNS_N + 1);
	rc = memory_row_read(s, a, r, &m, err);
	db_end(r);
	if (rc || memory_files_read(s, a, &m, err))
		return -1;
	struct chunk_place place = { 0 };
	bool is_placed = false;
	if (m.kind == KIND_CHUNK && query_chunk(s, a, m.id, &place, &is_placed, err))
		return -1;
	*ret = (struct index_row){ .kind = CHANGE_MEMORY,
		.id = m.id,
		.project = m.project,
		.session = m.session,
		.at = m.at,
		.agent = agent,
		.doc_kind = m.kind,
		.type = m.type,
		.status = m.status,
		.origin = m.origin,
		.confidence = m.confidence,
		.is_pinned = m.is_pinned,
		.is_suspect = is_suspect,
		.branch = m.branch,
		.namespace = place.namespace,
		.title = m.title,
		.body = memory_body(a, &m),
		.rest = memory_rest(a, &m, place.path) };
	return 0;
}

static int session_doc(struct store *s, struct arena *a, const struct change *c,
	struct index_row *ret, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	int rc = store_row(s,
		"SELECT id, project, agent, last_event_at, branch, coalesce(title, made_title) "
		"FROM session WHERE id = "
		"?1",
		DB_ARGS(db_i(c->id)), &r, err);

	if (rc <= 0)
		return rc;
	*ret = (struct index_row){ .kind = CHANGE_SESSION,
		.id = db_int(r, 0),
		.session = db_int(r, 0),
		.project = db_int(r, 1),
		.agent = (enum agent_id)db_int(r, 2),
		.at = db_int(r, 3),
		.branch = row_str(a, r, 4),
		.title = row_str(a, r, 5),
		.confidence = 1 };
	return 0;
}

int store_index_rows(struct store *s, struct arena *a, const struct change *changes, size_t n,
	struct index_row *ret, struct err *err)
{
	static int (*const readers[CHANGE_KIND_COUNT])(struct store *, struct arena *,
		const struct change *, struct index_row *,
		struct err *) = { [CHANGE_EVENT] = event_doc,
		[CHANGE_MEMORY] = memory_doc,
		[CHANGE_SESSION] = session_doc };

	for (size_t i = 0; i < n; i++) {
		ret[i] = (struct index_row){ 0 };
		if (changes[i].kind < CHANGE_KIND_COUNT &&
			readers[changes[i].kind](s, a, &changes[i], &ret[i], err))
			return -1;
	}
	return 0;
}
