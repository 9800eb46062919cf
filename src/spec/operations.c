/* The table of operations. Only what works is listed; in the order of the overview. */
#include "spec/spec.h"

#include "base/mem.h"

#define POSITIONAL_TEXT (PARAM_POSITIONAL | PARAM_JOINED)
#define POSITIONAL_LIST (PARAM_POSITIONAL | PARAM_MANY)
#define LIMIT_MAX 100000
#define BUDGET_MAX 100000
#define TEXT_MAX (64 << 10)
#define NAME_LONGEST 1000
#define END                                                 \
	{                                                   \
		NULL, PARAM_TEXT, 0, NULL, 0, 0, NULL, NULL \
	}

#define PROJECT                                                        \
	{                                                              \
		"project", PARAM_TEXT, 0, NULL, 0, NAME_LONGEST, NULL, \
			"name or path of a project, or all"            \
	}
#define LIMIT(n)                                                                \
	{                                                                       \
		"limit", PARAM_INT, 0, n, 1, LIMIT_MAX, NULL, "at most so many" \
	}
#define OFFSET                                                                              \
	{                                                                                   \
		"offset", PARAM_INT, 0, NULL, 0, LIMIT_MAX, NULL, "leave out so many first" \
	}
#define CURSOR_TEXT_MAX 600 /* as in ops/cursor.h */
#define CURSOR                                                                              \
	{                                                                                   \
		"cursor", PARAM_TEXT, PARAM_NO_MCP, NULL, 0, CURSOR_TEXT_MAX, NULL,         \
			"the next_cursor of the page before: go on behind it"               \
	}
#define AFTER                                                                   \
	{                                                                       \
		"after", PARAM_RANGE, 0, NULL, 0, 0, NULL,                      \
			"from this time on: 2026-11-29, yesterday, 7d, or A..B" \
	}
#define BEFORE                                                               \
	{                                                                    \
		"before", PARAM_TIME, 0, NULL, 0, 0, NULL, "up to this time" \
	}

#define AGENTS "claude|codex|factory"
#define WIRED_AGENTS "claude|codex"
#define TYPES                                                                             \
	"bugfix|feature|refactor|change|discovery|decision|security_alert|security_note|" \
	"sensitive|" CATEGORIES
#define CATEGORIES \
	"preference|decision|convention|architecture|error_fix|tool_pattern|dead_end|todo"

static const struct param search_params[] = {
	{ "query", PARAM_TEXT, POSITIONAL_TEXT, NULL, 0, TEXT_MAX, NULL,
		"words, \"exact phrases\", -word, file: type: kind: project: branch: agent: after: "
		"before: namespace: tag:" },
	{ "scope", PARAM_CHOICE, 0, NULL, 0, 0, "memories|messages|sessions|all",
		"what to search (all)" },
	{ "kind", PARAM_TEXT, 0, NULL, 0, NAME_LONGEST, NULL,
		"observation, summary, fact, note, chunk, prompt, reply, tool" },
	{ "type", PARAM_TEXT, 0, NULL, 0, NAME_LONGEST, NULL,
		"bugfix, feature, refactor, change, discovery, decision …" },
	{ "file", PARAM_TEXT, 0, NULL, 0, 0, NULL, "about this file" },
	AFTER,
	BEFORE,
	{ "branch", PARAM_TEXT, PARAM_NO_MCP, NULL, 0, NAME_LONGEST, NULL, "made on this branch" },
	{ "agent", PARAM_CHOICE, PARAM_NO_MCP, NULL, 0, 0, AGENTS, "from sessions of this agent" },
	{ "as_of", PARAM_TIME, PARAM_NO_MCP, NULL, 0, 0, NULL, "what was held true at this time" },
	{ "namespace", PARAM_TEXT, PARAM_NO_MCP, NULL, 0, NAME_LONGEST, NULL,
		"in this markdown folder (sync list)" },
	{ "tag", PARAM_TEXT, PARAM_NO_MCP, NULL, 0, NAME_LONGEST, NULL,
		"of markdown files with this tag" },
	PROJECT,
	LIMIT("20"),
	OFFSET,
	{ "mode", PARAM_CHOICE, PARAM_NO_MCP, NULL, 0, 0, "auto|lexical|semantic|hybrid",
		"by words, by meaning or both (auto: both where it can)" },
	{ "count", PARAM_BOOL, PARAM_NO_MCP, NULL, 0, 0, NULL, "count all that match" },
	{ "explain", PARAM_BOOL, PARAM_NO_MCP, NULL, 0, 0, NULL, "say how each score came about" },
	END,
};

