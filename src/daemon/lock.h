#ifndef DAEMON_LOCK_H
#define DAEMON_LOCK_H

#include "base/err.h"
#include "conf/paths.h"

/*
 * One daemon at a time: an flock on run/lock decides, never a process id. And where the data folder
 * may lie.
 */

#define LOCK_WAIT_MS 2000      /* for a daemon that is leaving */
#define LOCK_PATIENCE_MS 30000 /* for one that holds the lock and answers nothing */

/*
 * Waits for the lock; gives up (ERR_BUSY) when after LOCK_WAIT_MS a daemon answers a request. The descriptor is the lock.
 */
int lock_take(const struct paths *p, int *ret_fd, struct err *err);
/* ERR_USAGE for a network file system: locks and write-ahead logs do not hold there. */
int lock_check_place(const char *folder, struct err *err);

#endif
