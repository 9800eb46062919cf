#ifndef MODEL_NAMES_H
#define MODEL_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The closed sets of words that the product uses, each with one table of names. The numbers are stored: rows are only ever
 * added at the end.
 */

enum agent_id { AGENT_NONE, AGENT_CLAUDE, AGENT_CODEX, AGENT_FACTORY, AGENT_GEMINI, AGENT_OPENCODE, AGENT_CURSOR, AGENT_COUNT };

enum event_kind { EVENT_NONE, EVENT_PROMPT, EVENT_TOOL, EVENT_REPLY, EVENT_COMPACTION, EVENT_START, EVENT_END, EVENT_KIND_COUNT };

enum event_status { STATUS_UNKNOWN, STATUS_OK, STATUS_FAILED, STATUS_DENIED, EVENT_STATUS_COUNT };

enum memory_kind { KIND_NONE, KIND_OBSERVATION, KIND_SUMMARY, KIND_FACT, KIND_NOTE, KIND_CHUNK, MEMORY_KIND_COUNT };

/* Types of observations, then categories of facts: one column holds either. */
enum memory_type {
	TYPE_NONE,
	TYPE_BUGFIX, TYPE_FEATURE, TYPE_REFACTOR, TYPE_CHANGE, TYPE_DISCOVERY, TYPE_DECISION, TYPE_SECURITY_ALERT,
	TYPE_SECURITY_NOTE, TYPE_SENSITIVE,
	FACT_PREFERENCE, FACT_DECISION, FACT_CONVENTION, FACT_ARCHITECTURE, FACT_ERROR_FIX, FACT_TOOL_PATTERN, FACT_DEAD_END,
	FACT_TODO,
	MEMORY_TYPE_COUNT
};

enum memory_status { MEMORY_ACTIVE, MEMORY_PENDING, MEMORY_REJECTED, MEMORY_SUPERSEDED, MEMORY_STATUS_COUNT };

enum memory_origin { ORIGIN_NONE, ORIGIN_RULES, ORIGIN_MODEL, ORIGIN_PERSON, ORIGIN_AGENT, ORIGIN_IMPORT, ORIGIN_FILE, MEMORY_ORIGIN_COUNT };

/* Who said it, least trusted first. */
enum trust { TRUST_OUTSIDE, TRUST_TOOL, TRUST_REPLY, TRUST_PROMPT, TRUST_PERSON, TRUST_COUNT };

enum file_role { ROLE_READ, ROLE_MODIFIED, ROLE_ABOUT, FILE_ROLE_COUNT };

enum entity_kind {
	ENTITY_NONE, ENTITY_LIBRARY, ENTITY_TOOL, ENTITY_SERVICE, ENTITY_LANGUAGE, ENTITY_COMMAND, ENTITY_FILE, ENTITY_CONCEPT,
	ENTITY_KIND_COUNT
};

enum alias_kind { ALIAS_COMMON_DIR, ALIAS_REMOTE, ALIAS_PATH, ALIAS_KIND_COUNT };

/* How an event reached us; a later source of higher rank may fill fields, never empty them. */
enum source { SOURCE_UNKNOWN, SOURCE_HOOK, SOURCE_TRANSCRIPT, SOURCE_COUNT };

extern const char *const agent_names[AGENT_COUNT];
extern const char *const event_kind_names[EVENT_KIND_COUNT];
extern const char *const event_status_names[EVENT_STATUS_COUNT];
extern const char *const memory_kind_names[MEMORY_KIND_COUNT];
extern const char *const memory_type_names[MEMORY_TYPE_COUNT];
extern const char *const memory_status_names[MEMORY_STATUS_COUNT];
extern const char *const memory_origin_names[MEMORY_ORIGIN_COUNT];
extern const char *const trust_names[TRUST_COUNT];
extern const char *const file_role_names[FILE_ROLE_COUNT];
extern const char *const entity_kind_names[ENTITY_KIND_COUNT];

/* Index of `name` in a table of n names; -1 when it is not there or NULL. */
int name_find(const char *const *names, size_t n, const char *name);
bool name_is_any(const char *name, const char *const *names, size_t n);

#endif
