#ifndef AGENTS_AGENT_H
#define AGENTS_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "model/capture.h"
#include "wire/spool.h"

/*
 * One row per coding agent, one file each: reads its hook input and its transcripts into captures, writes its hook answers,
 * names its hooks. The rows are constant; readers belong to one thread. Nothing here opens a store or a socket. Editing an agent's configuration is
 * agents/wiring.h.
 */

/* ASK_FILE: before a file is read; ASK_EDIT: before it is changed; ASK_COMMAND: before a command runs; ASK_FAILURE: after one failed. */
enum ask_kind { ASK_NONE, ASK_START, ASK_PROMPT, ASK_FILE, ASK_EDIT, ASK_COMMAND, ASK_FAILURE, ASK_KIND_COUNT };

struct agent_hook {
	const char *event;    /* as the agent's configuration names it; ends a table with NULL */
	enum ask_kind ask;    /* what the hook asks for, besides capturing */
	bool captures;        /* its input is an event worth storing */
	int timeout_s;        /* written into the configuration; 0: the agent's default */
	const char *matcher;  /* NULL: all */
	const char *const *marks; /* asks only when its input holds one of these; NULL: always. Ends with NULL */
};

/* What a hook that asks wants to know. */
struct ask {
	enum ask_kind kind;
	const char *agent_session, *cwd, *source /* startup, resume, clear, compact, fork */, *prompt, *file, *transcript_path, *subagent, *branch;
	const char *command, *error; /* of a tool call */
};

struct transcript_reader; /* the agent's own; heap */

struct agent {
	enum agent_id id;
	const char *name;   /* "claude": as in `remanence hook claude EVENT` and in --agent */
	const char *title;  /* "Claude Code" */
	const struct agent_hook *hooks; /* NULL: no hooks of its own */

	/* Hook input to capture. Unknown events give an empty capture, not an error. The payload may have been thinned (json_scan). */
	int (*hook_read)(struct arena *a, const struct spool_header *h, const json *payload, struct capture *ret, struct err *err);
	/* Hook input to question; kind ASK_NONE when there is nothing to ask (a sub-agent's start, a slash command …). */
	void (*ask_read)(struct arena *a, const struct spool_header *h, const json *payload, struct ask *ret);
	/* The exact bytes to print; text NULL or "" gives the agent's form of "nothing" (for Claude and Codex: no bytes). */
	void (*answer)(const char *event, const char *text, struct buf *out);

	/* Folders where transcripts lie, below the user's home or the agent's own variables (CLAUDE_CONFIG_DIR, CODEX_HOME). */
	void (*transcript_dirs)(struct arena *a, const char *user_home, char ***ret_dirs, size_t *ret_n);
	/* Is this file one of this agent's transcripts? By name and first bytes (up to 64 KB). Returns a confidence 0–100. */
	int (*transcript_recognise)(const char *path, const char *head, size_t len);
	/* A cheap look at a raw line's first bytes: false for types that nobody needs (dropped before parsing). */
	bool (*line_is_wanted)(const char *line, size_t len);
	/* A reader for one file; state as written by reader_save at the last offset, or NULL at the file's start. */
	struct transcript_reader *(*reader_new)(const char *path, const char *state);
	/*
	 * A tool call is told when it is made (status unknown) and again with its result, under the same tool_use_id; Codex also tells a
	 * turn's last reply again, with its tokens, under the same id. What the second telling leaves empty stands in the first.
	 */
	/* One parsed line to capture (events may be none). `n` counts lines of the file from 1; for ids of lines that have none. */
	int (*reader_line)(struct transcript_reader *r, struct arena *a, const json *line, uint64_t n, struct capture *ret, struct err *err);
	/* What the reader must remember to go on at a later offset, as JSON text. */
	void (*reader_save)(const struct transcript_reader *r, struct buf *out);
	void (*reader_free)(struct transcript_reader *r);
};

extern const struct agent *const agents[]; /* in order of agent_id, ends with NULL */
const struct agent *agent_find(const char *name); /* by name, NULL when unknown */
const struct agent *agent_by_id(enum agent_id id);
const struct agent_hook *agent_hook_find(const struct agent *agent, const char *event);
/* The agent whose transcript this is; NULL when nobody recognises it. */
const struct agent *agent_of_transcript(const char *path, const char *head, size_t len);

#endif
