/*
 * Reads a transcript of Claude Code line by line. One line holds one block of a message (newer) or
 * a whole message (older); a tool call and its result stand on different lines and are told twice,
 * joined by the call's id. A sub-agent's lines stand in its own file or, in old versions, as side
 * chains in the session's.
 */

#include "agents/claude_transcript.h"

#include <string.h>

#include "agents/captures.h"
#include "agents/chains.h"
#include "agents/claude_queue.h"
#include "agents/claude_text.h"
#include "agents/claude_tool.h"
#include "agents/line_look.h"
#include "agents/pending.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"

#define SUMMARIES_MAX 8

struct claude_reader {
	char *path;
	char *path_session,
		*path_subagent; /* what the file's place says; NULL for a session's own file */
	char *session;          /* last one named */
	char *prompt;           /* current prompt id */
	char *last_uuid;
	bool has_custom_title;
	struct pending pending;
	struct chains chains;
	struct claude_queue queue;
	struct {
		char *leaf, *text;
	} summaries[SUMMARIES_MAX]; /* titles waiting for the line they belong to */
	size_t nsummaries;
};

/* The line in hand. */
struct line {
	struct claude_reader *r;
	struct arena *a;
	const json *j;
	uint64_t n;
	struct capture *c;
	const char *uuid, *parent, *subagent, *cwd, *branch;
	int64_t at;
};

static void set_str(char **target, const char *value)
{
	char *copy = value ? mem_strdup(value) : NULL;
	free(*target);
	*target = copy;
}

static const char *line_id(struct line *l)
{
	if (l->uuid)
		return l->uuid;
	return arena_printf(l->a, "%s:%llu", l->r->session ? l->r->session : path_base(l->r->path),
		(unsigned long long)l->n);
}

static struct captured_event *line_event(struct line *l, enum event_kind kind)
{
	struct captured_event *e = capture_add(l->a, l->c, kind, SOURCE_TRANSCRIPT);
	e->id = line_id(l);
	e->parent_id = l->parent;
	e->turn = arena_str(l->a, l->r->prompt);
	e->subagent = l->subagent;
	e->cwd = l->cwd;
	e->branch = l->branch;
	e->at = l->at;
	return e;
}

/* Prompts that were handed to the running turn and that nothing wrote down. */
static void tell_handed(struct line *l)
{
	struct queued_prompt *item;
	while ((item = claude_queue_handed(&l->r->queue))) {
		struct str text;
		enum claude_text_kind kind = claude_text_judge(l->a, str_of(item->text), &text);
		if (kind == CLAUDE_TEXT_TYPED) {
			struct captured_event *e = line_event(l, EVENT_PROMPT);
			e->id = arena_printf(l->a, "%s:%llu",
				l->r->session ? l->r->session : "queue",
				(unsigned long long)item->line);
			e->at = item->at;
			e->parent_id = NULL;
			e->subagent = NULL;
			e->text = text;
		}
		claude_queue_drop(&l->r->queue, item);
	}
}

static void tell_prompt(struct line *l, struct str text, bool is_meta)
{
	struct str useful;
	enum claude_text_kind kind = claude_text_judge(l->a, text, &useful);
	if (kind == CLAUDE_TEXT_NOISE || json_get(l->j, "hookText"))
		return;
	if (kind == CLAUDE_TEXT_SUMMARY || json_bool(l->j, "isCompactSummary", false)) {
		struct captured_event *e = line_event(l, EVENT_COMPACTION);
		e->text = claude_text_summary(l->a, text);
		e->is_meta = true;
		return;
	}
	struct captured_event *e = line_event(l, EVENT_PROMPT);
	e->text = useful;
	e->is_meta = is_meta || kind == CLAUDE_TEXT_META || l->subagent;
}

/* What a person typed when refusing a tool call stands at the end of the refusal. */
static void tell_refusal(struct line *l, struct str output)
{
	static const char mark[] = "the user said:\n";
	const char *at = str_find(output, STR("the user said:\n"));
	if (!at)
		return;
	at += sizeof(mark) - 1;
	struct str said = str_trim((struct str){ at, (size_t)(output.p + output.n - at) });
	if (!said.n)
		return;
	struct captured_event *e = line_event(l, EVENT_PROMPT);
	e->id = arena_printf(l->a, "%s:said", line_id(l));
	e->text = capture_copy(l->a, said);
	e->is_meta = l->subagent != NULL;
}

