/*
 * Hooks come many at a time, and a daemon that cannot start must not be started a hundred times a
 * second: `run/starts` holds "<ms of the last start> <starts so far>" and is locked while it is
 * read and changed. Whoever sees the daemon serve removes it.
 */
#include "client/start.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/proc.h"
#include "base/str.h"
#include "build_id.h"
#include "conf/environment.h"
#include "wire/client.h"

#define PROGRAM "remanenced"
#define POLL_MS 2
#define HEALTH_MS 2000
#define HTTP_REFUSED 300
#define BUILD_TIME_DIGITS 14
#define NOTE_MAX 64
#define REPLACED_MAX 1024
#define REASON_MAX 4096
#define FOLDER_MODE 0700
#define FILE_MODE 0600
#define ENVIRONMENT_MAX 256

extern char **environ;

/*
 * Our environment without what is not named; the data folder is said explicitly, as --home may have
 * given it.
 */
static void environment_make(struct arena *a, const struct paths *p, const char **out)
{
	size_t n = 0;

	out[n++] = arena_printf(a, "REMANENCE_HOME=%s", p->home);
	for (char **e = environ; e && *e && n + 1 < ENVIRONMENT_MAX; e++)
		if (environment_keeps(*e) && !str_starts(*e, "REMANENCE_HOME="))
			out[n++] = *e;
	out[n] = NULL;
}

static bool is_program(const char *path)
{
	return !file_is_dir(path) && access(path, X_OK) == 0;
}

static bool find_on_path(struct arena *a, struct buf *ret)
{
	struct str rest = str_of(getenv("PATH")), folder;

	while (str_split(&rest, ':', &folder)) {
		const char *path = arena_printf(a, "%.*s/" PROGRAM, (int)folder.n, folder.p);
		if (folder.n && *folder.p == '/' && is_program(path)) {
			buf_str(ret, path);
			return true;
		}
	}
	return false;
}

int start_find(struct buf *ret, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	AUTO(buf_done) struct buf self = { .max = PATH_MAX };
	const char *folder = proc_self_path(&self) == 0 ? path_parent(&a, self.data) : NULL;
	const char *const places[] = { "%s/" PROGRAM, "%s/../libexec/" PROGRAM,
		"%s/../libexec/remanence/" PROGRAM };

	for (size_t i = 0; folder && i < ARRAY_LEN(places); i++) {
		const char *tail = places[i] + sizeof "%s" - 1;
		const char *path = path_clean(&a, "/", arena_printf(&a, "%s%s", folder, tail));
		if (is_program(path)) {
			buf_str(ret, path);
			return 0;
		}
	}
	if (find_on_path(&a, ret))
		return 0;
	err_set(err, ERR_NOT_FOUND,
		"cannot find the daemon '" PROGRAM "' beside '%s', in ../libexec or on PATH",
		self.len ? self.data : "remanence");
	return err_hint(err, "install both programs into the same folder");
}

static int launch(const struct paths *p, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	AUTO(buf_done) struct buf program = { .max = PATH_MAX };
	const char *environment[ENVIRONMENT_MAX + 1];

	if (start_find(&program, err) < 0)
		return -1;
	environment_make(&a, p, environment);
	const char *const argv[] = { program.data, NULL };
	return proc_daemon(argv, environment, err);
}

/* Milliseconds to let pass after the n-th start in a row. */
static int64_t pause_after(int64_t starts)
{
	int64_t pause = START_PAUSE_MS;

	while (--starts > 0 && pause < START_PAUSE_MAX_MS)
		pause *= 2;
	return MIN(pause, START_PAUSE_MAX_MS);
}

static void read_note(int fd, int64_t *ret_at, int64_t *ret_starts)
{
	char text[NOTE_MAX + 1];
	ssize_t n = pread(fd, text, NOTE_MAX, 0);
	char *end;

	*ret_at = *ret_starts = 0;
	if (n <= 0)
		return;
	text[n] = '\0';
	*ret_at = strtoll(text, &end, 10);
	*ret_starts = strtoll(end, NULL, 10);
}

