#ifndef DAEMON_HTTP_REQUEST_H
#define DAEMON_HTTP_REQUEST_H

#include <stdbool.h>

#include "base/buf.h"
#include "daemon/gate.h"

/* What stands in a request's headers and query, for whoever answers it. */

struct MHD_Connection;

#define HTTP_QUERY_MAX 100 /* parameters; further ones are passed over */

/* What the gate wants to know; pointers live as long as the request. */
struct gate_request http_gate_request(struct MHD_Connection *c, const char *path);
/*
 * ?limit=5&files=a&files=b as a JSON object of texts, several of one name as an array; a name
 * without a value is true.
 */
void http_query_json(struct MHD_Connection *c, struct buf *out);
/*
 * The body is worth reading and throwing away, so that the caller reads the refusal instead of a
 * broken connection: it is short, or is not there.
 */
bool http_body_is_short(struct MHD_Connection *c);
/* Does the request say how long its body is, and is that more? */
bool http_body_exceeds(struct MHD_Connection *c, size_t max);

#endif
