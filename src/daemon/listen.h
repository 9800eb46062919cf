#ifndef DAEMON_LISTEN_H
#define DAEMON_LISTEN_H

#include <stdbool.h>

#include "base/err.h"

/*
 * The unix socket that the daemon listens on, mode 0600. A path longer than the system allows is
 * reached through its folder.
 */

#define LISTEN_BACKLOG 511

/* Replaces what a dead daemon left; the caller holds the lock. */
int listen_open(const char *path, int *ret_fd, struct err *err);
/* Does somebody accept connections there? Does not wait. */
bool listen_answers(const char *path);

#endif