static int write_note(int fd, int64_t at, int64_t starts)
{
	AUTO(buf_done) struct buf text = { .max = NOTE_MAX };

	buf_printf(&text, "%lld %lld\n", (long long)at, (long long)starts);
	if (pwrite(fd, text.data, text.len, 0) != (ssize_t)text.len)
		return -1;
	return ftruncate(fd, (off_t)text.len);
}

/* The note, opened and locked; START_RECENT when another process is just starting the daemon. */
static int note_open(const struct paths *p, int *ret_fd, struct err *err)
{
	int fd = open(p->starts, O_RDWR | O_CREAT | O_CLOEXEC, FILE_MODE);

	if (fd < 0 && errno == ENOENT && file_mkdirs(p->run, FOLDER_MODE, err) == 0)
		fd = open(p->starts, O_RDWR | O_CREAT | O_CLOEXEC, FILE_MODE);
	if (fd < 0)
		return err_set(err, ERR_IO, "cannot write '%s': %s", p->starts, strerror(errno));
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		close(fd);
		fd = -1;
	}
	*ret_fd = fd;
	return 0;
}

int start_gently(const struct paths *p, enum start_result *ret, struct err *err)
{
	int64_t now = clock_now(), last, starts;
	int fd = -1, result;

	*ret = START_RECENT;
	if (note_open(p, &fd, err) < 0)
		return -1;
	if (fd < 0)
		return 0;
	read_note(fd, &last, &starts);
	/* A clock that was set back must not keep the daemon away. */
	if (last <= now && now - last < pause_after(starts)) {
		*ret = now - last < START_PAUSE_MS ? START_RECENT : START_TOO_SOON;
		close(fd);
		return 0;
	}
	if (last > now || now - last > 2 * START_PAUSE_MAX_MS)
		starts = 0;
	result = write_note(fd, now, starts + 1);
	if (result == 0)
		result = launch(p, err);
	else
		err_set(err, ERR_IO, "cannot write '%s': %s", p->starts, strerror(errno));
	close(fd);
	*ret = START_DONE;
	return result;
}

void start_succeeded(const struct paths *p)
{
	unlink(p->starts);
}

bool start_is_answered(const struct paths *p)
{
	int why = 0, fd = wire_connect(p->socket, true, &why);

	if (fd >= 0)
		close(fd);
	return fd >= 0 || why == EAGAIN;
}

/* Which daemon answers; 0 with an error when none does. */
static int64_t ask_who_serves(const struct paths *p, struct err *err)
{
	AUTO(json_free_ptr) json *health = NULL;
	struct wire_request q = { .method = "GET",
		.path = "/health",
		.deadline_us = clock_mono_us() + HEALTH_MS * 1000ull };
	struct wire_reply reply;

	if (wire_call(p->socket, &q, &reply, err) == 0 && reply.body.len)
		json_parse(reply.body.data, reply.body.len, &health, NULL);
	wire_reply_done(&reply);
	return json_int(health, "pid", 0);
}

/* To tell a daemon from its successor. */
static int64_t who_serves(const struct paths *p)
{
	struct err err = { 0 };

	return ask_who_serves(p, &err);
}

bool start_is_served(const struct paths *p)
{
	struct err err = { 0 };

	/* One that is too busy to answer serves. */
	return start_is_answered(p) && (ask_who_serves(p, &err) != 0 || err.code == ERR_BUSY);
}

