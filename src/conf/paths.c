/*
 * Only names are made here. Relative values of XDG variables are ignored, as the XDG specification
 * says; a relative REMANENCE_HOME is meant from the working folder.
 */
#include "conf/paths.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"

#define FOLDER_MODE 0700

static const char *env_nonempty(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

/*
 * An XDG folder: the variable when it is absolute, else `fallback` below the user's home; NULL when
 * neither is known.
 */
static const char *xdg_dir(
	struct arena *a, const char *variable, const char *user_home, const char *fallback)
{
	const char *value = env_nonempty(variable);

	if (value && *value == '/')
		return path_clean(a, "/", value);
	return user_home && fallback ? path_join(a, user_home, fallback) : NULL;
}

static char *absolute(struct arena *a, const char *path)
{
	char *cwd = *path == '/' ? NULL : getcwd(NULL, 0);
	char *clean = path_clean(a, cwd ? cwd : "/", path);

	free(cwd);
	return clean;
}

int paths_init(struct paths *p, const char *home_override, struct arena *a, struct err *err)
{
	const char *user_home = env_nonempty("HOME");
	const char *home =
		home_override && *home_override ? home_override : env_nonempty("REMANENCE_HOME");
	const char *data = xdg_dir(a, "XDG_DATA_HOME", user_home, ".local/share");
	const char *config = xdg_dir(a, "XDG_CONFIG_HOME", user_home, ".config");
	const char *runtime = xdg_dir(a, "XDG_RUNTIME_DIR", NULL, NULL);

	if (!home && !data) {
		err_set(err, ERR_USAGE,
			"cannot tell where the data folder is: neither REMANENCE_HOME nor HOME is "
			"set");
		return err_hint(
			err, "set REMANENCE_HOME to a folder of your own, or give --home DIR");
	}
	struct paths made = { .home = home ? absolute(a, home) : path_join(a, data, "remanence") };
	made.store = path_join(a, made.home, "remanence.db");
	made.index = path_join(a, made.home, "index");
	made.spool = path_join(a, made.home, "spool");
	made.run = path_join(a, made.home, "run");
	made.observer = path_join(a, made.run, "remanence-observer");
	made.socket = path_join(a, made.run, "socket");
	made.lock = path_join(a, made.run, "lock");
	made.token = path_join(a, made.run, "token");
	made.starts = path_join(a, made.run, "starts");
	made.log = path_join(a, made.home, "log");
	made.start_error = path_join(a, made.log, "start-error");
	made.backup = path_join(a, made.home, "backup");
	made.settings = config ? path_join(a, config, "remanence/settings.json")
			       : path_join(a, made.home, "settings.json");
	made.prompts = config ? path_join(a, config, "remanence/prompts")
			      : path_join(a, made.home, "prompts");
	made.spare = runtime ? path_join(a, runtime, "remanence") : NULL;
	made.user_home = user_home ? arena_str(a, user_home) : NULL;
	*p = made;
	return 0;
}

int paths_create(const struct paths *p, struct err *err)
{
	const char *const spool_folders[] = { "tmp", "new", "bad" };
	const char *const folders[] = { p->home, p->index, p->spool, p->run, p->observer, p->log,
		p->backup };
	AUTO(buf_done) struct buf path = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(folders); i++)
		if (file_mkdirs(folders[i], FOLDER_MODE, err) < 0)
			return -1;
	for (size_t i = 0; i < ARRAY_LEN(spool_folders); i++) {
		buf_cut(&path, 0);
		buf_printf(&path, "%s/%s", p->spool, spool_folders[i]);
		if (file_mkdirs(buf_cstr(&path), FOLDER_MODE, err) < 0)
			return -1;
	}
	return 0;
}
