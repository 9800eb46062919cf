#ifndef TEXT_IGNORE_H
#define TEXT_IGNORE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"

/*
 * What .gitignore files leave out (gitignore(5)): patterns of a folder hold for what lies below it,
 * later ones and those of deeper folders win, "!" takes back, a slash at the end means folders, one
 * elsewhere ties the pattern to its folder. Whoever walks does not enter a folder that is left out,
 * so nothing below it can be taken back. Pure.
 */

#define IGNORE_FILE_MAX (256u << 10) /* bytes of a file; the rest is not read */
#define IGNORE_RULES_MAX 20000       /* in force at once; further ones are left out */

struct ignore_rule {
	const char *folder, *pattern;
	bool is_taking_back, is_for_folders, is_tied;
};

struct ignore {
	struct arena *arena;
	struct ignore_rule *rules;
	size_t n, cap;
};

/* folder: absolute, where the file lies. Cutting ig->n back to what it was ends them. */
void ignore_add(struct ignore *ig, const char *folder, struct str text);
bool ignore_holds(const struct ignore *ig, const char *path, bool is_folder);

#endif
