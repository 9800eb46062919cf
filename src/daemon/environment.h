#ifndef DAEMON_ENVIRONMENT_H
#define DAEMON_ENVIRONMENT_H

/*
 * What a process that lives long keeps of whoever started it: nothing but what is named. A coding
 * agent's environment holds keys and session tokens.
 */

/* Removes every variable that is not kept (conf/environment.h). Before any thread runs. */
void environment_clean(void);
/*
 * Closes every descriptor but the standard three, and opens /dev/null for those of them that are
 * closed.
 */
void environment_close_descriptors(void);

#endif
