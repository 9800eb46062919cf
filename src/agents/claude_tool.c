/*
 * One table row per tool that touches files or answers in a shape of its own; everything else falls
 * back to the text that the model saw, or to the response printed as JSON.
 */

#include "agents/claude_tool.h"

#include <string.h>

#include "agents/captures.h"
#include "agents/diff.h"
#include "base/buf.h"
#include "base/mem.h"

enum tool_shape {
	SHAPE_OTHER,
	SHAPE_COMMAND,
	SHAPE_READ,
	SHAPE_EDIT,
	SHAPE_LIST,
	SHAPE_AGENT,
	SHAPE_PATCH
};

static const struct tool_row {
	const char *name;
	enum tool_shape shape;
	const char *file_key; /* member of the input that names the file */
	bool writes;
} tool_rows[] = {
	{ "Bash", SHAPE_COMMAND, NULL, false },
	{ "Execute", SHAPE_COMMAND, NULL, false },
	{ "BashOutput", SHAPE_COMMAND, NULL, false },
	{ "Read", SHAPE_READ, "file_path", false },
	{ "NotebookRead", SHAPE_READ, "notebook_path", false },
	{ "Edit", SHAPE_EDIT, "file_path", true },
	{ "MultiEdit", SHAPE_EDIT, "file_path", true },
	{ "Write", SHAPE_EDIT, "file_path", true },
	{ "Create", SHAPE_EDIT, "file_path", true },
	{ "NotebookEdit", SHAPE_EDIT, "notebook_path", true },
	{ "ApplyPatch", SHAPE_PATCH, NULL, true },
	{ "apply_patch", SHAPE_PATCH, NULL, true },
	{ "Grep", SHAPE_LIST, NULL, false },
	{ "Glob", SHAPE_LIST, NULL, false },
	{ "LSP", SHAPE_OTHER, "filePath", false },
	{ "Task", SHAPE_AGENT, NULL, false },
	{ "Agent", SHAPE_AGENT, NULL, false },
};

static const struct tool_row *tool_row(const char *name)
{
	static const struct tool_row other = { NULL, SHAPE_OTHER, NULL, false };
	for (size_t i = 0; name && i < ARRAY_LEN(tool_rows); i++)
		if (!strcmp(tool_rows[i].name, name))
			return &tool_rows[i];
	return &other;
}

/* The patch's text, whatever the member is called that holds it. */
static struct str tool_patch(const json *input)
{
	static const char *const keys[] = { "patch", "input", "command", "diff" };
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		struct str s = json_slice(json_get(input, keys[i]));
		if (s.n)
			return s;
	}
	return json_slice(input);
}

void claude_tool_call(
	struct arena *a, struct captured_event *e, const char *name, const json *input)
{
	const struct tool_row *row = tool_row(name);
	e->tool = arena_str(a, name);
	e->input = capture_input(a, input, &e->true_size);
	e->text = capture_description(a, input);
	if (row->file_key)
		capture_file(a, e, json_str(input, row->file_key), row->writes);
	if (row->shape == SHAPE_PATCH)
		diff_patch_files(a, tool_patch(input), e);
}

/* Results that were refused, by how their text starts. */
static const char *const denied_starts[] = {
	"The user doesn't want to proceed with this tool use",
	"The user doesn't want to take this action",
	"Claude requested permissions to",
	"Permission to use ",
	"User rejected tool use",
	"[Request interrupted by user for tool use]",
	"exec command rejected by user",
	"patch rejected by user",
};

static bool text_is_denied(struct str s)
{
	for (size_t i = 0; i < ARRAY_LEN(denied_starts); i++) {
		size_t n = strlen(denied_starts[i]);
		if (s.n >= n && !memcmp(s.p, denied_starts[i], n))
			return true;
	}
	return false;
}

/* "Error: …" and "<tool_use_error>…</tool_use_error>" say only that it failed. */
static struct str error_text(struct str s)
{
	static const char open[] = "<tool_use_error>", close[] = "</tool_use_error>";
	s = str_trim(s);
	if (s.n > 7 && !memcmp(s.p, "Error: ", 7))
		s = str_trim((struct str){ s.p + 7, s.n - 7 });
	if (s.n >= sizeof(open) - 1 && !memcmp(s.p, open, sizeof(open) - 1)) {
		s = (struct str){ s.p + sizeof(open) - 1, s.n - (sizeof(open) - 1) };
		if (s.n >= sizeof(close) - 1 &&
			!memcmp(s.p + s.n - (sizeof(close) - 1), close, sizeof(close) - 1))
			s.n -= sizeof(close) - 1;
	}
	return s;
}

static struct str join_text(struct arena *a, struct str x, struct str y)
{
	if (!x.n || !y.n)
		return capture_copy(a, x.n ? x : y);
	AUTO(buf_done) struct buf b = { 0 };
	buf_add(&b, x.p, x.n);
	if (x.p[x.n - 1] != '\n')
		buf_char(&b, '\n');
	buf_add(&b, y.p, y.n);
	return capture_copy(a, (struct str){ buf_cstr(&b), b.len });
}

