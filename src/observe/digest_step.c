/*
 * Events in words. Models write "the user ran" where nobody says who did it, so every line names
 * its actor: the person, the assistant, a sub-agent. Outcomes are words too.
 */
#include "observe/digest_step.h"

#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"

#define HEAD_MAX 200  /* bytes of what was run, searched or asked */
#define NAMES_MAX 8   /* files named in one line */
#define INPUT_MAX 300 /* of a tool that is not known */
#define PATH_TAIL 90

const struct step_info step_infos[STEP_COUNT] = {
	[STEP_LOOK] = { 0, 160, 0 },
	[STEP_SAID] = { 160, 500, 1 },
	[STEP_OTHER] = { 0, 300, 1 },
	[STEP_RUN] = { 80, 400, 2 },
	[STEP_CHECK] = { 120, 500, 3 },
	[STEP_REPORT] = { 300, 1800, 3 },
	[STEP_EDIT] = { 160, 1200, 3 },
	[STEP_FAILED] = { 200, 900, 3 },
	[STEP_PERSON] = { 300, 1500, 4 },
};

/* Tools that keep the agent's own books. */
static const char *const book_tools[] = { "TodoWrite", "TodoRead", "TaskCreate", "TaskUpdate",
	"TaskList", "TaskGet", "update_plan", "ToolSearch", "EnterPlanMode", "BashOutput",
	"KillBash", "KillShell", "Skill" };
static const char *const shell_tools[] = { "Bash", "bash", "shell", "exec_command", "shell_command",
	"local_shell", "local_shell_call", "Execute", "run_shell_command", "container.exec",
	"write_stdin" };
static const char *const agent_tools[] = { "Task", "Agent", "TaskOutput", "wait_agent", "wait",
	"spawn_agent" };

/* What is looked at with a tool: the member of its input that tells, and how to say it. */
static const struct look_tool {
	const char *tool, *member, *said;
} look_tools[] = {
	{ "Grep", "pattern", "searched for" },
	{ "grep_files", "pattern", "searched for" },
	{ "Glob", "pattern", "listed files like" },
	{ "LS", "path", "listed" },
	{ "list_dir", "dir_path", "listed" },
	{ "LSP", "operation", "asked the language server for" },
};
/* The same, but what came back is from outside and may matter. */
static const struct look_tool fetch_tools[] = {
	{ "WebFetch", "url", "fetched" },
	{ "WebSearch", "query", "searched the web for" },
};

static const char *actor(const struct event *e)
{
	return e->subagent ? "A sub-agent" : "The assistant";
}

static bool has_failed(const struct event *e)
{
	return e->status == STATUS_FAILED || (e->status != STATUS_DENIED && e->exit_code > 0);
}

static const char *outcome(struct arena *a, const struct event *e)
{
	if (has_failed(e))
		return e->exit_code > 0 ? arena_printf(a, " → failed, exit %d", e->exit_code)
					: " → failed";
	if (e->exit_code == 0)
		return " → exit 0";
	return e->status == STATUS_OK ? "" : " → outcome not known";
}

/* ---- what a tool was given ---- */

/* A member of the input as text; NULL. */
static const char *input_member(
	struct arena *a, const struct event *e, const char *const *names, size_t n)
{
	json *j = NULL;
	const char *ret = NULL;

	if (!e->input || json_parse(e->input, strlen(e->input), &j, NULL) < 0)
		return NULL;
	for (size_t i = 0; i < n && !ret; i++) {
		const json *value = json_get(j, names[i]);

		if (json_type(value) == JSON_ARRAY && json_len(value))
			value = json_at(value, json_len(value) - 1);
		ret = json_value_str(value);
	}
	ret = ret ? arena_str(a, ret) : NULL;
	json_free(j);
	return ret;
}

static const char *input_one(struct arena *a, const struct event *e, const char *name)
{
	return input_member(a, e, &name, 1);
}

static const char *in_quotes(struct arena *a, const char *text)
{
	return arena_printf(a, "`%s`", one_line(a, str_of(text ? text : ""), HEAD_MAX));
}

static const struct command *command_find(const struct turn_view *v, const struct event *e)
{
	for (size_t i = 0; i < v->ncommands; i++)
		if (v->commands[i].event == e)
			return &v->commands[i];
	return NULL;
}

static const char *file_names(struct turn_view *v, const struct event *e)
{
	AUTO(buf_done) struct buf out = { 0 };

	for (size_t i = 0; i < e->nfiles && i < NAMES_MAX; i++)
		buf_printf(&out, "%s%s", i ? ", " : "", turn_path(v, e, e->files[i]));
	if (e->nfiles > NAMES_MAX)
		buf_str(&out, " and others");
	return arena_dup(v->a, buf_cstr(&out), out.len);
}

/* ---- diffs ---- */

static bool starts(struct str line, const char *with)
{
	size_t n = strlen(with);

	return line.n >= n && memcmp(line.p, with, n) == 0;
}

