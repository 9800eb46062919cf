#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "ops/all.h"
#include "ops/cursor.h"
#include "ops/hits.h"
#include "ops/param.h"
#include "ops/ready.h"
#include "store/folder.h"

/* sync: markdown folders. The daemon reads them; here they are named, listed and taken away. */

#define STANDARD_GLOB "*.md"

static void result_write(
	struct op_call *call, struct jw *out, const char *namespace, const struct sync_result *r)
{
	if (namespace)
		jw_str(out, "namespace", namespace);
	jw_int(out, "files", r->files);
	jw_int(out, "synced", r->synced);
	jw_int(out, "skipped", r->skipped);
	jw_int(out, "renamed", r->renamed);
	jw_int(out, "removed", r->removed);
	jw_int(out, "chunks", r->chunks);
	jw_int(out, "new_chunks", r->written);
	jw_array(out, "failed");
	for (size_t i = 0; i < r->nfailed; i++) {
		jw_object(out, NULL);
		jw_str(out, "path", r->failed[i].path);
		jw_str(out, "reason", r->failed[i].reason);
		jw_end(out, '}');
	}
	jw_end(out, ']');
	jw_int(out, "failures", r->failures);
	jw_real(out, "took_ms", (double)(clock_mono_us() - call->started_us) / 1000.0, 3);
}

static int namespace_check(const char *name, struct err *err)
{
	if (!*name || strlen(name) > FOLDER_NAMESPACE_MAX)
		return err_set(
			err, ERR_USAGE, "a namespace has 1 to %d bytes", FOLDER_NAMESPACE_MAX);
	for (const char *p = name; *p; p++)
		if ((unsigned char)*p <= ' ' || *p == '"' || *p == 0x7f)
			return err_set(
				err, ERR_USAGE, "a namespace is one word; '%.40s' is not", name);
	return 0;
}

static int namespace_unknown(struct op_call *call, const char *name, struct err *err)
{
	AUTO(buf_done) struct buf known = { .max = ERR_TEXT_MAX / 2 };
	struct folder *list;
	size_t n;

	if (folder_list(call->store, call->arena, &list, &n, err))
		return -1;
	for (size_t i = 0; i < n; i++)
		buf_printf(&known, "%s%s", i ? ", " : "", list[i].namespace);
	err_set(err, ERR_NOT_FOUND, "there is no namespace '%.100s'%s%s", name,
		n ? "; there is " : ", since no folder is indexed", buf_cstr(&known));
	return err_hint(err, "`remanence sync list` shows them, `remanence sync add DIR "
			     "--namespace NS` adds one");
}

/* added: folders that this call found ready; NULL: it did not look for any. */
static int run(struct op_call *call, struct jw *out, const struct sync_request *q, const size_t *added,
	struct err *err)
{
	const struct services *v = call->services;
	struct sync_result r = { 0 };

	if (!v || !v->sync)
		return err_set(err, ERR_INTERNAL, "this door cannot sync");
	if (v->sync(v->daemon, call, q, &r, err))
		return -1;
	jw_object(out, NULL);
	if (added)
		jw_int(out, "added", (int64_t)*added);
	result_write(call, out, q->namespace, &r);
	jw_end(out, '}');
	return 0;
}

/* --- add --- */

struct adding {
	struct folder *folders;
	size_t n;
	bool is_ready;
};

static int add_run(struct store *s, void *ctx, struct err *err)
{
	struct adding *a = ctx;
	int64_t is_followed;

	for (size_t i = 0; i < a->n; i++)
		if (folder_put(s, &a->folders[i], err))
			return -1;
	if (!a->is_ready)
		return 0;
	if (store_counter_get(s, READY_COUNTER, &is_followed, err))
		return -1;
	return is_followed ? 0 : store_counter_add(s, READY_COUNTER, 1, err);
}

static int add(struct op_call *call, struct adding *a, struct err *err)
{
	const struct services *v = call->services;

	if (v->write(v->daemon, add_run, a, err))
		return -1;
	if (v->folders_changed)
		v->folders_changed(v->daemon);
	return 0;
}

