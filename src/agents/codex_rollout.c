/*
 * Reads a rollout of Codex CLI, 0.1 to 0.171. The same message can stand in it in three styles: as
 * an event (user_message, agent_message), as an item (item_completed) and as a part of the model's
 * input or output (response_item). The third also holds instructions and notes that nobody typed,
 * so it counts only in files that have neither of the others; and a text is told once when two
 * styles tell it.
 */

#include "agents/codex_rollout.h"

#include <string.h>

#include "agents/captures.h"
#include "agents/codex_tool.h"
#include "agents/line_look.h"
#include "agents/pending.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"

enum style { STYLE_NONE, STYLE_EVENT, STYLE_ITEM, STYLE_RESPONSE };

/* What was told last of prompts or of replies, to know the same text in another style. */
struct told {
	uint64_t hash;
	enum style style;
	int64_t count;   /* in this turn, for ids */
	bool has_better; /* the file tells such messages as events or items */
};

struct codex_reader {
	char *path, *thread, *session, *subagent, *parent, *cwd, *branch, *model, *turn, *own_turn,
		*reply_id;
	char *held, *held_id; /* a prompt in response style that waits for a better telling */
	int64_t held_at, first_at, last_total, compactions;
	bool is_known, is_headless, has_records, has_items;
	struct told prompts, replies;
	struct token_use tokens; /* not yet given to an event */
	char *usage_id;
	struct pending pending;
};

struct line {
	struct codex_reader *r;
	struct arena *a;
	const json *j, *p; /* the line and its payload */
	uint64_t n;
	struct capture *c;
	int64_t at;
};

static void set_str(char **target, const char *value)
{
	char *copy = value ? mem_strdup(value) : NULL;
	free(*target);
	*target = copy;
}

static void set_if(char **target, const json *j, const char *key)
{
	const char *value = json_str(j, key);
	if (value && *value)
		set_str(target, value);
}

/* FNV-1a: only ever compared with the text told just before. */
static uint64_t text_hash(struct str s)
{
	uint64_t h = 1469598103934665603u;
	s = str_trim(s);
	for (size_t i = 0; i < s.n; i++)
		h = (h ^ (unsigned char)s.p[i]) * 1099511628211u;
	return h;
}

static const char *line_id(struct line *l, const char *word, int64_t count)
{
	if (l->r->own_turn)
		return arena_printf(l->a, "%s:%s%lld", l->r->own_turn, word, (long long)count);
	return arena_printf(l->a, "%s:%llu", l->r->thread ? l->r->thread : path_base(l->r->path),
		(unsigned long long)l->n);
}

static void give_tokens(struct line *l, struct captured_event *e)
{
	struct codex_reader *r = l->r;
	if (!r->usage_id)
		return;
	e->tokens = r->tokens;
	e->usage_id = arena_str(l->a, r->usage_id);
	e->model = arena_str(l->a, r->model);
	r->tokens = (struct token_use){ 0 };
	set_str(&r->usage_id, NULL);
}

static struct captured_event *line_event(struct line *l, enum event_kind kind)
{
	struct codex_reader *r = l->r;
	struct captured_event *e = capture_add(l->a, l->c, kind, SOURCE_TRANSCRIPT);
	e->turn = arena_str(l->a, r->turn);
	e->subagent = arena_str(l->a, r->subagent);
	e->cwd = arena_str(l->a, r->cwd);
	e->branch = arena_str(l->a, r->branch);
	e->model = arena_str(l->a, r->model);
	e->at = l->at;
	give_tokens(l, e);
	return e;
}

/* Is this text the one just told in another style? Notes it when it is not. */
static bool was_told(struct told *t, struct str text, enum style style)
{
	uint64_t hash = text_hash(text);
	if (style != STYLE_RESPONSE)
		t->has_better = true;
	bool is_same = t->style != STYLE_NONE && t->style != style && t->hash == hash;
	if (is_same) {
		t->style = STYLE_NONE;
		return true;
	}
	t->hash = hash;
	t->style = style;
	t->count++;
	return false;
}

static void tell_prompt(struct line *l, struct str text, const char *id, enum style style)
{
	if (!str_trim(text).n || was_told(&l->r->prompts, text, style))
		return;
	struct captured_event *e = line_event(l, EVENT_PROMPT);
	e->id = id ? arena_str(l->a, id) : line_id(l, "p", l->r->prompts.count);
	e->text = capture_copy(l->a, text);
	struct str s = str_trim(text);
	e->is_meta = l->r->subagent || codex_text_is_injected(s);
}

