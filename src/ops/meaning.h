#ifndef OPS_MEANING_H
#define OPS_MEANING_H

#include "embed/vector.h"
#include "ops/ops.h"

/* Asking by meaning, where the daemon can: the question becomes a vector, once a call. */

struct meaning {
	struct vectors *vectors;
	struct vector_query query;
};

/* False: words alone, and why (ERR_TEXT_MAX bytes). */
bool meaning_ask(struct op_call *call, const char *text, struct meaning *ret, char *why);

/*
 * Similarities from which a memory that shares too few words with what was asked is taken as an
 * answer all the same: to a question, and to a prompt, where a wrong one costs more. Calibrated as
 * docs/benchmarks.md says.
 */
#define MEANING_ANSWERS .38f
#define MEANING_INTERRUPTS .5f

#endif
