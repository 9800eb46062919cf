#ifndef OBSERVE_USE_H
#define OBSERVE_USE_H

#include "base/arena.h"
#include "model/memory.h"

/*
 * Did a session use what it was given? Seen in the events of a turn after the giving: a file of the
 * memory was touched, a command of it was run, its words came back in a reply although the prompts
 * do not hold them. A pure function; it may miss a use, and says little of memories about many
 * files, which are therefore not looked for.
 */

enum use { USE_FILE = 1, USE_COMMAND = 2, USE_WORDS = 4 };
#define USE_KINDS 3
extern const char *const use_names[USE_KINDS]; /* by bit */

#define USE_FILES_MAX 6      /* a memory about more files tells nothing by one of them */
#define USE_WORDS_MAX 24     /* telling words of one memory */
#define USE_TEXT_MAX 8192    /* bytes of a reply or prompt that are looked at */
#define USE_TURN_WORDS 16384 /* words of one turn, a power of two */

struct use_turn; /* what happened in a turn, ready to be asked */
/* Events sorted by (time, key). */
struct use_turn *use_turn_make(struct arena *a, const struct event *events, size_t n);
/*
 * Bits of enum use: what was used of a memory that was given at `at`. is_file: it was given because
 * a file was about to be read, so that reading one is no sign.
 */
unsigned use_of(const struct use_turn *t, const struct memory *m, int64_t at, bool is_file);

#endif
