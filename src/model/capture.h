#ifndef MODEL_CAPTURE_H
#define MODEL_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "model/names.h"

/*
 * What an agent's file of code makes of a hook's input or of a transcript's line: a capture, which is what one session says
 * of itself plus the events found. Only pointers into the arena of whoever parses. NULL, 0 and -1 mean "not said here".
 */

struct token_use {
	int64_t input, output, cache_read, cache_write; /* tokens; 0 when not said */
};

struct captured_session {
	enum agent_id agent;
	const char *agent_session; /* the agent's own session id; never NULL in a capture that holds events */
	const char *parent;        /* agent session id that this one was forked from or spawned by, when the agent treats it as another session */
	const char *cwd;
	const char *branch;
	const char *model;
	const char *title;
	const char *transcript_path;
	const char *end_reason;
	int64_t started_at, ended_at;
	bool is_headless;          /* known to be run without a person (claude -p, codex exec) */
};

struct captured_event {
	enum event_kind kind;
	enum source source;
	const char *id;            /* transcript's own id (line uuid, item id); NULL from hooks */
	const char *tool_use_id;   /* tool calls: the key on both ways */
	const char *turn;          /* the agent's own prompt or turn id, NULL when it has none */
	const char *subagent;      /* agent id of a sub-agent, NULL for the main thread */
	const char *parent_id;     /* transcript: uuid of the line before, for ordering only */
	const char *cwd;           /* where the session stood at this event */
	const char *branch;
	int64_t at;
	const char *tool;          /* tool name as the agent says it */
	enum event_status status;
	int exit_code;             /* -1 unknown */
	struct str text;           /* prompt, reply, compaction summary; for tools: one line of description or "" */
	struct str input;          /* tool input as JSON text; cut when huge */
	struct str output;         /* tool output as plain text */
	struct str diff;           /* unified diff, when the agent tells it */
	const char *const *files;  /* files touched, as the agent names them (absolute or relative to cwd) */
	size_t nfiles;
	bool writes_files;         /* the tool call changes these files (else it reads them) */
	bool is_meta;              /* not typed by a person: expansion of a command, injected text, continuation summary */
	uint64_t true_size;        /* bytes before anything was cut; 0: nothing cut */
	struct token_use tokens;
	const char *usage_id;      /* message id: token use of one id counts once */
	const char *model;
	uint64_t redactions;       /* made in its texts */
	const struct captured_event *later; /* a second telling of this tool call, read together with it; NULL: none */
};

struct capture {
	struct captured_session session;
	struct captured_event *events;
	size_t nevents, events_cap;
	bool stops_turn;           /* this hook says that the turn is over: read the transcript, run the rules */
	bool ends_session;
	bool wants_transcript;     /* read the transcript now (stop, sub-agent stop, compaction, end) */
	const char *subagent_transcript; /* path of a sub-agent's own transcript to be read too */
	bool is_clean;             /* cleaned and redacted (observe/intake.h), before it reached the writer */
	size_t nempty;             /* events of which nothing was left by that */
	uint64_t redactions;       /* made in those */
};

#endif
