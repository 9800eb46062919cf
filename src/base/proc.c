/*
 * Children. Between fork and exec only async-signal-safe calls are made, since the daemon forks
 * while other threads hold locks. An exec that fails is reported through a pipe that exec closes.
 */
#include "base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/proc_parts.h"
#include "base/str.h"

#define READ_STEP ((size_t)64 << 10)
#define TICK_MS 20 /* how often a child is looked at where the kernel has no pidfd */
#define REPORT_FD 3           /* in the child, behind the standard descriptors */
#define DESCRIPTORS_MAX 65536 /* closed one by one where the kernel has no close_range */
#define DELETED " (deleted)"  /* what Linux appends to the path of a replaced program */

enum { IN, OUT, ERRORS, REPORT, PIPES };

struct child {
	pid_t pid;
	int pid_fd;
	int ours[PIPES]; /* our ends of the pipes; -1 when closed */
	int theirs[PIPES];
	size_t written;
	int exec_errno;
	int status;
	bool is_gone;
};

void proc_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void proc_close_from(unsigned first)
{
	if (syscall(SYS_close_range, first, ~0u, 0) == 0)
		return;
	for (int fd = (int)first; fd < DESCRIPTORS_MAX; fd++)
		close(fd);
}

void proc_reset_signals(void)
{
	struct sigaction act = { .sa_handler = SIG_DFL };
	sigset_t none;

	for (int i = 1; i < NSIG; i++)
		sigaction(i, &act, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void exec_program(const char *const *argv, const char *const *env)
{
	char *const *args = (char *const *)(uintptr_t)argv;

	execvpe(argv[0], args, env ? (char *const *)(uintptr_t)env : environ);
}

void proc_become(const char *const *argv, const char *const *env, const char *cwd, int report)
{
	int why;

	if (!cwd || chdir(cwd) == 0)
		exec_program(argv, env);
	why = errno;
	if (write(report, &why, sizeof(why)) < 0)
		_exit(EXEC_FAILED);
	_exit(EXEC_FAILED);
}

int proc_pipes(int *ours, int *theirs, int n, unsigned we_write)
{
	int ends[2];

	for (int i = 0; i < n; i++)
		ours[i] = theirs[i] = -1;
	for (int i = 0; i < n; i++) {
		int writes = we_write >> i & 1;

		if (pipe2(ends, O_CLOEXEC) < 0)
			return -1;
		ours[i] = ends[writes];
		theirs[i] = ends[!writes];
		fcntl(ours[i], F_SETFL, O_NONBLOCK);
		if (theirs[i] < n) {
			int moved = fcntl(theirs[i], F_DUPFD_CLOEXEC, n);

			if (moved < 0)
				return -1;
			close(theirs[i]);
			theirs[i] = moved;
		}
	}
	return 0;
}

void proc_feed(int *fd, const char *input, size_t len, size_t *written)
{
	while (*written < len) {
		ssize_t n = write(*fd, input + *written, len - *written);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n < 0)
			break;
		*written += (size_t)n;
	}
	proc_close(fd);
}

/* In the child; does not return. */
static __attribute__((noreturn)) void run_child(
	const struct proc_run *r, const struct child *c, pid_t parent)
{
	setpgid(0, 0);
	proc_reset_signals();
	for (int i = IN; i <= REPORT; i++) {
		if (dup2(c->theirs[i], i) < 0)
			_exit(EXEC_FAILED);
	}
	fcntl(REPORT_FD, F_SETFD, FD_CLOEXEC);
	proc_close_from(REPORT_FD + 1);
	/* The kernel sends this when the thread that forked ends, so callers are threads that stay. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXEC_FAILED);
	proc_become(r->argv, r->env, r->cwd, REPORT_FD);
}

static int start_child(const struct proc_run *r, struct child *c)
{
	pid_t parent = getpid();

	if (proc_pipes(c->ours, c->theirs, PIPES, 1u << IN) < 0)
		return -1;
	c->pid = fork();
	if (c->pid < 0)
		return -1;
	if (c->pid == 0)
		run_child(r, c, parent);
	setpgid(c->pid, c->pid);
	for (int i = 0; i < PIPES; i++)
		proc_close(&c->theirs[i]);
	c->pid_fd = (int)syscall(SYS_pidfd_open, c->pid, 0);
	if (c->pid_fd >= 0)
		fcntl(c->pid_fd, F_SETFD, FD_CLOEXEC);
	return 0;
}

/* Reads what is there; what does not fit is read all the same, so that the child is never stuck. */
static void read_pipe(int *fd, struct buf *to)
{
	char piece[8192];
	size_t max = to ? (to->max ? to->max : BUF_MAX) : 0;

	for (size_t total = 0; total < READ_STEP;) {
		ssize_t n = read(*fd, piece, sizeof(piece));

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0) {
			proc_close(fd);
			return;
		}
		total += (size_t)n;
		if (!to || to->is_full)
			continue;
		buf_add(to, piece, MIN((size_t)n, max - to->len));
		if ((size_t)n > 0 && to->len == max)
			to->is_full = true;
	}
}

static void read_report(struct child *c)
{
	int why;
	ssize_t n = read(c->ours[REPORT], &why, sizeof(why));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n == (ssize_t)sizeof(why))
		c->exec_errno = why;
	proc_close(&c->ours[REPORT]);
}

/* One round of waiting for the child and serving its pipes. */
static void serve(
	struct child *c, const struct proc_run *r, struct buf *out, struct buf *errors, int wait_ms)
{
	struct pollfd fds[PIPES + 1];

