#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "conf/git.h"
#include "ops/all.h"
#include "ops/find.h"
#include "ops/param.h"
#include "store/query.h"
#include "store/stale.h"

/*
 * blame: the sessions, prompts and messages behind a line, a file or a commit. What a session
 * wrote is known from its recorded edits; git says in which commit a line came and when. Edits
 * that hold the line's own text come first; without one, the sessions that worked on the file
 * while or shortly before the commit was made; a commit is also known by the output that told its
 * hash.
 */

#define BLAME_SOURCES 5
#define BLAME_MEMORIES 200
#define BLAME_TURNS 60
#define TURN_EVENTS 1000
#define LINE_FILE_MAX (4u << 20)
#define LINE_TEXT_MIN 3 /* a bracket alone says nothing */
#define EXCERPT 400
#define BEFORE_COMMIT_MS 86400000ll /* edited at most so long before it was committed */
#define AFTER_COMMIT_MS 60000ll
#define HASH_SHOWN 7
#define HASH_HITS 20

struct origin {
	int64_t session, turn, event, at;
	const char *
		how; /* "edit": holds the line; "output": tells the commit; "work": touched the file then */
};

struct blame {
	struct op_call *call;
	struct lookup l;
	int64_t project;
	const char *root;         /* NULL: gone or unknown */
	const char *path;         /* as memories name it; NULL: a commit was asked for */
	int64_t line;             /* 0: the whole file */
	struct str text;          /* of the line */
	struct git_commit commit; /* hash NULL: none */
	const char *const *paths; /* of the commit */
	size_t npaths;
	struct origin sources[BLAME_SOURCES];
	size_t n;
};

/* --- What is asked for. --- */

static bool is_hash(const char *s)
{
	size_t n = strlen(s);
	return n >= HASH_SHOWN && n <= 40 && strspn(s, "0123456789abcdef") == n;
}

/* "src/a.c:214" and "src/a.c:214:9" */
static const char *line_split(struct arena *a, const char *what, int64_t *ret_line)
{
	char *path = arena_str(a, what), *colon = strrchr(path, ':');

	while (colon && colon[1] && strspn(colon + 1, "0123456789") == strlen(colon + 1)) {
		str_to_i64(colon + 1, ret_line);
		*colon = '\0';
		colon = strrchr(path, ':');
	}
	return path;
}

static int line_read(struct blame *b, struct err *err)
{
	AUTO(buf_done) struct buf text = { 0 };
	const char *place = path_join(b->call->arena, b->root ? b->root : "/", b->path);
	struct str rest, line;
	int64_t n = 0;

	if (!b->line)
		return 0;
	if (file_read(place, LINE_FILE_MAX, &text, err))
		return -1;
	rest = (struct str){ arena_dup(b->call->arena, buf_cstr(&text), text.len), text.len };
	while (str_line(&rest, &line))
		if (++n == b->line) {
			b->text = str_trim(line);
			return 0;
		}
	return err_set(err, ERR_NOT_FOUND, "'%s' has %lld lines, not %lld", b->path, (long long)n,
		(long long)b->line);
}

/* --- Git. --- */

static int commit_read(struct blame *b, const char *rev, struct err *err)
{
	struct git_log_query q = { .root = b->root, .rev = rev, .max = 1 };
	struct git_log log;
	const char **paths;

	if (git_log(b->call->arena, &q, &log, err))
		return -1;
	if (!log.n)
		return err_set(err, ERR_NOT_FOUND, "there is no commit '%s' in '%s'", rev, b->root);
	b->commit = log.commits[0];
	paths = ARENA_ARRAY(b->call->arena, const char *, log.nchanges + 1);
	for (size_t i = 0; i < log.nchanges; i++)
		paths[b->npaths++] = log.changes[i].path;
	b->paths = paths;
	return 0;
}

/*
 * A file is read, and git asked, in the work tree that it lies in, also when no session was ever
 * there: of that tree's folder, or of a clone beside the one that was captured.
 */
static void root_of(struct blame *b, const char *folder, const char *path)
{
	struct project_identity p;

	project_identify(b->call->arena, folder, &p);
	const char *roots[] = { p.worktree, p.root };
	for (size_t i = 0; i < ARRAY_LEN(roots); i++)
		if (roots[i] && (!path || path_below(roots[i], path))) {
			b->root = roots[i];
			return;
		}
}

/* In which commit the line came; nothing when git cannot say. */
static void line_blame(struct blame *b)
{
	struct arena *a = b->call->arena;
	const char *range = arena_printf(a, "%lld,%lld", (long long)b->line, (long long)b->line);
	const char *args[] = { "blame", "--porcelain", "--no-textconv", "-L", range, "--", b->path,
		NULL };
	AUTO(buf_done) struct buf out = { .max = GIT_OUTPUT_MAX };
	struct err ignored;

	if (!b->root || !b->line || b->path[0] == '/' ||
		git_run(b->root, args, GIT_TIMEOUT_MS, &out, &ignored))
		return;
	char *hash = arena_dup(a, buf_cstr(&out), strcspn(buf_cstr(&out), " "));
	if (is_hash(hash) && strspn(hash, "0") != strlen(hash))
		commit_read(b, hash, &ignored);
}

