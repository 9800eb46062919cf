#ifndef CLIENT_START_H
#define CLIENT_START_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "conf/paths.h"

/*
 * Starting the daemon. It gets a working folder, descriptors and an environment of its own: only
 * what conf/environment.h names, so that no key or session token of an agent lives on in it.
 */

#define START_WAIT_MS \
	10000 /* a command waits so long for a daemon that it started; recovery of a large store is slow */
#define STOP_WAIT_MS 60000        /* it finishes what it is doing first */
#define START_PAUSE_MS 5000       /* a hook starts the daemon at most so often … */
#define START_PAUSE_MAX_MS 300000 /* … and ever more rarely while that does not help */

enum start_result {
	START_DONE,
	START_RECENT /* somebody started it within START_PAUSE_MS */,
	START_TOO_SOON
};

/*
 * Absolute path of remanenced: beside this program, in ../libexec, on PATH. ERR_NOT_FOUND names
 * where was looked.
 */
int start_find(struct buf *ret, struct err *err);
/* For hooks: starts the daemon unless that was tried lately, and does not wait. */
int start_gently(const struct paths *p, enum start_result *ret, struct err *err);
/*
 * For commands: starts the daemon and waits until it serves. The error tells the daemon's
 * own reason.
 */
int start_and_wait(const struct paths *p, struct err *err);
/*
 * The sentence that the daemon left when it could not start, as an error; false when it left none
 * since `since`.
 */
bool start_reason(const struct paths *p, int64_t since, struct err *err);
/* The daemon serves: starts are counted from nothing again. */
void start_succeeded(const struct paths *p);
/*
 * Asks the daemon to leave and waits until it has, or until another one serves. 0 also when none
 * runs.
 */
int start_stop(const struct paths *p, struct err *err);
/*
 * Is a daemon of this build id (VERSION+YYYYMMDDhhmmss.HASH) older than this program, and to be
 * replaced? Says so once for each pair of builds.
 */
bool start_should_replace(const struct paths *p, const char *build);
/* Does somebody listen at the socket? */
bool start_is_answered(const struct paths *p);
/*
 * Does a daemon serve? One that was killed is still connected to until the kernel has taken it apart, so
 * that only an answer shows it; takes up to two seconds with one that is very busy.
 */
bool start_is_served(const struct paths *p);

#endif
