#ifndef DAEMON_LISTEN_H
#define DAEMON_LISTEN_H

#include "base/err.h"

/*
 * The unix socket that the daemon listens on, mode 0600. A path longer than the system allows is
 * reached through its folder.
 */

#define LISTEN_BACKLOG 511

/* Replaces what a dead daemon left; the caller holds the lock. */
int listen_open(const char *path, int *ret_fd, struct err *err);

#endif
