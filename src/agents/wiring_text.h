#ifndef AGENTS_WIRING_TEXT_H
#define AGENTS_WIRING_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "agents/agent.h"
#include "agents/wiring.h"
#include "base/arena.h"
#include "base/str.h"

/*
 * Our entries in the text of a configuration file: put in, taken out, known again. Pure: text in,
 * text out. An entry is known as ours by the shape of its command (`…/remanence" hook AGENT
 * EVENT`), whatever the manifest says.
 */

/*
 * Members that installing made and that go again when they are left empty: "hooks", "hooks/Stop",
 * "mcpServers".
 */
#define CREATED_MAX 64
struct created {
	const char *paths[CREATED_MAX];
	size_t n;
};

/* What an edit is made of. */
struct wire_text {
	struct arena *a;
	const struct wiring_context *c;
	const struct agent *agent;
	struct created created; /* taking out: what installing had made */
	size_t changes;         /* out: entries put in or taken out */
	const char *config;     /* Codex: path of hooks.json as its trust entries name it */
	/* Codex: text of hooks.json after installing, or before taking out */
	struct str hooks;
};

/* The command of a hook, quoted for a shell. The same for every version of the program. */
const char *wire_hook_command(
	struct arena *a, const struct wiring_context *c, const char *agent, const char *event);
bool wire_is_our_command(const char *command);

/*
 * A configuration's hooks ({"hooks":{EVENT:[{"hooks":[…]}]}}), and its MCP servers
 * ({"mcpServers":{…}}).
 */
int wire_hooks_in(struct wire_text *w, struct str text, struct str *ret, struct err *err);
int wire_hooks_out(struct wire_text *w, struct str text, struct str *ret, struct err *err);
int wire_servers_in(struct wire_text *w, struct str text, struct str *ret, struct err *err);
int wire_servers_out(struct wire_text *w, struct str text, struct str *ret, struct err *err);
/* Codex: [mcp_servers.remanence] in config.toml, and trust entries when asked for. */
int wire_toml_in(struct wire_text *w, struct str text, struct str *ret, struct err *err);
int wire_toml_out(struct wire_text *w, struct str text, struct str *ret, struct err *err);

#endif
