#include "ops/all.h"
#include "ops/param.h"

/* projects: names, folders, numbers. */

int op_projects(struct op_call *call, struct jw *out, struct err *err)
{
	struct project *list;
	size_t n;
	if (store_project_list(call->store, call->arena, param_size(call, "offset", 0), param_size(call, "limit", 100), &list, &n,
		    err))
		return -1;
	jw_object(out, NULL);
	jw_array(out, "projects");
	for (size_t i = 0; i < n; i++) {
		jw_object(out, NULL);
		jw_int(out, "id", list[i].id);
		jw_str(out, "name", list[i].name);
		jw_str(out, "root", list[i].root);
		jw_int(out, "sessions", list[i].sessions);
		jw_int(out, "memories", list[i].memories);
		if (list[i].last_event_at)
			jw_int(out, "last_event_at", list[i].last_event_at);
		else
			jw_null(out, "last_event_at");
		jw_end(out, '}');
	}
	jw_end(out, ']');
	jw_end(out, '}');
	return 0;
}
