/*
 * Codex CLI: its hooks, its answers, where its rollouts lie. The rollouts themselves are in
 * codex_rollout.c.
 */

#include <string.h>

#include "agents/captures.h"
#include "agents/codex_rollout.h"
#include "agents/codex_tool.h"
#include "agents/hooks.h"
#include "agents/rows.h"
#include "base/file.h"
#include "base/mem.h"

#define CODEX_ANSWER_MAX 10000 /* bytes; a longer answer is cut in its middle */

/* SessionEnd is capped at three seconds by the program. */
static const struct agent_hook codex_hooks[] = {
	{ .event = "SessionStart", .ask = ASK_START, .captures = true, .timeout_s = 10 },
	{ .event = "UserPromptSubmit", .ask = ASK_PROMPT, .captures = true, .timeout_s = 10 },
	{ .event = "PostToolUse", .captures = true, .timeout_s = 10 },
	{ .event = "Stop", .captures = true, .timeout_s = 10 },
	{ .event = "SubagentStop", .captures = true, .timeout_s = 10 },
	{ .event = "PreCompact", .captures = true, .timeout_s = 10 },
	{ .event = "PostCompact", .captures = true, .timeout_s = 10 },
	{ .event = "SessionEnd", .captures = true, .timeout_s = 3 },
	{ .event = NULL },
};

struct input {
	struct arena *a;
	const struct spool_header *h;
	const json *j;
	struct capture *c;
};

/* A sub-agent's turn is its parent's, which hooks do not name. */
static void set_turns(struct input *in)
{
	for (size_t i = 0; i < in->c->nevents; i++)
		if (!in->c->events[i].subagent)
			in->c->events[i].turn = capture_word(in->a, in->j, "turn_id");
}

static void read_start(struct input *in)
{
	hook_start(in->a, in->h, in->j, in->c);
}

static void read_end(struct input *in)
{
	hook_end(in->a, in->h, in->j, in->c);
}

/* Fires for the task that a sub-agent is given, too. */
static void read_prompt(struct input *in)
{
	struct str text = json_slice(json_get(in->j, "prompt"));
	if (!str_trim(text).n)
		return;
	struct captured_event *e = hook_event(in->a, in->h, in->j, in->c, EVENT_PROMPT);
	e->text = capture_copy(in->a, text);
	e->is_meta = e->subagent || codex_text_is_injected(text);
}

static void read_tool(struct input *in)
{
	const json *input = json_get(in->j, "tool_input");
	struct captured_event *e = hook_event(in->a, in->h, in->j, in->c, EVENT_TOOL);
	e->tool_use_id = capture_word(in->a, in->j, "tool_use_id");
	codex_hook_call(in->a, e, json_str(in->j, "tool_name"), input);
	codex_hook_response(in->a, e, input, json_get(in->j, "tool_response"));
}

static void read_stop(struct input *in)
{
	hook_reply(in->a, in->h, in->j, in->c);
	in->c->stops_turn = true;
}

static void read_subagent_stop(struct input *in)
{
	hook_reply(in->a, in->h, in->j, in->c);
	in->c->subagent_transcript = capture_word(in->a, in->j, "agent_transcript_path");
}

/* The summary stands in the rollout only. */
static void read_compaction(struct input *in)
{
	in->c->wants_transcript = true;
}

static const struct {
	const char *event;
	void (*read)(struct input *in);
} input_readers[] = {
	{ "SessionStart", read_start },
	{ "SessionEnd", read_end },
	{ "UserPromptSubmit", read_prompt },
	{ "PostToolUse", read_tool },
	{ "Stop", read_stop },
	{ "SubagentStop", read_subagent_stop },
	{ "PreCompact", read_compaction },
	{ "PostCompact", read_compaction },
};

static int codex_hook_read(struct arena *a, const struct spool_header *h, const json *payload,
	struct capture *ret, struct err *err)
{
	struct input in = { a, h, payload, ret };
	if (json_type(payload) != JSON_OBJECT)
		return err_set(err, ERR_USAGE, "the input of hook %s is no JSON object", h->event);
	if (!hook_session(a, h, payload, AGENT_CODEX, ret))
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(input_readers); i++)
		if (!strcmp(input_readers[i].event, h->event))
			input_readers[i].read(&in);
	set_turns(&in);
	return 0;
}

static void codex_ask_read(
	struct arena *a, const struct spool_header *h, const json *payload, struct ask *ret)
{
	const struct agent_hook *hook = agent_hook_find(&agent_codex, h->event);
	*ret = (struct ask){ .kind = ASK_NONE };
	if (!hook || hook->ask == ASK_NONE)
		return;
	hook_ask(a, h, payload, ret);
	if (!ret->agent_session || ret->subagent)
		return;
	if (hook->ask == ASK_PROMPT &&
		(!ret->prompt || codex_text_is_injected(str_of(ret->prompt))))
		return;
	ret->kind = hook->ask;
}

/*
 * One key that Codex does not know voids the whole answer: these two members are all that is ever
 * written.
 */
static void codex_answer(const char *event, const char *text, struct buf *out)
{
	const struct agent_hook *hook = agent_hook_find(&agent_codex, event);
	if (hook && hook->ask != ASK_NONE)
		hook_answer(event, text, CODEX_ANSWER_MAX, false, out);
}

static void codex_transcript_dirs(
	struct arena *a, const char *user_home, char ***ret_dirs, size_t *ret_n)
{
	const char *moved = getenv("CODEX_HOME");
	char **dirs = ARENA_ARRAY(a, char *, 4);
	size_t n = 0;
	if (moved && *moved) {
		dirs[n++] = path_join(a, moved, "sessions");
		dirs[n++] = path_join(a, moved, "archived_sessions");
	}
	if (user_home) {
		dirs[n++] = path_join(a, user_home, ".codex/sessions");
		dirs[n++] = path_join(a, user_home, ".codex/archived_sessions");
	}
	*ret_dirs = dirs;
	*ret_n = n;
}

const struct agent agent_codex = {
	.id = AGENT_CODEX,
	.name = "codex",
	.title = "Codex CLI",
	.hooks = codex_hooks,
	.hook_read = codex_hook_read,
	.ask_read = codex_ask_read,
	.answer = codex_answer,
	.transcript_dirs = codex_transcript_dirs,
	.transcript_recognise = codex_transcript_recognise,
	.line_is_wanted = codex_line_is_wanted,
	.reader_new = codex_reader_new,
	.reader_line = codex_reader_line,
	.reader_save = codex_reader_save,
	.reader_free = codex_reader_free,
};
