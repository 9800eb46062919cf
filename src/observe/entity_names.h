#ifndef OBSERVE_ENTITY_NAMES_H
#define OBSERVE_ENTITY_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "model/names.h"

/* Tables of names for entities: data, and looking them up. Names are given in lower case. */

enum prose {
	PROSE_NEVER, /* a word of the language: only counts in commands, imports, manifests */
	PROSE_NAME, /* counts in sentences when written as a name: with a capital, or in back quotes */
	PROSE_WORD /* counts wherever it stands */
};

struct known_name {
	const char *name;
	enum entity_kind kind;
	enum prose prose;
};

struct name_pair {
	const char *name, *value;
};

enum word_list_id {
	NOISE_COMMANDS,
	NOISE_LIBRARIES,
	NOISE_SPELLINGS, /* short for a name in code, a word in a sentence */
	STANDARD_PYTHON,
	STANDARD_JAVASCRIPT,
	STANDARD_C,
	STANDARD_RUST,
	STANDARD_RUBY,
	SYSTEM_ERRORS,
	WORD_LIST_COUNT
};

struct word_list {
	const char *const *words;
	size_t n;
};

extern const struct known_name known_names[];
extern const size_t known_names_n;
extern const struct name_pair name_aliases[];
extern const size_t name_aliases_n;
extern const struct name_pair extension_languages[];
extern const size_t extension_languages_n;
extern const struct word_list word_lists[WORD_LIST_COUNT];

const char *name_canonical(const char *name);          /* itself when it has no other spelling */
const struct known_name *name_known(const char *name); /* of a canonical name; NULL */
const char *extension_language(const char *extension); /* without dot; NULL */
const char *path_language(const char *path);           /* by its ending; NULL */
bool word_is_listed(enum word_list_id list, const char *word);

#endif
