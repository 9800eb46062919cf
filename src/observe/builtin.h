#ifndef OBSERVE_BUILTIN_H
#define OBSERVE_BUILTIN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

/*
 * Texts that the program carries: prompts and modes, from the folder prompts/ at build. A person's
 * own file of the same name in the settings folder stands for it.
 */

struct builtin_text {
	const char *name; /* "observe.txt", "modes/code.json" */
	const char *data; /* followed by a NUL */
	size_t n;
};
extern const struct builtin_text builtin_texts[]; /* ends with a NULL name */

#define TEXT_FILE_MAX (64u << 10) /* a person's own file; a larger one is refused */

const struct builtin_text *builtin_find(const char *name); /* NULL */
/*
 * The person's own text if folder (or NULL) holds a file of that name, else ours. *ret_is_own says
 * which. ERR_NOT_FOUND when there is neither; a file that cannot be read or is no UTF-8 is an error.
 */
int text_load(struct arena *a, const char *folder, const char *name, struct str *ret,
	bool *ret_is_own, struct err *err);

#endif