static const struct param timeline_params[] = {
	{ "ref", PARAM_REF, PARAM_POSITIONAL, NULL, 0, 0, NULL,
		"a memory (12), an event (e345) or a session (s7)" },
	{ "at", PARAM_TIME, 0, NULL, 0, 0, NULL, "around this time" },
	{ "query", PARAM_TEXT, PARAM_JOINED, NULL, 0, TEXT_MAX, NULL,
		"around the best hit for this query" },
	{ "before_n", PARAM_INT, 0, NULL, 0, LIMIT_MAX, NULL, "so many before it (10)" },
	{ "after_n", PARAM_INT, 0, NULL, 0, LIMIT_MAX, NULL, "so many after it (10)" },
	{ "kind", PARAM_TEXT, PARAM_NO_MCP, NULL, 0, NAME_LONGEST, NULL,
		"only observation, summary, prompt, reply, tool …" },
	PROJECT,
	{ "limit", PARAM_INT, PARAM_NO_MCP, NULL, 1, LIMIT_MAX, NULL, "at most so many" },
	CURSOR,
	END,
};

static const struct param get_params[] = {
	{ "refs", PARAM_REF, POSITIONAL_LIST | PARAM_REQUIRED, NULL, 0, 0, NULL,
		"memories (12), events (e345), sessions (s7)" },
	END,
};

static const struct param recall_params[] = {
	{ "question", PARAM_TEXT, POSITIONAL_TEXT | PARAM_REQUIRED, NULL, 0, TEXT_MAX, NULL,
		"what you want to know" },
	{ "files", PARAM_TEXT, PARAM_MANY, NULL, 0, 0, NULL, "files that it is about" },
	{ "budget", PARAM_INT, 0, "2000", 50, BUDGET_MAX, NULL, "tokens that the answer may have" },
	{ "min_confidence", PARAM_REAL, 0, NULL, 0, 1, NULL, "leave out what is less sure" },
	PROJECT,
	END,
};

static const struct param context_params[] = {
	{ "cwd", PARAM_PATH, 0, NULL, 0, 0, NULL, "for a session in this folder (here)" },
	{ "agent", PARAM_CHOICE, 0, NULL, 0, 0, AGENTS, "for this agent" },
	{ "write", PARAM_PATH, 0, NULL, 0, 0, NULL, "write it into this file too" },
	END,
};

static const struct param remember_params[] = {
	{ "text", PARAM_TEXT, POSITIONAL_TEXT | PARAM_REQUIRED, NULL, 0, TEXT_MAX, NULL,
		"what to keep" },
	{ "category", PARAM_CHOICE, 0, NULL, 0, 0, CATEGORIES,
		"makes it a fact of this category instead of a note" },
	{ "files", PARAM_TEXT, PARAM_MANY, NULL, 0, 0, NULL, "files that it is about" },
	PROJECT,
	END,
};

static const struct param edit_params[] = {
	{ "ref", PARAM_REF, PARAM_POSITIONAL | PARAM_REQUIRED, NULL, 0, 0, NULL, "the memory" },
	{ "title", PARAM_TEXT, 0, NULL, 0, NAME_LONGEST, NULL, "a new title" },
	{ "subtitle", PARAM_TEXT, 0, NULL, 0, NAME_LONGEST, NULL, "a new subtitle" },
	{ "text", PARAM_TEXT, POSITIONAL_TEXT, NULL, 0, TEXT_MAX, NULL, "a new text" },
	{ "request", PARAM_TEXT, 0, NULL, 0, TEXT_MAX, NULL, "of a summary: what was asked for" },
	{ "investigated", PARAM_TEXT, 0, NULL, 0, TEXT_MAX, NULL,
		"of a summary: what was looked at" },
	{ "learned", PARAM_TEXT, 0, NULL, 0, TEXT_MAX, NULL, "of a summary: what was learned" },
	{ "completed", PARAM_TEXT, 0, NULL, 0, TEXT_MAX, NULL, "of a summary: what was done" },
	{ "next_steps", PARAM_TEXT, 0, NULL, 0, TEXT_MAX, NULL, "of a summary: what is left" },
	{ "notes", PARAM_TEXT, 0, NULL, 0, TEXT_MAX, NULL, "of a summary: further notes" },
	{ "files", PARAM_TEXT, PARAM_MANY, NULL, 0, 0, NULL,
		"the files that it is about, instead of those it has" },
	{ "type", PARAM_CHOICE, 0, NULL, 0, 0, TYPES, "another type or category" },
	{ "project", PARAM_TEXT, 0, NULL, 0, NAME_LONGEST, NULL, "move it to this project" },
	END,
};

