/*
 * The keeper is a fork that never execs, so everything in it is async-signal-safe. As the reaper of
 * its descendants it becomes the parent of those whose own parent is gone, and can find them all.
 */
#include "base/leash.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/proc_parts.h"

#define PIECE ((size_t)16 << 10)
#define TICK_MS 20 /* where the kernel has no pidfd */
#define LIST_MAX 4096
#define SIGNALLED 128
#define WAIT_MAX_MS 1000

/* REPORT: errno of an exec that failed; closed when the keeper is gone. HOLD: closed when we are. */
enum { IN, OUT, ERRORS, REPORT, HOLD, PIPES };
#define THEIRS_FIRST_FREE PIPES /* in the keeper each pipe has its own number */

struct leash {
	pid_t keeper;
	int ours[PIPES], theirs[PIPES];
	size_t written;
	int exec_errno;
	uint64_t start_us;
};

/* --- In the keeper. --- */

static __attribute__((noreturn)) void run_program(const struct leash_run *r, pid_t keeper)
{
	setpgid(0, 0);
	close(HOLD);
	fcntl(REPORT, F_SETFD, FD_CLOEXEC);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != keeper)
		_exit(EXEC_FAILED);
	proc_become(r->argv, r->env, r->cwd, REPORT);
}

/* Kills all that are our children now; false when the kernel does not list them. */
static bool kill_children(void)
{
	static char list[LIST_MAX]; /* a keeper has one thread */
	int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, list, sizeof list);
	pid_t pid = 0;

	if (fd >= 0)
		close(fd);
	for (ssize_t i = 0; i < n; i++) {
		if (list[i] >= '0' && list[i] <= '9') {
			pid = pid * 10 + (list[i] - '0');
			continue;
		}
		if (pid > 0)
			kill(pid, SIGKILL);
		pid = 0;
	}
	return n >= 0;
}

/* Each round kills those that are there; who dies leaves us its children for the next. */
static void kill_all(pid_t program)
{
	int status;

	for (;;) {
		kill(-program, SIGKILL);
		int options = kill_children() ? 0 : WNOHANG;
		pid_t gone = waitpid(-1, &status, options);
		if (gone == 0 || (gone < 0 && errno != EINTR))
			return;
	}
}

