/*
 * Factory droid: its transcripts, one line per message with Claude's blocks in it. Its hooks have
 * Claude's shape, but it is not wired yet: only what its hooks would send is read.
 */

#include <string.h>

#include "agents/captures.h"
#include "agents/claude_text.h"
#include "agents/claude_tool.h"
#include "agents/hooks.h"
#include "agents/line_look.h"
#include "agents/pending.h"
#include "agents/rows.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"

struct factory_reader {
	char *path, *session, *parent, *cwd, *title;
	int64_t last_at;
	struct pending pending;
};

struct line {
	struct factory_reader *r;
	struct arena *a;
	const json *j, *message;
	uint64_t n;
	struct capture *c;
	const char *id;
	int64_t at;
};

static void set_if(char **target, const char *value)
{
	if (!value || !*value)
		return;
	free(*target);
	*target = mem_strdup(value);
}

static struct captured_event *line_event(struct line *l, enum event_kind kind)
{
	struct captured_event *e = capture_add(l->a, l->c, kind, SOURCE_TRANSCRIPT);
	e->id = l->id;
	e->parent_id = capture_word(l->a, l->j, "parentId");
	e->cwd = arena_str(l->a, l->r->cwd);
	e->at = l->at;
	e->model = capture_word(l->a, l->message, "model");
	return e;
}

static bool block_is(const json *block, const char *type)
{
	const char *t = json_str(block, "type");
	return t && !strcmp(t, type);
}

static void tell_text(struct line *l, struct str text, bool is_user)
{
	static const char close[] = "</system-reminder>";
	struct str s = str_trim(text), useful;
	while (s.n > 17 && !memcmp(s.p, "<system-reminder>", 17)) {
		const char *end = str_find(s, STR("</system-reminder>"));
		if (!end)
			return;
		end += sizeof(close) - 1;
		s = str_trim((struct str){ end, (size_t)(s.p + s.n - end) });
	}
	if (!s.n)
		return;
	if (!is_user) {
		line_event(l, EVENT_REPLY)->text = capture_copy(l->a, s);
		return;
	}
	enum claude_text_kind kind = claude_text_judge(l->a, s, &useful);
	if (kind == CLAUDE_TEXT_NOISE)
		return;
	struct captured_event *e =
		line_event(l, kind == CLAUDE_TEXT_SUMMARY ? EVENT_COMPACTION : EVENT_PROMPT);
	e->text = useful;
	e->is_meta = kind != CLAUDE_TEXT_TYPED;
}

static void tell_call(struct line *l, const json *block, size_t nth)
{
	const char *name = json_str(block, "name");
	struct captured_event *e = line_event(l, EVENT_TOOL);
	e->tool_use_id = capture_word(l->a, block, "id");
	e->id = nth ? arena_printf(l->a, "%s:%zu", l->id, nth) : l->id;
	claude_tool_call(l->a, e, name ? name : "unknown", json_get(block, "input"));
	pending_add(&l->r->pending, e);
}

/* "Error: Command failed (exit code: 1)" is all that tells of a failure. */
static void find_failure(struct captured_event *e)
{
	static const char mark[] = "(exit code: ";
	const char *at = str_find(
		(struct str){ e->output.p, MIN(e->output.n, (size_t)200) }, STR("(exit code: "));
	if (!at)
		return;
	e->exit_code = (int)strtol(at + sizeof(mark) - 1, NULL, 10);
	e->status = e->exit_code ? STATUS_FAILED : STATUS_OK;
}

static void tell_result(struct line *l, const json *block)
{
	const char *id = json_str(block, "tool_use_id");
	struct pending_call *call = pending_find(&l->r->pending, id);
	if (!id)
		return;
	struct captured_event *e = line_event(l, EVENT_TOOL);
	struct claude_result r = { .content = json_get(block, "content"),
		.is_error = json_bool(block, "is_error", false) };
	e->tool_use_id = arena_str(l->a, id);
	if (call) {
		pending_fill(call, l->a, e);
		pending_remove(&l->r->pending, call);
	}
	claude_tool_result(l->a, e, &r);
	find_failure(e);
}

static void read_message(struct line *l)
{
	const char *role = json_str(l->message, "role");
	const json *content = json_get(l->message, "content");
	if (!content)
		content = json_get(l->message, "text");
	if (!role)
		return;
	for (size_t i = 0; i < json_len(content); i++)
		if (block_is(json_at(content, i), "tool_result"))
			tell_result(l, json_at(content, i));
	tell_text(l, capture_content(l->a, content), !strcmp(role, "user"));
	size_t from = l->c->nevents, calls = 0;
	for (size_t i = 0; i < json_len(content); i++)
		if (block_is(json_at(content, i), "tool_use"))
			tell_call(l, json_at(content, i), calls++ + (from > 0));
}

static void read_start(struct line *l)
{
	struct factory_reader *r = l->r;
	const char *title = json_str(l->j, "sessionTitle");
	set_if(&r->session, json_str(l->j, "sessionId"));
	set_if(&r->session, json_str(l->j, "id"));
	set_if(&r->parent, json_str(l->j, "callingSessionId"));
	set_if(&r->cwd, json_str(l->j, "cwd"));
	set_if(&r->title, title && *title ? title : json_str(l->j, "title"));
}

