#ifndef SPEC_SPEC_H
#define SPEC_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "base/str.h"

/*
 * The table of operations: names, parameters, help. No code behind it (that is ops/). It feeds the
 * command line (parsing, checking, help, completion), HTTP (routes POST /api/<name>), MCP
 * (tools/list) and the docs.
 */

enum param_type {
	PARAM_TEXT, PARAM_INT, PARAM_REAL, PARAM_BOOL, PARAM_REF /* "12", "e345", "s7" */, PARAM_TIME /* text as people type, checked */,
	PARAM_RANGE /* 2026-11-01..2026-11-15, or a time */, PARAM_CHOICE, PARAM_PATH
};

#define PARAM_REQUIRED 1u
#define PARAM_MANY 2u       /* may be repeated; a JSON array */
#define PARAM_POSITIONAL 4u /* on the command line without a name; MANY takes all words that are left */
#define PARAM_JOINED 8u     /* positional words are joined by a space into one text (QUERY…) */
#define PARAM_NO_MCP 16u    /* not offered to agents */
#define PARAM_BARE 32u      /* on the command line its value may be left out, and is "." then */

struct param {
	const char *name;     /* JSON name and --option; '_' in JSON is '-' on the command line */
	enum param_type type;
	unsigned flags;
	const char *standard; /* default as text, or NULL */
	double min, max;      /* numbers; for text: max = longest in bytes (0: 64 KB) */
	const char *choices;  /* "memories|messages|sessions|all" */
	const char *help;     /* one line */
};

#define OP_LOCAL 1u      /* done by the client itself (install, doctor's local half, completion …): no route */
#define OP_WRITES 2u     /* changes the store: runs on the writer */
#define OP_STREAMS 4u    /* progress as JSON lines, then the result */
#define OP_MCP 8u        /* a tool for agents */
#define OP_ALL_PROJECTS 16u /* without --project it speaks of the whole store */
#define OP_HIDDEN 32u
#define OP_NO_START 64u  /* a daemon that does not run is not started for it */
#define OP_SLOW 128u     /* may take minutes: the client waits without a deadline */
#define OP_AGAIN 256u /* writes, but may be run again without harm: repeated when the daemon dies under it */

struct op_spec {
	const char *name;     /* command and route */
	const char *mcp_name; /* tool name when it differs ("get_observations"), else NULL */
	unsigned flags;
	const char *summary;  /* one line, imperative */
	const char *help;     /* a paragraph or NULL; examples */
	const char *mcp_help; /* description for agents, or NULL: summary */
	const struct param *params; /* ends with a NULL name */
	const char *group;    /* heading in the overview of commands */
};

extern const struct op_spec op_specs[];
extern const size_t op_specs_n;

const struct op_spec *op_spec_find(const char *name);     /* by command name or MCP name; NULL */
const char *op_spec_nearest(const char *name);            /* for "did you mean"; NULL when nothing is near */
/*
 * '-' and '_', camelCase, singular and plural alike, and the usual other names ("ids" for "refs",
 * "q" for "query"); NULL.
 */
const struct param *op_param_find(const struct op_spec *op, const char *name);
const char *op_param_nearest(const struct op_spec *op, const char *name); /* for "did you mean"; NULL when nothing is near */
/*
 * Name of the option on the command line, without dashes: "before-n"; the singular of what may be
 * repeated ("file" for "files").
 */
#define OPTION_NAME_MAX 48
const char *op_param_option(const struct param *p, char out[OPTION_NAME_MAX]);
/*
 * Is `word` one of "a|b|c"? Case does not matter; *ret_word is the choice as the table writes it
 * (not terminated), when not NULL.
 */
bool op_choice_find(const char *choices, const char *word, struct str *ret_word);

/*
 * Checks a JSON object of parameters against a spec: unknown names (with the nearest right one),
 * types (forgiving: "5" for 5, 5 for "5", a single value for a list, camelCase names), ranges,
 * choices. Writes the normal form (defaults filled in) to out as one JSON object.
 */
int op_params_check(const struct op_spec *op, const json *params, struct buf *out, struct err *err);

#endif
