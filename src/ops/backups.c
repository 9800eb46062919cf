#include "ops/backups.h"

#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

#define BACKUP_LIST_MAX (1u << 20)
#define MS 1000

static bool may_hold(const char *path, int64_t since)
{
	struct stat st;
	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return false;
	return ((int64_t)st.st_mtime + 1) * MS >= since;
}

static void elsewhere_write(struct op_call *call, struct jw *out, int64_t since)
{
	AUTO(buf_done) struct buf data = { 0 };
	struct err ignored;
	struct str rest, line;
	if (file_read(path_join(call->arena, call->paths->backup, BACKUP_LIST), BACKUP_LIST_MAX, &data, &ignored))
		return;
	rest = (struct str){ data.data, data.len };
	while (str_line(&rest, &line)) {
		const char *path = arena_dup(call->arena, line.p, line.n);
		if (*path && may_hold(path, since))
			jw_str(out, NULL, path);
	}
}

void backups_write(struct op_call *call, struct jw *out, const char *key, int64_t since)
{
	char **names;
	size_t n;
	struct err ignored;
	jw_array(out, key);
	if (file_list(call->arena, call->paths->backup, &names, &n, &ignored))
		n = 0;
	for (size_t i = 0; i < n; i++) {
		const char *path = path_join(call->arena, call->paths->backup, names[i]);
		if (strcmp(names[i], BACKUP_LIST) && may_hold(path, since))
			jw_str(out, NULL, path);
	}
	elsewhere_write(call, out, since);
	jw_end(out, ']');
}

static bool is_noted(const struct buf *list, const char *path)
{
	struct str rest = { list->data, list->len }, line;
	while (str_line(&rest, &line))
		if (str_is(line, path))
			return true;
	return false;
}

void backups_note(struct op_call *call, const char *path)
{
	AUTO(buf_done) struct buf list = { 0 };
	struct err ignored;
	const char *file = path_join(call->arena, call->paths->backup, BACKUP_LIST);
	if (path_below(call->paths->backup, path) || strchr(path, '\n'))
		return;
	file_read(file, BACKUP_LIST_MAX, &list, &ignored);
	if (is_noted(&list, path))
		return;
	const char *line = arena_printf(call->arena, "%s\n", path);
	file_append(file, line, strlen(line), 0600, &ignored);
}
