/*
 * Times whole processes: spawn A and B in turn, N times, and print minimum, median and mean of each and the ratio of the medians, minima and means.
 * usage: spawn RUNS INPUT-FILE A-PROGRAM [ARG…] -- B-PROGRAM [ARG…]     ("-" as input file: none)
 * Standard input of both is the file, standard output goes to /dev/null; peak resident memory is that of the largest run.
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

struct side {
	char **argv;
	double *us;
	long peak_kb;
};

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static double run(struct side *s, const char *input)
{
	posix_spawn_file_actions_t actions;
	struct rusage usage;
	double start;
	pid_t pid;
	int status;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, input, O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	start = now_us();
	if (posix_spawn(&pid, s->argv[0], &actions, NULL, s->argv, environ)) {
		fprintf(stderr, "spawn: cannot start %s\n", s->argv[0]);
		exit(1);
	}
	wait4(pid, &status, 0, &usage);
	start = now_us() - start;
	posix_spawn_file_actions_destroy(&actions);
	if (usage.ru_maxrss > s->peak_kb)
		s->peak_kb = usage.ru_maxrss;
	return start;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void report(const char *name, struct side *s, int n)
{
	double sum = 0;

	qsort(s->us, (size_t)n, sizeof(*s->us), by_value);
	for (int i = 0; i < n; i++)
		sum += s->us[i];
	printf("%s min_us %.1f median_us %.1f mean_us %.1f peak_kb %ld\n", name, s->us[0], s->us[n / 2], sum / n, s->peak_kb);
}

int main(int argc, char **argv)
{
	struct side a = { 0 }, b = { 0 };
	int runs, split = 0;
	const char *input;

	for (int i = 3; i < argc; i++) {
		if (!strcmp(argv[i], "--"))
			split = i;
	}
	if (argc < 6 || split < 4 || split + 1 >= argc || (runs = atoi(argv[1])) < 1) {
		fprintf(stderr, "usage: spawn RUNS INPUT-FILE A [ARG…] -- B [ARG…]\n");
		return 2;
	}
	input = strcmp(argv[2], "-") ? argv[2] : "/dev/null";
	argv[split] = NULL;
	a.argv = argv + 3;
	b.argv = argv + split + 1;
	a.us = calloc((size_t)runs, sizeof(double));
	b.us = calloc((size_t)runs, sizeof(double));
	if (!a.us || !b.us)
		return 1;
	for (int i = -5; i < runs; i++) { /* the first five warm the page cache up */
		double x = run(&a, input), y = run(&b, input);

		if (i >= 0) {
			a.us[i] = x;
			b.us[i] = y;
		}
	}
	report("A", &a, runs);
	report("B", &b, runs);
	printf("ratio min %.3f median %.3f\n", a.us[0] / b.us[0], a.us[runs / 2] / b.us[runs / 2]);
	return 0;
}
