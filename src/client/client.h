#ifndef CLIENT_CLIENT_H
#define CLIENT_CLIENT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "client/term.h"
#include "conf/paths.h"
#include "spec/spec.h"

/*
 * One run of the command line: what was asked, where, and how to show it. An operation of the
 * daemon goes through client_call; those with OP_LOCAL have a function here. A command returns its
 * exit status.
 */

struct client {
	struct arena arena;
	struct paths paths;
	struct term term;
	const char *cwd;  /* absolute */
	const char *home; /* --home, or NULL */
	bool is_json, is_quiet, no_color, wants_help, wants_version;
	const struct op_spec *op; /* NULL: none was named */
	struct buf params;        /* checked, one JSON object */
	json *given;              /* the same, parsed */
	const char *session;      /* the agent's session that this client runs in, or NULL (MCP) */
	const char *agent;        /* the agent that speaks through this client; NULL: a person */
	bool said_settings, handed_over;
	struct arena scratch; /* of one call to the daemon */
	int status;           /* exit status of a local command that succeeded in part */
};

/*
 * args.c: command, options and words. Fills op, the global options and params; ERR_USAGE tells the
 * right form.
 */
int args_parse(struct client *c, int argc, char **argv, struct err *err);

/*
 * call.c: runs an operation in the daemon, starting it when needed. *ret is the reply as text: one
 * JSON object.
 */
struct call {
	const struct op_spec *op;
	const char *params; /* checked JSON object */
	/* Lines of a streamed reply: progress, and records before the result; NULL drops them. */
	void (*on_progress)(struct client *c, const char *line, size_t len);
	void (*on_record)(struct client *c, const char *line, size_t len);
};
int client_call(struct client *c, const struct call *call, struct buf *ret, struct err *err);
/* The same for an operation by name with parameters as JSON text, parsed. The caller frees *ret. */
int client_ask(struct client *c, const char *op, const char *params, json **ret, struct err *err);

/* cli.c */
int client_main(int argc, char **argv);
/* A call that may need a "yes": asks for it on a terminal. */
int client_call_confirmed(
	struct client *c, const struct call *call, struct buf *ret, struct err *err);
/* Shows a reply: as it is with --json, else rendered. */
int client_show(struct client *c, const struct buf *text, struct err *err);
/* Prints an error as the contract says and gives its exit status. */
int client_fail(struct client *c, const struct err *err);
/* Prints a local command's result: JSON as it is. */
void client_print_json(const struct buf *text);
/* Asks a yes-or-no question on the terminal. False where there is none to ask. */
bool client_can_ask(void);
bool client_confirm(const char *question);

/* Local commands, by name; NULL for those of the daemon. */
typedef int local_fn(struct client *c, struct err *err); /* 0 or -1; prints its own result */
local_fn *local_find(const char *name);
local_fn local_completion, local_context, local_doctor, local_install, local_mcp, local_review,
	local_serve, local_start, local_status, local_stop, local_uninstall, local_welcome;

/* Help. */
void help_overview(struct term *t);
void help_operation(struct term *t, const struct op_spec *op);

#endif