/* Without the names of files, which the head says, and without what did not change. */
static struct str diff_lines(struct arena *a, struct str diff)
{
	static const char *const noise[] = { "diff --git", "index ", "--- ", "+++ ",
		"\\ No newline", "new file mode" };
	AUTO(buf_done) struct buf out = { 0 };
	struct str rest = diff, line;

	while (str_line(&rest, &line) && out.len < SQUEEZE_MAX) {
		bool is_noise = line.n < 2 || line.p[0] == ' ';

		for (size_t i = 0; i < ARRAY_LEN(noise) && !is_noise; i++)
			is_noise = starts(line, noise[i]);
		if (starts(line, "@@")) {
			/* What git says behind the second mark names the function. */
			const char *at =
				str_find((struct str){ line.p + 2, line.n - 2 }, STR("@@"));

			line = at ? (struct str){ at, (size_t)(line.p + line.n - at) } : line;
			is_noise = line.n <= 3;
		}
		if (is_noise)
			continue;
		buf_add(&out, line.p, line.n);
		buf_char(&out, '\n');
	}
	return (struct str){ arena_dup(a, buf_cstr(&out), out.len), out.len };
}

/* Where the agent tells no diff: what its input says. */
static struct str edit_text(struct arena *a, const struct event *e)
{
	static const char *const olds[] = { "old_string", "old_str" };
	static const char *const news[] = { "new_string", "new_str", "content", "file_text",
		"patch", "input", "new_source" };
	const char *was = input_member(a, e, olds, ARRAY_LEN(olds)),
		   *is = input_member(a, e, news, ARRAY_LEN(news));

	if (e->diff && *e->diff)
		return diff_lines(a, str_of(e->diff));
	if (was)
		return str_of(arena_printf(a, "was:\n%s\nis now:\n%s", was, is ? is : ""));
	return str_of(is);
}

/* ---- steps ---- */

static struct step *add(struct turn_view *v, struct steps *s, enum step_kind kind, size_t order)
{
	struct step fresh = { .kind = kind, .order = order, .is_shown = true, .body = { "", 0 } };

	ARENA_PUSH(v->a, s->items, s->n, s->cap, fresh);
	return &s->items[s->n - 1];
}

static void quote_output(struct turn_view *v, struct step *s, const struct event *e)
{
	s->body = text_quote(v->a, str_of(e->output), LINE_OUTPUT);
}

static void add_denied(struct turn_view *v, struct steps *s, const struct event *e, size_t order)
{
	static const char *const names[] = { "command", "cmd", "file_path", "path", "url", "plan" };
	const char *what = input_member(v->a, e, names, ARRAY_LEN(names));
	struct step *step = add(v, s, STEP_PERSON, order);

	step->head = arena_printf(v->a, "The person refused a step of the assistant (%s%s%s):",
		e->tool ? e->tool : "a tool", what ? " " : "", what ? in_quotes(v->a, what) : "");
	quote_output(v, step, e);
}

static void add_command(struct turn_view *v, struct steps *s, const struct event *e, size_t order)
{
	static const char *const names[] = { "command", "cmd", "chars" };
	const struct command *c = command_find(v, e);
	const char *text = c ? c->text : input_member(v->a, e, names, ARRAY_LEN(names));
	bool looks = c ? !c->is_telling : e->exit_code == 0;
	struct step *step = add(v, s,
		has_failed(e) || (c && c->failed) ? (looks ? STEP_OTHER : STEP_FAILED)
		: c && c->is_check                ? STEP_CHECK
		: looks                           ? STEP_LOOK
						  : STEP_RUN,
		order);
	const char *how = c && c->failed && !has_failed(e) ? " → failed" : outcome(v->a, e);

	step->head =
		arena_printf(v->a, "%s ran %s%s", actor(e), in_quotes(v->a, text ? text : ""), how);
	quote_output(v, step, e);
}

static bool add_look(struct turn_view *v, struct steps *s, const struct event *e, size_t order,
	const struct look_tool *t)
{
	const char *what = input_one(v->a, e, t->member);
	struct step *step;

	if (!e->tool || strcmp(e->tool, t->tool) != 0)
		return false;
	step = add(v, s, STEP_LOOK, order);
	step->head = arena_printf(v->a, "%s %s %s%s", actor(e), t->said,
		in_quotes(v->a, what ? what : "something"), has_failed(e) ? " → failed" : "");
	quote_output(v, step, e);
	return true;
}

/* "The assistant read a.c, b.c": one line for all in a row. */
static void add_read(struct turn_view *v, struct steps *s, const struct event *e, size_t order)
{
	struct step *last = s->n ? &s->items[s->n - 1] : NULL;
	const char *begin = arena_printf(v->a, "%s read ", actor(e));
	const char *names = file_names(v, e);

	if (last && last->kind == STEP_LOOK && !last->body.n && str_starts(last->head, begin)) {
		if (strlen(last->head) + strlen(names) < 2 * HEAD_MAX && !strstr(last->head, names))
			last->head = arena_printf(v->a, "%s, %s", last->head, names);
		return;
	}
	add(v, s, STEP_LOOK, order)->head = arena_printf(v->a, "%s%s", begin, names);
}