static void tell_reply(struct line *l, struct str text, const char *id, enum style style)
{
	text = str_trim(text);
	if (!text.n || was_told(&l->r->replies, text, style))
		return;
	struct codex_reader *r = l->r;
	/* The ids of a server that was started anew begin anew. */
	bool is_again = id && r->reply_id && r->own_turn && r->replies.count == 1 &&
			!strcmp(r->reply_id, id);
	struct captured_event *e = line_event(l, EVENT_REPLY);
	e->id = is_again ? arena_printf(l->a, "%s:%s", r->own_turn, id)
		: id     ? arena_str(l->a, id)
			 : line_id(l, "r", r->replies.count);
	e->text = capture_copy(l->a, text);
	set_str(&r->reply_id, e->id);
}

static void drop_held(struct codex_reader *r)
{
	set_str(&r->held, NULL);
	set_str(&r->held_id, NULL);
}

/* Nothing better followed: the held prompt is told as it is. */
static void tell_held(struct line *l)
{
	struct codex_reader *r = l->r;
	if (!r->held)
		return;
	int64_t now = l->at;
	l->at = r->held_at;
	tell_prompt(l, str_of(r->held), r->held_id, STYLE_RESPONSE);
	l->at = now;
	drop_held(r);
}

static void hold_prompt(struct line *l, struct str text)
{
	struct codex_reader *r = l->r;
	tell_held(l);
	if (r->prompts.has_better || r->has_items || codex_text_is_injected(text))
		return;
	r->held = mem_dup(text.p, text.n);
	set_str(&r->held_id, json_str(l->p, "id"));
	r->held_at = l->at;
}

static void read_message(struct line *l)
{
	const char *role = json_str(l->p, "role");
	struct str text = capture_content(l->a, json_get(l->p, "content"));
	if (!role || !text.n)
		return;
	if (!strcmp(role, "user")) {
		hold_prompt(l, text);
	} else if (!strcmp(role, "assistant") && !l->r->replies.has_better && !l->r->has_items) {
		tell_held(l);
		tell_reply(l, text, json_str(l->p, "id"), STYLE_RESPONSE);
	}
}

static void read_user_event(struct line *l)
{
	drop_held(l->r);
	struct str text = json_slice(json_get(l->p, "message"));
	if (!text.n && json_len(json_get(l->p, "images")))
		text = STR("[image]");
	tell_prompt(l, text, NULL, STYLE_EVENT);
}

static void read_agent_event(struct line *l)
{
	tell_held(l);
	tell_reply(l, json_slice(json_get(l->p, "message")), NULL, STYLE_EVENT);
}

static struct captured_event *tool_event(struct line *l, const char *id)
{
	struct captured_event *e = line_event(l, EVENT_TOOL);
	e->tool_use_id = arena_str(l->a, id);
	e->id = e->tool_use_id;
	return e;
}

static const char *call_id(const json *p)
{
	const char *id = json_str(p, "call_id");
	return id ? id : json_str(p, "id");
}

static void read_call(struct line *l)
{
	const char *id = call_id(l->p);
	int64_t process;
	bool is_poll;
	tell_held(l);
	if (!id)
		return;
	if (codex_call_is_stdin(l->p, &process, &is_poll) && is_poll) {
		pending_poll(&l->r->pending, id, process);
		return;
	}
	struct captured_event *e = tool_event(l, id);
	codex_call(l->a, e, l->p);
	pending_add(&l->r->pending, e);
}

/*
 * A call that waited for a process: its exit code and the rest of its output belong to the call
 * that started it.
 */
static void read_poll_output(struct line *l, struct pending_call *poll)
{
	struct captured_event end = { .exit_code = -1 };
	struct pending_call *call = pending_of_process(&l->r->pending, poll->process);
	codex_output(l->a, &end, json_get(l->p, "output"));
	if (call && end.exit_code >= 0) {
		struct captured_event *e = tool_event(l, call->id);
		pending_fill(call, l->a, e);
		e->exit_code = end.exit_code;
		e->status = end.status;
		e->output = end.output;
		pending_remove(&l->r->pending, call);
	}
	pending_remove(&l->r->pending, pending_find(&l->r->pending, json_str(l->p, "call_id")));
}

