#ifndef OBSERVE_SECTIONS_H
#define OBSERVE_SECTIONS_H

#include "base/arena.h"
#include "base/str.h"
#include "observe/markdown.h"

/* What the parts of a reply are about, by their headings and bold leads. English and French. */

enum section {
	SECTION_NONE,
	SECTION_CAUSE,    /* why it happened */
	SECTION_DONE,     /* what was changed */
	SECTION_CHECK,    /* tests, verification */
	SECTION_NEXT,     /* what is left, options, recommendations */
	SECTION_FILES,    /* lists of files */
	SECTION_DECISION, /* choices and their reasons */
	SECTION_NOTES,    /* caveats */
	SECTION_FOUND,    /* findings, how things work */
	SECTION_USAGE,    /* how to run it */
	SECTION_COUNT
};

enum section section_of(const char *heading);
/* Sets `section` of every block: its own lead's, else that of the nearest heading above it. */
void sections_mark(struct blocks *blocks);

/*
 * The text of the blocks of a section as one paragraph per block, items as "- …", at most `max`
 * bytes, cut at sentences. NULL when there is none.
 */
char *section_text(struct arena *a, const struct blocks *blocks, enum section section, size_t max);
/*
 * Sentences of the whole reply that hold one of the cues of this section ("because", "note that",
 * "next step"). NULL.
 */
char *section_cues(struct arena *a, const struct blocks *blocks, enum section section, size_t max);

#endif
