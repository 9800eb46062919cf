/*
 * Codex tells a command three times: the model's call, the program's own record (exit code, whole
 * output, diffs) and the text that the model saw, with a header of a few lines. Each is read here
 * into the same event.
 */

#include "agents/codex_tool.h"

#include <string.h>

#include "agents/captures.h"
#include "agents/diff.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"

#define OUTPUT_HEAD_MAX 600 /* bytes in which a header of an output ends */

static bool str_begins(struct str s, const char *start)
{
	size_t n = strlen(start);
	return s.n >= n && !memcmp(s.p, start, n);
}

static bool any_begins(struct str s, const char *const *starts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (str_begins(s, starts[i]))
			return true;
	return false;
}

bool codex_text_is_injected(struct str text)
{
	static const char *const starts[] = { "# AGENTS.md instructions", "<environment_context>",
		"<user_instructions>", "<INSTRUCTIONS>", "<permissions instructions>",
		"<turn_aborted>", "<skill>", "<subagent_notification>", "<user_shell_command>",
		"<hook_prompt", "<collaboration_mode>", "<apps_instructions>",
		"<plugins_instructions>", "<skills_instructions>", "<goal_context>",
		"<user_action>", "<ide_context>", "<personality_spec>", "<model_switch>",
		"<memory_tool", "<recommended_plugins>",
		"Another language model started to solve this problem" };
	return any_begins(str_trim(text), starts, ARRAY_LEN(starts));
}

/* ["bash", "-lc", "X"] is X; other lists are joined by spaces. */
static struct str command_text(struct arena *a, const json *command)
{
	if (json_type(command) == JSON_STRING)
		return capture_text(a, command);
	size_t n = json_len(command);
	const char *flag = n == 3 ? json_value_str(json_at(command, 1)) : NULL;
	if (flag && (!strcmp(flag, "-lc") || !strcmp(flag, "-c")))
		return capture_text(a, json_at(command, 2));
	AUTO(buf_done) struct buf b = { 0 };
	for (size_t i = 0; i < n; i++) {
		struct str part = json_slice(json_at(command, i));
		if (i)
			buf_char(&b, ' ');
		buf_add(&b, part.p ? part.p : "", part.n);
	}
	return capture_copy(a, (struct str){ buf_cstr(&b), b.len });
}

static void set_input(struct arena *a, struct captured_event *e, const char *key, struct str text,
	const char *folder)
{
	AUTO(buf_done) struct buf b = { 0 };
	struct jw w = { .out = &b };
	if (text.n > CAPTURE_INPUT_MAX) {
		e->true_size = MAX(e->true_size, text.n);
		text = utf8_head_tail(a, text, CAPTURE_INPUT_MAX);
	}
	jw_object(&w, NULL);
	jw_slice(&w, key, text);
	if (folder && *folder && (!e->cwd || strcmp(folder, e->cwd)))
		jw_str(&w, "workdir", folder);
	jw_end(&w, '}');
	e->input = capture_copy(a, (struct str){ buf_cstr(&b), b.len });
}

/* Files that a patch names are relative to the folder the call runs in. */
static void call_files(
	struct arena *a, struct captured_event *e, struct str patch, const char *folder)
{
	const char *cwd = e->cwd;
	if (folder && *folder)
		e->cwd = cwd ? path_clean(a, cwd, folder) : folder;
	diff_patch_files(a, patch, e);
	e->cwd = cwd;
}

static void call_shell(
	struct arena *a, struct captured_event *e, struct str command, const char *folder)
{
	e->tool = "Bash";
	set_input(a, e, "command", command, folder);
	if (str_find(command, STR("apply_patch")))
		call_files(a, e, command, folder);
}

static void call_patch(
	struct arena *a, struct captured_event *e, struct str patch, const char *folder)
{
	e->tool = "apply_patch";
	set_input(a, e, "command", patch, NULL);
	call_files(a, e, patch, folder);
}

static bool is_shell(const char *name)
{
	static const char *const names[] = { "exec_command", "shell", "shell_command", "Bash",
		"container.exec", "unified_exec", "local_shell" };
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

/* The first of these members that is there. */
static const json *any_member(const json *j, const char *const *keys, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const json *member = json_get(j, keys[i]);
		if (json_type(member) != JSON_NULL)
			return member;
	}
	return NULL;
}