static void add_edit(struct turn_view *v, struct steps *s, const struct event *e, size_t order)
{
	bool is_new = e->tool && strcmp(e->tool, "Write") == 0 && e->output &&
		      strstr(e->output, "created");
	struct step *step = add(v, s, has_failed(e) ? STEP_FAILED : STEP_EDIT, order);

	step->head = arena_printf(v->a, "%s %s %s%s:", actor(e),
		has_failed(e) ? "tried to edit"
		: is_new      ? "made the new file"
			      : "edited",
		file_names(v, e), has_failed(e) ? " → failed" : "");
	if (has_failed(e))
		quote_output(v, step, e);
	else
		step->body = text_quote(v->a, edit_text(v->a, e), LINE_OUTPUT);
}

static void add_delegated(struct turn_view *v, struct steps *s, const struct event *e, size_t order)
{
	static const char *const names[] = { "description", "prompt" };
	const char *task = e->text ? e->text : input_member(v->a, e, names, ARRAY_LEN(names));
	struct step *step = add(v, s, has_failed(e) ? STEP_FAILED : STEP_REPORT, order);

	step->head = arena_printf(v->a, "%s had a sub-agent do %s; its report:", actor(e),
		in_quotes(v->a, task ? task : "a task"));
	step->body = text_quote(v->a, str_of(e->output), LINE_PROSE);
}

static void add_other(struct turn_view *v, struct steps *s, const struct event *e, size_t order)
{
	struct step *step = add(v, s, has_failed(e) ? STEP_FAILED : STEP_OTHER, order);

	step->head = arena_printf(v->a, "%s called %s%s%s", actor(e), e->tool ? e->tool : "a tool",
		e->input ? " with " : "",
		e->input ? one_line(v->a, str_of(e->input), INPUT_MAX) : "");
	step->head = arena_printf(v->a, "%s%s", step->head, has_failed(e) ? " → failed" : "");
	quote_output(v, step, e);
}

static bool add_by_table(struct turn_view *v, struct steps *s, const struct event *e, size_t order)
{
	for (size_t i = 0; i < ARRAY_LEN(look_tools); i++)
		if (add_look(v, s, e, order, &look_tools[i]))
			return true;
	for (size_t i = 0; i < ARRAY_LEN(fetch_tools); i++)
		if (add_look(v, s, e, order, &fetch_tools[i])) {
			s->items[s->n - 1].kind = STEP_OTHER;
			return true;
		}
	return false;
}

static void add_answer(struct turn_view *v, struct steps *s, const struct event *e, size_t order)
{
	struct step *step = add(v, s, STEP_PERSON, order);

	step->head = "The assistant asked the person, who answered:";
	step->body = text_quote(v->a, str_of(e->output), LINE_PROSE);
}

static void add_tool(struct turn_view *v, struct steps *s, const struct event *e, size_t order)
{
	if (name_is_any(e->tool, book_tools, ARRAY_LEN(book_tools)))
		return;
	if (e->status == STATUS_DENIED)
		add_denied(v, s, e, order);
	else if (e->tool && strcmp(e->tool, "AskUserQuestion") == 0)
		add_answer(v, s, e, order);
	else if (name_is_any(e->tool, shell_tools, ARRAY_LEN(shell_tools)))
		add_command(v, s, e, order);
	else if (name_is_any(e->tool, agent_tools, ARRAY_LEN(agent_tools)))
		add_delegated(v, s, e, order);
	else if (e->writes_files && e->nfiles)
		add_edit(v, s, e, order);
	else if (add_by_table(v, s, e, order))
		return;
	else if (e->nfiles && !has_failed(e))
		add_read(v, s, e, order);
	else
		add_other(v, s, e, order);
}

static void add_said(struct turn_view *v, struct steps *s, const struct event *e, size_t order)
{
	struct step *step;

	if (!e->text || !*e->text || e == v->reply)
		return;
	step = add(v, s, STEP_SAID, order);
	step->head = arena_printf(v->a, "%s said:", actor(e));
	step->body = text_quote(v->a, str_of(e->text), LINE_PROSE);
}

static void add_prompt(struct turn_view *v, struct steps *s, const struct event *e, size_t order)
{
	struct step *step;

	if (!e->text || !*e->text || e == v->prompt)
		return;
	/* Nobody typed it: the beginning tells what it is. */
	step = add(v, s, e->is_meta || e->subagent ? STEP_OTHER : STEP_PERSON, order);
	step->head = e->subagent  ? "The assistant told a sub-agent:"
		     : e->is_meta ? "Inserted by the agent's program, typed by nobody:"
				  : "The person added:";
	step->body = text_quote(v->a, str_of(e->text), LINE_PROSE);
}

void steps_make(struct turn_view *v, struct steps *ret)
{
	*ret = (struct steps){ 0 };
	for (size_t i = 0; i < v->in->n; i++) {
		const struct event *e = &v->in->events[i];

		if (e->kind == EVENT_TOOL)
			add_tool(v, ret, e, i);
		else if (e->kind == EVENT_REPLY)
			add_said(v, ret, e, i);
		else if (e->kind == EVENT_PROMPT)
			add_prompt(v, ret, e, i);
	}
}
