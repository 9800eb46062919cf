#include "ops/searched.h"

#include <string.h>

#include "base/clock.h"
#include "store/folder.h"

void searched(struct op_call *call, const char *scope, const char *namespace, const char *query,
	size_t results, double top)
{
	const struct services *v = call->services;
	const char *wanted = call->settings ? settings_text(call->settings, SET_SEARCH_LOG) : "off";

	if (!v || !v->searched || !strcmp(wanted, "off"))
		return;
	v->searched(v->daemon, &(struct search_record){
				       .at = clock_now(),
				       .took_us = (int64_t)(clock_mono_us() - call->started_us),
				       .results = (int64_t)results,
				       .scope = scope,
				       .namespace = namespace,
				       .query = strcmp(wanted, "text") ? NULL : query,
				       .top = top,
			       });
}