static const char *const command_keys[] = { "command", "cmd", "input", "patch" };

static void call_named(
	struct arena *a, struct captured_event *e, const char *name, const json *arguments)
{
	const json *command =
		json_type(arguments) == JSON_STRING
			? arguments
			: any_member(arguments, command_keys, ARRAY_LEN(command_keys));
	const char *folder = json_str(arguments, "workdir");
	const char *first = json_value_str(json_at(command, 0));
	if (!strcmp(name, "apply_patch")) {
		call_patch(a, e, command_text(a, command), folder);
	} else if (is_shell(name) && first && !strcmp(first, "apply_patch")) {
		call_patch(a, e, capture_text(a, json_at(command, 1)), folder);
	} else if (is_shell(name)) {
		call_shell(a, e, command_text(a, command), folder);
	} else {
		e->tool = arena_str(a, name);
		e->input = capture_input(a, arguments, &e->true_size);
		e->text = capture_description(a, arguments);
		if (!strcmp(name, "view_image"))
			capture_file(a, e, json_str(arguments, "path"), false);
	}
}

void codex_call(struct arena *a, struct captured_event *e, const json *payload)
{
	static const char *const keys[] = { "arguments", "input", "action" };
	const char *type = json_str(payload, "type");
	const char *name = json_str(payload, "name"), *space = json_str(payload, "namespace");
	const json *arguments = any_member(payload, keys, ARRAY_LEN(keys));
	struct str text = json_slice(arguments);
	json *parsed = NULL;
	if (type && !strcmp(type, "local_shell_call"))
		name = "local_shell";
	if (!name)
		name = "unknown";
	if (space && str_starts(space, "mcp__"))
		name = arena_printf(a, "%s__%s", space, name);
	if (text.n && text.p[0] == '{' && !json_parse(text.p, text.n, &parsed, NULL))
		arguments = parsed;
	call_named(a, e, name, arguments);
	json_free(parsed);
}

bool codex_call_is_stdin(const json *payload, int64_t *ret_process, bool *ret_is_poll)
{
	const char *name = json_str(payload, "name");
	struct str text = json_slice(json_get(payload, "arguments"));
	json *j = NULL;
	if (!name || strcmp(name, "write_stdin") ||
		json_parse(text.n ? text.p : "", text.n, &j, NULL))
		return false;
	*ret_process = json_int(j, "session_id", 0);
	*ret_is_poll = !json_slice(json_get(j, "chars")).n;
	json_free(j);
	return *ret_process > 0;
}

void codex_hook_call(struct arena *a, struct captured_event *e, const char *name, const json *input)
{
	call_named(a, e, name ? name : "unknown", input);
}

static int number_after(struct str s, const char *mark)
{
	const char *at = str_find(s, str_of(mark));
	if (!at)
		return -1;
	at += strlen(mark);
	int n = 0;
	const char *from = at, *end = s.p + s.n;
	while (at < end && *at >= '0' && *at <= '9' && n < 100000)
		n = n * 10 + (*at++ - '0');
	return at == from ? -1 : n;
}

/*
 * Results that were refused, and those that failed without an exit code, by how their text starts.
 */
static const char *const refused_starts[] = { "exec command rejected by user",
	"patch rejected by user", "rejected by user", "Command blocked by", "user rejected",
	"exec_command failed: Rejected" };
static const char *const failed_starts[] = { "apply_patch verification failed",
	"unsupported custom tool call", "unsupported call", "execution error",
	"exec_command failed", "write_stdin failed", "failed to ", "tool call error",
	"error: ", "Error: ", "aborted" };

/*
 * Takes the header off an output and reads exit code and status. Returns the number of the process
 * while it still runs.
 */
