#include "ops/all.h"
#include "ops/cursor.h"
#include "ops/param.h"

/* projects: names, folders, numbers; the one that was worked on last first. */

#define PROJECTS_LIMIT 100

int op_projects(struct op_call *call, struct jw *out, struct err *err)
{
	struct project *list;
	size_t n, limit = param_size(call, "limit", PROJECTS_LIMIT);
	struct cursor c = { .op = "projects", .nkeys = 2 };
	if (cursor_read(call, &c, err))
		return -1;
	const struct project_query q = { .behind_at = c.keys[0],
		.behind_id = c.keys[1],
		.skip = param_size(call, "offset", 0),
		.max = limit + 1 };
	if (store_project_list(call->store, call->arena, &q, &list, &n, err))
		return -1;
	jw_object(out, NULL);
	jw_array(out, "projects");
	for (size_t i = 0; i < n && i < limit; i++) {
		jw_object(out, NULL);
		jw_int(out, "id", list[i].id);
		jw_str(out, "name", list[i].name);
		jw_str(out, "root", list[i].root);
		jw_int(out, "sessions", list[i].sessions);
		jw_int(out, "memories", list[i].memories);
		jw_str(out, "visibility", list[i].is_shared ? "team" : "private");
		if (list[i].last_event_at)
			jw_int(out, "last_event_at", list[i].last_event_at);
		else
			jw_null(out, "last_event_at");
		jw_end(out, '}');
		c.keys[0] = list[i].last_event_at;
		c.keys[1] = list[i].id;
	}
	jw_end(out, ']');
	cursor_write(call, out, &c, n > limit);
	jw_end(out, '}');
	return 0;
}