static void tell_result(struct line *l, const json *block, bool is_only)
{
	const char *id = json_str(block, "tool_use_id");
	const char *decision = json_str(json_get(l->j, "permissionDecision"), "decision");
	if (!id)
		return;
	struct claude_result r = {
		.response = is_only ? json_get(l->j, "toolUseResult") : NULL,
		.content = json_get(block, "content"),
		.is_error = json_bool(block, "is_error", false),
		.is_denied = json_str(l->j, "toolDenialKind") ||
			     (decision && !strcmp(decision, "reject")),
	};
	struct captured_event *e = line_event(l, EVENT_TOOL);
	e->tool_use_id = arena_str(l->a, id);
	struct pending_call *call = pending_find(&l->r->pending, id);
	if (call) {
		pending_fill(call, l->a, e);
		pending_remove(&l->r->pending, call);
	}
	claude_tool_result(l->a, e, &r);
	struct str output = e->output;
	if (e->status == STATUS_DENIED)
		tell_refusal(l, output);
}

static size_t tell_results(struct line *l, const json *content)
{
	size_t n = 0;
	for (size_t i = 0; i < json_len(content); i++) {
		const char *type = json_str(json_at(content, i), "type");
		n += type && !strcmp(type, "tool_result");
	}
	for (size_t i = 0; n && i < json_len(content); i++) {
		const char *type = json_str(json_at(content, i), "type");
		if (type && !strcmp(type, "tool_result"))
			tell_result(l, json_at(content, i), n == 1);
	}
	return n;
}

/* A text that a turn without a prompt id begins with: typed, or a slash command. */
static bool starts_turn(struct line *l, struct str text)
{
	struct str useful;
	if (json_bool(l->j, "isCompactSummary", false))
		return false;
	enum claude_text_kind kind = claude_text_judge(l->a, text, &useful);
	return kind == CLAUDE_TEXT_TYPED ||
	       (kind == CLAUDE_TEXT_META && useful.n && useful.p[0] == '/');
}

static void read_user(struct line *l)
{
	const json *message = json_get(l->j, "message");
	const json *content =
		json_type(message) == JSON_STRING ? message : json_get(message, "content");
	struct str text = capture_content(l->a, content);
	const char *prompt = json_str(l->j, "promptId");
	bool is_meta = json_bool(l->j, "isMeta", false);
	if (text.n)
		claude_queue_written(&l->r->queue, text, false);
	tell_handed(l);
	if (prompt)
		set_str(&l->r->prompt, prompt);
	size_t results = tell_results(l, content);
	if (!text.n)
		return;
	if (!prompt && !results && !is_meta && !l->subagent && starts_turn(l, text))
		set_str(&l->r->prompt, NULL);
	tell_prompt(l, text, is_meta);
}

static void read_tokens(const json *message, struct token_use *t)
{
	const json *usage = json_get(message, "usage");
	t->input = json_int(usage, "input_tokens", 0);
	t->output = json_int(usage, "output_tokens", 0);
	t->cache_read = json_int(usage, "cache_read_input_tokens", 0);
	t->cache_write = json_int(usage, "cache_creation_input_tokens", 0);
}

static void tell_call(struct line *l, const json *block, size_t nth)
{
	struct captured_event *e = line_event(l, EVENT_TOOL);
	const char *id = json_str(block, "id");
	const char *name = json_str(block, "name");
	if (nth)
		e->id = arena_printf(l->a, "%s:%zu", line_id(l), nth);
	e->tool_use_id = arena_str(l->a, id);
	claude_tool_call(l->a, e, name ? name : "unknown", json_get(block, "input"));
	pending_add(&l->r->pending, e);
}

