#ifndef AGENTS_CODEX_TOOL_H
#define AGENTS_CODEX_TOOL_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/json.h"
#include "model/capture.h"

/*
 * Tool calls as Codex CLI writes them, in the names and shapes that its hooks use too: every shell
 * is "Bash" with {"command"}, a patch is "apply_patch" with {"command"}, a server's tool is
 * "mcp__server__tool". Pure; each fills an event made by capture_add, whose cwd is set already.
 */

/* A call of the model: payload of function_call, custom_tool_call or local_shell_call. */
void codex_call(struct arena *a, struct captured_event *e, const json *payload);
/*
 * What the model saw of it: `output` of function_call_output and the like. 0, or the number of the
 * process while it still runs.
 */
int64_t codex_output(struct arena *a, struct captured_event *e, const json *output);
/*
 * What the program says of it: an item (CommandExecution, FileChange, McpToolCall …) or the older
 * *_end event, told apart by members. Fills the tool's name and input when e->tool is NULL.
 */
bool codex_item_is_tool(const json *item);
void codex_item(struct arena *a, struct captured_event *e, const json *item);
/* Output, status, exit code and files out of a hook's tool_response, with the call set already. */
void codex_hook_response(
	struct arena *a, struct captured_event *e, const json *input, const json *response);
/* A hook's tool_name and tool_input. */
void codex_hook_call(
	struct arena *a, struct captured_event *e, const char *name, const json *input);

/*
 * Is this call one that writes to a running process (write_stdin)? *ret_process is its number;
 * *ret_is_poll: nothing is written, only waited.
 */
bool codex_call_is_stdin(const json *payload, int64_t *ret_process, bool *ret_is_poll);

/*
 * A user message of the model's input that no person typed: instructions, environment,
 * notifications.
 */
bool codex_text_is_injected(struct str text);

#endif
