#ifndef DAEMON_OPENAPI_H
#define DAEMON_OPENAPI_H

#include "base/buf.h"

/* The HTTP interface, described (OpenAPI 3.1), made from the table of operations. */
void openapi_write(struct buf *out);

#endif
