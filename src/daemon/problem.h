#ifndef DAEMON_PROBLEM_H
#define DAEMON_PROBLEM_H

#include "base/buf.h"
#include "base/err.h"

/*
 * How a door says an error in JSON. Each replaces what stands in `out` and gives the HTTP status that belongs to
 * the code; `status` 0 takes that one.
 */

typedef int error_writer(const struct err *err, int status, struct buf *out);

/* {"error":{"code","message","hint","retryable"}}, the contract of the command line. */
error_writer error_write_plain;
/* RFC 9457: {"type","title","status","detail"} and the same "error". */
error_writer error_write_problem;
/* {"detail"}, the contract of the markdown service. */
error_writer error_write_detail;

#endif
