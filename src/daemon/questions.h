#ifndef DAEMON_QUESTIONS_H
#define DAEMON_QUESTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "embed/vector.h"

/*
 * The vectors of the questions that were asked last: one that is asked again, such as by sessions
 * and then by memories, is not embedded again. In memory only; any thread.
 */

#define QUESTIONS_MAX 64u        /* the one asked longest ago makes room */
#define QUESTIONS_TEXT_MAX 2000u /* bytes; longer ones are not kept */

struct questions;
struct questions *questions_new(void);
void questions_free(struct questions *q); /* NULL is fine */

/* Which question: its text, and the vectors that its own is comparable with (vectors_store). */
struct question_key {
	uint64_t store;
	struct str text;
};
/* at[VECTOR_DIMS_MAX]. False when it is not known. */
bool questions_find(struct questions *q, const struct question_key *key, int8_t *at, float *ret_scale);
/* at[dims], VECTOR_DIMS_MAX at most. */
void questions_keep(struct questions *q, const struct question_key *key, const int8_t *at, size_t dims, float scale);
/* Leaves nothing of any of them in memory. */
void questions_forget(struct questions *q);

#endif
