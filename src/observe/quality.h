#ifndef OBSERVE_QUALITY_H
#define OBSERVE_QUALITY_H

#include "base/arena.h"
#include "model/memory.h"
#include "observe/mode.h"
#include "observe/refine.h"
#include "observe/reply.h"

/*
 * How good a model's memories are, counted over its replies before anything is mended, for `observer
 * eval` and the daily sample. Counts only, so that two models or two weeks can be set side by side.
 * Pure; lists in the arena.
 */

#define QUALITY_TITLES_MAX 4000 /* compared with one another; more are not looked at */

struct quality {
	struct arena *a;
	const struct mode *mode; /* NULL: the types of ours */

	size_t classes[REPLY_CLASS_COUNT];

	size_t observations, facts, summaries;
	size_t off_list;       /* observations whose type the mode does not have */
	size_t user_first;     /* narratives that begin with "The user" and the like */
	size_t attribution;    /* sentences that say of the person what the assistant did */
	size_t without_files;  /* observations */
	size_t narrative_bytes, narratives;
	size_t duplicate_titles; /* observations called as an earlier one */
	size_t generic_titles;
	size_t claims, unsupported; /* numbers, identifiers, files, quotes, commits */
	size_t dropped;        /* items that came to nothing when refined, or were cut off */

	const char **titles;
	size_t ntitles, titles_cap;
};

void quality_begin(struct quality *q, struct arena *a, const struct mode *mode);
/* A reply as it came; `prompt`: of its unit in small letters, or NULL. */
void quality_reply(struct quality *q, const struct reply *r, const char *prompt);
/* What refining it found. */
void quality_refined(struct quality *q, const struct refine_output *out);

#endif
