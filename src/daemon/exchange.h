#ifndef DAEMON_EXCHANGE_H
#define DAEMON_EXCHANGE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "daemon/problem.h"

/*
 * One request with its reply, between the thread that serves its connection and the thread that
 * works on it. A call that lasts runs on a thread of its own while the connection is suspended; its
 * reply is whole, or, from the first progress record on, a stream of JSON lines. Who ends last,
 * connection or call, frees the exchange.
 */

/* bytes of a stream that the caller has not read; the call waits above */
#define EXCHANGE_UNREAD_MAX (4u << 20)

enum exchange_state { EXCHANGE_READING, EXCHANGE_RUNNING, EXCHANGE_STREAMING, EXCHANGE_READY };

struct daemon;
struct http;
struct injection_note;
struct MHD_Connection;

struct exchange {
	struct http *http;
	struct MHD_Connection *connection;
	const struct route *route;
	char *path;
	struct buf body;
	bool is_begun;   /* its headers were read */
	bool is_refused; /* by the gate */
	bool is_too_large;
	error_writer *say; /* errors, in the form of this route and door */
	char allow[24];    /* methods, when it was another one */
	uint64_t started_us;
	char *cwd;     /* decoded, or NULL */
	bool is_agent; /* the caller named itself as one */
	int status;
	struct buf reply;
	struct injection_note *note; /* to be recorded when the reply was written whole */
	/* Between the two threads. */
	pthread_mutex_t mutex;
	pthread_cond_t drained;
	enum exchange_state state;
	bool is_suspended;
	bool is_call_over, is_connection_over, has_call;
	struct buf lines; /* of the stream, not yet given to the connection */
	size_t given;
};

struct exchange *exchange_new(
	struct http *http, struct MHD_Connection *connection, const char *path);
/* The connection's side is over. */
void exchange_close(struct exchange *x);
/* The call's side: a line of the stream; non-zero when the caller went away. */
int exchange_line(struct exchange *x, const char *line, void (*resume)(struct MHD_Connection *c));
/*
 * The call's side is over: its reply, whole or as the last line. The exchange may be gone after
 * this.
 */
void exchange_finish(struct exchange *x, struct buf *reply, int status,
	void (*resume)(struct MHD_Connection *c));
/*
 * The connection's side takes bytes of the stream: their number, 0 at its end, -1 when there are
 * none yet and the connection was suspended.
 */
ssize_t exchange_take(
	struct exchange *x, char *to, size_t max, void (*suspend)(struct MHD_Connection *c));

#endif
