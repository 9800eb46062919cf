#ifndef OPS_SUSPECTS_H
#define OPS_SUSPECTS_H

#include "ops/hits.h"

/*
 * Whether a memory may no longer hold: what the keeper found, and, by stat alone, whether its
 * files still look as when the keeper saw them. A file that does not is pointed out to the keeper.
 * Nothing is read or hashed here, so that hooks may ask.
 */

#define SUSPECT_STATS_MAX 100 /* files per call; further ones are taken as the keeper saw them */
#define SUSPECT_FILES_MAX 16  /* of one memory */

/*
 * A few words such as "parser.c changed in 4 commits since"; NULL when nothing speaks against it.
 */
const char *suspect_reason(struct lookup *l, const struct memory *m);

#endif