static int64_t read_output(struct arena *a, struct captured_event *e, struct str s)
{
	static const char *const heads[] = { "Chunk ID: ", "Exit code: ", "Wall time: ",
		"Process exited with code ", "Total output lines: ", "Session ID: " };
	struct str head = { s.p, MIN(s.n, (size_t)OUTPUT_HEAD_MAX) };
	int process = 0;
	const char *mark =
		any_begins(s, heads, ARRAY_LEN(heads)) ? str_find(head, STR("\nOutput:")) : NULL;
	if (mark) {
		head.n = (size_t)(mark - s.p);
		e->exit_code = number_after(head, "exited with code ");
		if (e->exit_code < 0)
			e->exit_code = number_after(head, "Exit code: ");
		if (e->exit_code < 0)
			process = MAX(number_after(head, "Process running with session ID "), 0);
		const char *from = mark + 8;
		s = (struct str){ from, (size_t)(s.p + s.n - from) };
		if (s.n && s.p[0] == '\n')
			s = (struct str){ s.p + 1, s.n - 1 };
	}
	e->output = capture_copy(a, s);
	if (e->exit_code >= 0)
		e->status = e->exit_code ? STATUS_FAILED : STATUS_OK;
	else if (any_begins(s, refused_starts, ARRAY_LEN(refused_starts)))
		e->status = STATUS_DENIED;
	else if (!mark && any_begins(s, failed_starts, ARRAY_LEN(failed_starts)))
		e->status = STATUS_FAILED;
	else if (!process && !(e->tool && !strcmp(e->tool, "Bash")))
		e->status = STATUS_OK;
	return process;
}

/* Until 0.40: {"output": "…", "metadata": {"exit_code": 0}} as a text. */
static bool read_wrapped(struct arena *a, struct captured_event *e, struct str s)
{
	json *j = NULL;
	if (!str_begins(s, "{\"output\"") || json_parse(s.p, s.n, &j, NULL))
		return false;
	e->exit_code = (int)json_int(json_get(j, "metadata"), "exit_code", -1);
	e->output = capture_text(a, json_get(j, "output"));
	if (e->exit_code >= 0)
		e->status = e->exit_code ? STATUS_FAILED : STATUS_OK;
	json_free(j);
	return true;
}

int64_t codex_output(struct arena *a, struct captured_event *e, const json *output)
{
	const json *content = json_get(output, "content");
	struct str text = capture_content(a, content ? content : output);
	if (read_wrapped(a, e, text))
		return 0;
	int64_t process = read_output(a, e, text);
	if (json_get(output, "success") && !json_bool(output, "success", true))
		e->status = STATUS_FAILED;
	return process;
}

static void item_status(struct captured_event *e, const json *item)
{
	static const struct {
		const char *word;
		enum event_status status;
	} words[] = { { "completed", STATUS_OK }, { "failed", STATUS_FAILED },
		{ "declined", STATUS_DENIED }, { "rejected", STATUS_DENIED } };
	const char *word = json_str(item, "status");
	for (size_t i = 0; word && i < ARRAY_LEN(words); i++)
		if (!strcmp(words[i].word, word))
			e->status = words[i].status;
	if (json_get(item, "success"))
		e->status = json_bool(item, "success", false) ? STATUS_OK : STATUS_FAILED;
	if (e->exit_code > 0 && e->status == STATUS_OK)
		e->status = STATUS_FAILED;
}

static struct str item_streams(struct arena *a, const json *item)
{
	static const char *const keys[] = { "aggregated_output", "formatted_output", "stdout" };
	struct str out = json_slice(any_member(item, keys, ARRAY_LEN(keys)));
	struct str errors = json_slice(json_get(item, "stderr"));
	if (json_get(item, "aggregated_output") || !errors.n)
		return capture_copy(a, out);
	return str_of(arena_printf(a, "%.*s%s%.*s", (int)out.n, out.n ? out.p : "",
		out.n && out.p[out.n - 1] != '\n' ? "\n" : "", (int)errors.n, errors.p));
}

static void item_command(struct arena *a, struct captured_event *e, const json *item)
{
	const char *folder = json_str(item, "cwd");
	if (folder && str_starts(folder, "file://"))
		folder += 7;
	if (!e->tool)
		call_shell(a, e, command_text(a, json_get(item, "command")), folder);
	e->exit_code = (int)json_int(item, "exit_code", -1);
	e->output = item_streams(a, item);
	if (e->exit_code >= 0)
		e->status = e->exit_code ? STATUS_FAILED : STATUS_OK;
	item_status(e, item);
}