static const struct param pin_params[] = {
	{ "refs", PARAM_REF, POSITIONAL_LIST | PARAM_REQUIRED, NULL, 0, 0, NULL, "the memories" },
	{ "off", PARAM_BOOL, 0, NULL, 0, 0, NULL, "take the pin off again" },
	END,
};

static const struct param share_params[] = {
	{ "refs", PARAM_REF, POSITIONAL_LIST, NULL, 0, 0, NULL, "the memories" },
	{ "private", PARAM_BOOL, 0, NULL, 0, 0, NULL, "take them back: only their author sees them" },
	{ "project", PARAM_TEXT, PARAM_BARE, NULL, 0, NAME_LONGEST, NULL,
		"instead of memories: all of yours in this project, and those to come (the project of this folder)" },
	END,
};

static const struct param facts_params[] = {
	{ "query", PARAM_TEXT, POSITIONAL_TEXT, NULL, 0, TEXT_MAX, NULL, "words that it should answer" },
	{ "category", PARAM_CHOICE, 0, NULL, 0, 0, CATEGORIES, "only of this category" },
	{ "files", PARAM_TEXT, PARAM_MANY, NULL, 0, 0, NULL, "about these files" },
	{ "min_confidence", PARAM_REAL, 0, NULL, 0, 1, NULL, "leave out what is less sure" },
	{ "status", PARAM_CHOICE, PARAM_NO_MCP, NULL, 0, 0, "active|pending|rejected|superseded",
		"only of this state (active and pending)" },
	{ "as_of", PARAM_TIME, 0, NULL, 0, 0, NULL, "what was held true at this time" },
	PROJECT,
	LIMIT("50"),
	OFFSET,
	CURSOR,
	END,
};

static const struct param review_params[] = {
	{ "ref", PARAM_REF, PARAM_POSITIONAL, NULL, 0, 0, NULL,
		"the memory to decide on (none: show what waits)" },
	{ "action", PARAM_CHOICE, PARAM_POSITIONAL, NULL, 0, 0, "approve|reject|edit",
		"what to do with it" },
	{ "text", PARAM_TEXT, POSITIONAL_TEXT, NULL, 0, TEXT_MAX, NULL, "edit: the new text" },
	{ "rejected", PARAM_BOOL, 0, NULL, 0, 0, NULL, "show what was rejected instead" },
	PROJECT,
	LIMIT("50"),
	OFFSET,
	CURSOR,
	END,
};

static const struct param forget_params[] = {
	{ "refs", PARAM_REF, POSITIONAL_LIST, NULL, 0, 0, NULL, "memories, events or sessions" },
	{ "session", PARAM_TEXT, PARAM_NO_MCP, NULL, 0, NAME_LONGEST, NULL,
		"a whole session (s7, or the agent's id)" },
	{ "project", PARAM_TEXT, PARAM_NO_MCP, NULL, 0, NAME_LONGEST, NULL,
		"everything of a project" },
	{ "before", PARAM_TIME, PARAM_NO_MCP, NULL, 0, 0, NULL, "everything up to this time" },
	{ "match", PARAM_TEXT, PARAM_NO_MCP, NULL, 0, NAME_LONGEST, NULL,
		"whatever holds this text" },
	{ "dry_run", PARAM_BOOL, PARAM_NO_MCP, NULL, 0, 0, NULL, "say what would go" },
	{ "yes", PARAM_BOOL, PARAM_NO_MCP, NULL, 0, 0, NULL, "do not ask" },
	END,
};

static const struct param sessions_params[] = {
	PROJECT,
	{ "agent", PARAM_CHOICE, 0, NULL, 0, 0, AGENTS, "of this agent" },
	{ "branch", PARAM_TEXT, 0, NULL, 0, NAME_LONGEST, NULL, "on this branch" },
	AFTER,
	BEFORE,
	LIMIT("20"),
	OFFSET,
	CURSOR,
	END,
};