static int globs_read(struct op_call *call, const char **ret, struct err *err)
{
	AUTO(buf_done) struct buf b = { .max = FOLDER_GLOBS_MAX };
	const char **globs;
	size_t n = param_list(call, "glob", "globs", &globs);
	bool has_some = false;

	for (size_t i = 0; i < n; i++) {
		if (strlen(globs[i]) > STR_GLOB_MAX || strchr(globs[i], '\n'))
			return err_set(err, ERR_USAGE, "a glob has at most %d bytes, on one line",
				STR_GLOB_MAX);
		has_some |= globs[i][0] != '!';
		buf_printf(&b, "%s%s", b.len ? "\n" : "", globs[i]);
	}
	if (b.is_full)
		return err_set(err, ERR_USAGE, "the globs have more than %d bytes together",
			FOLDER_GLOBS_MAX);
	/* Those that only take out take out of what is usual. */
	*ret = has_some ? arena_str(call->arena, buf_cstr(&b))
	       : n      ? arena_printf(call->arena, "%s\n%s", STANDARD_GLOB, buf_cstr(&b))
			: STANDARD_GLOB;
	return 0;
}

static int sync_add_ready(struct op_call *call, struct jw *out, struct err *err)
{
	struct adding a = { .is_ready = true };
	struct sync_request q = { 0 };

	if (ready_find(call->store, call->arena, call->paths ? call->paths->user_home : NULL,
		    &a.folders, &a.n, err) ||
		add(call, &a, err))
		return -1;
	return run(call, out, &q, &a.n, err);
}

static int sync_add(struct op_call *call, struct jw *out, struct err *err)
{
	const char *target = param_text(call, "target", NULL),
		   *namespace = param_text(call, "namespace", NULL);
	struct folder f, old;
	struct adding a = { .folders = &f, .n = 1 };

	if (param_bool(call, "ready"))
		return sync_add_ready(call, out, err);
	if (!target || !namespace) {
		err_set(err, ERR_USAGE, "sync add takes a folder and a namespace");
		return err_hint(err, "remanence sync add DIR --namespace NS");
	}
	f = (struct folder){ .namespace = namespace,
		.root = path_clean(call->arena, call->cwd ? call->cwd : "/", target) };
	if (namespace_check(namespace, err) || globs_read(call, &f.globs, err) ||
		call_project_named(call, &f.project, err) ||
		folder_find(call->store, call->arena, namespace, &old, err))
		return -1;
	if (param_bool(call, "team") && param_bool(call, "private"))
		return err_set(err, ERR_USAGE, "a folder is the team's or private, not both");
	if (!file_is_dir(f.root))
		return err_set(err, ERR_NOT_FOUND, "there is no folder '%s'", f.root);
	if (old.id && strcmp(old.root, f.root)) {
		err_set(err, ERR_USAGE, "the namespace '%s' is that of '%s' already", namespace,
			old.root);
		return err_hint(
			err, "take another name, or `remanence sync remove %s` first", namespace);
	}
	f.id = old.id;
	f.is_team = param_bool(call, "team") || (old.is_team && !param_bool(call, "private"));
	if (add(call, &a, err))
		return -1;
	return run(call, out, &(struct sync_request){ .namespace = namespace }, NULL, err);
}

/* --- list --- */

#define FOLDERS_LIMIT 1000

static int failed_write(
	struct op_call *call, struct jw *out, const struct folder *f, struct err *err)
{
	struct folder_file *files;
	size_t n;

	jw_array(out, "failed");
	if (f->failed) {
		if (folder_files(call->store, call->arena, f->id, &files, &n, err))
			return -1;
		for (size_t i = 0, named = 0; i < n && named < SYNC_FAILED_MAX; i++) {
			if (!files[i].error)
				continue;
			named++;
			jw_object(out, NULL);
			jw_str(out, "path", files[i].path);
			jw_str(out, "reason", files[i].error);
			jw_end(out, '}');
		}
	}
	jw_end(out, ']');
	return 0;
}

static int folder_write(
	struct op_call *call, struct jw *out, const struct folder *f, struct err *err)
{
	struct str rest = str_of(f->globs), glob;
	struct lookup *l = ARENA_NEW(call->arena, struct lookup);

