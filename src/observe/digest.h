#ifndef OBSERVE_DIGEST_H
#define OBSERVE_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "observe/rules.h"

/*
 * What a model is shown of a work unit: the prompt, what the assistant did in order, with who did it
 * and how it ended in words ("The person asked", "The assistant ran", "exit 1"), outputs cut head
 * and tail, diffs instead of whole files, the final reply. Made of captured, cleaned events only;
 * nothing of ours. Pure: the same events give the same bytes.
 */

#define DIGEST_CHARS_MIN 1000
#define DIGEST_SIMILAR_MAX 12

struct digest_input {
	const struct rules_input *unit;
	const struct rules_output *made; /* what the rules made of it */
	size_t max_chars;                /* bytes of the digest */
	int part;                        /* of a unit too long for one request, from 0 */
};

struct digest {
	char *text; /* in the arena */
	size_t n;
	int parts;         /* how many requests this unit needs; at most DIGEST_PARTS_MAX */
	bool is_worth_it;  /* false: the rules see nothing in it that a model could add to */
	uint64_t hash;     /* of the text */
	struct str *evidence; /* what a memory of this part is grounded in (ground.h): the whole events, not the cut ones */
	int64_t *events;      /* their ids, same order */
	size_t nevidence;
};
#define DIGEST_PARTS_MAX 4

void digest_make(struct arena *a, const struct digest_input *in, struct digest *ret);

/*
 * The question: system text (versioned file, overridable in the settings folder), then each unit
 * with a number. Several small units go into one question; a session's summaries make another kind.
 */
struct prompt_unit {
	const struct digest *digest;
	const char *const *similar; /* titles of memories that exist already */
	size_t nsimilar;
};

struct mode; /* mode.h: which types and concepts there are, the language of the output */

struct prompt {
	char *system, *user, *schema; /* in the arena */
	const char *version;          /* of the prompt file; stored with each memory */
};

/* folder: where a person's own prompt files lie (observe.txt, summary.txt …), or NULL. */
int prompt_make(struct arena *a, const char *folder, const struct mode *mode,
	const struct prompt_unit *units, size_t n, bool is_stricter, struct prompt *ret, struct err *err);

#endif
