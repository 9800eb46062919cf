/*
 * Changing settings.json: the parsed file is printed anew with one member changed. Only our own
 * file is written this way; configuration of others is edited as text.
 */
#include "conf/settings.h"

#include <string.h>

#include "base/file.h"
#include "base/mem.h"

#define FILE_MODE 0600
#define FOLDER_MODE 0700
#define INDENT "  "

struct change {
	const char *key;   /* "context.full" */
	const char *group; /* "context", or NULL when the key has no dot */
	const char *leaf;  /* "full" */
	const char *value; /* JSON text, or NULL to remove */
	bool is_done;
};

static void print_key(struct buf *out, const char *key)
{
	struct jw w = { .out = out };

	jw_str(&w, NULL, key);
	buf_str(out, ": ");
}

static void print_member_start(struct buf *out, bool *is_first, const char *indent, const char *key)
{
	buf_str(out, *is_first ? "\n" : ",\n");
	buf_str(out, indent);
	print_key(out, key);
	*is_first = false;
}

/* c: NULL when the change is elsewhere. */
static void print_group(const json *group, struct change *c, struct buf *out)
{
	bool is_first = true;

	buf_char(out, '{');
	for (struct json_iter it = json_iter(group); json_next(&it);) {
		if (!c || strcmp(it.key, c->leaf) != 0) {
			print_member_start(out, &is_first, INDENT INDENT, it.key);
			json_print(it.value, out);
			continue;
		}
		if (c->value && !c->is_done) {
			print_member_start(out, &is_first, INDENT INDENT, it.key);
			buf_str(out, c->value);
		}
		c->is_done = true;
	}
	buf_str(out, is_first ? "}" : "\n" INDENT "}");
}

/* A group in which nothing is left but the member to be removed goes too. */
static bool group_ends_empty(const json *group, const struct change *c)
{
	size_t others = 0;

	for (struct json_iter it = json_iter(group); json_next(&it);)
		others += strcmp(it.key, c->leaf) != 0;
	return !c->value && others == 0;
}

static void print_member(
	const char *key, const json *value, struct change *c, struct buf *out, bool *is_first)
{
	bool is_group = json_type(value) == JSON_OBJECT;

	if (strcmp(key, c->key) == 0) {
		if (c->value && !c->is_done) {
			print_member_start(out, is_first, INDENT, key);
			buf_str(out, c->value);
		}
		c->is_done = true;
	} else if (is_group && c->group && strcmp(key, c->group) == 0) {
		if (group_ends_empty(value, c))
			return;
		print_member_start(out, is_first, INDENT, key);
		print_group(value, json_get(value, c->leaf) ? c : NULL, out);
	} else {
		print_member_start(out, is_first, INDENT, key);
		if (is_group)
			print_group(value, NULL, out);
		else
			json_print(value, out);
	}
}

static void print_changed(const json *file, struct change *c, struct buf *out)
{
	bool is_first = true;

	buf_char(out, '{');
	for (struct json_iter it = json_iter(file); json_next(&it);)
		print_member(it.key, it.value, c, out, &is_first);
	if (c->value && !c->is_done) {
		print_member_start(out, &is_first, INDENT, c->key);
		buf_str(out, c->value);
	}
	buf_str(out, is_first ? "}\n" : "\n}\n");
}

int settings_change(const char *path, const char *key, const char *value, struct err *err)
{
	int id = setting_find(key);
	AUTO(json_free_ptr) json *file = NULL;
	AUTO(arena_done) struct arena a = { 0 };
	AUTO(buf_done) struct buf value_json = { 0 }, text = { 0 };
	const char *dot = strchr(key, '.');

	if (id < 0) {
		const char *near = setting_nearest(key);
		err_set(err, ERR_USAGE, "there is no setting '%s'", key);
		return near ? err_hint(err, "is '%s' meant?", near)
			    : err_hint(err, "`remanence config` lists them all");
	}
	if (value && setting_value_json(id, value, &value_json, err) < 0)
		return -1;
	if (settings_file_read(path, &file, err) < 0)
		return -1;
	struct change c = { .key = key, .value = value ? buf_cstr(&value_json) : NULL };
	if (dot) {
		c.group = arena_dup(&a, key, (size_t)(dot - key));
		c.leaf = dot + 1;
	}
	print_changed(file, &c, &text);
	if (file_mkdirs(path_parent(&a, path), FOLDER_MODE, err) < 0)
		return -1;
	return file_write(path, text.data, text.len, FILE_MODE, err);
}