/* Waits for the program's end or for ours; gives its exit status. */
static int keep(pid_t program)
{
	int pid_fd = (int)syscall(SYS_pidfd_open, program, 0), status = 0;
	struct pollfd fds[] = { { .fd = HOLD, .events = POLLIN },
		{ .fd = pid_fd, .events = POLLIN } };

	for (;;) {
		poll(fds, 2, pid_fd < 0 ? TICK_MS : -1);
		if (waitpid(program, &status, WNOHANG) == program)
			break;
		if (fds[0].revents)
			return SIGNALLED + SIGKILL;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : SIGNALLED + WTERMSIG(status);
}

static __attribute__((noreturn)) void run_keeper(const struct leash_run *r, const struct leash *l)
{
	pid_t self, program;
	int status;

	setpgid(0, 0);
	proc_reset_signals();
	for (int i = 0; i < PIPES; i++)
		if (dup2(l->theirs[i], i) < 0)
			_exit(EXEC_FAILED);
	proc_close_from(THEIRS_FIRST_FREE);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	self = getpid();
	program = fork();
	if (program == 0)
		run_program(r, self);
	if (program < 0)
		_exit(EXEC_FAILED);
	setpgid(program, program);
	for (int i = IN; i <= ERRORS; i++)
		close(i);
	status = keep(program);
	kill_all(program);
	_exit(status);
}

/* --- On our side. --- */

static int start(const struct leash_run *r, struct leash *l)
{
	if (proc_pipes(l->ours, l->theirs, PIPES, 1u << IN | 1u << HOLD) < 0)
		return -1;
	l->keeper = fork();
	if (l->keeper == 0)
		run_keeper(r, l);
	for (int i = 0; i < PIPES; i++)
		proc_close(&l->theirs[i]);
	return l->keeper < 0 ? -1 : 0;
}

/* One piece. False when there was more than fits; that is read all the same, and dropped. */
static bool read_output(int *fd, struct buf *to)
{
	char piece[PIECE];
	ssize_t n = read(*fd, piece, sizeof piece);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return true;
	if (n <= 0) {
		proc_close(fd);
		return true;
	}
	size_t room = (to->max ? to->max : BUF_MAX) - to->len;
	buf_add(to, piece, MIN((size_t)n, room));
	return (size_t)n <= room;
}

static void read_report(struct leash *l)
{
	int why;
	ssize_t n = read(l->ours[REPORT], &why, sizeof why);

	if (n == (ssize_t)sizeof why)
		l->exec_errno = why;
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		proc_close(&l->ours[REPORT]);
}

static int64_t ms_since(uint64_t start_us)
{
	return (int64_t)((clock_mono_us() - start_us) / 1000);
}

/* One round; false when there was too much output. */
static bool serve(struct leash *l, const struct leash_run *r, struct buf *out, struct buf *errors,
	int wait_ms)
{
	struct pollfd fds[HOLD];
	bool fits = true;

	for (int i = 0; i < HOLD; i++)
		fds[i] = (struct pollfd){ .fd = l->ours[i], .events = i == IN ? POLLOUT : POLLIN };
	poll(fds, HOLD, wait_ms);
	if (fds[IN].revents)
		proc_feed(&l->ours[IN], r->input, r->input_len, &l->written);
	if (fds[OUT].revents)
		fits = read_output(&l->ours[OUT], out);
	if (fds[ERRORS].revents)
		read_output(&l->ours[ERRORS], errors);
	if (fds[REPORT].revents)
		read_report(l);
	return fits;
}

/* Until the keeper is gone and all output is read, or we have had enough. */
static enum leash_end serve_to_end(struct leash *l, const struct leash_run *r, struct buf *out,
	struct buf *errors, struct leash_result *ret)
{
	while (l->ours[REPORT] >= 0 || l->ours[OUT] >= 0) {
		int64_t left = r->total_ms - ms_since(l->start_us);
		int wait = (int)MIN(left, (int64_t)(r->stop ? LEASH_STOP_MS : WAIT_MAX_MS));
		if (r->stop && atomic_load(r->stop))
			return LEASH_STOPPED;
		if (left <= 0)
			return LEASH_TIMEOUT;
		if (!serve(l, r, out, errors, wait))
			return LEASH_FULL;
		if (out->len && ret->first_byte_ms < 0)
			ret->first_byte_ms = ms_since(l->start_us);
	}
	return LEASH_ENDED;
}

int leash_run(const struct leash_run *r, struct buf *out, struct buf *errors,
	struct leash_result *ret, struct err *err)
{
	struct leash l = { .keeper = -1, .start_us = clock_mono_us() };
	int why = 0, status = 0;

	*ret = (struct leash_result){ .status = -1, .first_byte_ms = -1 };
	if (start(r, &l) < 0)
		why = errno;
	else
		ret->end = serve_to_end(&l, r, out, errors, ret);
	for (int i = 0; i < PIPES; i++) {
		proc_close(&l.ours[i]); /* HOLD among them: the keeper lets nothing live */
		proc_close(&l.theirs[i]);
	}
	while (l.keeper > 0 && waitpid(l.keeper, &status, 0) < 0 && errno == EINTR)
		continue;
	ret->total_ms = ms_since(l.start_us);
	why = why ? why : l.exec_errno;
	if (why)
		return err_set(err, why == ENOENT ? ERR_NOT_FOUND : ERR_IO, "cannot run '%s': %s",
			r->argv[0], strerror(why));
	if (ret->end == LEASH_ENDED)
		ret->status =
			WIFEXITED(status) ? WEXITSTATUS(status) : SIGNALLED + WTERMSIG(status);
	return 0;
}
