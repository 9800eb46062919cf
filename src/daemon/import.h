#ifndef DAEMON_IMPORT_H
#define DAEMON_IMPORT_H

#include <stdatomic.h>
#include <stdbool.h>

#include "daemon/catchup.h"
#include "daemon/follow.h"
#include "daemon/observer.h"
#include "daemon/transcript.h"
#include "daemon/writer.h"
#include "ops/ops.h"

/*
 * An import: the transcripts of the agents' own folders, or those given, newest first, each read
 * from where it was left. Runs on the caller's thread, which parses; the writer stores. While it
 * goes on the observer makes memories of what is stored, so that the newest sessions can be found
 * first. It returns when everything is searchable.
 */

#define IMPORT_PROGRESS_MS 200
#define IMPORT_SKIPPED_MAX 500 /* named in the result; all are counted in the log */

struct import_room {
	struct transcripts *transcripts;
	struct writer *writer;
	struct observer *observer;
	struct follow *follow;
	struct catchup *catchup; /* reads what an impatient import left */
	const char *user_home;
	const _Atomic bool *stop;
};

int import_run(const struct import_room *room, struct op_call *call, const struct import_request *q,
	struct import_result *ret, struct err *err);

struct walk;
/* Adds an agent's own folders; agent NONE: of all agents. */
void import_own_folders(struct walk *w, const char *user_home, enum agent_id agent);

#endif
