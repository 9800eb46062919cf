/*
 * Claude Code: its hooks, its answers, where its transcripts lie. The transcripts themselves are in
 * claude_transcript.c.
 */

#include "agents/rows.h"

#include <string.h>

#include "agents/captures.h"
#include "agents/claude_text.h"
#include "agents/claude_tool.h"
#include "agents/claude_transcript.h"
#include "agents/hooks.h"
#include "base/file.h"
#include "base/mem.h"

#define CLAUDE_ANSWER_MAX 10000 /* characters; a longer answer is replaced by a preview */

#define CLAUDE_ASKING_TOOLS "Read|Edit|MultiEdit|Write|NotebookEdit|Bash"

/* Hooks that capture take milliseconds; the time-outs are for a machine that stands still. */
static const struct agent_hook claude_hooks[] = {
	{ .event = "SessionStart", .ask = ASK_START, .captures = true, .timeout_s = 10 },
	{ .event = "UserPromptSubmit", .ask = ASK_PROMPT, .captures = true, .timeout_s = 10 },
	{ .event = "PreToolUse", .ask = ASK_FILE, .timeout_s = 5, .matcher = CLAUDE_ASKING_TOOLS },
	{ .event = "PostToolUse", .captures = true, .timeout_s = 10 },
	{ .event = "PostToolUseFailure", .ask = ASK_FAILURE, .captures = true, .timeout_s = 10 },
	{ .event = "Stop", .captures = true, .timeout_s = 10 },
	{ .event = "SubagentStop", .captures = true, .timeout_s = 10 },
	{ .event = "PreCompact", .captures = true, .timeout_s = 10 },
	{ .event = "PostCompact", .captures = true, .timeout_s = 10 },
	{ .event = "SessionEnd", .captures = true, .timeout_s = 10 },
	{ .event = NULL },
};

/* A hook's input in hand. */
struct input {
	struct arena *a;
	const struct spool_header *h;
	const json *j;
	struct capture *c;
};

static struct captured_event *input_event(struct input *in, enum event_kind kind)
{
	struct captured_event *e = hook_event(in->a, in->h, in->j, in->c, kind);
	e->turn = capture_word(in->a, in->j, "prompt_id");
	return e;
}

static void read_start(struct input *in)
{
	hook_start(in->a, in->h, in->j, in->c);
}

static void read_end(struct input *in)
{
	hook_end(in->a, in->h, in->j, in->c);
}

static void read_prompt(struct input *in)
{
	struct str text;
	enum claude_text_kind kind =
		claude_text_judge(in->a, json_slice(json_get(in->j, "prompt")), &text);
	if (kind == CLAUDE_TEXT_NOISE)
		return;
	struct captured_event *e = input_event(in, EVENT_PROMPT);
	e->text = text;
	e->is_meta = kind != CLAUDE_TEXT_TYPED || e->subagent;
}

static struct captured_event *input_tool(struct input *in)
{
	const char *name = json_str(in->j, "tool_name");
	struct captured_event *e = input_event(in, EVENT_TOOL);
	e->tool_use_id = capture_word(in->a, in->j, "tool_use_id");
	claude_tool_call(in->a, e, name ? name : "unknown", json_get(in->j, "tool_input"));
	return e;
}

static void read_tool(struct input *in)
{
	struct claude_result r = {
		.response = json_get(in->j, "tool_response"),
		.input = json_get(in->j, "tool_input"),
	};
	claude_tool_result(in->a, input_tool(in), &r);
}

static void read_failure(struct input *in)
{
	struct claude_result r = { .response = json_get(in->j, "error"), .is_error = true };
	claude_tool_result(in->a, input_tool(in), &r);
}

static void set_turns(struct input *in)
{
	for (size_t i = 0; i < in->c->nevents; i++)
		in->c->events[i].turn = capture_word(in->a, in->j, "prompt_id");
}

static void read_stop(struct input *in)
{
	hook_reply(in->a, in->h, in->j, in->c);
	set_turns(in);
	in->c->stops_turn = true;
}

/*
 * The agent that compacts is a sub-agent without a type: its message is the summary, which
 * PostCompact tells.
 */
static void read_subagent_stop(struct input *in)
{
	const char *type = json_str(in->j, "agent_type");
	if (type && !*type)
		return;
	hook_reply(in->a, in->h, in->j, in->c);
	set_turns(in);
	in->c->subagent_transcript = capture_word(in->a, in->j, "agent_transcript_path");
}

static void read_before_compaction(struct input *in)
{
	in->c->wants_transcript = true;
}

static void read_compaction(struct input *in)
{
	struct str text =
		claude_text_summary(in->a, json_slice(json_get(in->j, "compact_summary")));
	in->c->wants_transcript = true;
	if (!text.n)
		return;
	struct captured_event *e = input_event(in, EVENT_COMPACTION);
	e->text = text;
	e->is_meta = true;
}