bool start_reason(const struct paths *p, int64_t since, struct err *err)
{
	AUTO(buf_done) struct buf text = { 0 };
	struct stat st;
	struct str line, rest;

	if (stat(p->start_error, &st) < 0 ||
		(int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000 < since)
		return false;
	if (file_read(p->start_error, REASON_MAX, &text, NULL) < 0)
		return false;
	rest = (struct str){ buf_cstr(&text), text.len };
	if (!str_line(&rest, &line) || !str_trim(line).n)
		return false;
	err_set(err, ERR_UNAVAILABLE, "the daemon cannot start: %.*s", (int)line.n, line.p);
	rest = str_trim(rest);
	if (rest.n)
		err_hint(err, "%.*s", (int)rest.n, rest.p);
	return true;
}

int start_and_wait(const struct paths *p, struct err *err)
{
	uint64_t deadline = clock_mono_us() + START_WAIT_MS * 1000ull;
	/* File times come from a coarser clock than ours; the reason of an earlier start must not be taken for this one's. */
	int64_t since = clock_now() - 20;

	/* A disk that takes nothing takes no reason from the daemon either: it is said here. */
	if (paths_create(p, err) < 0)
		return -1;
	unlink(p->start_error);
	if (launch(p, err) < 0)
		return -1;
	for (;;) {
		if (start_is_served(p)) {
			start_succeeded(p);
			return 0;
		}
		if (start_reason(p, since, err))
			return -1;
		if (clock_mono_us() >= deadline)
			break;
		clock_sleep_us(POLL_MS * 1000);
	}
	err_set(err, ERR_UNAVAILABLE,
		"the daemon was started but did not answer at '%s' within %d s", p->socket,
		START_WAIT_MS / 1000);
	return err_hint(
		err, "see '%s/daemon.log'; `remanenced --foreground` shows what it does", p->log);
}

static bool is_lock_free(const struct paths *p)
{
	int fd = open(p->lock, O_RDONLY | O_CLOEXEC);
	bool is_free = fd < 0 || flock(fd, LOCK_SH | LOCK_NB) == 0;

	if (fd >= 0)
		close(fd);
	return is_free;
}

/* The daemon's answer to stop; that it closes the connection while leaving is an answer too. */
static int ask_to_leave(const struct paths *p, struct err *err)
{
	struct wire_request q = { .method = "POST",
		.path = "/api/stop",
		.body = "{}",
		.body_len = 2,
		.deadline_us = clock_mono_us() + STOP_WAIT_MS * 1000ull };
	struct wire_reply reply;
	int result = wire_call(p->socket, &q, &reply, err);

	if (result == 0 && reply.status >= HTTP_REFUSED)
		result = err_set(
			err, ERR_BUSY, "the daemon refuses to stop: %.300s", buf_cstr(&reply.body));
	else if (result < 0 && err->code == ERR_UNAVAILABLE)
		result = 0;
	wire_reply_done(&reply);
	return result;
}

int start_stop(const struct paths *p, struct err *err)
{
	uint64_t deadline = clock_mono_us() + STOP_WAIT_MS * 1000ull;

	if (!start_is_answered(p))
		return 0;
	int64_t leaving = who_serves(p);
	if (ask_to_leave(p, err) < 0)
		return -1;
	while (clock_mono_us() < deadline) {
		int64_t serving = start_is_answered(p) ? who_serves(p) : 0;
		if (serving ? serving != leaving : is_lock_free(p) && !start_is_answered(p))
			return 0;
		clock_sleep_us(POLL_MS * 1000);
	}
	return err_set(err, ERR_BUSY, "the daemon has not left within %d s", STOP_WAIT_MS / 1000);
}

/* A build id is VERSION+YYYYMMDDhhmmss.HASH; 0 when it is none. */
static int64_t build_time(const char *build)
{
	const char *plus = strchr(build, '+');
	char digits[BUILD_TIME_DIGITS + 1];
	int64_t time = 0;

	if (!plus || strnlen(plus + 1, BUILD_TIME_DIGITS) < BUILD_TIME_DIGITS)
		return 0;
	memcpy(digits, plus + 1, BUILD_TIME_DIGITS);
	digits[BUILD_TIME_DIGITS] = '\0';
	return str_to_i64(digits, &time) ? time : 0;
}

static bool is_older(const char *build)
{
	int64_t theirs = build_time(build);

	return theirs && theirs < build_time(REMANENCE_BUILD_ID);
}

bool start_should_replace(const struct paths *p, const char *build)
{
	AUTO(arena_done) struct arena a = { 0 };
	AUTO(buf_done) struct buf last = { 0 }, now = { 0 };

	if (!is_older(build))
		return false;
	/*
	 * Where the new client was installed without its daemon, the old one comes back: once is
	 * enough.
	 */
	const char *note = path_join(&a, p->run, "replaced");
	buf_printf(&now, "%s by %s\n", build, REMANENCE_BUILD_ID);
	if (file_read(note, REPLACED_MAX, &last, NULL) == 0 &&
		strcmp(buf_cstr(&last), now.data) == 0)
		return false;
	return file_write(note, now.data, now.len, FILE_MODE, NULL) == 0;
}