static void read_call_output(struct line *l)
{
	const char *id = json_str(l->p, "call_id");
	struct pending_call *call = pending_find(&l->r->pending, id);
	if (!id)
		return;
	if (call && call->is_poll) {
		read_poll_output(l, call);
		return;
	}
	if (call && call->is_told) {
		pending_remove(&l->r->pending, call);
		return;
	}
	struct captured_event *e = tool_event(l, id);
	if (call)
		pending_fill(call, l->a, e);
	int64_t process = codex_output(l->a, e, json_get(l->p, "output"));
	if (call && process)
		call->process = process;
	else if (call)
		pending_remove(&l->r->pending, call);
}

/* The program's own record of a call. The model's output that follows adds nothing to it. */
static void tell_item(struct line *l, const char *id, const json *item)
{
	struct pending_call *call = pending_find(&l->r->pending, id);
	if (!id || !codex_item_is_tool(item))
		return;
	struct captured_event *e = tool_event(l, id);
	if (call)
		pending_fill(call, l->a, e);
	codex_item(l->a, e, item);
	if (call)
		call->is_told = true;
}

static void read_end_event(struct line *l)
{
	tell_item(l, json_str(l->p, "call_id"), l->p);
}

static void read_item(struct line *l)
{
	const json *item = json_get(l->p, "item");
	const char *type = json_str(item, "type"), *id = json_str(item, "id");
	if (!type)
		return;
	l->r->has_items = true;
	if (!strcmp(type, "UserMessage")) {
		drop_held(l->r);
		tell_prompt(l, capture_content(l->a, json_get(item, "content")), id, STYLE_ITEM);
	} else if (!strcmp(type, "AgentMessage")) {
		tell_held(l);
		tell_reply(l, capture_content(l->a, json_get(item, "content")), id, STYLE_ITEM);
	} else {
		tell_item(l, id, item);
	}
}

static void start_turn(struct line *l)
{
	struct codex_reader *r = l->r;
	const char *own = json_str(l->p, "turn_id"), *root = json_str(l->p, "root_turn_id");
	if (!own || (r->own_turn && !strcmp(r->own_turn, own) && !root))
		return;
	if (!r->own_turn || strcmp(r->own_turn, own)) {
		r->prompts.count = r->replies.count = r->compactions = 0;
		set_str(&r->own_turn, own);
		set_str(&r->turn, r->subagent ? NULL : own);
	}
	if (root)
		set_str(&r->turn, root);
}

static void read_turn_context(struct line *l)
{
	start_turn(l);
	set_if(&l->r->cwd, l->p, "cwd");
	set_if(&l->r->model, l->p, "model");
}

static void read_settings(struct line *l)
{
	const json *settings = json_get(l->p, "thread_settings");
	set_if(&l->r->cwd, settings, "cwd");
	set_if(&l->r->model, settings, "model");
}

static void add_tokens(struct line *l, const json *usage, const char *id)
{
	struct token_use *t = &l->r->tokens;
	int64_t cached = json_int(usage, "cached_input_tokens", 0);
	t->input += MAX(json_int(usage, "input_tokens", 0) - cached, 0);
	t->cache_read += cached;
	t->cache_write += json_int(usage, "cache_write_input_tokens", 0);
	t->output += json_int(usage, "output_tokens", 0);
	set_str(&l->r->usage_id, id ? id
				    : arena_printf(l->a, "%s:u%llu",
					      l->r->thread ? l->r->thread : path_base(l->r->path),
					      (unsigned long long)l->n));
}

static void read_usage_record(struct line *l)
{
	l->r->has_records = true;
	add_tokens(l, json_get(l->p, "usage"), json_str(l->p, "response_id"));
}

/* Written again when only the rate limits changed: then the total is the same. */
static void read_token_count(struct line *l)
{
	const json *info = json_get(l->p, "info");
	const json *last = json_get(info, "last_token_usage");
	int64_t total = json_int(json_get(info, "total_token_usage"), "total_tokens", 0);
	if (l->r->has_records || !last || total == l->r->last_total)
		return;
	l->r->last_total = total;
	add_tokens(l, last, NULL);
}

/* The tokens of a turn's last response belong to its last reply, which is told again with them. */
static void read_turn_end(struct line *l)
{
	struct str text = str_trim(json_slice(json_get(l->p, "last_agent_message")));
	tell_held(l);
	if (!text.n || !l->r->reply_id || text_hash(text) != l->r->replies.hash || !l->r->usage_id)
		return;
	struct captured_event *e = line_event(l, EVENT_REPLY);
	e->id = arena_str(l->a, l->r->reply_id);
	e->text = capture_copy(l->a, text);
}