	l->call = call;
	jw_object(out, NULL);
	jw_str(out, "namespace", f->namespace);
	jw_str(out, "root", f->root);
	jw_array(out, "globs");
	while (str_line(&rest, &glob))
		jw_slice(out, NULL, glob);
	jw_end(out, ']');
	jw_str(out, "project", lookup_project(l, f->project));
	jw_str(out, "visibility", f->is_team ? "team" : "private");
	jw_int(out, "files", f->files);
	jw_int(out, "chunks", f->chunks);
	jw_int(out, "last_sync", f->synced_at);
	jw_int(out, "errors", f->failed + (f->error != NULL));
	jw_str(out, "error", f->error);
	if (failed_write(call, out, f, err))
		return -1;
	jw_end(out, '}');
	return 0;
}

static int sync_list(struct op_call *call, struct jw *out, struct err *err)
{
	const char *only = param_text(call, "target", param_text(call, "namespace", NULL));
	struct cursor c = { .op = "sync" };
	struct folder one, *list = &one;
	size_t n = 1, limit = param_size(call, "limit", FOLDERS_LIMIT);

	if (cursor_read(call, &c, err) ||
		(only ? folder_find(call->store, call->arena, only, &one, err)
		      : folder_page(call->store, call->arena, c.is_given ? c.name : NULL, limit + 1,
				&list, &n, err)))
		return -1;
	if (only && !one.id)
		return namespace_unknown(call, only, err);
	jw_object(out, NULL);
	jw_array(out, "folders");
	for (size_t i = 0; i < n && i < limit; i++) {
		if (folder_write(call, out, &list[i], err))
			return -1;
		c.name = list[i].namespace;
	}
	jw_end(out, ']');
	cursor_write(call, out, &c, n > limit);
	jw_end(out, '}');
	return 0;
}

/* --- run, remove --- */

static int namespace_read(struct op_call *call, bool is_needed, struct folder *ret, struct err *err)
{
	const char *name = param_text(call, "target", param_text(call, "namespace", NULL));

	*ret = (struct folder){ 0 };
	if (!name)
		return is_needed ? err_set(err, ERR_USAGE, "say which namespace") : 0;
	if (folder_find(call->store, call->arena, name, ret, err))
		return -1;
	return ret->id ? 0 : namespace_unknown(call, name, err);
}

static int sync_run(struct op_call *call, struct jw *out, struct err *err)
{
	struct folder f;

	if (namespace_read(call, false, &f, err))
		return -1;
	return run(call, out,
		&(struct sync_request){
			.namespace = f.namespace, .is_forced = param_bool(call, "force") },
		NULL, err);
}

struct removing {
	int64_t folder;
	bool is_ready;
};

static int remove_run(struct store *s, void *ctx, struct err *err)
{
	const struct removing *r = ctx;
	int64_t followed;

	if (folder_remove(s, r->folder, err))
		return -1;
	/* Otherwise it would come back by itself. */
	if (!r->is_ready)
		return 0;
	if (store_counter_get(s, READY_COUNTER, &followed, err))
		return -1;
	return followed ? store_counter_add(s, READY_COUNTER, -followed, err) : 0;
}

static int sync_remove(struct op_call *call, struct jw *out, struct err *err)
{
	const struct services *v = call->services;
	struct folder f;

	if (namespace_read(call, true, &f, err))
		return -1;
	struct removing r = { f.id, str_starts(f.namespace, READY_MEMORY) ||
					    str_starts(f.namespace, READY_INSTRUCTIONS) };
	if (v->write(v->daemon, remove_run, &r, err))
		return -1;
	if (v->folders_changed)
		v->folders_changed(v->daemon);
	jw_object(out, NULL);
	jw_str(out, "namespace", f.namespace);
	jw_int(out, "removed", f.files);
	jw_int(out, "chunks", f.chunks);
	jw_end(out, '}');
	return 0;
}

int op_sync(struct op_call *call, struct jw *out, struct err *err)
{
	static const struct {
		const char *name;
		op_fn *run;
	} actions[] = { { "add", sync_add }, { "list", sync_list }, { "run", sync_run },
		{ "remove", sync_remove } };
	const char *action = param_text(call, "action", "list");

	for (size_t i = 0; i < ARRAY_LEN(actions); i++)
		if (str_ieq(action, actions[i].name))
			return actions[i].run(call, out, err);
	return err_set(err, ERR_USAGE, "sync takes add, list, run or remove, not '%s'", action);
}
