#include <string.h>

#include "base/mem.h"
#include "ops/all.h"
#include "ops/cursor.h"
#include "ops/param.h"
#include "ops/suspects.h"
#include "store/query.h"
#include "store/stale.h"

/*
 * files: what is known of a file, or of the files below a folder: which they are, and the memories
 * about them, suspect ones first, oldest first among those, then the newest. A file that was
 * renamed is known by its old names too.
 */

#define FILES_LIMIT 50
#define FILES_LISTED 100 /* with the first page */
#define FILES_SEEN 2000 /* memories about a path that are put in order */
#define FILE_NAMES 4    /* the name asked for and older ones */

struct about {
	struct memory *m;
	bool is_suspect;
};

static int files_list(
	struct op_call *call, struct jw *out, int64_t project, const char *path, struct err *err)
{
	struct file_count *list;
	size_t n;
	if (query_files(call->store, call->arena, project, path, FILES_LISTED, &list, &n, err))
		return -1;
	for (size_t i = 0; i < n; i++) {
		jw_object(out, NULL);
		jw_str(out, "path", list[i].path);
		jw_int(out, "memories", list[i].memories);
		jw_int(out, "last_at", list[i].last_at);
		jw_end(out, '}');
	}
	return 0;
}

enum key { KEY_SUSPECT, KEY_AT, KEY_ID, KEYS };

static int suspects_first(const void *x, const void *y)
{
	const struct about *a = x, *b = y;
	if (a->is_suspect != b->is_suspect)
		return a->is_suspect ? -1 : 1;
	bool is_before = a->m->at != b->m->at ? a->m->at < b->m->at : a->m->id < b->m->id;
	return is_before == a->is_suspect ? -1 : 1;
}

static int memories_read(struct op_call *call, struct lookup *l, const int64_t *ids, size_t n,
	struct about **ret, size_t *ret_n, struct err *err)
{
	struct memory *list = ARENA_ARRAY(call->arena, struct memory, n + 1);
	struct about *about = ARENA_ARRAY(call->arena, struct about, n + 1);
	if (n && store_memories(call->store, call->arena, ids, n, list, err))
		return -1;
	*ret_n = 0;
	for (size_t i = 0; i < n; i++)
		if (list[i].id)
			about[(*ret_n)++] = (struct about){ &list[i], suspect_reason(l, &list[i]) };
	qsort(about, *ret_n, sizeof(*about), suspects_first);
	*ret = about;
	return 0;
}

/* Index of the first that comes behind the cursor. */
static size_t behind(const struct cursor *c, const struct about *list, size_t n)
{
	struct memory m = { .at = c->keys[KEY_AT], .id = c->keys[KEY_ID] };
	const struct about last = { &m, c->keys[KEY_SUSPECT] };
	size_t i = 0;
	while (c->is_given && i < n &&
		(list[i].m->id == m.id || suspects_first(&list[i], &last) < 0))
		i++;
	return i;
}

static int memories_write(struct op_call *call, struct jw *out, struct cursor *c,
	const int64_t *ids, size_t nids, struct err *err)
{
	struct lookup l = { .call = call };
	struct branches branches;
	struct hit_style style = { .lookup = &l, .branches = call->cwd ? &branches : NULL };
	size_t n, i, left = param_size(call, "limit", FILES_LIMIT);
	struct about *list;
	if (memories_read(call, &l, ids, nids, &list, &n, err))
		return -1;
	branches_init(&branches, call, c->project, call->cwd, NULL);
	jw_array(out, "memories");
	for (i = behind(c, list, n) + param_size(call, "offset", 0); i < n && left; i++, left--) {
		if (query_memory_files(call->store, call->arena, list[i].m, HIT_FILES_MAX, err))
			return -1;
		struct found f = found_memory(&l, list[i].m);
		found_write(call, out, &f, &style);
		c->keys[KEY_SUSPECT] = list[i].is_suspect;
		c->keys[KEY_AT] = list[i].m->at;
		c->keys[KEY_ID] = list[i].m->id;
	}
	jw_end(out, ']');
	jw_int(out, "total", (int64_t)n);
	cursor_write(call, out, c, i < n);
	return 0;
}

static bool id_is_in(const int64_t *list, size_t n, int64_t id)
{
	for (size_t i = 0; i < n; i++)
		if (list[i] == id)
			return true;
	return false;
}

int op_files(struct op_call *call, struct jw *out, struct err *err)
{
	const char *names[FILE_NAMES] = { call_file(call, param_text(call, "path", "file")) };
	struct cursor c = { .op = "files", .nkeys = KEYS };
	int64_t *all = ARENA_ARRAY(call->arena, int64_t, FILE_NAMES * FILES_SEEN);
	size_t n = 0, nnames = 1;
	if (!names[0])
		return err_set(err, ERR_USAGE, "files needs a path");
	if (call_project(call, &c.project, err) || cursor_read(call, &c, err) ||
		store_older_names(call->store, call->arena, c.project, names, FILE_NAMES, &nnames, err))
		return -1;
	jw_object(out, NULL);
	jw_str(out, "path", names[0]);
	jw_array(out, "files");
	for (size_t i = 0; i < nnames; i++) {
		int64_t *ids;
		size_t found;
		if ((!c.is_given && files_list(call, out, c.project, names[i], err)) ||
			query_memories_below(call->store, call->arena, c.project, names[i], 0,
				FILES_SEEN, &ids, &found, err))
			return -1;
		for (size_t k = 0; k < found; k++)
			if (!i || !id_is_in(all, n, ids[k]))
				all[n++] = ids[k];
	}
	jw_end(out, ']');
	if (memories_write(call, out, &c, all, n, err))
		return -1;
	jw_end(out, '}');
	return 0;
}