static void read_assistant(struct line *l)
{
	const json *message = json_get(l->j, "message");
	const json *content =
		json_type(message) == JSON_STRING ? message : json_get(message, "content");
	const char *model = capture_word(l->a, message, "model");
	tell_handed(l);
	bool is_synthetic = model && !strcmp(model, "<synthetic>");
	if (is_synthetic || json_bool(l->j, "isApiErrorMessage", false))
		return;
	size_t from = l->c->nevents, calls = 0;
	struct str text = str_trim(capture_content(l->a, content));
	if (text.n && !str_is(text, "(no content)"))
		line_event(l, EVENT_REPLY)->text = capture_copy(l->a, text);
	for (size_t i = 0; i < json_len(content); i++) {
		const char *type = json_str(json_at(content, i), "type");
		if (type && !strcmp(type, "tool_use"))
			tell_call(l, json_at(content, i), calls++ + (l->c->nevents > from));
	}
	for (size_t i = from; i < l->c->nevents; i++) {
		struct captured_event *e = &l->c->events[i];
		e->model = model;
		e->usage_id = capture_word(l->a, message, "id");
		read_tokens(message, &e->tokens);
	}
	if (!l->subagent)
		l->c->session.model = model;
}

/*
 * A prompt typed while the agent worked, handed to the running turn. Everything else in attachments
 * is the program's.
 */
static void read_attachment(struct line *l)
{
	const json *attachment = json_get(l->j, "attachment");
	const char *type = json_str(attachment, "type");
	if (!type || strcmp(type, "queued_command") || json_bool(attachment, "isMeta", false))
		return;
	struct str text = capture_content(l->a, json_get(attachment, "prompt"));
	claude_queue_written(&l->r->queue, text, true);
	tell_prompt(l, text, false);
}

static void read_queue(struct line *l)
{
	claude_queue_operation(&l->r->queue, json_str(l->j, "operation"),
		json_slice(json_get(l->j, "content")), l->at, l->n);
}

static void set_title(struct line *l, const char *title)
{
	struct str s = str_trim(str_of(title));
	if (s.n)
		l->c->session.title = capture_copy(
			l->a, (struct str){ s.p, utf8_cut(s.p, s.n, CAPTURE_TITLE_MAX) })
					      .p;
}

static void read_custom_title(struct line *l)
{
	l->r->has_custom_title = true;
	set_title(l, json_str(l->j, "customTitle"));
}

static void read_ai_title(struct line *l)
{
	if (!l->r->has_custom_title)
		set_title(l, json_str(l->j, "aiTitle"));
}

/* A summary is the title of the conversation that ends in its leaf, which may be another file's. */
static void read_summary(struct line *l)
{
	struct claude_reader *r = l->r;
	const char *leaf = json_str(l->j, "leafUuid"), *text = json_str(l->j, "summary");
	if (!leaf || !text || r->has_custom_title)
		return;
	if (r->last_uuid && !strcmp(r->last_uuid, leaf)) {
		set_title(l, text);
		return;
	}
	if (r->nsummaries == SUMMARIES_MAX)
		return;
	r->summaries[r->nsummaries].leaf = mem_strdup(leaf);
	r->summaries[r->nsummaries++].text =
		mem_dup(text, utf8_cut(text, strlen(text), CAPTURE_TITLE_MAX));
}

static void match_summary(struct line *l)
{
	struct claude_reader *r = l->r;
	for (size_t i = 0; l->uuid && i < r->nsummaries; i++) {
		if (strcmp(r->summaries[i].leaf, l->uuid))
			continue;
		if (!r->has_custom_title)
			set_title(l, r->summaries[i].text);
		free(r->summaries[i].leaf);
		free(r->summaries[i].text);
		r->summaries[i] = r->summaries[--r->nsummaries];
		return;
	}
}

static const struct {
	const char *type;
	void (*read)(struct line *l);
} line_types[] = {
	{ "user", read_user },
	{ "assistant", read_assistant },
	{ "attachment", read_attachment },
	{ "queue-operation", read_queue },
	{ "custom-title", read_custom_title },
	{ "ai-title", read_ai_title },
	{ "summary", read_summary },
};

/* Lines that nobody needs, by type: told by their first bytes, before anything is parsed. */
static const char *const unwanted_types[] = { "progress", "file-history-snapshot", "api-request",
	"api-request-blob", "api-request-shape", "last-prompt", "cost-state", "tools-used", "mode",
	"permission-mode", "agent-name", "atis-latch", "relocated", "worktree-state", "system",
	"pr-link", "bridge-session", "frame-link", "started", "result" };

