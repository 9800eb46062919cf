#ifndef BASE_PROC_PARTS_H
#define BASE_PROC_PARTS_H

#include <stddef.h>

/* What proc.c and leash.c share; the first four are async-signal-safe, for between fork and exec. */

#define EXEC_FAILED 127

void proc_close_from(unsigned first);
/* A child starts with nothing ignored or blocked, whatever the daemon has done. */
void proc_reset_signals(void);
/* Becomes the program (cwd, env: NULL is ours), or writes errno into the pipe `report` and exits. */
__attribute__((noreturn)) void proc_become(
	const char *const *argv, const char *const *env, const char *cwd, int report);
void proc_close(int *fd); /* when it is open; -1 afterwards */
/*
 * n pipes, with our ends non-blocking: we write into those whose bits are in we_write, and read the
 * others. The child's ends lie above the numbers 0 to n - 1 that it moves them to, lest one
 * overwrites another. -1: errno tells, and what was opened stands in the lists (-1: not).
 */
int proc_pipes(int *ours, int *theirs, int n, unsigned we_write);
/* Writes what the pipe takes of the input now; closes it when all is written or nobody reads. */
void proc_feed(int *fd, const char *input, size_t len, size_t *written);

#endif
