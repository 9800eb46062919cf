#ifndef OBSERVE_INTAKE_H
#define OBSERVE_INTAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "conf/settings.h"
#include "model/capture.h"
#include "store/store.h"
#include "text/redact.h"

/*
 * The one insert path: a capture, from hook or transcript, becomes rows. Excluded folders, tools, sessions, pauses and
 * tombstones are checked here; every text is cleaned and redacted here; projects are resolved here (identities are cached per
 * working folder, looked up anew when .git/HEAD or config changed). Runs inside the caller's transaction, on the writer thread.
 */

struct intake; /* caches; heap; belongs to the writer thread */
struct intake *intake_new(const struct settings *settings, const struct redactor *redactor);
void intake_set(struct intake *in, const struct settings *settings, const struct redactor *redactor); /* after settings changed */
void intake_free(struct intake *in);

/*
 * What intake_take does with a capture's texts: cleaned, redacted, within bounds. Whoever parses on a thread of its own does it
 * there, and spares the writer. Any thread; texts live in the arena.
 */
void intake_clean(const struct settings *settings, const struct redactor *redactor, struct arena *a, struct capture *c);

struct intake_result {
	int64_t session, project;
	uint64_t new_events, merged_events, same_events, excluded_events, redactions;
};
/* spool_name: NULL for transcripts. Counters of *ret are added to. */
int intake_take(struct intake *in, struct store *s, struct arena *a, const struct capture *c, const char *spool_name, struct intake_result *ret, struct err *err);

#endif
