/* The command line's frame: parse, run here or in the daemon, show, exit. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "build_id.h"
#include "client/client.h"
#include "client/hook.h"
#include "client/render.h"

#define ANSWER_MAX 16

static const struct {
	const char *name;
	local_fn *run;
} locals[] = {
	{ "completion", local_completion },
	{ "context", local_context },
	{ "doctor", local_doctor },
	{ "install", local_install },
	{ "mcp", local_mcp },
	{ "review", local_review },
	{ "start", local_start },
	{ "serve", local_serve },
	{ "status", local_status },
	{ "stop", local_stop },
	{ "uninstall", local_uninstall },
	{ "welcome", local_welcome },
};

local_fn *local_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(locals); i++)
		if (strcmp(locals[i].name, name) == 0)
			return locals[i].run;
	return NULL;
}

void client_print_json(const struct buf *text)
{
	size_t n = text->len;

	while (n && text->data[n - 1] == '\n')
		n--;
	if (n)
		file_write_all(STDOUT_FILENO, text->data, n);
	file_write_all(STDOUT_FILENO, "\n", 1);
}

static void print_error_json(const struct err *err)
{
	AUTO(buf_done) struct buf text = { 0 };
	struct jw w = { .out = &text };

	jw_object(&w, NULL);
	jw_object(&w, "error");
	jw_str(&w, "code", err_codes[err->code].name);
	jw_str(&w, "message", err->text);
	jw_str(&w, "hint", err->hint);
	jw_bool(&w, "retryable", err_codes[err->code].retryable);
	jw_end(&w, '}');
	jw_end(&w, '}');
	client_print_json(&text);
}

int client_fail(struct client *c, const struct err *err)
{
	bool has_color = isatty(STDERR_FILENO) && !c->no_color && !getenv("NO_COLOR");

	if (c->is_json)
		print_error_json(err);
	fprintf(stderr, "%sremanence:%s %s\n", has_color ? "\033[31m" : "",
		has_color ? "\033[0m" : "", err->text);
	if (err->hint[0])
		fprintf(stderr, "  %s\n", err->hint);
	return err_codes[err->code].exit_status;
}

bool client_can_ask(void)
{
	return isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

bool client_confirm(const char *question)
{
	char answer[ANSWER_MAX];

	fprintf(stderr, "%s [y/N] ", question);
	return fgets(answer, sizeof answer, stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

static void pass_line(struct client *c, const char *line, size_t len)
{
	struct buf text = { .data = (char *)line, .len = len };

	client_print_json(&text);
}

/*
 * The daemon refuses what takes away much until it hears "yes"; on a terminal the person is asked.
 */
static bool was_confirmed(struct client *c, const struct err *err)
{
	const struct param *yes = op_param_find(c->op, "yes");

	if (!yes || err->code != ERR_USAGE || !strstr(err->hint, "--yes") || c->is_json ||
		!client_can_ask())
		return false;
	fprintf(stderr, "%s\n", err->text);
	return client_confirm("Go on?");
}

int client_call_confirmed(
	struct client *c, const struct call *call, struct buf *ret, struct err *err)
{
	AUTO(buf_done) struct buf params = { 0 };
	struct call again = *call;

	if (client_call(c, call, ret, err) == 0)
		return 0;
	if (!was_confirmed(c, err))
		return -1;
	buf_add(&params, call->params, strlen(call->params) - 1);
	buf_str(&params, params.len > 1 ? ",\"yes\":true}" : "\"yes\":true}");
	again.params = params.data;
	*err = (struct err){ 0 };
	return client_call(c, &again, ret, err);
}

int client_show(struct client *c, const struct buf *text, struct err *err)
{
	AUTO(json_free_ptr) json *reply = NULL;
	render_fn *render = render_find(c->op->name);

	if (c->is_json || !render) {
		client_print_json(text);
		return 0;
	}
	if (json_parse(text->data, text->len, &reply, err) < 0) {
		err_prefix(err, "cannot show the reply");
		return err_hint(err, "ask for less with --limit, or for --json");
	}
	render(c, reply);
	render_more(c, reply);
	term_flush(&c->term);
	return 0;
}

static int run_remote(struct client *c, struct err *err)
{
	AUTO(buf_done) struct buf text = { 0 };
	struct call call = { .op = c->op,
		.params = buf_cstr(&c->params),
		.on_record = pass_line,
		.on_progress = c->is_json    ? pass_line
			       : c->is_quiet ? NULL
			       : !strcmp(c->op->name, "sync") ? render_sync_progress
					     : render_progress };
	int result = client_call_confirmed(c, &call, &text, err);

	render_progress_end();
	return result < 0 ? -1 : client_show(c, &text, err);
}

static int run(struct client *c, struct err *err)
{
	local_fn *local = local_find(c->op->name);

	if (paths_init(&c->paths, c->home, &c->arena, err) < 0)
		return -1;
	return local ? local(c, err) : run_remote(c, err);
}

static void client_init(struct client *c)
{
	char *cwd = getcwd(NULL, 0);

	c->cwd = arena_str(&c->arena, cwd ? cwd : "/");
	free(cwd);
}

static void client_done(struct client *c)
{
	term_done(&c->term);
	buf_done(&c->params);
	json_free(c->given);
	arena_done(&c->scratch);
	arena_done(&c->arena);
}

/* Help and version need no data folder. */
static bool show_help(struct client *c)
{
	if (c->wants_version)
		printf(c->is_json ? "{\"version\":\"%s\",\"build\":\"%s\"}\n"
				  : "remanence %s (%s)\n",
			REMANENCE_VERSION, REMANENCE_BUILD_ID);
	else if (c->op && c->wants_help)
		help_operation(&c->term, c->op);
	else if (!c->op)
		help_overview(&c->term);
	else
		return false;
	fflush(stdout);
	term_flush(&c->term);
	return true;
}

int client_main(int argc, char **argv)
{
	struct client c = { 0 };
	struct err err = { 0 };
	int status = 0;

	client_init(&c);
	int parsed = args_parse(&c, argc, argv, &err);
	term_init(&c.term, c.no_color);
	if (parsed < 0)
		status = client_fail(&c, &err);
	else if (show_help(&c))
		status = c.op || c.wants_help || c.wants_version ? 0
								 : err_codes[ERR_USAGE].exit_status;
	else if (strcmp(c.op->name, "hook") == 0)
		status = hook_main(2,
			(char *[]){ (char *)json_str(c.given, "agent"),
				(char *)json_str(c.given, "event") },
			c.home);
	else
		status = run(&c, &err) < 0 ? client_fail(&c, &err) : c.status;
	client_done(&c);
	return status;
}
