/* Git as a child process; see git.h for what it may and may not do. */
#include "conf/git.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/proc.h"
#include "base/str.h"

#define ARGS_MAX (GIT_PATHS_MAX + 40)
#define NOT_FOUND_STATUS 127

static const char *const safely[] = { "git", "--no-pager", "--literal-pathspecs", "-c",
	"core.quotePath=false", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null",
	"-c", "log.showSignature=false", "-c", "diff.renames=false", "-C" };

/* Only what git needs to find itself and the person's own settings. */
static const char *const *environment(struct arena *a)
{
	static const char *const kept[] = { "PATH", "HOME", "XDG_CONFIG_HOME",
		"GIT_CONFIG_GLOBAL" };
	const char **list = ARENA_ARRAY(a, const char *, ARRAY_LEN(kept) + 6);
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
		const char *value = getenv(kept[i]);
		if (value)
			list[n++] = arena_printf(a, "%s=%s", kept[i], value);
	}
	list[n++] = "LC_ALL=C";
	list[n++] = "GIT_OPTIONAL_LOCKS=0";
	list[n++] = "GIT_TERMINAL_PROMPT=0";
	list[n++] = "GIT_NO_LAZY_FETCH=1";
	list[n++] = "GIT_NO_REPLACE_OBJECTS=1";
	return list;
}

int git_run(
	const char *root, const char *const *argv, int timeout_ms, struct buf *out, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	AUTO(buf_done) struct buf errors = { .max = 4096 };
	const char *args[ARGS_MAX + ARRAY_LEN(safely)];
	size_t n = ARRAY_LEN(safely);
	int status = 0;

	memcpy(args, safely, sizeof(safely));
	args[n++] = root;
	for (size_t i = 0; argv[i] && n + 1 < ARRAY_LEN(args); i++)
		args[n++] = argv[i];
	args[n] = NULL;
	struct proc_run run = {
		.argv = args, .cwd = "/", .timeout_ms = timeout_ms, .env = environment(&a)
	};
	if (proc_run(&run, out, &errors, &status, err))
		return -1;
	if (status == 0)
		return 0;
	if (status == -1)
		return err_set(err, ERR_UNAVAILABLE, "git %s in '%s' took longer than %d ms",
			argv[0], root, timeout_ms);
	if (status == NOT_FOUND_STATUS)
		return err_set(err, ERR_UNAVAILABLE, "git is not installed");
	struct str why = str_trim(str_of(buf_cstr(&errors)));
	return err_set(err, ERR_NOT_FOUND, "git %s in '%s': %.*s", argv[0], root,
		(int)MIN(why.n, (size_t)200), why.p);
}

/*
 * --- The history's form: "C<hash> <seconds> <subject>", then ":<modes> <blobs> <status>\t<path>".
 * ---
 */

static char *line_take(char **rest)
{
	char *line = *rest, *end;

	if (!*line)
		return NULL;
	end = strchr(line, '\n');
	if (end)
		*end = '\0';
	*rest = end ? end + 1 : line + strlen(line);
	return line;
}

static bool commit_read(char *line, struct git_commit *ret)
{
	char *space = strchr(line, ' ');

	if (!space)
		return false;
	*space = '\0';
	ret->hash = line + 1;
	ret->at = strtoll(space + 1, &space, 10) * 1000;
	ret->subject = *space ? space + 1 : space;
	return true;
}

/* ":100644 100644 <old> <new> M\tpath" or "… R090\told\tnew" */
static bool change_read(char *line, struct git_change *ret)
{
	char *tab = strchr(line, '\t'), *words[5];
	size_t n = 0;

	if (!tab)
		return false;
	*tab = '\0';
	for (char *w = line; w && n < ARRAY_LEN(words); n++) {
		words[n] = w;
		w = strchr(w, ' ');
		if (w)
			*w++ = '\0';
	}
	if (n < ARRAY_LEN(words))
		return false;
	ret->blob = words[3];
	ret->status = *words[4];
	ret->path = tab + 1;
	char *second = strchr(tab + 1, '\t');
	if (second)
		*second++ = '\0';
	ret->renamed = ret->status == 'R' ? second : NULL;
	return true;
}

void git_log_parse(struct arena *a, char *text, struct git_log *ret)
{
	size_t cap = 0, changes_cap = 0;
	char *line;

	while ((line = line_take(&text))) {
		struct git_commit commit;
		struct git_change change;
		if (*line == 'C' && commit_read(line, &commit)) {
			ARENA_PUSH(a, ret->commits, ret->n, cap, commit);
		} else if (*line == ':' && ret->n && change_read(line, &change)) {
			change.commit = ret->n - 1;
			ARENA_PUSH(a, ret->changes, ret->nchanges, changes_cap, change);
		}
	}
}

static const char *const *log_args(struct arena *a, const struct git_log_query *q)
{
	const char **args = ARENA_ARRAY(a, const char *, ARGS_MAX);
	size_t n = 0;

	args[n++] = "log";
	args[n++] = "--raw";
	args[n++] = "--no-abbrev";
	args[n++] = "--no-color";
	args[n++] = "--no-ext-diff";
	args[n++] = "--no-textconv";
	args[n++] = q->finds_renames ? "--find-renames=50%" : "--no-renames";
	args[n++] = "--format=C%H %ct %s";
	args[n++] = arena_printf(a, "--max-count=%zu", q->max);
	if (q->since)
		args[n++] = arena_printf(a, "--since=%lld", (long long)(q->since / 1000));
	if (q->only_deletions)
		args[n++] = "--diff-filter=D";
	args[n++] = "--end-of-options";
	args[n++] = q->rev ? q->rev : "HEAD";
	if (q->without)
		args[n++] = arena_printf(a, "^%s", q->without);
	args[n++] = "--";
	for (size_t i = 0; i < q->npaths && i < GIT_PATHS_MAX; i++)
		args[n++] = q->paths[i];
	return args;
}

int git_log(struct arena *a, const struct git_log_query *q, struct git_log *ret, struct err *err)
{
	AUTO(buf_done) struct buf out = { .max = GIT_OUTPUT_MAX };

	*ret = (struct git_log){ 0 };
	if (!q->root || !file_is_dir(q->root))
		return err_set(
			err, ERR_NOT_FOUND, "the folder '%s' is gone", q->root ? q->root : "");
	if (git_run(q->root, log_args(a, q), GIT_TIMEOUT_MS, &out, err))
		return -1;
	git_log_parse(a, arena_dup(a, buf_cstr(&out), out.len), ret);
	ret->is_whole = !out.is_full && ret->n < q->max;
	return 0;
}