static const struct {
	const char *event;
	void (*read)(struct input *in);
} input_readers[] = {
	{ "SessionStart", read_start },
	{ "SessionEnd", read_end },
	{ "UserPromptSubmit", read_prompt },
	{ "PostToolUse", read_tool },
	{ "PostToolUseFailure", read_failure },
	{ "Stop", read_stop },
	{ "SubagentStop", read_subagent_stop },
	{ "PreCompact", read_before_compaction },
	{ "PostCompact", read_compaction },
};

static int claude_hook_read(struct arena *a, const struct spool_header *h, const json *payload,
	struct capture *ret, struct err *err)
{
	struct input in = { a, h, payload, ret };
	if (json_type(payload) != JSON_OBJECT)
		return err_set(err, ERR_USAGE, "the input of hook %s is no JSON object", h->event);
	if (!hook_session(a, h, payload, AGENT_CLAUDE, ret))
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(input_readers); i++)
		if (!strcmp(input_readers[i].event, h->event))
			input_readers[i].read(&in);
	return 0;
}

/* What a tool call asks for; a tool that is not here asks for nothing. */
static const struct {
	const char *tool, *member;
	enum ask_kind kind;
} asking_tools[] = {
	{ "Read", "file_path", ASK_FILE },
	{ "Edit", "file_path", ASK_EDIT },
	{ "MultiEdit", "file_path", ASK_EDIT },
	{ "Write", "file_path", ASK_EDIT },
	{ "NotebookEdit", "notebook_path", ASK_EDIT },
	{ "Bash", "command", ASK_COMMAND },
};

static void ask_of_tool(struct arena *a, const json *payload, struct ask *ret)
{
	const char *tool = json_str(payload, "tool_name");
	const json *input = json_get(payload, "tool_input");

	for (size_t i = 0; tool && i < ARRAY_LEN(asking_tools); i++) {
		if (strcmp(tool, asking_tools[i].tool))
			continue;
		const char *value = arena_str(a, json_str(input, asking_tools[i].member));
		bool is_command = asking_tools[i].kind == ASK_COMMAND;
		*(is_command ? &ret->command : &ret->file) = value;
		if (value && *value)
			ret->kind = asking_tools[i].kind;
	}
}

static void ask_of_failure(struct arena *a, const json *payload, struct ask *ret)
{
	ask_of_tool(a, payload, ret);
	ret->error = arena_str(a, json_str(payload, "error"));
	ret->kind = ret->kind == ASK_COMMAND && ret->error ? ASK_FAILURE : ASK_NONE;
}

static void claude_ask_read(
	struct arena *a, const struct spool_header *h, const json *payload, struct ask *ret)
{
	const struct agent_hook *hook = agent_hook_find(&agent_claude, h->event);
	struct str text;
	*ret = (struct ask){ .kind = ASK_NONE };
	if (!hook || hook->ask == ASK_NONE)
		return;
	hook_ask(a, h, payload, ret);
	if (!ret->agent_session || ret->subagent)
		return;
	if (hook->ask == ASK_PROMPT && (!ret->prompt || claude_text_judge(a, str_of(ret->prompt),
								&text) != CLAUDE_TEXT_TYPED))
		return;
	if (hook->ask == ASK_FILE)
		ask_of_tool(a, payload, ret);
	else if (hook->ask == ASK_FAILURE)
		ask_of_failure(a, payload, ret);
	else
		ret->kind = hook->ask;
}

static void claude_answer(const char *event, const char *text, struct buf *out)
{
	const struct agent_hook *hook = agent_hook_find(&agent_claude, event);
	if (hook && hook->ask != ASK_NONE)
		hook_answer(event, text, CLAUDE_ANSWER_MAX, true, out);
}

static void claude_transcript_dirs(
	struct arena *a, const char *user_home, char ***ret_dirs, size_t *ret_n)
{
	const char *moved = getenv("CLAUDE_CONFIG_DIR");
	char **dirs = ARENA_ARRAY(a, char *, 3);
	size_t n = 0;
	if (moved && *moved)
		dirs[n++] = path_join(a, moved, "projects");
	if (user_home)
		dirs[n++] = path_join(a, user_home, ".claude/projects");
	if (user_home)
		dirs[n++] = path_join(a, user_home, ".config/claude/projects");
	*ret_dirs = dirs;
	*ret_n = n;
}

const struct agent agent_claude = {
	.id = AGENT_CLAUDE,
	.name = "claude",
	.title = "Claude Code",
	.hooks = claude_hooks,
	.hook_read = claude_hook_read,
	.ask_read = claude_ask_read,
	.answer = claude_answer,
	.transcript_dirs = claude_transcript_dirs,
	.transcript_recognise = claude_transcript_recognise,
	.line_is_wanted = claude_line_is_wanted,
	.reader_new = claude_reader_new,
	.reader_line = claude_reader_line,
	.reader_save = claude_reader_save,
	.reader_free = claude_reader_free,
};