static void read_compacted(struct line *l)
{
	tell_held(l);
	struct captured_event *e = line_event(l, EVENT_COMPACTION);
	e->id = line_id(l, "c", ++l->r->compactions);
	static const char frame[] = "own analysis:\n";
	struct str text = json_slice(json_get(l->p, "message"));
	const char *at =
		codex_text_is_injected(text) ? str_find(text, STR("own analysis:\n")) : NULL;
	if (at) {
		at += sizeof(frame) - 1;
		text = (struct str){ at, (size_t)(text.p + text.n - at) };
	}
	e->text = capture_copy(l->a, str_trim(text));
	e->is_meta = true;
}

static void read_name(struct line *l)
{
	const char *name = json_str(l->p, "thread_name");
	if (name && *name && !l->r->subagent)
		l->c->session.title =
			arena_dup(l->a, name, utf8_cut(name, strlen(name), CAPTURE_TITLE_MAX));
}

static const char *parent_thread(const json *meta)
{
	const char *id = json_str(meta, "parent_thread_id");
	if (id)
		return id;
	id = json_str(json_path(meta, "source.subagent.thread_spawn"), "parent_thread_id");
	return id ? id : json_str(json_path(meta, "source.subagent"), "parent_thread_id");
}

/* Only the first one names the file's session: copied history brings its own along. */
static void read_meta(struct line *l)
{
	struct codex_reader *r = l->r;
	const char *id = json_str(l->p, "id"), *root = json_str(l->p, "session_id");
	const char *source = json_str(l->p, "source"), *origin = json_str(l->p, "originator");
	const char *time = json_str(l->p, "timestamp"), *parent = parent_thread(l->p);
	if (r->is_known || !id)
		return;
	r->is_known = true;
	set_str(&r->thread, id);
	if (parent && strcmp(parent, id)) {
		set_str(&r->subagent, id);
		set_str(&r->session, root && *root ? root : parent);
	} else {
		set_str(&r->session, id);
		set_if(&r->parent, l->p, "forked_from_id");
	}
	set_if(&r->cwd, l->p, "cwd");
	set_if(&r->branch, json_get(l->p, "git"), "branch");
	set_if(&r->model, l->p, "model");
	r->is_headless = !r->subagent && ((source && !strcmp(source, "exec")) ||
						 (origin && !strcmp(origin, "codex_exec")) ||
						 json_get(json_get(l->p, "source"), "subagent"));
	r->first_at = time ? clock_parse_iso(time) : l->at;
}

static const struct line_type {
	const char *type, *payload; /* payload: NULL for lines that have no inner type */
	void (*read)(struct line *l);
} line_types[] = {
	{ "session_meta", NULL, read_meta },
	{ "turn_context", NULL, read_turn_context },
	{ "compacted", NULL, read_compacted },
	{ "token_usage_record", NULL, read_usage_record },
	{ "event_msg", "task_started", start_turn },
	{ "event_msg", "turn_started", start_turn },
	{ "event_msg", "task_complete", read_turn_end },
	{ "event_msg", "turn_complete", read_turn_end },
	{ "event_msg", "user_message", read_user_event },
	{ "event_msg", "agent_message", read_agent_event },
	{ "event_msg", "item_completed", read_item },
	{ "event_msg", "exec_command_end", read_end_event },
	{ "event_msg", "patch_apply_end", read_end_event },
	{ "event_msg", "mcp_tool_call_end", read_end_event },
	{ "event_msg", "web_search_end", read_end_event },
	{ "event_msg", "token_count", read_token_count },
	{ "event_msg", "thread_name_updated", read_name },
	{ "event_msg", "thread_settings_applied", read_settings },
	{ "response_item", "message", read_message },
	{ "response_item", "function_call", read_call },
	{ "response_item", "custom_tool_call", read_call },
	{ "response_item", "local_shell_call", read_call },
	{ "response_item", "function_call_output", read_call_output },
	{ "response_item", "custom_tool_call_output", read_call_output },
	{ "response_item", "local_shell_call_output", read_call_output },
};

static const char *const unwanted_types[] = { "world_state", "inter_agent_communication_metadata" };
static const char *const unwanted_payloads[] = { "reasoning", "agent_reasoning",
	"agent_reasoning_raw_content", "agent_reasoning_delta", "agent_message_delta",
	"ghost_snapshot", "tool_search_output", "image_generation_end", "image_generation_call",
	"exec_command_output_delta", "exec_command_begin", "codex/event/raw_item" };

