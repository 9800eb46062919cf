/*
 * Codex CLI: its hooks, its answers, where its rollouts lie. The rollouts themselves are in
 * codex_rollout.c.
 */

#include <string.h>

#include "agents/captures.h"
#include "agents/codex_rollout.h"
#include "agents/codex_tool.h"
#include "agents/diff.h"
#include "agents/hooks.h"
#include "agents/rows.h"
#include "base/file.h"
#include "base/mem.h"

#define CODEX_ANSWER_MAX 10000 /* bytes; a longer answer is cut in its middle */

#define CODEX_ASKING_TOOLS "Bash|apply_patch"

/*
 * A command that failed is told like one that passed, without its exit code: it is asked about when
 * its output reads like a failure.
 */
static const char *const failure_marks[] = { "rror", "ailed", "FAIL", "atal", "not found", "enied",
	"rejected", "panic", "annot ", "ould not", "undefined", "unbound", "issing", "xception",
	"in use", "no space", NULL };

/* SessionEnd is capped at three seconds by the program. */
static const struct agent_hook codex_hooks[] = {
	{ .event = "SessionStart", .ask = ASK_START, .captures = true, .timeout_s = 10 },
	{ .event = "UserPromptSubmit", .ask = ASK_PROMPT, .captures = true, .timeout_s = 10 },
	{ .event = "PreToolUse", .ask = ASK_FILE, .timeout_s = 5, .matcher = CODEX_ASKING_TOOLS },
	{ .event = "PostToolUse",
		.ask = ASK_FAILURE,
		.captures = true,
		.timeout_s = 10,
		.marks = failure_marks },
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

/* What Codex reads files with: it has no tool for that. */
static const char *const readers[] = { "cat", "nl", "head", "tail", "less", "bat", "sed" };

static bool is_reader(struct str word)
{
	for (size_t i = 0; i < ARRAY_LEN(readers); i++)
		if (str_is(word, readers[i]))
			return true;
	return false;
}

/* "sed -n 1,200p src/a.c": the file that a plain command shows; NULL when it does something else. */
static const char *file_shown(struct arena *a, const char *command, const char *cwd)
{
	struct str rest = str_trim(str_of(command)), first = { 0 }, word, last = { 0 };
	size_t n = 0;
	bool is_quiet = false;

	if (strpbrk(command, "|;&<>$`*?{}()\n"))
		return NULL;
	while (str_split(&rest, ' ', &word)) {
		if (!word.n)
			continue;
		if (!n++)
			first = word;
		is_quiet |= str_is(word, "-n");
		last = word;
	}
	if (n < 2 || !is_reader(first) || (str_is(first, "sed") && (!is_quiet || n < 4)))
		return NULL;
	if (last.n > 2 && strchr("'\"", last.p[0]) && last.p[last.n - 1] == last.p[0])
		last = (struct str){ last.p + 1, last.n - 2 };
	if (!last.n || last.p[0] == '-' ||
		!(memchr(last.p, '.', last.n) || memchr(last.p, '/', last.n)))
		return NULL;
	return path_clean(a, cwd ? cwd : "/", arena_dup(a, last.p, last.n));
}

/* The first file that a patch changes. */
static const char *file_patched(struct arena *a, const char *patch, const char *cwd)
{
	struct captured_event e = { .cwd = cwd };

	diff_patch_files(a, str_of(patch), &e);
	return e.nfiles ? e.files[0] : NULL;
}

static void ask_of_call(struct arena *a, const json *payload, struct ask *ret)
{
	const char *tool = json_str(payload, "tool_name");
	const char *text = json_str(json_get(payload, "tool_input"), "command");

	if (!tool || !text || !*text)
		return;
	text = arena_str(a, text);
	if (!strcmp(tool, "apply_patch") || strstr(text, "*** Begin Patch")) {
		ret->file = file_patched(a, text, ret->cwd);
		ret->kind = ret->file ? ASK_EDIT : ASK_NONE;
	} else if (!strcmp(tool, "Bash")) {
		ret->file = file_shown(a, text, ret->cwd);
		ret->command = text;
		ret->kind = ret->file ? ASK_FILE : ASK_COMMAND;
	}
}

static void ask_of_output(struct arena *a, const json *payload, struct ask *ret)
{
	ask_of_call(a, payload, ret);
	ret->error = capture_word(a, payload, "tool_response");
	ret->kind = ret->kind == ASK_COMMAND && ret->error ? ASK_FAILURE : ASK_NONE;
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
	if (hook->ask == ASK_FILE)
		ask_of_call(a, payload, ret);
	else if (hook->ask == ASK_FAILURE)
		ask_of_output(a, payload, ret);
	else
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
