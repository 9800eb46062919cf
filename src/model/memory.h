#ifndef MODEL_MEMORY_H
#define MODEL_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/names.h"

/* Rows of the store as the rest of the program sees them. Pointers live in the arena of whoever loaded or made them; ids are row ids, 0 = none. */

struct memory_file {
	const char *path; /* relative to the project root when inside it, else absolute */
	enum file_role role;
	const char *hash; /* content hash when the memory was made, NULL unknown */
	int64_t size;     /* -1 unknown */
};

struct evidence {
	int64_t event;
	const char *role;    /* "prompt", "reply", "edit", "command", "failure", "fix" … */
	const char *excerpt; /* at most EVIDENCE_EXCERPT_MAX bytes, kept when the event is pruned */
};
#define EVIDENCE_EXCERPT_MAX 400

struct memory {
	int64_t id, project, session, turn;
	const char *rule;  /* rules: name of the rule that made it, else NULL */
	const char *slot;  /* unique in (turn, rule) */
	const char *refines; /* model: "rule/slot" of the memory of its turn that it stands for, or NULL */
	enum memory_kind kind;
	enum memory_type type;
	const char *title, *subtitle, *body;
	const char *facts;    /* JSON array of strings, or NULL */
	const char *concepts; /* JSON array of strings, or NULL */
	/* Summaries only: the parts, each NULL when there is none. Stored as one JSON object. */
	const char *request, *investigated, *learned, *completed, *next_steps, *notes;
	const char *commands; /* JSON array of {"command","status","exit"}, or NULL */
	const char *tally;    /* facts: JSON object of how often it was said and what its confidence is made of, or NULL */
	enum memory_status status;
	bool is_pinned;
	double confidence; /* 0 to 1 */
	enum trust trust;
	enum memory_origin origin;
	const char *model;
	const char *branch, *commit;
	int64_t at;                     /* when the thing happened (time of its last evidence) */
	int64_t valid_from, valid_to, superseded_by;
	int64_t created_at, updated_at;
	struct memory_file *files;
	size_t nfiles;
	struct evidence *evidence;
	size_t nevidence;
	bool is_team;       /* its author shares it */
	const char *author; /* a colleague, whose session and evidence are not shown; NULL: the asker's own */
};

struct session {
	int64_t id, project, parent;
	enum agent_id agent;
	const char *agent_session, *branch, *cwd, *model, *title, *end_reason, *transcript_path;
	int64_t started_at, last_event_at, ended_at;
	bool is_headless;
	int64_t events, memories; /* counts, in lists */
	int64_t tokens_in, tokens_out;
	const char *project_name;
};

struct event {
	int64_t id, session, turn, project;
	const char *key;
	enum event_kind kind;
	enum source source;
	int64_t at;
	const char *agent_turn, *subagent, *tool, *tool_use_id, *cwd, *branch;
	enum event_status status;
	int exit_code;
	const char *text, *input, *output, *diff; /* NULL when empty; NUL-free UTF-8 */
	const char *const *files; /* cleaned absolute paths */
	size_t nfiles;
	bool writes_files, is_meta;
	uint64_t true_size;
};

struct project {
	int64_t id;
	const char *name, *root;
	int64_t sessions, memories, last_event_at;
	bool is_shared; /* the asker's memories of it are team when they are made; in lists */
};

#endif
