#ifndef DAEMON_SERVICES_H
#define DAEMON_SERVICES_H

#include "ops/ops.h"

/* What operations may ask of the daemon (ops.h, struct services). */

struct daemon;
void services_fill(struct daemon *d, struct services *s);

#endif
