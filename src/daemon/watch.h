#ifndef DAEMON_WATCH_H
#define DAEMON_WATCH_H

#include <stddef.h>

/*
 * Deadlines of connections, against peers that send or read a byte now and then so that no timeout
 * of silence ever ends them. A thread sleeps until the earliest deadline and shuts that connection's
 * socket down; whoever serves it sees its end and closes it. Without a deadline it sleeps for good.
 * Any thread may call.
 */

struct watch;
struct watched;

struct watch *watch_new(void);
void watch_free(struct watch *w); /* no connection may be left; NULL is fine */
struct watched *watch_add(struct watch *w, int fd);
/* Before the descriptor is closed, since its number may be used again. NULL is fine. */
void watch_remove(struct watched *c);
/* Shut it down so many milliseconds from now; 0: no deadline. NULL is fine. */
void watch_until(struct watched *c, unsigned ms);

#endif