/* --- Sessions. --- */

static bool is_known(const struct blame *b, int64_t turn, int64_t event)
{
	for (size_t i = 0; i < b->n; i++)
		if (b->sources[i].turn == turn || (event && b->sources[i].event == event))
			return true;
	return false;
}

static void source_add(struct blame *b, struct origin s)
{
	if (b->n < BLAME_SOURCES && !is_known(b, s.turn, s.event))
		b->sources[b->n++] = s;
}

static bool edits(const struct event *e, const char *path)
{
	for (size_t i = 0; e->writes_files && e->status != STATUS_FAILED && i < e->nfiles; i++)
		if (!strcmp(e->files[i], path) ||
			(str_ends(e->files[i], path) &&
				e->files[i][strlen(e->files[i]) - strlen(path) - 1] == '/'))
			return true;
	return false;
}

/* The text that an edit brought: of its diff the added lines, else of its input. */
static bool brings(struct blame *b, const struct event *e)
{
	struct str rest = str_of(e->diff), line;
	bool has_diff = rest.n > 0;

	while (str_line(&rest, &line))
		if (line.n && line.p[0] == '+' && str_find(line, b->text))
			return true;
	if (has_diff || !e->input)
		return false;
	AUTO(json_free_ptr) json *input = NULL;
	if (json_parse(e->input, strlen(e->input), &input, NULL))
		return str_find(str_of(e->input), b->text) != NULL;
	static const char *const members[] = { "new_string", "content", "new_source", "command" };
	for (size_t i = 0; i < ARRAY_LEN(members); i++)
		if (str_find(json_slice(json_get(input, members[i])), b->text))
			return true;
	for (size_t i = 0; i < json_len(json_get(input, "edits")); i++)
		if (str_find(json_slice(
				     json_get(json_at(json_get(input, "edits"), i), "new_string")),
			    b->text))
			return true;
	return false;
}

/* Was this work what the commit holds, by its time? */
static bool fits_commit(const struct blame *b, int64_t at)
{
	return !b->commit.hash ||
	       (at <= b->commit.at + AFTER_COMMIT_MS && at >= b->commit.at - BEFORE_COMMIT_MS);
}

static int turn_search(
	struct blame *b, const struct memory *m, const char *path, bool wants_line, struct err *err)
{
	struct event *events;
	size_t n;

	if (store_events(b->call->store, b->call->arena, m->session, m->turn, 0, TURN_EVENTS,
		    &events, &n, err))
		return -1;
	for (size_t i = n; i-- > 0;) {
		if (!edits(&events[i], path))
			continue;
		if (wants_line ? !brings(b, &events[i]) ||
					 (b->commit.hash &&
						 events[i].at > b->commit.at + AFTER_COMMIT_MS)
			       : !fits_commit(b, events[i].at))
			continue;
		source_add(b, (struct origin){ m->session, m->turn, events[i].id, events[i].at,
				      wants_line ? "edit" : "work" });
		return 0;
	}
	return 0;
}

/* The turns that changed this file, latest first. */
static int file_search(struct blame *b, const char *path, bool wants_line, struct err *err)
{
	int64_t *ids, seen[BLAME_TURNS];
	size_t n, nseen = 0;

	if (query_memories_of_file(b->call->store, b->call->arena, b->project, path, BLAME_MEMORIES,
		    &ids, &n, err))
		return -1;
	struct memory *list = ARENA_ARRAY(b->call->arena, struct memory, n + 1);
	if (n && store_memories(b->call->store, b->call->arena, ids, n, list, err))
		return -1;
	for (size_t i = 0; i < n && nseen < BLAME_TURNS && b->n < BLAME_SOURCES; i++) {
		bool is_seen = !list[i].turn;
		for (size_t j = 0; j < nseen && !is_seen; j++)
			is_seen = seen[j] == list[i].turn;
		if (is_seen)
			continue;
		seen[nseen++] = list[i].turn;
		if (turn_search(b, &list[i], path, wants_line, err))
			return -1;
	}
	return 0;
}

/*
 * Messages and commands that told this commit's hash, earliest first: who made it was the first to
 * know.
 */
static int hash_search(struct blame *b, struct err *err)
{
	const char *shown = arena_dup(b->call->arena, b->commit.hash, HASH_SHOWN);
	struct find f = { .text = shown,
		.is_plain = true,
		.mode = FIND_LEXICAL,
		.limit = HASH_HITS,
		.filter = { .project = (uint32_t)b->project,
			.classes = 1u << DOC_EVENT,
			.event_kinds = 1u << EVENT_TOOL } };
	const struct event *first = NULL;
	struct find_result r;

	if (find_run(&b->l, &f, &r, err))
		return -1;
	for (size_t i = 0; i < r.n; i++) {
		const struct event *e = r.found[i].event;
		bool tells = e && e->output && strstr(e->output, shown) &&
			     e->at >= b->commit.at - AFTER_COMMIT_MS;
		if (tells && (!first || e->at < first->at))
			first = e;
	}
	if (first)
		source_add(b, (struct origin){ first->session, first->turn, first->id, first->at,
				      "output" });
	return 0;
}

