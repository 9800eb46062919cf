#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <time.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "ops/all.h"
#include "ops/backups.h"
#include "ops/param.h"

/* backup and restore: the store as one file, whole and consistent while it is written to. */

static const char *backup_path(struct op_call *call)
{
	const char *file = param_text(call, "file", "path");
	char name[64];
	time_t now = (time_t)(clock_now() / 1000);
	struct tm tm;
	localtime_r(&now, &tm);
	strftime(name, sizeof(name), "remanence-%Y%m%d-%H%M%S.db", &tm);
	if (!file)
		return path_join(call->arena, call->paths->backup, name);
	const char *path = path_clean(call->arena, call->cwd ? call->cwd : "/", file);
	return file_is_dir(path) ? path_join(call->arena, path, name) : path;
}

int op_backup(struct op_call *call, struct jw *out, struct err *err)
{
	const char *path = backup_path(call);
	struct stat st = { 0 };
	if (!strcmp(path, call->paths->store))
		return err_set(err, ERR_USAGE, "'%s' is the store itself", path);
	if (file_mkdirs(path_parent(call->arena, path), 0700, err) || store_backup(call->store, path, err))
		return -1;
	backups_note(call, path);
	stat(path, &st);
	jw_object(out, NULL);
	jw_str(out, "file", path);
	jw_int(out, "bytes", (int64_t)st.st_size);
	jw_end(out, '}');
	return 0;
}

/* A store that opens, is sound and has rows. */
static int restore_check(struct op_call *call, const char *path, struct store_stats *ret, struct err *err)
{
	AUTO(buf_done) struct buf report = { 0 };
	struct store *s;
	if (!file_exists(path))
		return err_set(err, ERR_NOT_FOUND, "there is no file '%s'", path);
	if (store_open(arena_printf(call->arena, "sqlite:%s", path), DB_READ, NULL, &s, err)) {
		err_prefix(err, "'%s' cannot be restored", path);
		return -1;
	}
	int failed = store_check(s, true, &report, err) || store_stats(s, 0, ret, err);
	store_close(s);
	if (failed)
		return err_prefix(err, "'%s' cannot be restored", path);
	if (report.len)
		return err_set(err, ERR_STORE, "'%s' is damaged and was not restored: %.300s", path, buf_cstr(&report));
	return 0;
}

/* What was forgotten since the backup was made stays forgotten. */
static int graves_carry(struct op_call *call, const char *copy, struct forget_plan *ret, struct err *err)
{
	struct store *s;
	if (store_open(arena_printf(call->arena, "sqlite:%s", copy), DB_CREATE, NULL, &s, err))
		return -1;
	int failed = store_graves_carry(call->store, s, call->arena, ret, err);
	store_close(s);
	return failed;
}

int op_restore(struct op_call *call, struct jw *out, struct err *err)
{
	const struct services *v = call->services;
	const char *file = param_text(call, "file", "path");
	struct store_stats there, here;
	if (!file)
		return err_set(err, ERR_USAGE, "restore needs a file");
	const char *path = path_clean(call->arena, call->cwd ? call->cwd : "/", file);
	if (!v || !v->restore)
		return err_set(err, ERR_INTERNAL, "this door cannot restore");
	if (restore_check(call, path, &there, err) || store_stats(call->store, 0, &here, err))
		return -1;
	if (!param_bool(call, "yes") && here.events > 0) {
		err_set(err, ERR_USAGE, "nothing was restored: this would replace %lld events by %lld", (long long)here.events,
			(long long)there.events);
		return err_hint(err, "repeat it with --yes; what is there now is kept in the backup folder");
	}
	/* The daemon renames what it is given into place, so that a copy is made beside the store. */
	const char *copy = arena_printf(call->arena, "%s.restoring", call->paths->store);
	struct store *s;
	if (store_open(arena_printf(call->arena, "sqlite:%s", path), DB_READ, NULL, &s, err))
		return -1;
	int failed = store_backup(s, copy, err);
	store_close(s);
	struct forget_plan gone;
	if (failed || graves_carry(call, copy, &gone, err) || v->restore(v->daemon, call, copy, err)) {
		unlink(copy);
		return -1;
	}
	jw_object(out, NULL);
	jw_str(out, "restored", path);
	jw_int(out, "sessions", there.sessions);
	jw_int(out, "events", there.events);
	jw_object(out, "forgotten");
	jw_int(out, "memories", (int64_t)gone.nmemories);
	jw_int(out, "events", (int64_t)gone.nevents);
	jw_int(out, "sessions", (int64_t)gone.nsessions);
	jw_end(out, '}');
	backups_write(call, out, "backups", 0);
	jw_end(out, '}');
	return 0;
}
