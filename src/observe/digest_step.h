#ifndef OBSERVE_DIGEST_STEP_H
#define OBSERVE_DIGEST_STEP_H

#include "base/buf.h"
#include "observe/turn_view.h"

/*
 * One step of a work unit in words: who did what and how it ended, with the captured text that
 * shows it. The table of kinds says how much of that text is worth sending. Pure; texts in the
 * arena.
 */

enum step_kind {
	STEP_LOOK,   /* read, searched, looked around: what was looked at is seldom worth its tokens */
	STEP_SAID,   /* what the assistant said on the way */
	STEP_OTHER,  /* any other tool */
	STEP_RUN,    /* a command that does something */
	STEP_CHECK,  /* a command that tells whether the work is right */
	STEP_REPORT, /* what a sub-agent reported */
	STEP_EDIT,
	STEP_FAILED, /* any tool that failed */
	STEP_PERSON, /* the person: a further prompt, an answer, a refusal */
	STEP_COUNT
};

struct step_info {
	size_t least, wish; /* bytes of captured text: when there is little room, and when there is some */
	int rank;           /* what goes first when there is no room at all */
};
extern const struct step_info step_infos[STEP_COUNT];
#define STEP_RANKS 4

struct step {
	enum step_kind kind;
	size_t order;       /* of its event in the unit */
	const char *head;   /* one line of ours, without newline */
	struct str body;    /* captured, squeezed; empty when the head says all */
	bool is_shown;
	size_t room;        /* bytes of body that are shown */
};

struct steps {
	struct step *items;
	size_t n, cap;
};

/* All steps, but for the first prompt and the final reply. Reads that follow one another are one. */
void steps_make(struct turn_view *v, struct steps *ret);
/*
 * Quoted: each line behind a tab, without trailing blanks, empty lines and repetitions; lines longer
 * than line_max are cut; at most about SQUEEZE_MAX bytes.
 */
#define SQUEEZE_MAX (48u << 10)
#define LINE_OUTPUT 240
#define LINE_PROSE 4000
struct str text_quote(struct arena *a, struct str text, size_t line_max);
/* Of a quoted text at most `max` bytes, cut at lines where that can be: head and tail, "… (cut)" between. */
struct str text_shorten(struct arena *a, struct str text, size_t max);

#endif