static bool is_among(struct str s, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (str_is(s, words[i]))
			return true;
	return false;
}

bool codex_line_is_wanted(const char *line, size_t len)
{
	struct str type;
	if (line_look(line, len, "payload", "type", &type) &&
		is_among(type, unwanted_payloads, ARRAY_LEN(unwanted_payloads)))
		return false;
	return !line_look(line, len, "type", NULL, &type) ||
	       !is_among(type, unwanted_types, ARRAY_LEN(unwanted_types));
}

/* Rollouts before 0.50: a header without a type, then bare items without times. */
static const char *bare_type(struct line *l)
{
	const char *type = json_str(l->j, "type");
	l->p = l->j;
	if (type)
		return "response_item";
	if (!l->r->is_known && json_str(l->j, "id") && json_str(l->j, "timestamp"))
		return "session_meta";
	return NULL;
}

static void line_dispatch(struct line *l)
{
	const char *type = json_str(l->j, "type");
	l->p = json_get(l->j, "payload");
	if (json_type(l->p) != JSON_OBJECT)
		type = bare_type(l);
	const char *inner = json_str(l->p, "type");
	if (type && !inner && !strcmp(type, "response_item") && json_str(l->p, "role"))
		inner = "message";
	for (size_t i = 0; type && i < ARRAY_LEN(line_types); i++) {
		const struct line_type *t = &line_types[i];
		if (strcmp(t->type, type) || (t->payload && (!inner || strcmp(t->payload, inner))))
			continue;
		t->read(l);
		return;
	}
}

/* The thread's id at the end of "rollout-2026-11-29T13-09-06-<uuid>.jsonl". */
static void session_of_name(struct codex_reader *r)
{
	const char *base = path_base(r->path);
	size_t n = strlen(base);
	if (n > 42 && !strcmp(base + n - 6, ".jsonl")) {
		free(r->session);
		r->session = mem_dup(base + n - 42, 36);
		set_str(&r->thread, r->session);
	}
}

static void line_session(struct line *l)
{
	struct codex_reader *r = l->r;
	struct captured_session *s = &l->c->session;
	if (!r->session)
		session_of_name(r);
	s->agent = AGENT_CODEX;
	s->agent_session = arena_str(l->a, r->session);
	s->cwd = arena_str(l->a, r->cwd);
	s->branch = arena_str(l->a, r->branch);
	if (r->subagent)
		return;
	s->parent = arena_str(l->a, r->parent);
	s->model = arena_str(l->a, r->model);
	s->transcript_path = arena_str(l->a, r->path);
	s->started_at = r->first_at;
	s->is_headless = r->is_headless;
}

int codex_reader_line(struct transcript_reader *reader, struct arena *a, const json *j, uint64_t n,
	struct capture *ret, struct err *err)
{
	struct codex_reader *r = (struct codex_reader *)reader;
	struct line l = { .r = r, .a = a, .j = j, .n = n, .c = ret };
	if (json_type(j) != JSON_OBJECT)
		return err_set(err, ERR_USAGE, "line %llu of '%s' is no JSON object",
			(unsigned long long)n, r->path);
	const char *time = json_str(j, "timestamp");
	l.at = time ? clock_parse_iso(time) : 0;
	if (!l.at && r->first_at)
		l.at = r->first_at + (int64_t)n;
	line_dispatch(&l);
	line_session(&l);
	if (!ret->session.agent_session)
		ret->nevents = 0;
	return 0;
}

/* The strings of a reader, for saving and loading alike. */
#define READER_STRINGS 14
static char **reader_string(struct codex_reader *r, size_t i, const char **ret_name)
{
	const struct {
		const char *name;
		char **value;
	} all[READER_STRINGS] = { { "thread", &r->thread }, { "session", &r->session },
		{ "subagent", &r->subagent }, { "parent", &r->parent }, { "cwd", &r->cwd },
		{ "branch", &r->branch }, { "model", &r->model }, { "turn", &r->turn },
		{ "own_turn", &r->own_turn }, { "reply_id", &r->reply_id }, { "held", &r->held },
		{ "held_id", &r->held_id }, { "usage_id", &r->usage_id }, { "path", &r->path } };
	*ret_name = all[i].name;
	return all[i].value;
}

static void told_print(const struct told *t, struct jw *w, const char *key)
{
	jw_object(w, key);
	jw_printf(w, "hash", "%016llx", (unsigned long long)t->hash);
	jw_int(w, "style", t->style);
	jw_int(w, "count", t->count);
	jw_bool(w, "better", t->has_better);
	jw_end(w, '}');
}

