#ifndef CLIENT_HOOK_H
#define CLIENT_HOOK_H

#include <stddef.h>
#include <stdint.h>

#include "conf/paths.h"

/*
 * `remanence hook AGENT EVENT`: the one command that agents run all the time. It takes part in no
 * session's fate: whatever happens it exits 0 within its time, and prints nothing but the agent's
 * documented form.
 */

#define HOOK_ASK_BODY_MAX (1u << 20) /* larger inputs are captured, but not asked about */
#define HOOK_START_ASK_MS 1500       /* deadline when the daemon had to be started */

/* args: what follows `hook`. home: --home given before it, or NULL. Returns the exit status, 0. */
int hook_main(int n, char **args, const char *home);

/* The input on its way into the spool (hook_store.c). */
struct hook_input {
	const char *agent, *event;
	int64_t at;
	const char *name;    /* of the spool file */
	const char *payload; /* the whole input, when it was at most `limit` bytes; else NULL */
	size_t payload_len;
};

/* Reads standard input to its end and drops it. */
void hook_drain(void);
/* Reads standard input to its end, without storing it. */
void hook_read(struct hook_input *in, size_t limit);
/*
 * Reads standard input to its end into the spool, or into the spare one. 0 when it stands in a
 * `new` folder.
 */
int hook_store(const struct paths *p, struct hook_input *in, size_t limit, struct arena *a,
	struct err *err);
/* One line in log/hook.log, or in the spare folder. */
void hook_log(const struct paths *p, const struct hook_input *in, const char *text);

#endif
