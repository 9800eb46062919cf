/* The table of settings; settings.c reads values for it. In the order of enum setting_id. */
#include "conf/settings.h"

#define TEXT_LONGEST 4096
#define LIST_LONGEST (64 << 10)
#define MINUTES_MAX 525600
#define CHARS_MAX 10000 /* agents cut what is longer */

const struct setting_info settings_table[SETTING_COUNT] = {
	[SET_CAPTURE_HEADLESS] = { "capture.headless", SETTING_BOOL, "true", 0, 0, NULL,
		"capture runs without a person too (claude -p, codex exec)", false },
	[SET_CAPTURE_EXCLUDE] = { "capture.exclude", SETTING_LIST, "", 0, LIST_LONGEST, NULL,
		"folders whose sessions are not captured; globs are allowed", false },
	[SET_CAPTURE_SKIP_TOOLS] = { "capture.skip_tools", SETTING_LIST, "", 0, LIST_LONGEST, NULL,
		"tools whose calls are not captured; globs are allowed", false },
	[SET_CAPTURE_MAX_OUTPUT] = { "capture.max_output", SETTING_INT, "65536", 1024, 8388608,
		NULL, "bytes kept of a tool call's input and of its output (head and tail)",
		false },
	[SET_CONTEXT_MAX_CHARS] = { "context.max_chars", SETTING_INT, "9000", 0, CHARS_MAX, NULL,
		"most characters given to a session at its start; 0 gives none", false },
	[SET_CONTEXT_OBSERVATIONS] = { "context.observations", SETTING_INT, "50", 0, 1000, NULL,
		"observations listed in the context of a session", false },
	[SET_CONTEXT_FULL] = { "context.full", SETTING_INT, "5", 0, 100, NULL,
		"of these, how many with their whole text", false },
	[SET_CONTEXT_PROMPT_CHARS] = { "context.prompt_chars", SETTING_INT, "1500", 0, CHARS_MAX,
		NULL, "most characters given with a prompt; 0 gives none", false },
	[SET_DAEMON_IDLE_MINUTES] = { "daemon.idle_minutes", SETTING_REAL, "30", 0, MINUTES_MAX,
		NULL, "minutes without use after which the daemon leaves; 0: it stays", false },
	[SET_EMBED_PROVIDER] = { "embed.provider", SETTING_CHOICE, "builtin", 0, 0, "builtin|none",
		"what makes vectors, for finding by meaning", false },
	[SET_HOOK_ASK_MS] = { "hook.ask_ms", SETTING_INT, "300", 10, 10000, NULL,
		"milliseconds that a hook waits for context", false },
	[SET_HTTP_HOSTS] = { "http.hosts", SETTING_LIST, "", 0, LIST_LONGEST, NULL,
		"further names that the daemon is asked under over HTTP, such as a proxy's", false },
	[SET_HTTP_LISTEN] = { "http.listen", SETTING_TEXT, "127.0.0.1", 0, 64, NULL,
		"address of the HTTP door on TCP; off: none (holds from the next start)", false },
	[SET_HTTP_OPEN_ROUTES] = { "http.open_routes", SETTING_LIST, "", 0, LIST_LONGEST, NULL,
		"of /health, /stats and /search, those that programs may ask without the token",
		false },
	[SET_HTTP_PORT] = { "http.port", SETTING_INT, "0", 0, 65535, NULL,
		"its port; 0: any that is free (holds from the next start)", false },
	[SET_LOG_LEVEL] = { "log.level", SETTING_CHOICE, "info", 0, 0, "error|warn|info|debug",
		"what the daemon writes into its log", false },
	[SET_REDACT_PATTERNS] = { "redact.patterns", SETTING_LIST, "", 0, LIST_LONGEST, NULL,
		"regular expressions of your own secrets, redacted before anything is stored",
		false },
	[SET_RETENTION_EVENTS_DAYS] = { "retention.events_days", SETTING_INT, "0", 0, 36500, NULL,
		"days that events are kept, memories stay; 0: for ever", false },
	[SET_RETENTION_MAX_BYTES] = { "retention.max_bytes", SETTING_INT, "8589934592", 0, 1e15,
		NULL, "size of the store above which the oldest events go; 0: no limit", false },
	[SET_REVIEW_THRESHOLD] = { "review.threshold", SETTING_REAL, "0.4", 0, 1, NULL,
		"confidence below which a memory waits for a person", false },
	[SET_RULES_OFF] = { "rules.off", SETTING_LIST, "", 0, LIST_LONGEST, NULL,
		"rules for facts that are switched off: preference, correction, decision, dead_end, todo, convention, "
		"architecture, error_fix, tool_pattern", false },
	[SET_STORE] = { "store", SETTING_TEXT, "", 0, TEXT_LONGEST, NULL,
		"where memories are kept: sqlite:PATH; empty: in the data folder", false },
};