bool claude_line_is_wanted(const char *line, size_t len)
{
	struct str type, inner;
	if (line_look(line, len, "attachment", "type", &inner))
		return str_is(inner, "queued_command");
	if (!line_look(line, len, "type", NULL, &type))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(unwanted_types); i++)
		if (str_is(type, unwanted_types[i]))
			return false;
	return true;
}

static const char *line_subagent(struct line *l)
{
	struct claude_reader *r = l->r;
	const char *agent = capture_word(l->a, l->j, "agentId");
	if (r->path_subagent)
		return agent ? agent : arena_str(l->a, r->path_subagent);
	if (!json_bool(l->j, "isSidechain", false))
		return NULL;
	if (agent)
		return agent;
	return arena_str(l->a, chains_follow(&r->chains, l->uuid, l->parent));
}

static void read_session(struct line *l)
{
	struct claude_reader *r = l->r;
	struct captured_session *s = &l->c->session;
	const char *entry = json_str(l->j, "entrypoint");
	const char *id = json_str(l->j, "sessionId");
	if (id && *id && (!r->session || strcmp(r->session, id)))
		set_str(&r->session, id);
	s->agent = AGENT_CLAUDE;
	s->agent_session = arena_str(l->a, r->path_session ? r->path_session : r->session);
	s->is_headless = entry && !strcmp(entry, "sdk-cli");
	if (!r->path_subagent)
		s->transcript_path = arena_str(l->a, r->path);
	s->cwd = l->cwd;
	s->branch = l->branch;
}

static void line_init(struct line *l)
{
	const char *branch = capture_word(l->a, l->j, "gitBranch");
	const char *time = json_str(l->j, "timestamp");
	l->uuid = capture_word(l->a, l->j, "uuid");
	l->parent = capture_word(l->a, l->j, "parentUuid");
	l->cwd = capture_word(l->a, l->j, "cwd");
	l->branch = branch && strcmp(branch, "HEAD") ? branch : NULL;
	l->at = time ? clock_parse_iso(time) : 0;
	l->subagent = line_subagent(l);
}

/* A file whose lines name no session is one: its name is the session's id. */
static const char *name_session(struct line *l)
{
	const char *base = path_base(l->r->path);
	size_t n = strlen(base);
	return arena_dup(l->a, base, str_ends(base, ".jsonl") ? n - 6 : n);
}

int claude_reader_line(struct transcript_reader *reader, struct arena *a, const json *j, uint64_t n,
	struct capture *ret, struct err *err)
{
	struct claude_reader *r = (struct claude_reader *)reader;
	struct line l = { .r = r, .a = a, .j = j, .n = n, .c = ret };
	if (json_type(j) != JSON_OBJECT)
		return err_set(err, ERR_USAGE, "line %llu of '%s' is no JSON object",
			(unsigned long long)n, r->path);
	const char *type = json_str(j, "type");
	line_init(&l);
	read_session(&l);
	for (size_t i = 0; type && i < ARRAY_LEN(line_types); i++)
		if (!strcmp(type, line_types[i].type))
			line_types[i].read(&l);
	match_summary(&l);
	if (l.uuid)
		set_str(&r->last_uuid, l.uuid);
	if (!ret->session.agent_session && ret->nevents)
		ret->session.agent_session = name_session(&l);
	return 0;
}

/* ".../SESSION/subagents/agent-ID.jsonl", or ".../agent-ID.jsonl" beside the session's own file. */
static void reader_place(struct claude_reader *r)
{
	const char *base = path_base(r->path);
	const char *folder = strstr(r->path, "/subagents/");
	size_t n = strlen(base);
	if (strncmp(base, "agent-", 6) || n < 13 || strcmp(base + n - 6, ".jsonl"))
		return;
	r->path_subagent = mem_dup(base + 6, n - 12);
	if (!folder)
		return;
	const char *from = folder;
	while (from > r->path && from[-1] != '/')
		from--;
	if (from < folder)
		r->path_session = mem_dup(from, (size_t)(folder - from));
}

