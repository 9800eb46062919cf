#ifndef DAEMON_TCP_H
#define DAEMON_TCP_H

#include <stdbool.h>

#include "base/err.h"

/* The TCP address that the daemon listens on. Names are not looked up: an address, or localhost. */

#define TCP_BACKLOG 128
#define TCP_HOST_MAX 64
#define TCP_NAME_MAX (TCP_HOST_MAX + 8)

struct tcp_address {
	char host[TCP_HOST_MAX]; /* "127.0.0.1", "::1" */
	unsigned port;           /* the one in use */
	char name[TCP_NAME_MAX]; /* "127.0.0.1:4321", "[::1]:4321" */
	bool is_loopback;        /* nobody but this machine reaches it */
};

/* `port` 0: any that is free. ERR_USAGE: no address; ERR_IO: it cannot be had. */
int tcp_listen(
	const char *host, unsigned port, struct tcp_address *ret, int *ret_fd, struct err *err);

#endif
