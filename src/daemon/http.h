#ifndef DAEMON_HTTP_H
#define DAEMON_HTTP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/*
 * The HTTP door on the unix socket, and the only place that includes libmicrohttpd. Every
 * connection is also a knock: the spool is swept. Routes: POST /api/<operation>, POST /ask, GET
 * /health. Every reply carries X-Remanence-Build and X-Remanence-Settings.
 */

#define HTTP_THREADS 2
#define HTTP_BODY_MAX (16u << 20)
#define HTTP_CONNECTIONS 400
#define HTTP_TIMEOUT_S 60  /* of an idle connection */
#define HTTP_CALLS_MAX 6   /* calls that last, at the same time; more are refused as busy */
#define HTTP_LEAVE_MS 5000 /* for replies to be written when the daemon leaves */

struct daemon;
struct http;
/* Takes the listening descriptor over. */
int http_open(struct daemon *d, int fd, struct http **ret, struct err *err);
/* Accepts no more; what is being answered goes on. */
void http_quiesce(struct http *h);
/* Waits until every call is over and its reply is written, then ends. NULL is fine. */
void http_close(struct http *h);
bool http_is_idle(struct http *h);
size_t http_calls(struct http *h); /* that last and go on now */

#endif
