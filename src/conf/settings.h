#ifndef CONF_SETTINGS_H
#define CONF_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"

/*
 * The settings: one table, many doors (settings.json, REMANENCE_* variables, `remanence config`,
 * help, docs). A value comes from, first found: environment, file, default. Values are checked
 * against type and range when read; a bad one is said once and the default holds. Loaded once per
 * process into a struct that is read-only afterwards; the daemon loads anew when the file's time
 * changes.
 */

enum setting_type { SETTING_INT, SETTING_REAL, SETTING_BOOL, SETTING_TEXT, SETTING_LIST /* comma separated or JSON array */, SETTING_CHOICE };

enum setting_id {
	SET_AUTHOR,
	SET_CAPTURE_HEADLESS, SET_CAPTURE_EXCLUDE, SET_CAPTURE_SKIP_TOOLS, SET_CAPTURE_MAX_OUTPUT,
	SET_CHUNK_CHARS,
	SET_CONTEXT_MAX_CHARS, SET_CONTEXT_OBSERVATIONS, SET_CONTEXT_FULL, SET_CONTEXT_PROMPT_CHARS,
	SET_DAEMON_IDLE_MINUTES,
	SET_EMBED_ASK_MS, SET_EMBED_DIMENSION, SET_EMBED_KEY, SET_EMBED_KEY_COMMAND, SET_EMBED_KEY_FILE,
	SET_EMBED_MODEL, SET_EMBED_PROVIDER, SET_EMBED_TIMEOUT_MS, SET_EMBED_URL,
	SET_HOOK_ASK_MS,
	SET_HTTP_HOSTS, SET_HTTP_LISTEN, SET_HTTP_OPEN_ROUTES, SET_HTTP_PORT,
	SET_LOG_LEVEL,
	SET_OBSERVER_CANARY, SET_OBSERVER_CONTEXT_TOKENS, SET_OBSERVER_DAILY_COST, SET_OBSERVER_DAILY_TOKENS,
	SET_OBSERVER_KEEP_ALIVE, SET_OBSERVER_KEY, SET_OBSERVER_KEY_COMMAND, SET_OBSERVER_KEY_FILE,
	SET_OBSERVER_LANGUAGE, SET_OBSERVER_MAX_CHARS, SET_OBSERVER_MODE, SET_OBSERVER_MODEL,
	SET_OBSERVER_PARALLEL, SET_OBSERVER_PRICE_IN, SET_OBSERVER_PRICE_OUT, SET_OBSERVER_PROVIDER,
	SET_OBSERVER_REPLIES_DAYS, SET_OBSERVER_STALL_MS, SET_OBSERVER_TIMEOUT_MS, SET_OBSERVER_URL,
	SET_REDACT_PATTERNS,
	SET_RETENTION_EVENTS_DAYS, SET_RETENTION_MAX_BYTES,
	SET_REVIEW_THRESHOLD,
	SET_RULES_OFF,
	SET_SEARCH_LOG, SET_SEARCH_LOG_DAYS,
	SET_STORE,
	SET_SYNC_SWEEP_MINUTES,
	SETTING_COUNT
};

struct setting_info {
	const char *key;      /* "context.max_chars" */
	enum setting_type type;
	const char *standard; /* default, as text */
	double min, max;      /* numbers; text: max length */
	const char *choices;  /* "off|counts|text" */
	const char *help;     /* one line */
	bool is_secret;       /* never printed */
};

extern const struct setting_info settings_table[SETTING_COUNT];

struct settings; /* opaque */
/*
 * Reads file (may be absent) and environment. Warnings (bad values, unknown keys) are appended to
 * *warnings when not NULL, a line each.
 */
int settings_load(const char *path, struct settings **ret, struct buf *warnings, struct err *err);
void settings_free(struct settings *s);
int64_t settings_int(const struct settings *s, enum setting_id id);
double settings_real(const struct settings *s, enum setting_id id);
bool settings_bool(const struct settings *s, enum setting_id id);
const char *settings_text(const struct settings *s, enum setting_id id);
/* Items of a list setting; NULL-terminated. */
const char *const *settings_list(const struct settings *s, enum setting_id id);
const char *settings_origin(const struct settings *s, enum setting_id id); /* "default", "file", "environment" */
/*
 * Hash of the REMANENCE_* variables (without the data folder and what concerns hooks only), to tell
 * a client's from a daemon's.
 */
#define SETTINGS_HASH_MAX 20
const char *settings_environment_hash(char out[SETTINGS_HASH_MAX]);
int setting_find(const char *key); /* id, or -1; the nearest key is offered by setting_nearest */
const char *setting_nearest(const char *key);
/* Checks a value as people type it and appends it as JSON (a number, true, "text", an array). */
int setting_value_json(int id, const char *text, struct buf *out, struct err *err);
/* The file as a JSON object that the caller frees; NULL when it is absent or empty. */
int settings_file_read(const char *path, json **ret, struct err *err);
/*
 * Changes one key of settings.json (value NULL removes it), keeping all others and their order;
 * checks the value first.
 */
int settings_change(const char *path, const char *key, const char *value, struct err *err);

#endif