/* The file's name is the session's id. */
static void line_session(struct line *l)
{
	struct factory_reader *r = l->r;
	struct captured_session *s = &l->c->session;
	const char *base = path_base(r->path);
	size_t n = strlen(base);
	if (!r->session && n > 6)
		r->session = mem_dup(base, n - 6);
	s->agent = AGENT_FACTORY;
	s->agent_session = arena_str(l->a, r->session);
	s->parent = arena_str(l->a, r->parent);
	s->cwd = arena_str(l->a, r->cwd);
	s->title = arena_str(l->a, r->title);
	s->transcript_path = arena_str(l->a, r->path);
}

static int factory_reader_line(struct transcript_reader *reader, struct arena *a, const json *j,
	uint64_t n, struct capture *ret, struct err *err)
{
	struct factory_reader *r = (struct factory_reader *)reader;
	struct line l = { .r = r, .a = a, .j = j, .n = n, .c = ret };
	const char *type = json_str(j, "type"), *time = json_str(j, "timestamp");
	if (json_type(j) != JSON_OBJECT)
		return err_set(err, ERR_USAGE, "line %llu of '%s' is no JSON object",
			(unsigned long long)n, r->path);
	l.message = json_get(j, "message") ? json_get(j, "message") : j;
	l.at = time ? clock_parse_iso(time) : json_int(j, "timestamp", 0);
	if (!l.at)
		l.at = r->last_at;
	r->last_at = l.at;
	if (type && !strcmp(type, "session_start"))
		read_start(&l);
	line_session(&l);
	l.id = capture_word(a, j, "id");
	if (!l.id)
		l.id = arena_printf(a, "%s:%llu", r->session, (unsigned long long)n);
	if (type && !strcmp(type, "message"))
		read_message(&l);
	return 0;
}

static struct transcript_reader *factory_reader_new(const char *path, const char *state)
{
	struct factory_reader *r = mem_alloc(sizeof(*r));
	json *j = NULL;
	r->path = mem_strdup(path);
	if (state && *state && !json_parse(state, strlen(state), &j, NULL)) {
		set_if(&r->session, json_str(j, "session"));
		set_if(&r->parent, json_str(j, "parent"));
		set_if(&r->cwd, json_str(j, "cwd"));
		set_if(&r->title, json_str(j, "title"));
		r->last_at = json_int(j, "last_at", 0);
		pending_load(&r->pending, json_get(j, "pending"));
		json_free(j);
	}
	return (struct transcript_reader *)r;
}

static void factory_reader_save(const struct transcript_reader *reader, struct buf *out)
{
	const struct factory_reader *r = (const struct factory_reader *)reader;
	struct jw w = { .out = out };
	jw_object(&w, NULL);
	jw_str(&w, "session", r->session);
	jw_str(&w, "parent", r->parent);
	jw_str(&w, "cwd", r->cwd);
	jw_str(&w, "title", r->title);
	jw_int(&w, "last_at", r->last_at);
	pending_print(&r->pending, &w, "pending");
	jw_end(&w, '}');
}

static void factory_reader_free(struct transcript_reader *reader)
{
	struct factory_reader *r = (struct factory_reader *)reader;
	if (!r)
		return;
	pending_done(&r->pending);
	free(r->path);
	free(r->session);
	free(r->parent);
	free(r->cwd);
	free(r->title);
	free(r);
}

static int factory_recognise(const char *path, const char *head, size_t len)
{
	bool is_placed = strstr(path, "/.factory/") != NULL;
	if (!str_ends(path, ".jsonl") || !len || head[0] != '{')
		return 0;
	struct str type;
	if (line_look(head, len, "type", NULL, &type) && str_is(type, "session_start"))
		return is_placed ? 95 : 85;
	return is_placed ? 40 : 0;
}

static bool factory_line_is_wanted(const char *line, size_t len)
{
	struct str type;
	if (!line_look(line, len, "type", NULL, &type))
		return true;
	return str_is(type, "message") || str_is(type, "session_start");
}

static int factory_hook_read(struct arena *a, const struct spool_header *h, const json *payload,
	struct capture *ret, struct err *err)
{
	if (agent_claude.hook_read(a, h, payload, ret, err))
		return -1;
	ret->session.agent = AGENT_FACTORY;
	return 0;
}

static void factory_dirs(struct arena *a, const char *user_home, char ***ret_dirs, size_t *ret_n)
{
	char **dirs = ARENA_ARRAY(a, char *, 1);
	*ret_n = 0;
	if (user_home)
		dirs[(*ret_n)++] = path_join(a, user_home, ".factory/sessions");
	*ret_dirs = dirs;
}

static void factory_ask_read(
	struct arena *a, const struct spool_header *h, const json *payload, struct ask *ret)
{
	agent_claude.ask_read(a, h, payload, ret);
}

static void factory_answer(const char *event, const char *text, struct buf *out)
{
	agent_claude.answer(event, text, out);
}

const struct agent agent_factory = {
	.id = AGENT_FACTORY,
	.name = "factory",
	.title = "Factory droid",
	.hook_read = factory_hook_read,
	.ask_read = factory_ask_read,
	.answer = factory_answer,
	.transcript_dirs = factory_dirs,
	.transcript_recognise = factory_recognise,
	.line_is_wanted = factory_line_is_wanted,
	.reader_new = factory_reader_new,
	.reader_line = factory_reader_line,
	.reader_save = factory_reader_save,
	.reader_free = factory_reader_free,
};
