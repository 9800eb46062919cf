#ifndef DAEMON_HTTP_H
#define DAEMON_HTTP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "daemon/tcp.h"
#include "daemon/token.h"

/*
 * The HTTP doors: one on the unix socket and, on another instance, one on TCP; http*.c are the only
 * files that include libmicrohttpd. Routes: POST /api/<operation>, and GET for those that only read; GET
 * /api/openapi.json; GET /health, GET /stats and POST /search of the markdown service; on the socket
 * only, POST /ask.
 *
 * On the unix socket every connection is also a knock: the spool is swept; every reply carries
 * X-Remanence-Build and X-Remanence-Settings. Over TCP requests pass the gate (gate.h) and errors are
 * problems (RFC 9457).
 */

#define HTTP_THREADS 2 /* of each door */
#define HTTP_BODY_MAX (16u << 20)
#define HTTP_SEARCH_BODY_MAX (256u << 10)
#define HTTP_CONNECTIONS 400
#define HTTP_TIMEOUT_S 60  /* of an idle connection */
#define HTTP_CALLS_MAX 6   /* calls that last, at the same time; more are refused as busy */
#define HTTP_LEAVE_MS 5000 /* for replies to be written when the daemon leaves */

#define HTTP_TCP_CONNECTIONS 128
#define HTTP_TCP_CONNECTIONS_PER_IP 96 /* a reverse proxy is one address */
#define HTTP_TCP_TIMEOUT_S 10          /* of silence */
#define HTTP_TCP_CALLS_MAX 2
#define HTTP_HEADERS_MAX (32u << 10)
#define HTTP_HEADERS_MS 20000 /* from the connection, or the last reply, to the end of headers */
#define HTTP_REQUEST_MS 60000 /* from there to the end of the body */
#define HTTP_REPLY_MS 300000  /* until a whole reply is read */

/* What the door on TCP has besides; the caller's, until http_close. */
struct tcp_door {
	struct tcp_address address;
	struct token token;
	struct watch *watch;
};

struct daemon;
struct http;
/* Takes the listening descriptor over. tcp NULL: the unix socket. Nothing is answered yet. */
struct http *http_new(struct daemon *d, int fd, struct tcp_door *tcp);
/* Requests may be answered before it returns. */
int http_start(struct http *h, struct err *err);
/* Accepts no more; what is being answered goes on. */
void http_quiesce(struct http *h);
/* Waits until every call is over and its reply is written, then ends. NULL is fine. */
void http_close(struct http *h);
bool http_is_idle(struct http *h); /* NULL is idle */
size_t http_calls(struct http *h); /* that last and go on now */

#endif