static void told_load(struct told *t, const json *j)
{
	const char *hash = json_str(j, "hash");
	int64_t style = json_int(j, "style", 0);
	t->hash = hash ? strtoull(hash, NULL, 16) : 0;
	t->style = style > 0 && style <= STYLE_RESPONSE ? (enum style)style : STYLE_NONE;
	t->count = json_int(j, "count", 0);
	t->has_better = json_bool(j, "better", false);
}

static void reader_load(struct codex_reader *r, const json *j)
{
	const json *t = json_get(j, "tokens");
	const char *name;
	for (size_t i = 0; i + 1 < READER_STRINGS; i++) {
		char **value = reader_string(r, i, &name);
		set_str(value, json_str(j, name));
	}
	r->held_at = json_int(j, "held_at", 0);
	r->first_at = json_int(j, "first_at", 0);
	r->last_total = json_int(j, "last_total", 0);
	r->compactions = json_int(j, "compactions", 0);
	r->is_known = json_bool(j, "known", false);
	r->is_headless = json_bool(j, "headless", false);
	r->has_records = json_bool(j, "records", false);
	r->has_items = json_bool(j, "items", false);
	told_load(&r->prompts, json_get(j, "prompts"));
	told_load(&r->replies, json_get(j, "replies"));
	r->tokens = (struct token_use){ json_value_int(json_at(t, 0), 0),
		json_value_int(json_at(t, 1), 0), json_value_int(json_at(t, 2), 0),
		json_value_int(json_at(t, 3), 0) };
	pending_load(&r->pending, json_get(j, "pending"));
}

struct transcript_reader *codex_reader_new(const char *path, const char *state)
{
	struct codex_reader *r = mem_alloc(sizeof(*r));
	json *j = NULL;
	r->path = mem_strdup(path);
	if (state && *state && !json_parse(state, strlen(state), &j, NULL)) {
		reader_load(r, j);
		json_free(j);
	}
	return (struct transcript_reader *)r;
}

void codex_reader_save(const struct transcript_reader *reader, struct buf *out)
{
	struct codex_reader *r = (struct codex_reader *)(uintptr_t)reader;
	struct jw w = { .out = out };
	const char *name;
	jw_object(&w, NULL);
	for (size_t i = 0; i + 1 < READER_STRINGS; i++) {
		char **value = reader_string(r, i, &name);
		if (*value)
			jw_str(&w, name, *value);
	}
	jw_int(&w, "held_at", r->held_at);
	jw_int(&w, "first_at", r->first_at);
	jw_int(&w, "last_total", r->last_total);
	jw_int(&w, "compactions", r->compactions);
	jw_bool(&w, "known", r->is_known);
	jw_bool(&w, "headless", r->is_headless);
	jw_bool(&w, "records", r->has_records);
	jw_bool(&w, "items", r->has_items);
	told_print(&r->prompts, &w, "prompts");
	told_print(&r->replies, &w, "replies");
	jw_array(&w, "tokens");
	jw_int(&w, NULL, r->tokens.input);
	jw_int(&w, NULL, r->tokens.output);
	jw_int(&w, NULL, r->tokens.cache_read);
	jw_int(&w, NULL, r->tokens.cache_write);
	jw_end(&w, ']');
	pending_print(&r->pending, &w, "pending");
	jw_end(&w, '}');
}

void codex_reader_free(struct transcript_reader *reader)
{
	struct codex_reader *r = (struct codex_reader *)reader;
	const char *name;
	if (!r)
		return;
	for (size_t i = 0; i < READER_STRINGS; i++)
		free(*reader_string(r, i, &name));
	pending_done(&r->pending);
	free(r);
}

int codex_transcript_recognise(const char *path, const char *head, size_t len)
{
	static const char *const marks[] = { "\"session_meta\"", "\"response_item\"",
		"\"event_msg\"", "\"turn_context\"" };
	const char *base = path_base(path);
	struct str h = { head, len };
	bool is_named = str_starts(base, "rollout-") || strstr(path, "/.codex/");
	if (!str_ends(path, ".jsonl") || !len || head[0] != '{')
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(marks); i++)
		if (str_find(h, str_of(marks[i])) && str_find(h, STR("\"payload\"")))
			return is_named ? 95 : 80;
	if (is_named && str_find(h, STR("\"id\"")) && str_find(h, STR("\"timestamp\"")))
		return 60;
	return 0;
}
