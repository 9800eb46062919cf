#ifndef DAEMON_ASK_H
#define DAEMON_ASK_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/*
 * What a hook asks: its input, raw, and a few headers. The answer is exactly what the agent is to
 * print. Reads only; the note of what was given is the caller's to record once the answer was
 * written whole and in time.
 */

#define ASK_BODY_MAX (1u << 20)
#define ASK_COLD_MS 1500 /* the hook's patience when it had to start the daemon */

struct daemon;
struct injection_note;

struct ask_request {
	const char *agent, *event, *spool, *cwd, *at; /* headers, decoded; NULL when absent */
	const char *body;
	size_t body_len;
	uint64_t started_us;
};

/* Returns the HTTP status. *ret_note is NULL when nothing was given; the caller owns it. */
int ask_run(struct daemon *d, const struct ask_request *q, struct buf *out,
	struct injection_note **ret_note);
/*
 * The answer was written whole: records the note unless the hook has given up waiting. Takes it
 * over.
 */
void ask_answered(struct daemon *d, struct injection_note *note);

#endif
