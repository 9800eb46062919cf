#ifndef OBSERVE_MODE_H
#define OBSERVE_MODE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "model/names.h"

/*
 * A mode: which types and concepts a model may use, and the language that it writes. A JSON file of
 * the shape that other tools of the field use (name, observation_types and observation_concepts with
 * id, label and description, prompts); "parent--child" is the parent with the child's members over
 * it. Ours are "language" and "guidance", and "as" of a type, the type of ours that it is kept as.
 */

#define MODE_TYPES_MAX 24
#define MODE_CONCEPTS_MAX 32
#define MODE_GUIDANCE_MAX 2000 /* bytes; more is cut */
#define MODE_NAME_MAX 64
#define MODE_DEFAULT "code"

struct mode_word {
	const char *id, *description; /* description may be NULL */
	enum memory_type as;          /* of types */
};

struct mode { /* in the arena */
	const char *name;     /* "code--fr" */
	const char *language; /* "French"; NULL: that of the session */
	const char *guidance; /* what else to keep or to skip; NULL */
	struct mode_word types[MODE_TYPES_MAX];
	size_t ntypes;
	struct mode_word concepts[MODE_CONCEPTS_MAX];
	size_t nconcepts;
};

/*
 * folder: the person's own ("…/remanence/prompts", its modes/NAME.json), or NULL. ERR_USAGE for a
 * bad name or file, ERR_NOT_FOUND with the names that there are.
 */
int mode_load(struct arena *a, const char *folder, const char *name, struct mode *ret, struct err *err);

/*
 * The type that a model's word stands for: one of the mode's (*ret_is_listed), else one that it
 * clearly means ("bug", "docs"), else TYPE_NONE. Case and "-", "_", " " are all one. mode NULL: the
 * types of ours.
 */
enum memory_type mode_type_of(const struct mode *mode, const char *said, bool *ret_is_listed);
/* The mode's own way to write it; NULL when it has no such concept (mode NULL: takes all). */
const char *mode_concept_of(const struct mode *mode, const char *said);

#endif
