#ifndef AGENTS_CLAUDE_TEXT_H
#define AGENTS_CLAUDE_TEXT_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/str.h"

/* What Claude Code's user texts are: typed by a person, or put there by the program. Pure. */

enum claude_text_kind {
	CLAUDE_TEXT_TYPED, /* by a person */
	CLAUDE_TEXT_META,  /* kept, but nobody typed it: a slash command, an interruption … */
	/* not worth an event: captions, output of local commands, reminders, hooks' feedback */
	CLAUDE_TEXT_NOISE,
	CLAUDE_TEXT_SUMMARY, /* the summary that continues a compacted conversation */
};

/*
 * Judges a user text and gives its useful form in *ret: "/review 158" out of its tags, the summary
 * without its frame.
 */
enum claude_text_kind claude_text_judge(struct arena *a, struct str text, struct str *ret);

/*
 * A compaction's summary as both hook and transcript tell it: without analysis, tags and the
 * sentences around it.
 */
struct str claude_text_summary(struct arena *a, struct str text);

/* "/review 158": a slash command and not a path. */
bool claude_text_is_command(struct str text);

#endif
