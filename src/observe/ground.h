#ifndef OBSERVE_GROUND_H
#define OBSERVE_GROUND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"

/*
 * Is what a memory says in its evidence? Every file, identifier, number, quote and commit that it
 * names must occur in the texts that it rests on; what does not is listed. Used for whatever a rule
 * or a model made; a person needs no proof. Pure.
 */

enum claim_kind {
	CLAIM_FILE,
	CLAIM_IDENTIFIER,
	CLAIM_NUMBER,
	CLAIM_QUOTE,
	CLAIM_COMMIT,
	CLAIM_COUNT
};
extern const char *const claim_names[CLAIM_COUNT];

struct claim {
	enum claim_kind kind;
	const char *text;
	bool is_supported;
};

#define CLAIMS_MAX 64 /* looked at in one text */
#define GROUND_EVIDENCE_MAX \
	(8u << 20) /* bytes of evidence searched; what lies beyond supports nothing */

struct grounding {
	struct claim *claims;
	size_t n, cap;
	size_t supported, unsupported;
};

/* All that a text claims to exist. */
void ground_claims(struct arena *a, struct str text, struct grounding *ret);
/* The same, held against the evidence. */
void ground_check(struct arena *a, struct str text, const struct str *evidence, size_t n,
	struct grounding *ret);

#endif
