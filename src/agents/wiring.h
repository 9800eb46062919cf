#ifndef AGENTS_WIRING_H
#define AGENTS_WIRING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

/*
 * Wiring: our entries in an agent's own configuration files, put in and taken out so exactly that everything else stays byte
 * for byte. Editing works on text (an insertion, a removal), never by writing a parsed document anew. A manifest
 * (home/manifest.json) records each edit: file, bytes before, hash after; uninstalling restores the original bytes when the
 * file is as we left it, and else removes our entries only. Used by the client.
 */

struct wiring {
	const char *agent;       /* "claude" */
	const char *title;
	bool is_found;           /* the agent is on this machine */
	const char *why_not;     /* when not found: where was looked */
};

struct wiring_edit {
	const char *path;        /* as the user knows it; symlinks are followed when written */
	const char *what;        /* "add 9 hooks", "register the MCP server" */
	const char *before;      /* NULL: the file does not exist yet */
	size_t before_len;
	const char *after;       /* NULL: the file goes (we had made it) */
	size_t after_len;
	bool is_noop;            /* already as it should be */
	const char *problem;     /* cannot be done: why, in a sentence (read-only, not JSON …); the others go on */
};

struct wiring_plan {
	struct wiring_edit *edits;
	size_t n;
	const char **notes;      /* sentences for the person ("Codex skips new hooks until …") */
	size_t nnotes;
};

struct wiring_context {
	struct arena *arena;
	const char *user_home;   /* $HOME */
	const char *executable;  /* absolute path of remanence, as hooks will call it; stable over upgrades */
	const char *manifest;    /* path of manifest.json */
	const char *data_home;   /* NULL, or a REMANENCE_HOME that the hooks must be given */
	bool trust;              /* Codex: also write the trust entries */
};

/* All agents that can be wired, found or not. */
void wiring_find(struct wiring_context *c, struct wiring **ret, size_t *ret_n);
/* What installing or uninstalling would change; touches nothing. */
int wiring_plan(struct wiring_context *c, const char *agent, bool is_removal, struct wiring_plan *ret, struct err *err);
/* Does it: writes the manifest first, then each edit; a failed edit is reported in its `problem` and the rest goes on. Returns the number of failed edits. */
int wiring_apply(struct wiring_context *c, const char *agent, bool is_removal, struct wiring_plan *plan, struct err *err);
/* Unified diff of an edit for --dry-run. */
void wiring_show(const struct wiring_edit *e, struct buf *out);

#endif
