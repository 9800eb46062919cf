#ifndef BASE_LEASH_H
#define BASE_LEASH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/*
 * Programs that start programs of their own, such as a coding agent: run so that nothing of them is
 * left. Between us and the program stands a small keeper process that holds one end of a pipe. When
 * the program ends, when we give it up, and when we die however suddenly, the keeper kills whatever
 * descends from it, also what left its group or session. SIGPIPE is ignored or blocked by the process.
 */

#define LEASH_STOP_MS 100 /* how soon *stop is noticed */

struct leash_run {
	const char *const *argv;
	const char *cwd;        /* NULL: ours */
	const char *const *env; /* whole environment, or NULL for ours */
	const char *input;      /* standard input */
	size_t input_len;
	int total_ms;           /* above 0 */
	const _Atomic bool *stop; /* NULL: nobody aborts */
};

enum leash_end {
	LEASH_ENDED,
	LEASH_TIMEOUT,
	LEASH_STOPPED, /* *stop */
	LEASH_FULL,    /* it printed more than out->max; that much is kept */
};

struct leash_result {
	enum leash_end end;
	int status;            /* exit status, or 128 + signal; -1: killed by us */
	int64_t first_byte_ms; /* of standard output; -1: none */
	int64_t total_ms;
};

/* Runs to its end. errors keeps the beginning of standard error, up to its max. -1: it could not be started. */
int leash_run(const struct leash_run *r, struct buf *out, struct buf *errors,
	struct leash_result *ret, struct err *err);

#endif
