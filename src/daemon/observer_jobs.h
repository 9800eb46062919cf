#ifndef DAEMON_OBSERVER_JOBS_H
#define DAEMON_OBSERVER_JOBS_H

#include "conf/settings.h"
#include "observe/unit.h"

/* What the rules leave to a model: the jobs of a turn, and that of its session once it is over. */

struct turn_jobs {
	bool is_on; /* there is a model */
	struct unit_jobs units;
	int64_t session_due; /* when the session counts as over, Unix ms; 0: it is */
};

void turn_jobs_make(struct arena *a, const struct settings *s, const struct rules_input *in,
	const struct rules_output *made, struct turn_jobs *ret);
/* *ret_is_new: something waits that did not. */
int turn_jobs_write(struct store *s, const struct turn *t, const struct turn_jobs *j,
	bool *ret_is_new, struct err *err);

#endif
