#ifndef AGENTS_TOML_SCAN_H
#define AGENTS_TOML_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

/*
 * Where the tables and keys of a TOML text stand (toml.io, 1.0): enough to find, add and take out
 * whole tables without touching anything else. Values are not read, only skipped: strings of all
 * four kinds, arrays and inline tables over lines.
 */

#define TOML_PATH_MAX 16 /* parts of a key */

struct toml_item {
	bool is_table;                   /* a header; else a key with its value */
	bool is_list;                    /* [[header]] */
	const char *path[TOML_PATH_MAX]; /* whole path, of the table and the key */
	size_t npath;
	/* the line or lines in the text, with the line's end; of a table: its header only */
	size_t start, end;
	struct str value; /* keys: raw text of the value */
};

struct toml_doc {
	struct toml_item *items;
	size_t n, cap;
};

/* ERR_USAGE with the line of what is wrong. */
int toml_scan(struct arena *a, struct str text, struct toml_doc *ret, struct err *err);
/* Does this item's path begin with these parts (NULL ends them)? */
bool toml_item_is_below(const struct toml_item *item, const char *const *parts);
/* End of the table whose header is item i: behind its last key. */
size_t toml_table_end(const struct toml_doc *doc, size_t i);

#endif
