#ifndef AGENTS_CLAUDE_TOOL_H
#define AGENTS_CLAUDE_TOOL_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/json.h"
#include "model/capture.h"

/*
 * Tool calls in the shapes of Claude Code, which other agents share: files out of the input;
 * output, exit code, status, files and diff out of the result. Pure; fills an event made by
 * capture_add.
 */

/* Sets tool, input, description and files. */
void claude_tool_call(
	struct arena *a, struct captured_event *e, const char *name, const json *input);

struct claude_result {
	/* hook: tool_response; transcript: toolUseResult; NULL when there is none */
	const json *response;
	const json *content; /* transcript: the tool_result block's content; NULL in hooks */
	const json *input;   /* hook: the call's input; NULL when it was told before */
	bool is_error;       /* the agent says so */
	bool is_denied;      /* the agent says that it was not allowed */
};

/*
 * Sets output, exit code, status, diff, and files that only the result names. e->tool decides the
 * shape; it may be NULL.
 */
void claude_tool_result(struct arena *a, struct captured_event *e, const struct claude_result *r);

#endif