static const struct param projects_params[] = { LIMIT("100"), OFFSET, CURSOR, END };

static const struct param blame_params[] = {
	{ "what", PARAM_TEXT, PARAM_POSITIONAL | PARAM_REQUIRED, NULL, 0, 0, NULL, "FILE, FILE:LINE or a commit" },
	PROJECT,
	END,
};

static const struct param files_params[] = {
	{ "path", PARAM_TEXT, PARAM_POSITIONAL | PARAM_REQUIRED, NULL, 0, 0, NULL,
		"the file, or a folder" },
	PROJECT,
	LIMIT("50"),
	OFFSET,
	CURSOR,
	END,
};

static const struct param entities_params[] = {
	{ "name", PARAM_TEXT, POSITIONAL_TEXT, NULL, 0, NAME_LONGEST, NULL,
		"one of them: its memories, its neighbours, its history" },
	{ "kind", PARAM_CHOICE, 0, NULL, 0, 0, "library|tool|service|language|command|file|concept",
		"only of this kind" },
	AFTER,
	BEFORE,
	PROJECT,
	LIMIT("30"),
	OFFSET,
	CURSOR,
	END,
};

static const struct param why_params[] = {
	{ "session", PARAM_TEXT, PARAM_POSITIONAL, NULL, 0, NAME_LONGEST, NULL,
		"s7, or the agent's own id (the last one)" },
	PROJECT,
	LIMIT("20"),
	END,
};

static const struct param import_params[] = {
	{ "paths", PARAM_PATH, POSITIONAL_LIST, NULL, 0, 0, NULL,
		"transcripts or folders (those of all agents)" },
	{ "agent", PARAM_CHOICE, 0, NULL, 0, 0, AGENTS, "only of this agent" },
	{ "since", PARAM_TIME, 0, NULL, 0, 0, NULL, "only files changed since" },
	{ "dry_run", PARAM_BOOL, 0, NULL, 0, 0, NULL, "say what would be read" },
	{ "patience", PARAM_TEXT, 0, NULL, 0, NAME_LONGEST, NULL,
		"after this time go on in the background, such as 50s" },
	END,
};

static const struct param pause_params[] = {
	{ "session", PARAM_TEXT, 0, NULL, 0, NAME_LONGEST, NULL, "only this session" },
	{ "project", PARAM_TEXT, 0, NULL, 0, NAME_LONGEST, NULL, "only this project" },
	{ "for", PARAM_TEXT, 0, NULL, 0, NAME_LONGEST, NULL,
		"so long: 30m, 2h, 1d (until `resume`)" },
	END,
};

static const struct param resume_params[] = {
	{ "session", PARAM_TEXT, 0, NULL, 0, NAME_LONGEST, NULL, "only this session" },
	{ "project", PARAM_TEXT, 0, NULL, 0, NAME_LONGEST, NULL, "only this project" },
	END,
};

static const struct param sync_params[] = {
	{ "action", PARAM_CHOICE, PARAM_POSITIONAL, "list", 0, 0, "add|list|run|remove", "what to do" },
	{ "target", PARAM_TEXT, PARAM_POSITIONAL, NULL, 0, 0, NULL,
		"add: the folder; otherwise the namespace" },
	{ "namespace", PARAM_TEXT, 0, NULL, 0, NAME_LONGEST, NULL, "the folder's label, one word" },
	{ "glob", PARAM_TEXT, PARAM_MANY, NULL, 0, 0, NULL,
		"add: which files, as in .gitignore (*.md); with ! not these" },
	{ "ready", PARAM_BOOL, 0, NULL, 0, 0, NULL,
		"add: what Claude Code remembers by itself, and CLAUDE.md and AGENTS.md of all projects" },
	{ "force", PARAM_BOOL, 0, NULL, 0, 0, NULL, "run: read all files anew, changed or not" },
	{ "project", PARAM_TEXT, 0, NULL, 0, NAME_LONGEST, NULL, "add: only for this project" },
	{ "team", PARAM_BOOL, 0, NULL, 0, 0, NULL, "add: colleagues on the same store find its sections too" },
	{ "private", PARAM_BOOL, 0, NULL, 0, 0, NULL, "add: they do not (so at first)" },
	LIMIT("1000"),
	CURSOR,
	END,
};

