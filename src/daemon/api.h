#ifndef DAEMON_API_H
#define DAEMON_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "daemon/problem.h"
#include "ops/ops.h"

/*
 * Operations, called by name with a JSON text: the checks, a reader, the operation, its reply. No
 * door knows more; this knows no door.
 */

struct daemon;

#define API_REPLY_MAX (200u << 20) /* below what the client reads */

struct api_request {
	const char *name;
	op_fn *op;        /* not NULL: this, outside of the table; it checks its parameters */
	const char *body; /* JSON object, or "" for none */
	size_t body_len;
	const char *cwd; /* NULL: unknown */
	bool is_agent;   /* an agent calls, not a person */
	uint64_t started_us;
	int (*progress)(void *door, const char *json_line); /* NULL: the door cannot */
	void *door;
	error_writer *say; /* how errors are written */
};

/*
 * Does it wait or last (writes, streams, whole-store reads), so that it must not run on a thread
 * that serves others?
 */
bool api_lasts(const char *name);
/* Fills out with the reply's JSON, a result or an error, and *ret_status. */
void api_run(struct daemon *d, const struct api_request *q, struct buf *out, int *ret_status);
/* Does it do more than read? */
bool api_changes(const char *name);
/* Is it only for callers on the daemon's own machine? */
bool api_is_near(const char *name);

#endif