static void reader_load(struct claude_reader *r, const json *j)
{
	set_str(&r->session, json_str(j, "session"));
	set_str(&r->prompt, json_str(j, "prompt"));
	set_str(&r->last_uuid, json_str(j, "last"));
	r->has_custom_title = json_bool(j, "custom_title", false);
	pending_load(&r->pending, json_get(j, "pending"));
	chains_load(&r->chains, json_get(j, "chains"));
	claude_queue_load(&r->queue, json_get(j, "queue"));
	const json *list = json_get(j, "summaries");
	for (size_t i = 0; i < json_len(list) && i < SUMMARIES_MAX; i++) {
		const char *leaf = json_str(json_at(list, i), "leaf");
		const char *text = json_str(json_at(list, i), "text");
		if (!leaf || !text)
			continue;
		r->summaries[r->nsummaries].leaf = mem_strdup(leaf);
		r->summaries[r->nsummaries++].text = mem_strdup(text);
	}
}

struct transcript_reader *claude_reader_new(const char *path, const char *state)
{
	struct claude_reader *r = mem_alloc(sizeof(*r));
	json *j = NULL;
	r->path = mem_strdup(path);
	reader_place(r);
	if (state && *state && !json_parse(state, strlen(state), &j, NULL)) {
		reader_load(r, j);
		json_free(j);
	}
	return (struct transcript_reader *)r;
}

void claude_reader_save(const struct transcript_reader *reader, struct buf *out)
{
	const struct claude_reader *r = (const struct claude_reader *)reader;
	struct jw w = { .out = out };
	jw_object(&w, NULL);
	jw_str(&w, "session", r->session);
	jw_str(&w, "prompt", r->prompt);
	jw_str(&w, "last", r->last_uuid);
	jw_bool(&w, "custom_title", r->has_custom_title);
	pending_print(&r->pending, &w, "pending");
	chains_print(&r->chains, &w, "chains");
	claude_queue_print(&r->queue, &w, "queue");
	jw_array(&w, "summaries");
	for (size_t i = 0; i < r->nsummaries; i++) {
		jw_object(&w, NULL);
		jw_str(&w, "leaf", r->summaries[i].leaf);
		jw_str(&w, "text", r->summaries[i].text);
		jw_end(&w, '}');
	}
	jw_end(&w, ']');
	jw_end(&w, '}');
}

void claude_reader_free(struct transcript_reader *reader)
{
	struct claude_reader *r = (struct claude_reader *)reader;
	if (!r)
		return;
	for (size_t i = 0; i < r->nsummaries; i++) {
		free(r->summaries[i].leaf);
		free(r->summaries[i].text);
	}
	pending_done(&r->pending);
	claude_queue_done(&r->queue);
	free(r->path);
	free(r->path_session);
	free(r->path_subagent);
	free(r->session);
	free(r->prompt);
	free(r->last_uuid);
	free(r);
}

/* A line of the first bytes has what only Claude Code writes. */
static bool head_is_claude(const char *head, size_t len)
{
	struct str h = { head, len };
	static const char *const marks[] = { "\"sessionId\"", "\"leafUuid\"", "\"parentUuid\"" };
	int found = 0;
	for (size_t i = 0; i < ARRAY_LEN(marks); i++)
		found += str_find(h, str_of(marks[i])) != NULL;
	return found && str_find(h, STR("\"type\"")) && !str_find(h, STR("\"payload\""));
}

int claude_transcript_recognise(const char *path, const char *head, size_t len)
{
	if (!str_ends(path, ".jsonl") || !len || head[0] != '{')
		return 0;
	struct str h = { head, len };
	bool is_placed = strstr(path, "/.claude/") || strstr(path, "/subagents/agent-") ||
			 strstr(path, "/projects/-");
	if (head_is_claude(head, len))
		return is_placed ? 95 : 80;
	bool is_alike = str_find(h, STR("\"message\"")) && str_find(h, STR("\"role\"")) &&
			str_find(h, STR("\"user\"")) && !str_find(h, STR("\"payload\""));
	return is_placed ? 50 : is_alike ? 30 : 0;
}
