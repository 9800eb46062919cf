#ifndef TEXT_FRONT_MATTER_H
#define TEXT_FRONT_MATTER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"

/*
 * The YAML block that a markdown file may begin with, between "---" and "---" or "...". Of it: the
 * title, tags, a date, and every other scalar, those of nested mappings as "outer.inner". Lists of
 * scalars are joined by commas. Pure; everything lives in the caller's arena.
 */

#define FRONT_MATTER_MAX (64u << 10) /* bytes; a longer block is text */
#define FRONT_MATTER_ENTRIES_MAX 200 /* further entries are left out */
#define FRONT_MATTER_TAGS_MAX 64

struct front_entry {
	const char *name, *value;
};

struct front_matter {
	const char *title; /* NULL: none; `name` where there is no title */
	const char *date;  /* as written, NULL: none */
	const char **tags;
	size_t ntags;
	struct front_entry *entries; /* all, the above included, in order */
	size_t n;
};

/*
 * The length in bytes of the block that `text` begins with, fences and the last line end included;
 * 0: there is none. *ret_inside is what stands between the fences.
 */
size_t front_matter_find(struct str text, struct str *ret_inside);
/* False when it is no YAML mapping: then it is to be taken as text. */
bool front_matter_read(struct arena *a, struct str inside, struct front_matter *ret);
/* {"name":"value", …, "tags":[…]}; NULL when there are no entries. */
char *front_matter_json(struct arena *a, const struct front_matter *f);

#endif