static const struct param config_params[] = {
	{ "action", PARAM_CHOICE, PARAM_POSITIONAL, "list", 0, 0, "list|get|set|unset",
		"what to do" },
	{ "key", PARAM_TEXT, PARAM_POSITIONAL, NULL, 0, NAME_LONGEST, NULL, "the setting" },
	{ "value", PARAM_TEXT, POSITIONAL_TEXT, NULL, 0, TEXT_MAX, NULL, "its new value" },
	END,
};

static const struct param stats_params[] = { PROJECT, END };

static const struct param doctor_params[] = {
	{ "deep", PARAM_BOOL, 0, NULL, 0, 0, NULL,
		"also check the index against the store, and the store against the transcripts" },
	END,
};

static const struct param export_params[] = {
	{ "format", PARAM_CHOICE, 0, "jsonl", 0, 0, "jsonl|markdown", "as what" },
	PROJECT,
	AFTER,
	BEFORE,
	END,
};

static const struct param backup_params[] = {
	{ "file", PARAM_PATH, PARAM_POSITIONAL, NULL, 0, 0, NULL,
		"where to (the data folder's backup/)" },
	END,
};

static const struct param restore_params[] = {
	{ "file", PARAM_PATH, PARAM_POSITIONAL | PARAM_REQUIRED, NULL, 0, 0, NULL,
		"a file made by backup" },
	{ "yes", PARAM_BOOL, 0, NULL, 0, 0, NULL, "do not ask" },
	END,
};

static const struct param store_params[] = {
	{ "action", PARAM_CHOICE, PARAM_POSITIONAL | PARAM_REQUIRED, NULL, 0, 0, "copy", "what to do" },
	{ "from", PARAM_TEXT, PARAM_POSITIONAL, NULL, 0, TEXT_MAX, NULL,
		"the store to copy: sqlite:PATH or postgres://USER@HOST/DATABASE" },
	{ "to", PARAM_TEXT, PARAM_POSITIONAL, NULL, 0, TEXT_MAX, NULL,
		"the store to copy to, which must be empty or not there yet" },
	{ "all", PARAM_BOOL, 0, NULL, 0, 0, NULL,
		"also what its other authors keep to themselves; for an administrator of the database" },
	END,
};

static const struct param install_params[] = {
	{ "agents", PARAM_CHOICE, POSITIONAL_LIST, NULL, 0, 0, WIRED_AGENTS,
		"which agents (all that are found)" },
	{ "dry_run", PARAM_BOOL, 0, NULL, 0, 0, NULL, "show each change, make none" },
	{ "trust", PARAM_BOOL, 0, NULL, 0, 0, NULL,
		"also tell Codex that its new hooks were reviewed" },
	END,
};

static const struct param uninstall_params[] = {
	{ "agents", PARAM_CHOICE, POSITIONAL_LIST, NULL, 0, 0, WIRED_AGENTS, "which agents (all)" },
	{ "dry_run", PARAM_BOOL, 0, NULL, 0, 0, NULL, "show each change, make none" },
	{ "purge", PARAM_BOOL, 0, NULL, 0, 0, NULL,
		"also stop the daemon and remove all memories" },
	{ "yes", PARAM_BOOL, 0, NULL, 0, 0, NULL, "do not ask before removing memories" },
	END,
};

static const struct param hook_params[] = {
	{ "agent", PARAM_TEXT, PARAM_POSITIONAL | PARAM_REQUIRED, NULL, 0, 0, NULL,
		"claude, codex" },
	{ "event", PARAM_TEXT, PARAM_POSITIONAL | PARAM_REQUIRED, NULL, 0, 0, NULL,
		"the agent's name of the event" },
	END,
};

static const struct param completion_params[] = {
	{ "shell", PARAM_CHOICE, PARAM_POSITIONAL, "bash", 0, 0, "bash", "which shell" },
	END,
};

static const struct param model_params[] = {
	{ "action", PARAM_CHOICE, PARAM_POSITIONAL, "status", 0, 0, "install|status|remove",
		"what to do" },
	{ "file", PARAM_PATH, PARAM_POSITIONAL, NULL, 0, 0, NULL,
		"the file, as tools/model-get makes it" },
	END,
};

