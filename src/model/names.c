/* The names of the closed sets. A row stands at the number that is stored; the compiler sees a row that is out of place. */
#include "model/names.h"

#include <string.h>

const char *const agent_names[AGENT_COUNT] = {
	[AGENT_NONE] = "none",
	[AGENT_CLAUDE] = "claude",
	[AGENT_CODEX] = "codex",
	[AGENT_FACTORY] = "factory",
	[AGENT_GEMINI] = "gemini",
	[AGENT_OPENCODE] = "opencode",
	[AGENT_CURSOR] = "cursor",
};

const char *const event_kind_names[EVENT_KIND_COUNT] = {
	[EVENT_NONE] = "none",
	[EVENT_PROMPT] = "prompt",
	[EVENT_TOOL] = "tool",
	[EVENT_REPLY] = "reply",
	[EVENT_COMPACTION] = "compaction",
	[EVENT_START] = "start",
	[EVENT_END] = "end",
};

const char *const event_status_names[EVENT_STATUS_COUNT] = {
	[STATUS_UNKNOWN] = "unknown",
	[STATUS_OK] = "ok",
	[STATUS_FAILED] = "failed",
	[STATUS_DENIED] = "denied",
};

const char *const memory_kind_names[MEMORY_KIND_COUNT] = {
	[KIND_NONE] = "none",
	[KIND_OBSERVATION] = "observation",
	[KIND_SUMMARY] = "summary",
	[KIND_FACT] = "fact",
	[KIND_NOTE] = "note",
	[KIND_CHUNK] = "chunk",
};

/* "decision" names both an observation's type and a fact's category: name_find gives the type, and name_find from
 * FACT_PREFERENCE on gives the category. */
const char *const memory_type_names[MEMORY_TYPE_COUNT] = {
	[TYPE_NONE] = "none",
	[TYPE_BUGFIX] = "bugfix",
	[TYPE_FEATURE] = "feature",
	[TYPE_REFACTOR] = "refactor",
	[TYPE_CHANGE] = "change",
	[TYPE_DISCOVERY] = "discovery",
	[TYPE_DECISION] = "decision",
	[TYPE_SECURITY_ALERT] = "security_alert",
	[TYPE_SECURITY_NOTE] = "security_note",
	[TYPE_SENSITIVE] = "sensitive",
	[FACT_PREFERENCE] = "preference",
	[FACT_DECISION] = "decision",
	[FACT_CONVENTION] = "convention",
	[FACT_ARCHITECTURE] = "architecture",
	[FACT_ERROR_FIX] = "error_fix",
	[FACT_TOOL_PATTERN] = "tool_pattern",
	[FACT_DEAD_END] = "dead_end",
	[FACT_TODO] = "todo",
};

const char *const memory_status_names[MEMORY_STATUS_COUNT] = {
	[MEMORY_ACTIVE] = "active",
	[MEMORY_PENDING] = "pending",
	[MEMORY_REJECTED] = "rejected",
	[MEMORY_SUPERSEDED] = "superseded",
};

const char *const memory_origin_names[MEMORY_ORIGIN_COUNT] = {
	[ORIGIN_NONE] = "none",
	[ORIGIN_RULES] = "rules",
	[ORIGIN_MODEL] = "model",
	[ORIGIN_PERSON] = "person",
	[ORIGIN_AGENT] = "agent",
	[ORIGIN_IMPORT] = "import",
	[ORIGIN_FILE] = "file",
};

const char *const trust_names[TRUST_COUNT] = {
	[TRUST_OUTSIDE] = "outside",
	[TRUST_TOOL] = "tool",
	[TRUST_REPLY] = "reply",
	[TRUST_PROMPT] = "prompt",
	[TRUST_PERSON] = "person",
};

const char *const file_role_names[FILE_ROLE_COUNT] = {
	[ROLE_READ] = "read",
	[ROLE_MODIFIED] = "modified",
	[ROLE_ABOUT] = "about",
};

const char *const entity_kind_names[ENTITY_KIND_COUNT] = {
	[ENTITY_NONE] = "none",
	[ENTITY_LIBRARY] = "library",
	[ENTITY_TOOL] = "tool",
	[ENTITY_SERVICE] = "service",
	[ENTITY_LANGUAGE] = "language",
	[ENTITY_COMMAND] = "command",
	[ENTITY_FILE] = "file",
	[ENTITY_CONCEPT] = "concept",
};

int name_find(const char *const *names, size_t n, const char *name)
{
	if (!name)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (names[i] && strcmp(names[i], name) == 0)
			return (int)i;
	return -1;
}

bool name_is_any(const char *name, const char *const *names, size_t n)
{
	return name_find(names, n, name) >= 0;
}
