#ifndef DAEMON_INJECTIONS_H
#define DAEMON_INJECTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/writer.h"
#include "model/names.h"

/*
 * What was given to sessions, on its way into the store. The hook that asks also captures, and its
 * file may be taken in later than its question was answered: a note waits until its session is
 * there, for INJECTIONS_WAIT_MS (an excluded session never comes).
 */

#define INJECTIONS_MAX 256
#define INJECTIONS_WAIT_MS 600000

struct injection_note {
	enum agent_id agent;
	char *agent_session;
	const char *where; /* "start", "prompt", "file"; a constant */
	int64_t at;
	int64_t *memories;
	size_t n;
	int64_t chars;
};
void injection_note_free(struct injection_note *n); /* NULL is fine */

struct injections;
struct injections *injections_new(struct writer *writer);
void injections_free(struct injections *i);                             /* NULL is fine */
void injections_add(struct injections *i, struct injection_note *note); /* takes it over */
/* after a sweep of the spool */
void injections_flush(struct injections *i);

#endif
