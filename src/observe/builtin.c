#include "observe/builtin.h"

#include <string.h>

#include "base/file.h"
#include "base/mem.h"

const struct builtin_text *builtin_find(const char *name)
{
	for (const struct builtin_text *t = builtin_texts; t->name; t++)
		if (strcmp(t->name, name) == 0)
			return t;
	return NULL;
}

static int read_own(struct arena *a, const char *path, struct str *ret, struct err *err)
{
	AUTO(buf_done) struct buf text = { 0 };

	if (file_read(path, TEXT_FILE_MAX, &text, err))
		return -1;
	if (!utf8_is_valid(buf_cstr(&text), text.len))
		return err_set(err, ERR_USAGE, "'%s' is not UTF-8 text", path);
	*ret = (struct str){ arena_dup(a, buf_cstr(&text), text.len), text.len };
	return 0;
}

int text_load(struct arena *a, const char *folder, const char *name, struct str *ret,
	bool *ret_is_own, struct err *err)
{
	const char *path = folder ? path_join(a, folder, name) : NULL;
	const struct builtin_text *ours;

	*ret_is_own = path && file_exists(path);
	if (*ret_is_own)
		return read_own(a, path, ret, err);
	ours = builtin_find(name);
	if (!ours)
		return err_set(err, ERR_NOT_FOUND, "there is no '%s'%s%s", name,
			folder ? ", neither built in nor in " : "", folder ? folder : "");
	*ret = (struct str){ ours->data, ours->n };
	return 0;
}
