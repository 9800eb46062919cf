#ifndef DAEMON_TCP_DOOR_H
#define DAEMON_TCP_DOOR_H

/*
 * The door on TCP, as the settings want it: http.listen, http.port. Without it everything else
 * works, so that a port in use keeps nobody from capturing: d->tcp is then NULL and d->tcp_error
 * says why.
 */

struct daemon;
void tcp_door_open(struct daemon *d); /* listens; answers from http_start on */
void tcp_door_close(struct daemon *d); /* fine when it was not open */

#endif
