#ifndef OPS_MODEL_STATE_H
#define OPS_MODEL_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* How the model observer stands, for status, doctor and the one line that a session start is given. */

struct model_state {
	bool is_on; /* observer.provider is set */
	char provider[32], model[128];
	char breaker[16];           /* "closed", "open", "half-open", "paused" */
	char why[16];               /* outcome that it stands for: "quota", "auth", "network"; "" */
	int64_t until;              /* nothing is sent before; 0 */
	int running;                /* requests under way */
	char trouble[ERR_TEXT_MAX]; /* why nothing is sent, a sentence; "" */
	char degraded[ERR_TEXT_MAX]; /* what the daily sample found; "" */
	bool is_budget;             /* the trouble is the day's budget */
	int64_t waiting, dead;      /* jobs; -1: not asked */
};

#endif
