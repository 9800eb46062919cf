#include "daemon/tcp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/str.h"

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

/* "127.0.0.1", "::1", "[::1]", "localhost". The length of the address, 0 when it is none. */
static socklen_t address_parse(const char *host, unsigned port, union address *ret)
{
	char bare[TCP_HOST_MAX];
	size_t n = strlen(host);

	if (str_ieq(host, "localhost"))
		return address_parse("127.0.0.1", port, ret);
	if (n && host[0] == '[' && host[n - 1] == ']') {
		host++;
		n -= 2;
	}
	if (!n || n >= sizeof(bare))
		return 0;
	memcpy(bare, host, n);
	bare[n] = '\0';
	memset(ret, 0, sizeof(*ret));
	if (inet_pton(AF_INET, bare, &ret->v4.sin_addr) == 1) {
		ret->v4.sin_family = AF_INET;
		ret->v4.sin_port = htons((uint16_t)port);
		return sizeof(ret->v4);
	}
	if (inet_pton(AF_INET6, bare, &ret->v6.sin6_addr) != 1)
		return 0;
	ret->v6.sin6_family = AF_INET6;
	ret->v6.sin6_port = htons((uint16_t)port);
	return sizeof(ret->v6);
}

static void address_describe(const union address *a, struct tcp_address *ret)
{
	static const uint32_t loopback_net = 127;
	bool is_v6 = a->any.sa_family == AF_INET6;

	if (is_v6) {
		inet_ntop(AF_INET6, &a->v6.sin6_addr, ret->host, sizeof(ret->host));
		ret->port = ntohs(a->v6.sin6_port);
		ret->is_loopback = IN6_IS_ADDR_LOOPBACK(&a->v6.sin6_addr);
	} else {
		inet_ntop(AF_INET, &a->v4.sin_addr, ret->host, sizeof(ret->host));
		ret->port = ntohs(a->v4.sin_port);
		ret->is_loopback = ntohl(a->v4.sin_addr.s_addr) >> 24 == loopback_net;
	}
	snprintf(ret->name, sizeof(ret->name), is_v6 ? "[%s]:%u" : "%s:%u", ret->host, ret->port);
}

int tcp_listen(
	const char *host, unsigned port, struct tcp_address *ret, int *ret_fd, struct err *err)
{
	union address a;
	socklen_t len = address_parse(host, port, &a);
	int yes = 1;

	if (!len) {
		err_set(err, ERR_USAGE, "http.listen is '%.60s', which is no address", host);
		return err_hint(err, "give an address such as 127.0.0.1, ::1 or 0.0.0.0, or off");
	}
	int fd = socket(a.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return err_set(err, ERR_IO, "cannot make a TCP socket: %s", strerror(errno));
	/* A port in the state TIME_WAIT can be had at once; one that somebody listens on cannot. */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (bind(fd, &a.any, len) || listen(fd, TCP_BACKLOG) || getsockname(fd, &a.any, &len)) {
		err_set(err, ERR_IO, "cannot listen on TCP at %.60s port %u: %s", host, port,
			strerror(errno));
		close(fd);
		return err_hint(err, "change http.port or http.listen, then `remanence stop`");
	}
	address_describe(&a, ret);
	*ret_fd = fd;
	return 0;
}