static const struct param jobs_params[] = {
	{ "action", PARAM_CHOICE, PARAM_POSITIONAL, "list", 0, 0, "list|retry|drop", "what to do" },
	{ "ref", PARAM_TEXT, PARAM_POSITIONAL, NULL, 0, NAME_LONGEST, NULL,
		"the job (j12), or all (retry)" },
	{ "dead", PARAM_BOOL, 0, NULL, 0, 0, NULL, "only those that were given up" },
	{ "state", PARAM_CHOICE, 0, NULL, 0, 0, "waiting|running|done|dead", "only of this state" },
	{ "kind", PARAM_CHOICE, 0, NULL, 0, 0, "observe|summary|canary", "only of this kind" },
	PROJECT,
	LIMIT("50"),
	CURSOR,
	END,
};

static const struct param cost_params[] = {
	{ "since", PARAM_TIME, 0, NULL, 0, 0, NULL, "from this time on (30 days)" },
	PROJECT,
	END,
};

static const struct param observer_params[] = {
	{ "action", PARAM_CHOICE, PARAM_POSITIONAL | PARAM_REQUIRED, NULL, 0, 0, "test|eval",
		"try one unit, or judge answers over several" },
	{ "models", PARAM_TEXT, PARAM_MANY, NULL, 0, NAME_LONGEST, NULL,
		"another model; eval: beside the one of the settings, or two to compare" },
	{ "units", PARAM_INT, 0, "20", 1, 1000, NULL, "eval: so many of the newest units" },
	END,
};

static const struct param no_params[] = { END };

#define FINDING "Finding"
#define KEEPING "Keeping and forgetting"
#define LOOKING "Looking"
#define SETUP "Setting up"
#define HOUSE "Keeping house"

