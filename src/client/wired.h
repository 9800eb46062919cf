#ifndef CLIENT_WIRED_H
#define CLIENT_WIRED_H

#include "agents/wiring.h"
#include "client/client.h"

/* What install, uninstall and doctor share: how the agents of this person are to be wired. */
int wired_context(struct client *c, struct wiring_context *ret, struct err *err);

/*
 * Whether Codex has reviewed our hooks, asked of `codex app-server` (hooks/list), within
 * CODEX_ASK_MS. Returns the number of our hooks and how many of them are trusted; -1 when Codex is
 * not there or does not tell.
 */
#define CODEX_ASK_MS 5000
int codex_hooks_trusted(
	struct client *c, const char *executable, size_t *ret_hooks, size_t *ret_trusted);

#endif
