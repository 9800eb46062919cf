#ifndef CONF_ENVIRONMENT_H
#define CONF_ENVIRONMENT_H

/*
 * What a process that lives long keeps of the environment of whoever started it: nothing but what is
 * named, since a coding agent's holds keys and session tokens. Keys of model servers are given by
 * settings (REMANENCE_OBSERVER_KEY, REMANENCE_EMBED_KEY among them).
 */

/* Is "NAME=value" kept? */
int environment_keeps(const char *variable);

#endif
