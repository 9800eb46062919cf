#ifndef BASE_PROC_PARTS_H
#define BASE_PROC_PARTS_H

/* What proc.c and leash.c share; async-signal-safe, for between fork and exec. */

#define EXEC_FAILED 127

void proc_close_from(unsigned first);
/* A child starts with nothing ignored or blocked, whatever the daemon has done. */
void proc_reset_signals(void);

#endif