static void item_change(struct arena *a, struct captured_event *e, const json *item)
{
	const json *changes = json_get(item, "changes");
	if (!e->tool)
		e->tool = "apply_patch";
	for (struct json_iter it = json_iter(changes); json_next(&it);) {
		capture_file(a, e, it.key, true);
		capture_file(a, e, json_str(it.value, "move_path"), true);
	}
	e->output = item_streams(a, item);
	item_status(e, item);
	if (e->status != STATUS_FAILED && e->status != STATUS_DENIED)
		e->diff = diff_of_changes(a, changes);
}

static void item_mcp(struct arena *a, struct captured_event *e, const json *item)
{
	const json *call = json_get(item, "invocation") ? json_get(item, "invocation") : item;
	const json *result = json_get(item, "result");
	const json *ok = json_get(result, "Ok") ? json_get(result, "Ok") : result;
	const char *failure = json_str(result, "Err");
	if (!e->tool) {
		e->tool = arena_printf(a, "mcp__%s__%s",
			json_str(call, "server") ? json_str(call, "server") : "",
			json_str(call, "tool") ? json_str(call, "tool") : "");
		e->input = capture_input(a, json_get(call, "arguments"), &e->true_size);
	}
	item_status(e, item);
	e->output = capture_content(a, json_get(ok, "content"));
	if (!e->output.n && json_type(json_get(ok, "structuredContent")) == JSON_OBJECT)
		e->output = capture_input(a, json_get(ok, "structuredContent"), &e->true_size);
	if (failure)
		e->output = str_of(arena_str(a, failure));
	else if (!e->output.n)
		e->output =
			capture_copy(a, json_slice(json_get(json_get(item, "error"), "message")));
	if (failure || json_bool(ok, "isError", false))
		e->status = STATUS_FAILED;
	else if (e->status == STATUS_UNKNOWN && ok)
		e->status = STATUS_OK;
}

static void item_search(struct arena *a, struct captured_event *e, const json *item)
{
	if (!e->tool) {
		e->tool = "WebSearch";
		set_input(a, e, "query", json_slice(json_get(item, "query")), NULL);
	}
	e->text = capture_description(a, item);
	e->status = STATUS_OK;
}

static void item_other(struct arena *a, struct captured_event *e, const json *item)
{
	if (!e->tool)
		e->tool = capture_word(a, item, "tool");
	item_status(e, item);
}

/* Rows are tried in order: an item is what its members say. */
static const struct item_row {
	const char *member, *also; /* both must be there; NULL: the first is enough */
	void (*read)(struct arena *a, struct captured_event *e, const json *item);
} item_rows[] = {
	{ "changes", NULL, item_change },
	{ "exit_code", NULL, item_command },
	{ "aggregated_output", NULL, item_command },
	{ "invocation", NULL, item_mcp },
	{ "server", "tool", item_mcp },
	{ "query", NULL, item_search },
	{ "tool", "status", item_other },
};

static const struct item_row *item_row(const json *item)
{
	for (size_t i = 0; i < ARRAY_LEN(item_rows); i++) {
		const struct item_row *row = &item_rows[i];
		if (json_get(item, row->member) && (!row->also || json_get(item, row->also)))
			return row;
	}
	return NULL;
}

bool codex_item_is_tool(const json *item)
{
	return item_row(item) != NULL;
}

void codex_item(struct arena *a, struct captured_event *e, const json *item)
{
	const struct item_row *row = item_row(item);
	if (row)
		row->read(a, e, item);
}

void codex_hook_response(
	struct arena *a, struct captured_event *e, const json *input, const json *response)
{
	codex_output(a, e, response);
	if (json_bool(response, "isError", false))
		e->status = STATUS_FAILED;
	if (!strcmp(e->tool, "apply_patch") && e->status == STATUS_OK)
		e->diff = diff_of_patch(a,
			command_text(a, any_member(input, command_keys, ARRAY_LEN(command_keys))));
}