static int sources_find(struct blame *b, struct err *err)
{
	if (b->path && b->text.n >= LINE_TEXT_MIN && file_search(b, b->path, true, err))
		return -1;
	if (b->commit.hash && hash_search(b, err))
		return -1;
	if (b->path && !b->n && file_search(b, b->path, false, err))
		return -1;
	for (size_t i = 0; i < b->npaths && !b->path; i++)
		if (file_search(b, b->paths[i], false, err))
			return -1;
	return 0;
}

/* --- The answer. --- */

static void message_write(struct blame *b, struct jw *w, const char *key, const struct event *e)
{
	if (!e) {
		jw_null(w, key);
		return;
	}
	jw_object(w, key);
	jw_str(w, "ref", ref_text(b->call->arena, REF_EVENT, e->id));
	jw_int(w, "at", e->at);
	jw_slice(w, "text",
		(struct str){ e->text ? e->text : "",
			utf8_cut(e->text ? e->text : "", e->text ? strlen(e->text) : 0, EXCERPT) });
	jw_end(w, '}');
}

static int source_write(struct blame *b, struct jw *w, const struct origin *s, struct err *err)
{
	const struct session *session = lookup_session(&b->l, s->session);
	const struct event *prompt = NULL, *reply = NULL;
	struct event *events;
	size_t n;

	if (store_events(b->call->store, b->call->arena, s->session, s->turn, 0, TURN_EVENTS,
		    &events, &n, err))
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (events[i].kind == EVENT_PROMPT && !events[i].is_meta && !prompt)
			prompt = &events[i];
		if (events[i].kind == EVENT_REPLY)
			reply = &events[i];
	}
	jw_object(w, NULL);
	jw_str(w, "how", s->how);
	jw_str(w, "ref", ref_text(b->call->arena, REF_EVENT, s->event));
	jw_int(w, "at", s->at);
	jw_str(w, "session", ref_text(b->call->arena, REF_SESSION, s->session));
	jw_str(w, "agent", session ? agent_names[session->agent] : NULL);
	jw_str(w, "agent_session", session ? session->agent_session : NULL);
	jw_str(w, "session_title", session ? session->title : NULL);
	message_write(b, w, "prompt", prompt);
	message_write(b, w, "reply", reply);
	jw_end(w, '}');
	return 0;
}

static int blame_write(struct blame *b, struct jw *out, struct err *err)
{
	jw_object(out, NULL);
	jw_str(out, "path", b->path);
	if (b->line) {
		jw_int(out, "line", b->line);
		jw_slice(out, "text", b->text);
	}
	if (b->commit.hash) {
		jw_object(out, "commit");
		jw_str(out, "hash", b->commit.hash);
		jw_int(out, "at", b->commit.at);
		jw_str(out, "subject", b->commit.subject);
		jw_end(out, '}');
	} else {
		jw_null(out, "commit");
	}
	jw_array(out, "sources");
	for (size_t i = 0; i < b->n; i++)
		if (source_write(b, out, &b->sources[i], err))
			return -1;
	jw_end(out, ']');
	jw_end(out, '}');
	return 0;
}

int op_blame(struct op_call *call, struct jw *out, struct err *err)
{
	struct blame *b = ARENA_NEW(call->arena, struct blame);
	const char *what = param_text(call, "what", "path");

	*b = (struct blame){ .call = call, .l = { .call = call } };
	if (!what)
		return err_set(err, ERR_USAGE, "blame needs a file, FILE:LINE or a commit");
	if (call_project(call, &b->project, err))
		return -1;
	if (b->project && store_project_root(call->store, call->arena, b->project, &b->root, err))
		return -1;
	if (b->root && !file_is_dir(b->root))
		b->root = NULL;
	const char *path = line_split(call->arena, what, &b->line);
	const char *whole = call->cwd ? path_clean(call->arena, call->cwd, path) : NULL;
	bool is_file = whole && file_exists(whole);
	if (is_hash(what) && !is_file) {
		if (!b->root && call->cwd)
			root_of(b, call->cwd, NULL);
		if (!b->root)
			return err_set(err, ERR_NOT_FOUND,
				"the project's folder is gone: its commits cannot be asked for");
		if (commit_read(b, what, err))
			return -1;
	} else {
		b->path = call_file(call, path);
		if (is_file)
			root_of(b, path_parent(call->arena, whole), whole);
		if (line_read(b, err))
			return -1;
		line_blame(b);
	}
	return sources_find(b, err) ? -1 : blame_write(b, out, err);
}
