#include <string.h>

#include "base/mem.h"
#include "ops/all.h"
#include "ops/hits.h"
#include "ops/param.h"
#include "store/query.h"

/* files: what is known of a file, or of the files below a folder: which they are, and the memories about them, newest first. */

#define FILES_LISTED 100

static int files_list(struct op_call *call, struct jw *out, int64_t project, const char *path, struct err *err)
{
	struct file_count *list;
	size_t n;
	if (query_files(call->store, call->arena, project, path, FILES_LISTED, &list, &n, err))
		return -1;
	jw_array(out, "files");
	for (size_t i = 0; i < n; i++) {
		jw_object(out, NULL);
		jw_str(out, "path", list[i].path);
		jw_int(out, "memories", list[i].memories);
		jw_int(out, "last_at", list[i].last_at);
		jw_end(out, '}');
	}
	jw_end(out, ']');
	return 0;
}

static int memories_list(struct op_call *call, struct jw *out, const int64_t *ids, size_t n, struct err *err)
{
	struct lookup l = { .call = call };
	struct hit_style style = { 0 };
	struct memory *list = ARENA_ARRAY(call->arena, struct memory, n + 1);
	if (n && store_memories(call->store, call->arena, ids, n, list, err))
		return -1;
	jw_array(out, "memories");
	for (size_t i = 0; i < n; i++) {
		if (!list[i].id)
			continue;
		if (query_memory_files(call->store, call->arena, &list[i], HIT_FILES_MAX, err))
			return -1;
		struct found f = found_memory(&l, &list[i]);
		found_write(call, out, &f, &style);
	}
	jw_end(out, ']');
	return 0;
}

int op_files(struct op_call *call, struct jw *out, struct err *err)
{
	const char *path = call_file(call, param_text(call, "path", "file"));
	size_t skip = param_size(call, "offset", 0), max = param_size(call, "limit", 50), n;
	int64_t project, *ids;
	if (!path)
		return err_set(err, ERR_USAGE, "files needs a path");
	if (call_project(call, &project, err))
		return -1;
	jw_object(out, NULL);
	jw_str(out, "path", path);
	if (files_list(call, out, project, path, err) ||
		query_memories_below(call->store, call->arena, project, path, skip, max, &ids, &n, err) ||
		memories_list(call, out, ids, n, err))
		return -1;
	jw_end(out, '}');
	return 0;
}
