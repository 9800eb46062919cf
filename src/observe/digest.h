#ifndef OBSERVE_DIGEST_H
#define OBSERVE_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "observe/rules.h"

/*
 * What a model is shown of a work unit: the prompt, what the assistant did in order, with who did
 * it and how it ended in words ("The person asked", "The assistant ran", "exit 1"), outputs cut head
 * and tail, diffs instead of whole files, the final reply. Made of captured, cleaned events only;
 * nothing of ours. Words of ours stand at the beginning of a line, what was captured is indented by
 * a tab, so that nothing captured can look like ours. Pure: the same events give the same bytes.
 */

#define DIGEST_CHARS_MIN 1000
#define DIGEST_SIMILAR_MAX 12
#define DIGEST_PARTS_MAX 4
#define DIGEST_SUMMARIES_MAX 200 /* of a session; of more, the first and the newest are shown */

struct digest_input {
	const struct rules_input *unit;
	const struct rules_output *made; /* what the rules made of it */
	size_t max_chars;                /* bytes of the digest; less than DIGEST_CHARS_MIN counts as that */
	int part;                        /* of a unit too long for one request, from 0 */
};

struct digest {
	char *text; /* in the arena */
	size_t n;
	int parts;        /* how many requests this unit needs; at most DIGEST_PARTS_MAX */
	bool is_worth_it; /* false: the rules see nothing in it that a model could add to */
	uint64_t hash;    /* of the text */
	/*
	 * What a memory of this part is grounded in (ground.h): all texts of the whole events, not the
	 * cut ones, and last the digest itself, whose event is 0. An event has several texts, each with
	 * its id.
	 */
	struct str *evidence;
	int64_t *events;
	size_t nevidence;
};

void digest_make(struct arena *a, const struct digest_input *in, struct digest *ret);

/* A session, from the summaries of its units: what JOB_SUMMARY sends. One part. */
struct digest_session_input {
	const struct session *session;
	const struct project *project;   /* NULL: unknown */
	const struct memory *summaries;  /* of its units, oldest first */
	size_t n;
	size_t max_chars;
};

/* Not worth it below two summaries: one says all by itself. Events of evidence are ids of summaries. */
void digest_session(
	struct arena *a, const struct digest_session_input *in, struct digest *ret);

/*
 * The question: system text (versioned file, overridable in the settings folder; the same for every
 * question of a mode, so that servers can keep it), then each unit with a number. Several small
 * units go into one question; a session's summaries make another kind.
 */
#define PROMPT_UNITS_MAX 8

struct prompt_unit {
	const struct digest *digest;
	const char *const *similar; /* titles of memories that exist already; at most DIGEST_SIMILAR_MAX are told */
	size_t nsimilar;
};

struct mode; /* mode.h: which types and concepts there are, the language of the output */

struct prompt {
	char *system, *user, *schema; /* in the arena */
	const char *version; /* of the prompt file and the mode, such as "observe/1 code"; stored with each memory */
};

/*
 * folder: where a person's own prompt files lie (observe.txt, summary.txt, again.txt, modes/), or
 * NULL. is_stricter: asked again, after an answer that could not be used. ERR_USAGE for a file that
 * is none, ERR_TOO_LARGE for more than PROMPT_UNITS_MAX units.
 */
int prompt_make(struct arena *a, const char *folder, const struct mode *mode,
	const struct prompt_unit *units, size_t n, bool is_stricter, struct prompt *ret,
	struct err *err);
/* The same for a session (digest_session). */
int prompt_session(struct arena *a, const char *folder, const struct mode *mode,
	const struct digest *session, bool is_stricter, struct prompt *ret, struct err *err);

#endif