	for (int i = 0; i < PIPES; i++)
		fds[i] = (struct pollfd){ .fd = c->ours[i], .events = i == IN ? POLLOUT : POLLIN };
	fds[PIPES] = (struct pollfd){ .fd = c->pid_fd, .events = POLLIN };
	poll(fds, PIPES + 1, c->pid_fd < 0 ? MIN(wait_ms, TICK_MS) : wait_ms);
	if (c->ours[IN] >= 0 && fds[IN].revents)
		proc_feed(&c->ours[IN], r->input, r->input_len, &c->written);
	if (c->ours[OUT] >= 0 && fds[OUT].revents)
		read_pipe(&c->ours[OUT], out);
	if (c->ours[ERRORS] >= 0 && fds[ERRORS].revents)
		read_pipe(&c->ours[ERRORS], errors);
	if (c->ours[REPORT] >= 0 && fds[REPORT].revents)
		read_report(c);
	if (waitpid(c->pid, &c->status, WNOHANG) == c->pid)
		c->is_gone = true;
}

/* Drains the pipes of a child that is gone: a grandchild may hold them open, and is not waited for. */
static void drain(struct child *c, struct buf *out, struct buf *errors)
{
	struct buf *to[] = { [OUT] = out, [ERRORS] = errors };

	for (int i = OUT; i <= ERRORS; i++) {
		struct pollfd fd = { .fd = c->ours[i], .events = POLLIN };

		while (c->ours[i] >= 0 && poll(&fd, 1, 0) > 0)
			read_pipe(&c->ours[i], to[i]);
	}
	if (c->ours[REPORT] >= 0)
		read_report(c);
}

static void end_child(struct child *c)
{
	kill(-c->pid, SIGKILL);
	while (!c->is_gone && waitpid(c->pid, &c->status, 0) < 0 && errno == EINTR)
		continue;
}

/* Serves the child until it ends or its time is over; false in the second case. */
static bool serve_to_end(
	struct child *c, const struct proc_run *r, struct buf *out, struct buf *errors)
{
	uint64_t start = clock_mono_us();

	while (!c->is_gone) {
		int64_t used = (int64_t)((clock_mono_us() - start) / 1000);

		if (used >= r->timeout_ms)
			return false;
		serve(c, r, out, errors, (int)(r->timeout_ms - used));
	}
	drain(c, out, errors);
	return true;
}

/* Writing to a child that reads nothing raises SIGPIPE: it is held back, and taken away if it came. */
static bool block_sigpipe(sigset_t *old)
{
	sigset_t pipe_only, pending;

	sigpending(&pending);
	sigemptyset(&pipe_only);
	sigaddset(&pipe_only, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &pipe_only, old);
	return sigismember(&pending, SIGPIPE);
}

static void restore_sigpipe(const sigset_t *old, bool was_pending)
{
	struct timespec none = { 0 };
	sigset_t pipe_only;

	sigemptyset(&pipe_only);
	sigaddset(&pipe_only, SIGPIPE);
	while (!was_pending && sigtimedwait(&pipe_only, NULL, &none) < 0 && errno == EINTR)
		continue;
	pthread_sigmask(SIG_SETMASK, old, NULL);
}

int proc_run(const struct proc_run *r, struct buf *out, struct buf *errors, int *ret_status,
	struct err *err)
{
	struct child c = { .pid = -1, .pid_fd = -1 };
	bool was_pending, is_ended = false;
	sigset_t old;
	int why = 0;

	was_pending = block_sigpipe(&old);
	if (start_child(r, &c) < 0) {
		why = errno;
	} else {
		is_ended = serve_to_end(&c, r, out, errors);
		end_child(&c);
		why = c.exec_errno;
	}
	restore_sigpipe(&old, was_pending);
	for (int i = 0; i < PIPES; i++) {
		proc_close(&c.ours[i]);
		proc_close(&c.theirs[i]);
	}
	proc_close(&c.pid_fd);
	if (why)
		return err_set(err, why == ENOENT ? ERR_NOT_FOUND : ERR_IO, "cannot run '%s': %s",
			r->argv[0], strerror(why));
	if (!is_ended)
		*ret_status = -1;
	else
		*ret_status =
			WIFEXITED(c.status) ? WEXITSTATUS(c.status) : 128 + WTERMSIG(c.status);
	return 0;
}

/* In the grandchild, which no terminal and no parent holds; does not return. */
static __attribute__((noreturn)) void run_daemon(const char *const *argv, const char *const *env)
{
	int null;

	proc_reset_signals();
	umask(077);
	null = open("/dev/null", O_RDWR);
	if (null < 0 || chdir("/") < 0)
		_exit(EXEC_FAILED);
	for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++)
		dup2(null, i);
	proc_close_from(STDERR_FILENO + 1);
	exec_program(argv, env);
	_exit(EXEC_FAILED);
}

int proc_daemon(const char *const *argv, const char *const *env, struct err *err)
{
	int status = 0;
	pid_t pid;

	/* What can be known before is said; the exec itself is not waited for. */
	if (strchr(argv[0], '/') && access(argv[0], X_OK) < 0)
		return err_set(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO,
			"cannot start '%s': %s", argv[0], strerror(errno));
	pid = fork();
	if (pid == 0) {
		setsid();
		pid = fork();
		if (pid == 0)
			run_daemon(argv, env);
		_exit(pid < 0);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	if (pid < 0 || status != 0)
		return err_set(err, ERR_IO, "cannot start '%s': no more processes", argv[0]);
	return 0;
}

int proc_self_path(struct buf *out)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (n <= 0)
		return -1;
	path[n] = '\0';
	if (str_ends(path, DELETED))
		path[n - (ssize_t)strlen(DELETED)] = '\0';
	buf_str(out, path);
	return 0;
}
