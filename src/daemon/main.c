#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "build_id.h"
#include "daemon/daemon.h"
#include "daemon/environment.h"

/*
 * remanenced: the process. It is usually started by the client, which has detached it already;
 * started by hand from a terminal it detaches itself once it serves. Under a supervisor:
 * --foreground.
 */

/* glibc's default of eight per processor costs memory and wins nothing here */
#define ALLOCATOR_ARENAS 2
#define ALLOCATOR_MAPPED (1 << 20)

struct options {
	bool is_foreground, is_help, is_version;
	const char *home;
};

static const char help_text[] =
	"usage: remanenced [--foreground] [--home DIR] [--version]\n"
	"\n"
	"The daemon of remanence: takes in what coding agents do and answers questions about it.\n"
	"The client starts it when it is needed; `remanence stop` ends it.\n"
	"\n"
	"  --foreground   stay attached, write the log to standard error, do not leave when idle\n"
	"  --home DIR     the data folder (else $REMANENCE_HOME, else ~/.local/share/remanence)\n"
	"  --version      say which build this is\n";

/* For the signal handler. */
static struct daemon *the_daemon;

static void on_signal(int number)
{
	if (the_daemon)
		daemon_leave(the_daemon);
}

static void set_signals(void)
{
	struct sigaction leave = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	sigemptyset(&leave.sa_mask);
	sigaction(SIGTERM, &leave, NULL);
	sigaction(SIGINT, &leave, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
	sigaction(SIGHUP, &ignore, NULL);
}

static int options_read(int argc, char **argv, struct options *ret)
{
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--foreground") || !strcmp(argv[i], "-f"))
			ret->is_foreground = true;
		else if (!strcmp(argv[i], "--version"))
			ret->is_version = true;
		else if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
			ret->is_help = true;
		else if (!strcmp(argv[i], "--home") && i + 1 < argc)
			ret->home = argv[++i];
		else if (str_starts(argv[i], "--home="))
			ret->home = argv[i] + strlen("--home=");
		else
			return fprintf(stderr, "remanenced: '%s' is no option; see --help\n",
				       argv[i]),
			       -1;
	}
	return 0;
}

/*
 * From a terminal: the parent waits for one byte, which says that the child serves; without it the
 * child has said why not and the parent fails. -1 in the child's process: no pipe.
 */
static int detach(int *ret_ready)
{
	int ends[2];
	char byte;
	*ret_ready = -1;
	if (!isatty(STDIN_FILENO) && !isatty(STDOUT_FILENO) && !isatty(STDERR_FILENO))
		return 0;
	if (pipe2(ends, O_CLOEXEC))
		return -1;
	pid_t pid = fork();
	if (pid < 0)
		return -1;
	if (pid > 0) {
		close(ends[1]);
		_exit(read(ends[0], &byte, 1) == 1 ? 0 : 1);
	}
	close(ends[0]);
	setsid();
	*ret_ready = ends[1];
	return 0;
}

static void serves(int ready)
{
	if (ready < 0)
		return;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = 0; null >= 0 && fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	if (write(ready, "x", 1) < 0) {
		/* The person has gone; the daemon serves all the same. */
	}
	close(ready);
}

static int run(const struct options *o)
{
	static struct daemon d;
	struct err err = { 0 };
	int ready = -1;
	if (!o->is_foreground && detach(&ready)) {
		fprintf(stderr, "remanenced: cannot detach: %s\n", strerror(errno));
		return err_codes[ERR_IO].exit_status;
	}
	if (daemon_open(&d, o->home, o->is_foreground, &err)) {
		fprintf(stderr, "remanenced: %s\n", err.text);
		if (*err.hint)
			fprintf(stderr, "  %s\n", err.hint);
		return err_codes[err.code].exit_status;
	}
	the_daemon = &d;
	set_signals();
	serves(ready);
	daemon_run(&d);
	daemon_close(&d);
	return 0;
}

int main(int argc, char **argv)
{
	struct options o = { 0 };
	if (options_read(argc, argv, &o))
		return err_codes[ERR_USAGE].exit_status;
	if (o.is_help || o.is_version) {
		fputs(o.is_help ? help_text : "remanenced " REMANENCE_BUILD_ID "\n", stdout);
		return 0;
	}
	umask(077);
	environment_close_descriptors();
	environment_clean();
#ifdef __GLIBC__
	mallopt(M_ARENA_MAX, ALLOCATOR_ARENAS);
	/*
	 * Set, it does not grow: large buffers go back to the system at once. What is smaller is used
	 * again by the next piece or round, whose pages would else be asked for anew; idle, all of it
	 * goes back.
	 */
	mallopt(M_MMAP_THRESHOLD, ALLOCATOR_MAPPED);
	mallopt(M_TRIM_THRESHOLD, ALLOCATOR_MAPPED);
#endif
	return run(&o);
}
