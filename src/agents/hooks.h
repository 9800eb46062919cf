#ifndef AGENTS_HOOKS_H
#define AGENTS_HOOKS_H

#include <stddef.h>

#include "agents/agent.h"

/*
 * What hook inputs and answers of Claude Code, Codex and Factory droid share: they have the same
 * members.
 */

/*
 * Session, working folder and transcript out of a hook's input. False when it names no session:
 * nothing can be stored.
 */
bool hook_session(struct arena *a, const struct spool_header *h, const json *payload,
	enum agent_id agent, struct capture *c);
/* A new event with time, working folder and sub-agent of the input. */
struct captured_event *hook_event(struct arena *a, const struct spool_header *h,
	const json *payload, struct capture *c, enum event_kind kind);
/*
 * SessionStart, SessionEnd and the last message of Stop and SubagentStop, which read alike
 * everywhere.
 */
void hook_start(
	struct arena *a, const struct spool_header *h, const json *payload, struct capture *c);
void hook_end(
	struct arena *a, const struct spool_header *h, const json *payload, struct capture *c);
void hook_reply(
	struct arena *a, const struct spool_header *h, const json *payload, struct capture *c);
/* Fills what every question has. */
void hook_ask(struct arena *a, const struct spool_header *h, const json *payload, struct ask *ret);
/*
 * {"hookSpecificOutput":{"hookEventName":EVENT,"additionalContext":TEXT}} and a line end; nothing
 * for an empty text. The text is cut at max, counted in UTF-16 units (is_utf16) or bytes, since a
 * longer one is replaced by a preview.
 */
void hook_answer(const char *event, const char *text, size_t max, bool is_utf16, struct buf *out);

#endif
