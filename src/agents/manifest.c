/* The manifest as a JSON file; see manifest.h. */

#include "agents/manifest.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"

#define MANIFEST_VERSION 1

static void read_entry(struct arena *a, const json *j, struct manifest *m)
{
	const char *agent = json_str(j, "agent"), *path = json_str(j, "path"),
		   *after = json_str(j, "after");
	const json *created = json_get(j, "created"), *before = json_get(j, "before");
	if (!agent || !path || !after)
		return;
	struct manifest_entry *e = manifest_add(m, arena_str(a, agent), arena_str(a, path));
	if (!e)
		return;
	e->existed = json_bool(j, "existed", false);
	e->after = arena_str(a, after);
	if (json_type(before) == JSON_STRING) {
		struct str s = json_slice(before);
		e->before = (struct str){ arena_dup(a, s.n ? s.p : "", s.n), s.n };
	}
	e->created = ARENA_ARRAY(a, const char *, json_len(created) + 1);
	for (size_t i = 0; i < json_len(created); i++)
		if (json_value_str(json_at(created, i)))
			e->created[e->ncreated++] =
				arena_str(a, json_value_str(json_at(created, i)));
}

void manifest_read(struct arena *a, const char *path, struct manifest *ret)
{
	AUTO(buf_done) struct buf b = { .max = MANIFEST_MAX };
	json *j = NULL;
	*ret = (struct manifest){ 0 };
	if (file_read(path, MANIFEST_MAX, &b, NULL) || json_parse(buf_cstr(&b), b.len, &j, NULL))
		return;
	const json *list = json_get(j, "edits");
	for (size_t i = 0; i < json_len(list); i++)
		read_entry(a, json_at(list, i), ret);
	json_free(j);
}

struct manifest_entry *manifest_find(struct manifest *m, const char *agent, const char *path)
{
	for (size_t i = 0; i < m->n; i++)
		if (!strcmp(m->entries[i].agent, agent) && !strcmp(m->entries[i].path, path))
			return &m->entries[i];
	return NULL;
}

struct manifest_entry *manifest_add(struct manifest *m, const char *agent, const char *path)
{
	struct manifest_entry *e = manifest_find(m, agent, path);
	if (e || m->n == MANIFEST_ENTRIES_MAX)
		return e;
	e = &m->entries[m->n++];
	*e = (struct manifest_entry){ .agent = agent, .path = path };
	return e;
}

void manifest_remove(struct manifest *m, struct manifest_entry *e)
{
	size_t at = (size_t)(e - m->entries);
	memmove(e, e + 1, (m->n - at - 1) * sizeof(*e));
	m->n--;
}

static void print_entry(const struct manifest_entry *e, struct jw *w)
{
	jw_object(w, NULL);
	jw_str(w, "agent", e->agent);
	jw_str(w, "path", e->path);
	jw_bool(w, "existed", e->existed);
	if (e->before.p)
		jw_slice(w, "before", e->before);
	jw_str(w, "after", e->after);
	jw_array(w, "created");
	for (size_t i = 0; i < e->ncreated; i++)
		jw_str(w, NULL, e->created[i]);
	jw_end(w, ']');
	jw_end(w, '}');
}

int manifest_write(const struct manifest *m, const char *path, struct err *err)
{
	AUTO(buf_done) struct buf b = { 0 };
	struct arena a = { 0 };
	struct jw w = { .out = &b };
	if (!m->n)
		return unlink(path) && errno != ENOENT
			       ? err_set(err, ERR_IO, "cannot remove '%s': %s", path,
					 strerror(errno))
			       : 0;
	jw_object(&w, NULL);
	jw_int(&w, "version", MANIFEST_VERSION);
	jw_array(&w, "edits");
	for (size_t i = 0; i < m->n; i++)
		print_entry(&m->entries[i], &w);
	jw_end(&w, ']');
	jw_end(&w, '}');
	buf_char(&b, '\n');
	int rc = file_mkdirs(path_parent(&a, path), 0700, err)
			 ? -1
			 : file_write(path, b.data, b.len, 0600, err);
	arena_done(&a);
	return rc;
}
