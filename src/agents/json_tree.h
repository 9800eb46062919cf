#ifndef AGENTS_JSON_TREE_H
#define AGENTS_JSON_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

/*
 * Editing JSON as text: a tree of where everything stands, and edits that insert or take out a
 * stretch of bytes and leave all others as they are. After an edit the tree is old; parse anew.
 * Comments and a leading byte order mark are read over, since agents read such files too.
 */

#define JSON_TREE_DEPTH 128
/* bytes of a configuration file; a larger one is reported, not edited */
#define CONFIG_MAX (32u << 20)

enum jnode_type { JNODE_OBJECT, JNODE_ARRAY, JNODE_STRING, JNODE_OTHER };

struct jnode {
	enum jnode_type type;
	size_t start, end; /* of the value in the text, end exclusive */
	size_t key_start;  /* members: where the key's quote stands; else start */
	const char *key;   /* members: decoded; NULL in arrays and at the top */
	const char *value; /* strings: decoded */
	struct jnode *first, *last, *next, *prev;
	size_t n; /* children */
};

/* Parses a whole text, strictly but for comments. ERR_USAGE with the line of what is wrong. */
int jnode_parse(struct arena *a, struct str text, struct jnode **ret, struct err *err);
/* the last of that name; NULL when absent or no object */
struct jnode *jnode_get(const struct jnode *object, const char *key);

/* How a text is laid out, so that what is inserted looks like the rest. */
struct json_style {
	const char *newline; /* "\n", "\r\n", or "" when everything stands on one line */
	const char *unit;    /* one level of indentation */
};
struct json_style json_style_of(struct arena *a, struct str text, const struct jnode *root);

/*
 * Inserts a value at the end of an object (under `key`) or array (key NULL). `value` is compact
 * JSON text and is laid out in the text's style. Returns the new text.
 */
struct str jnode_insert(struct arena *a, struct str text, const struct jnode *root,
	const struct jnode *parent, const char *key, const char *value);
/* Takes a child out, with the comma that it needs. */
struct str jnode_remove(
	struct arena *a, struct str text, const struct jnode *parent, const struct jnode *child);
/* A JSON string literal. */
const char *json_literal(struct arena *a, const char *s);

#endif
