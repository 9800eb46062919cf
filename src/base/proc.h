#ifndef BASE_PROC_H
#define BASE_PROC_H

#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

/* Child processes: few, bounded in time and output, dying with their parent (PR_SET_PDEATHSIG on Linux), no inherited descriptors. */

struct proc_run {
	const char *const *argv;
	const char *cwd;         /* NULL: ours */
	const char *input;       /* standard input, or NULL for none */
	size_t input_len;
	int timeout_ms;          /* above 0: there is no child without a limit */
	const char *const *env;  /* whole environment, or NULL for ours */
};

/* Runs to its end; out->max bounds what is kept of standard output. *ret_status is the exit status, 128 + signal, or -1 on timeout (killed with its group). */
int proc_run(const struct proc_run *r, struct buf *out, struct buf *errors, int *ret_status, struct err *err);

/* Starts a program that outlives us: double fork, setsid, folder "/", umask 077, standard descriptors on /dev/null, nothing else inherited. Returns at once. */
int proc_daemon(const char *const *argv, const char *const *env, struct err *err);

/* Absolute path of the running executable, in buf; -1 when unknown. */
int proc_self_path(struct buf *out);

#endif
