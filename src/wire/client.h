#ifndef WIRE_CLIENT_H
#define WIRE_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "conf/paths.h"

/*
 * The client's half of HTTP/1.1 over the unix socket: one request, one reply, connection closed. No
 * name service, no TCP. A socket path longer than sun_path is reached through an open folder
 * descriptor (/proc/self/fd/N/socket on Linux; chdir-free).
 */

#define WIRE_HEADER_MAX (16u << 10)
#define WIRE_REPLY_MAX (256u << 20)

/*
 * Connects, non-blocking if asked. Returns the descriptor, or -1: *ret_errno ECONNREFUSED or ENOENT
 * means that nobody listens; EAGAIN that somebody does.
 */
int wire_connect(const char *socket_path, bool nonblocking, int *ret_errno);

struct wire_request {
	const char *method;      /* "POST" */
	const char *path;        /* "/api/search" */
	const char *body;        /* NULL: none */
	size_t body_len;
	const char *content_type; /* NULL: application/json */
	const char *const *headers; /* further "Name: value" lines, NULL-terminated; or NULL */
	uint64_t deadline_us;    /* on clock_mono_us; 0: none */
	/*
	 * Called for each line of a streamed reply (JSON lines by its content type); what is not
	 * streamed, or without this, goes to the body. Non-zero ends the call.
	 */
	int (*on_line)(void *ctx, const char *line, size_t len);
	void *ctx;
};

struct wire_reply {
	int status;
	char build[80];  /* X-Remanence-Build */
	char environment[40]; /* X-Remanence-Settings: hash of the daemon's REMANENCE_* */
	bool is_streamed; /* JSON lines */
	bool is_whole;
	struct buf body;
};

/*
 * 0 when a whole reply was read (whatever its status); ERR_UNAVAILABLE when nobody answers,
 * ERR_BUSY at the deadline.
 */
int wire_call(const char *socket_path, const struct wire_request *q, struct wire_reply *ret, struct err *err);
void wire_reply_done(struct wire_reply *r);

#endif
