/*
 * One line is one write under one lock, so that lines of threads never mix. A log that cannot be
 * written is given up silently: nobody is left to tell, and the work matters more.
 */
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"

#define LINE_MAX_BYTES 2048
#define LOG_MODE 0600

static struct {
	pthread_mutex_t lock;
	enum log_level level;
	int fd;
	size_t size;
	char *path; /* NULL: standard error */
} state = { .lock = PTHREAD_MUTEX_INITIALIZER, .level = LOG_INFO, .fd = STDERR_FILENO };

static const char *const level_names[] = { "error", "warn", "info", "debug" };

static int open_file(const char *path)
{
	return open(
		path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, LOG_MODE);
}

/* With the lock held. */
static void close_file(void)
{
	if (state.path && state.fd >= 0)
		close(state.fd);
	free(state.path);
	state.path = NULL;
	state.fd = STDERR_FILENO;
	state.size = 0;
}

int log_open(const char *path, struct err *err)
{
	struct stat st = { 0 };
	int fd = -1;

	if (path) {
		fd = open_file(path);
		if (fd < 0 || fstat(fd, &st) < 0) {
			err_set(err, ERR_IO, "cannot open the log '%s': %s", path, strerror(errno));
			if (fd >= 0)
				close(fd);
			return -1;
		}
	}
	pthread_mutex_lock(&state.lock);
	close_file();
	if (path) {
		state.path = mem_strdup(path);
		state.fd = fd;
		state.size = (size_t)st.st_size;
	}
	pthread_mutex_unlock(&state.lock);
	return 0;
}

void log_set_level(enum log_level level)
{
	pthread_mutex_lock(&state.lock);
	state.level = level;
	pthread_mutex_unlock(&state.lock);
}

/* name.2 becomes name.3 and so on, name becomes name.1, and a new file begins. */
static void rotate(void)
{
	AUTO(arena_done) struct arena a = { 0 };
	int fd;

	for (int i = LOG_FILES - 1; i > 0; i--) {
		const char *from =
			i == 1 ? state.path : arena_printf(&a, "%s.%d", state.path, i - 1);

		rename(from, arena_printf(&a, "%s.%d", state.path, i));
	}
	fd = open_file(state.path);
	if (fd >= 0) {
		close(state.fd);
		state.fd = fd;
	}
	state.size = 0;
}

/* Formats one line with its end; control characters become blanks, so that a message stays one line. */
static __attribute__((format(printf, 3, 0))) size_t format_line(
	char *line, enum log_level level, const char *format, va_list ap)
{
	AUTO(arena_done) struct arena a = { 0 };
	size_t start, n;

	n = (size_t)snprintf(
		line, LINE_MAX_BYTES, "%s %s ", clock_iso(&a, clock_now()), level_names[level]);
	start = n;
	if (vsnprintf(line + n, LINE_MAX_BYTES - n, format, ap) < 0)
		line[n] = '\0';
	n += strlen(line + n);
	for (size_t i = start; i < n; i++) {
		if ((unsigned char)line[i] < ' ' || line[i] == 0x7F)
			line[i] = ' ';
	}
	line[n++] = '\n';
	return n;
}

void log_print(enum log_level level, const char *format, ...)
{
	char line[LINE_MAX_BYTES + 1];
	int saved = errno;
	va_list ap;
	size_t n;

	pthread_mutex_lock(&state.lock);
	if (level <= state.level) {
		va_start(ap, format);
		n = format_line(line, level, format, ap);
		va_end(ap);
		if (state.path && state.size + n > LOG_FILE_MAX)
			rotate();
		if (file_write_all(state.fd, line, n) == 0)
			state.size += n;
	}
	pthread_mutex_unlock(&state.lock);
	errno = saved;
}

void log_close(void)
{
	pthread_mutex_lock(&state.lock);
	close_file();
	pthread_mutex_unlock(&state.lock);
}
