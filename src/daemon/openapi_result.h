#ifndef DAEMON_OPENAPI_RESULT_H
#define DAEMON_OPENAPI_RESULT_H

#include "base/json.h"

/*
 * What operations answer, for the description at /api/openapi.json: the main members of each result. A test compares what is
 * said here with what is answered; members that are not said may be there too.
 */

/* The member "schema" of the result of an operation; an object without further word when nothing is said of it. */
void openapi_result_write(struct jw *w, const char *op);

#endif
