#ifndef DAEMON_GATE_H
#define DAEMON_GATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "daemon/tcp.h"
#include "daemon/token.h"

/*
 * Who may pass over TCP. A web page that a person looks at can make their browser send requests to
 * 127.0.0.1, directly or under a name of its own that it lets point there (DNS rebinding): the first
 * is told by its Origin, the second by its Host, and both lack the token. Pure: no input, no output.
 *
 * Order: Host, Origin, token. The three routes of the markdown service can be opened by
 * http.open_routes to programs without a token; what a browser sends never counts as such.
 */

struct gate_rules {
	const struct tcp_address *address;
	const struct token *token;
	const char *const *hosts;       /* http.hosts: further names, with or without a port */
	const char *const *open_routes; /* http.open_routes: "/search", or "search" */
};

/* Of a request. Each NULL: the header is not there. */
struct gate_request {
	const char *path; /* as it was sent, without the query */
	const char *host, *origin, *authorization;
	const char *fetch_site; /* Sec-Fetch-Site: only browsers send it */
	bool is_ambiguous;      /* a header came twice, or two lengths were given */
};

/* 0, or the HTTP status of a refusal and *err. */
int gate_check(const struct gate_rules *rules, const struct gate_request *q, struct err *err);

#endif
