#ifndef OBSERVE_ENTITY_H
#define OBSERVE_ENTITY_H

#include "model/entity.h"
#include "observe/rules.h"

/*
 * Which entities a turn mentions, and in how many of its events. Each event is looked at alone: the
 * counts of a session do not depend on how its events are dealt to turns or in what order they
 * came. Pure, as the rules are.
 */

#define MENTIONS_MAX 1000 /* entities of one turn; further ones are left out */

void entities_run(
	struct arena *a, const struct rules_input *in, struct mention **ret, size_t *ret_n);
/*
 * The name under which an entity is kept that somebody calls so: "py.test" is pytest. In the arena.
 */
const char *entity_name(struct arena *a, const char *name);
/*
 * Does the text name this entity, as a word of its own or by another spelling? Case does not matter
 * but for names that are words of the language (go, make): they need a capital or code around them.
 */
bool entity_is_named(struct str text, const char *name);
/* Is a file of this name written in the language? */
bool entity_is_language_of(const char *language, const char *path);

#endif
