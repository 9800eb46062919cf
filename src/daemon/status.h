#ifndef DAEMON_STATUS_H
#define DAEMON_STATUS_H

#include "base/json.h"

/* The daemon's own part of the status reply. */

struct daemon;
/* Members about the embedder and its vectors. */
void embedder_write(struct daemon *d, struct jw *w);
void status_write(struct daemon *d, struct jw *w);

#endif
