/* Commands that are about the daemon rather than in it, and small ones of the client's own. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "client/client.h"
#include "client/start.h"

#define CONTEXT_FILE_MODE 0644

static size_t count_files(struct client *c, const char *folder)
{
	char **names;
	size_t n = 0;

	return file_list(&c->arena, folder, &names, &n, NULL) == 0 ? n : 0;
}

/* What can be said of a daemon that does not run. */
static int show_not_running(struct client *c, struct err *err)
{
	AUTO(buf_done) struct buf text = { 0 };
	struct jw w = { .out = &text };

	jw_object(&w, NULL);
	jw_bool(&w, "running", false);
	jw_str(&w, "home", c->paths.home);
	jw_str(&w, "socket", c->paths.socket);
	jw_int(&w, "spool_files",
		(int64_t)count_files(c, path_join(&c->arena, c->paths.spool, "new")));
	jw_end(&w, '}');
	return client_show(c, &text, err);
}

static int show_call(struct client *c, struct err *err)
{
	AUTO(buf_done) struct buf text = { 0 };
	struct call call = { .op = c->op, .params = buf_cstr(&c->params) };

	return client_call(c, &call, &text, err) < 0 ? -1 : client_show(c, &text, err);
}

int local_status(struct client *c, struct err *err)
{
	if (start_is_answered(&c->paths))
		return show_call(c, err);
	/* A daemon that failed at its last start would fail again: that is no rest, but trouble. */
	return start_reason(&c->paths, 0, err) ? -1 : show_not_running(c, err);
}

int local_stop(struct client *c, struct err *err)
{
	AUTO(buf_done) struct buf text = { 0 };
	bool was_running = start_is_answered(&c->paths);

	if (was_running && start_stop(&c->paths, err) < 0)
		return -1;
	buf_printf(&text, "{\"stopped\":%s}", was_running ? "true" : "false");
	return client_show(c, &text, err);
}

int local_start(struct client *c, struct err *err)
{
	bool was_running = start_is_served(&c->paths);

	if (!was_running && start_and_wait(&c->paths, err) < 0)
		return -1;
	if (c->is_json)
		printf("{\"running\":true,\"started\":%s}\n", was_running ? "false" : "true");
	else if (!c->is_quiet)
		printf(was_running ? "The daemon runs already.\n" : "The daemon runs.\n");
	return 0;
}

/* Becomes the daemon, attached: for supervisors, containers and terminals. */
int local_serve(struct client *c, struct err *err)
{
	AUTO(buf_done) struct buf program = { 0 };

	if (start_find(&program, err) < 0)
		return -1;
	execl(buf_cstr(&program), buf_cstr(&program), "--foreground", "--home", c->paths.home,
		(char *)NULL);
	return err_set(err, ERR_IO, "cannot run '%s': %s", buf_cstr(&program), strerror(errno));
}

/* Agents that have no hooks read the context from a file. */
static int write_context(struct client *c, const json *reply, const char *path, struct err *err)
{
	const char *text = json_str(reply, "text");

	if (file_write(path, text ? text : "", text ? strlen(text) : 0, CONTEXT_FILE_MODE, err) < 0)
		return -1;
	if (!c->is_quiet && !c->is_json)
		printf("Wrote %s. An agent reads it when its own file (CLAUDE.md, AGENTS.md, "
		       "GEMINI.md) has the line: @%s\n",
			path, path);
	return 0;
}

int local_context(struct client *c, struct err *err)
{
	AUTO(buf_done) struct buf text = { 0 };
	AUTO(json_free_ptr) json *reply = NULL;
	struct call call = { .op = c->op, .params = buf_cstr(&c->params) };
	const char *path = json_str(c->given, "write");

	if (client_call(c, &call, &text, err) < 0)
		return -1;
	if (!path)
		return client_show(c, &text, err);
	if (json_parse(text.data, text.len, &reply, err) < 0 ||
		write_context(c, reply, path, err) < 0)
		return -1;
	if (c->is_json)
		client_print_json(&text);
	return 0;
}