static void result_command(struct arena *a, struct captured_event *e, const struct claude_result *r)
{
	const json *j = r->response;
	bool is_running =
		json_str(j, "backgroundTaskId") || json_str(j, "returnCodeInterpretation");
	if (json_bool(j, "isImage", false))
		e->output = STR("[image]");
	else
		e->output = join_text(
			a, json_slice(json_get(j, "stdout")), json_slice(json_get(j, "stderr")));
	e->exit_code = (int)json_int(j, "exitCode", -1);
	if (e->exit_code < 0 && !is_running && !r->is_error && !json_bool(j, "is_error", false))
		e->exit_code = json_get(j, "stdout") ? 0 : -1;
	if (json_bool(j, "interrupted", false)) {
		e->status = STATUS_FAILED;
		e->exit_code = -1;
	} else if (e->exit_code > 0) {
		e->status = STATUS_FAILED;
	}
	const json *files = json_path(j, "bashEditDiff.files");
	for (size_t i = 0; i < json_len(files); i++)
		capture_file(a, e, json_str(json_at(files, i), "filePath"), true);
}

static void result_read(struct arena *a, struct captured_event *e, const struct claude_result *r)
{
	const json *file = json_get(r->response, "file");
	const char *type = json_str(r->response, "type");
	capture_file(a, e, json_str(file, "filePath"), false);
	if (type && !strcmp(type, "image"))
		e->output = STR("[image]");
	else
		e->output = capture_text(a, json_get(file, "content"));
}

static void result_edit(struct arena *a, struct captured_event *e, const struct claude_result *r)
{
	const char *path = json_str(r->response, "filePath");
	const json *content = json_get(r->response, "content");
	const json *original = json_get(r->response, "originalFile");
	capture_file(a, e, path, true);
	if (!path && e->nfiles)
		path = e->files[0];
	e->diff = diff_of_hunks(a, path, json_get(r->response, "structuredPatch"));
	if (!e->diff.n && json_type(original) == JSON_NULL)
		e->diff = diff_of_new_file(a, path, json_slice(content));
}

static void result_list(struct arena *a, struct captured_event *e, const struct claude_result *r)
{
	const json *names = json_get(r->response, "filenames");
	struct str content = json_slice(json_get(r->response, "content"));
	AUTO(buf_done) struct buf b = { 0 };
	for (size_t i = 0; !content.n && i < json_len(names); i++) {
		struct str name = json_slice(json_at(names, i));
		if (b.len)
			buf_char(&b, '\n');
		buf_add(&b, name.p ? name.p : "", name.n);
	}
	e->output = capture_copy(a, content.n ? content : (struct str){ buf_cstr(&b), b.len });
}

/* Anything else: what the model saw, else the response itself. */
static void result_other(struct arena *a, struct captured_event *e, const struct claude_result *r)
{
	e->output = capture_content(a, r->content);
	if (e->output.n)
		return;
	const json *j = r->response;
	if (json_type(j) == JSON_OBJECT && json_get(j, "content"))
		j = json_get(j, "content");
	e->output = capture_content(a, j);
	if (!e->output.n && (json_type(j) == JSON_OBJECT || json_type(j) == JSON_ARRAY))
		e->output = capture_input(a, j, &e->true_size);
}

static void result_by_shape(
	struct arena *a, struct captured_event *e, const struct claude_result *r)
{
	enum tool_shape shape = tool_row(e->tool)->shape;
	if (shape == SHAPE_COMMAND &&
		(json_get(r->response, "stdout") || json_get(r->response, "stderr")))
		result_command(a, e, r);
	else if (shape == SHAPE_READ && json_get(r->response, "file"))
		result_read(a, e, r);
	else if (shape == SHAPE_EDIT && json_type(r->response) == JSON_OBJECT)
		result_edit(a, e, r);
	else if (shape == SHAPE_LIST &&
		 (json_get(r->response, "filenames") || json_get(r->response, "content")))
		result_list(a, e, r);
	else
		result_other(a, e, r);
}

static void result_error(struct arena *a, struct captured_event *e, const struct claude_result *r)
{
	struct str text = capture_content(a, r->content);
	if (!text.n)
		text = capture_content(a, r->response);
	if (!text.n)
		text = join_text(a, json_slice(json_get(r->response, "stdout")),
			json_slice(json_get(r->response, "stderr")));
	text = error_text(text);
	bool is_denied = r->is_denied || text_is_denied(text);
	e->status = is_denied ? STATUS_DENIED : STATUS_FAILED;
	if (!is_denied)
		e->exit_code = capture_exit_code(&text);
	e->output = capture_copy(a, text);
	e->diff = (struct str){ "", 0 };
}

void claude_tool_result(struct arena *a, struct captured_event *e, const struct claude_result *r)
{
	if (r->is_error || r->is_denied || json_bool(r->response, "is_error", false)) {
		result_error(a, e, r);
		return;
	}
	e->status = STATUS_OK;
	result_by_shape(a, e, r);
	if (r->input && tool_row(e->tool)->shape == SHAPE_PATCH)
		e->diff = diff_of_patch(a, tool_patch(r->input));
}