const struct op_spec op_specs[] = {
	{ "search", NULL, OP_MCP, "Find memories, messages and sessions",
		"Words are ORed and ranked; put exact phrases in quotes and a minus before words "
		"to leave out.\n"
		"Without a query it lists the newest.\n"
		"  remanence search flaky parser\n"
		"  remanence search '\"connection reset\" -staging' --after 7d\n"
		"  remanence search --file src/parser.c --type bugfix\n"
		"  remanence search deploy --scope sessions --project all",
		"Level 1: find past work in this project. Returns refs, titles and dates. Words "
		"are ORed; \"phrases\", -word, "
		"file:, type:, before:, after: work in the query. project=\"all\" searches "
		"everywhere.",
		search_params, FINDING },
	{ "timeline", NULL, OP_MCP, "Show what happened around a memory, an event or a time",
		"Of a session it shows everything in order, events and memories.\n"
		"  remanence timeline 12\n"
		"  remanence timeline s7\n"
		"  remanence timeline --at yesterday --before-n 20",
		"Level 2: what happened before and after a ref, a time or the best hit of a query; "
		"a session ref (s7) gives the whole session.",
		timeline_params, FINDING },
	{ "get", "get_observations", OP_MCP, "Show whole records with their evidence",
		"  remanence get 12 e345 s7",
		"Level 3: whole records with evidence, for refs found before (12, e345, s7). Fetch "
		"only those you need.",
		get_params, FINDING },
	{ "facts", "search_facts", OP_MCP, "Show what is known for good: preferences, decisions, fixes",
		"Facts are merged from what was said and done in sessions; `remanence get 57` shows "
		"what one rests on.\n"
		"  remanence facts\n"
		"  remanence facts package manager\n"
		"  remanence facts --category error_fix --min-confidence .5\n"
		"  remanence facts --as-of 2026-10-01",
		"What is known for good: preferences, conventions, decisions, commands that work here, "
		"errors and their fixes. Without a query the surest.",
		facts_params, FINDING },
	{ "recall", NULL, OP_MCP, "Answer a question from memory, ready to read",
		"  remanence recall why do we pin the parser version --file src/parser.c",
		"One call: the best memories for a question and files, ready to read within a "
		"token budget.",
		recall_params, FINDING },
	{ "context", NULL, 0, "Show what a session started here would be given", NULL, NULL,
		context_params, FINDING },
	{ "files", "file_history", OP_MCP, "List what is known about a file",
		"Memories that may no longer hold come first, the oldest of them before the others.\n"
		"  remanence files src/parser.c",
		"What is remembered of a file or folder; what may no longer hold first.", files_params, FINDING },
	{ "blame", NULL, 0, "Show the session, prompt and messages behind a line or a commit",
		"By the edits that were recorded, git blame and the times of commits.\n"
		"  remanence blame src/parser.c:214\n"
		"  remanence blame 1a2b3c4",
		NULL, blame_params, FINDING },

	{ "entities", NULL, OP_MCP, "List what sessions deal with: libraries, tools, services …",
		"With a name: the memories that name it, what it is mentioned together with, and its "
		"history by month.\n"
		"  remanence entities\n"
		"  remanence entities --kind library --project all\n"
		"  remanence entities pytest",
		"Libraries, tools, services, languages, commands and error classes by how often they were "
		"used. With a name: its memories, neighbours and months.",
		entities_params, FINDING },

	{ "remember", NULL, OP_WRITES | OP_MCP, "Keep a note or a fact",
		"  remanence remember 'the staging database is read-only on Fridays'\n"
		"  remanence remember --category preference 'use tabs in Makefiles only'",
		"Keep something for later sessions: one durable sentence. With a category it is a "
		"fact.",
		remember_params, KEEPING },
	{ "edit", NULL, OP_WRITES, "Change a memory",
		"  remanence edit 12 --title 'The parser needs a lock'\n"
		"  remanence edit 12 'a new text'",
		NULL, edit_params, KEEPING },
	{ "pin", NULL, OP_WRITES, "Always keep a memory and rank it high",
		"  remanence pin 12\n  remanence pin 12 --off", NULL, pin_params, KEEPING },
	{ "share", NULL, OP_WRITES | OP_AGAIN, "Let colleagues on the same store see memories",
		"Memories are private to their author; what they were made of always stays so. What you approve in a "
		"review is shared too.\n"
		"  remanence share 12 15\n"
		"  remanence share 12 --private\n"
		"  remanence share --project\n"
		"  remanence share --project webshop --private",
		NULL, share_params, KEEPING },
	{ "review", NULL, OP_WRITES, "Decide what waits for a person: approve, reject, edit",
		"On a terminal it asks for one key each. Agents are only given what is approved or "
		"confident; what is rejected does not come again.\n"
		"  remanence review\n"
		"  remanence review 12 approve\n"
		"  remanence review 12 edit 'use tabs in Makefiles only'\n"
		"  remanence review --rejected",
		NULL, review_params, KEEPING },
	{ "forget", NULL, OP_WRITES | OP_SLOW | OP_MCP,
		"Erase for good: text, events, index, free pages",
		"Asks before more than one thing goes; where it cannot ask it needs --yes.\n"
		"  remanence forget 12\n"
		"  remanence forget --session s7\n"
		"  remanence forget --match 'customer name' --dry-run",
		"Erase memories for good, by ref. Only when the user asks for it.", forget_params,
		KEEPING },
	{ "pause", NULL, OP_WRITES, "Stop capturing",
		"  remanence pause --for 2h\n  remanence pause --project secret-app", NULL,
		pause_params, KEEPING },
	{ "resume", NULL, OP_WRITES, "Capture again", NULL, NULL, resume_params, KEEPING },

	{ "sessions", NULL, OP_ALL_PROJECTS, "List sessions, newest first", NULL, NULL,
		sessions_params, LOOKING },
	{ "projects", NULL, 0, "List projects", NULL, NULL, projects_params, LOOKING },
	{ "why", NULL, 0, "Show what was injected, its cost and whether it was used", NULL, NULL,
		why_params, LOOKING },
	{ "stats", NULL, OP_ALL_PROJECTS, "Count what is stored", NULL, NULL, stats_params,
		LOOKING },
	{ "status", NULL, OP_NO_START, "Show the daemon and what is going on", NULL, NULL,
		no_params, LOOKING },

	{ "install", NULL, OP_LOCAL, "Wire the agents on this machine: hooks and MCP",
		"Each change is shown; what else stands in the files stays byte for byte.\n"
		"  remanence install --dry-run\n  remanence install claude",
		NULL, install_params, SETUP },
	{ "uninstall", NULL, OP_LOCAL, "Take everything back that install did", NULL, NULL,
		uninstall_params, SETUP },
	{ "import", NULL, OP_WRITES | OP_STREAMS | OP_SLOW | OP_AGAIN,
		"Read transcripts of earlier sessions, newest first",
		"Importing again adds nothing; files that grew add their tail.\n"
		"  remanence import\n  remanence import ~/old-laptop/.claude/projects --since 90d",
		NULL, import_params, SETUP },
	{ "sync", NULL, OP_WRITES | OP_STREAMS | OP_SLOW | OP_AGAIN, "Follow folders of markdown files",
		"Their sections are found by search; edits are seen at once. Files are only read.\n"
		"  remanence sync add ~/notes --namespace notes\n"
		"  remanence sync add docs --namespace docs --glob '/guide/**' --glob '!drafts'\n"
		"  remanence sync add --ready\n"
		"  remanence sync list\n"
		"  remanence sync run --force notes\n"
		"  remanence search --namespace notes how to deploy",
		NULL, sync_params, SETUP },
	{ "config", NULL, OP_WRITES, "List and change settings",
		"  remanence config\n  remanence config get hook.ask_ms\n  remanence config set "
		"capture.exclude /srv/secret,/tmp",
		NULL, config_params, SETUP },
	{ "welcome", NULL, OP_LOCAL | OP_HIDDEN | OP_SLOW, "Take in the history and show a first result", NULL, NULL,
		no_params, SETUP },
	{ "completion", NULL, OP_LOCAL, "Print a completion script",
		"  remanence completion bash > "
		"~/.local/share/bash-completion/completions/remanence",
		NULL, completion_params, SETUP },

	{ "doctor", NULL, OP_SLOW, "Check everything and advise", NULL, NULL, doctor_params,
		HOUSE },
	{ "start", NULL, OP_LOCAL, "Start the daemon", NULL, NULL, no_params, HOUSE },
	{ "serve", NULL, OP_LOCAL, "Run the daemon attached, for supervisors and containers",
		"  remanence config set http.port 8080\n  remanence serve", NULL, no_params, HOUSE },
	{ "stop", NULL, OP_NO_START | OP_SLOW, "Stop the daemon; returns when it has left", NULL,
		NULL, no_params, HOUSE },
	{ "backup", NULL, OP_WRITES | OP_SLOW, "Copy the store into one file", NULL, NULL,
		backup_params, HOUSE },
	{ "store", NULL, OP_WRITES | OP_SLOW, "Copy a store into another kind of database",
		"  remanence store copy sqlite:$HOME/.local/share/remanence/remanence.db postgres://me@host/memory\n"
		"  remanence store copy postgres://me@host/memory sqlite:/tmp/memory.db",
		NULL, store_params, HOUSE },
	{ "restore", NULL, OP_WRITES | OP_SLOW, "Put a backup in the place of the store", NULL,
		NULL, restore_params, HOUSE },
	{ "export", NULL, OP_STREAMS | OP_SLOW, "Print all memories", NULL, NULL, export_params,
		HOUSE },
	{ "reindex", NULL, OP_WRITES | OP_SLOW, "Build the index anew from the store", NULL, NULL,
		no_params, HOUSE },

	{ "observer", NULL, OP_WRITES | OP_STREAMS | OP_SLOW,
		"Try the model that makes memories better, on your own sessions",
		"Nothing is stored but what it cost.\n"
		"  remanence observer test\n"
		"  remanence observer eval --units 20\n"
		"  remanence observer eval --model qwen3:8b",
		NULL, observer_params, HOUSE },
	{ "jobs", NULL, OP_WRITES | OP_ALL_PROJECTS, "What waits for the model, runs or was given up",
		"  remanence jobs\n"
		"  remanence jobs --dead\n"
		"  remanence jobs retry all\n"
		"  remanence jobs drop j12",
		NULL, jobs_params, HOUSE },
	{ "cost", NULL, OP_ALL_PROJECTS, "What the model used: by day, project and model",
		"  remanence cost\n  remanence cost --since 7d --project app", NULL, cost_params, HOUSE },

	{ "model", NULL, OP_WRITES | OP_SLOW, "The file that finding by meaning needs",
		"  remanence model install model.bin\n"
		"  remanence model status\n"
		"  remanence model remove",
		NULL, model_params, HOUSE },

	{ "hook", NULL, OP_LOCAL, "Take an agent's hook input from standard input",
		"Called by agents. It always exits 0.", NULL, hook_params, "For agents" },
	{ "mcp", NULL, OP_LOCAL, "Serve MCP on standard input and output", NULL, NULL, no_params,
		"For agents" },
};
const size_t op_specs_n = ARRAY_LEN(op_specs);
