/* The client's half of HTTP, against a thread that plays a daemon with scripted bytes. */
#include "unit.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "wire/client.h"

#define REQUEST_MAX 65536
#define SECOND_US 1000000ull

static char folder[] = "/tmp/test-wire-XXXXXX";

struct server {
	char path[512];
	int fd;
	const char *reply;
	size_t piece; /* bytes sent at once; 0: all */
	bool hangs;   /* keeps the connection open after its reply */
	char request[REQUEST_MAX];
	pthread_t thread;
};

static void *serve(void *arg)
{
	struct server *s = arg;
	int fd = accept(s->fd, NULL, NULL);
	size_t have = 0, len = s->reply ? strlen(s->reply) : 0;

	while (!strstr(s->request, "\r\n\r\n") ||
		(strstr(s->request, "Content-Length") && !strchr(s->request, '}'))) {
		ssize_t n = read(fd, s->request + have, sizeof s->request - 1 - have);
		if (n <= 0)
			break;
		have += (size_t)n;
	}
	for (size_t at = 0; at < len;) {
		size_t n = s->piece ? MIN(s->piece, len - at) : len - at;
		if (send(fd, s->reply + at, n, MSG_NOSIGNAL) < 0)
			break;
		at += n;
	}
	if (s->hangs) {
		char c;
		while (read(fd, &c, 1) > 0)
			continue;
	}
	close(fd);
	return NULL;
}

static void server_start(struct server *s, const char *name, const char *reply)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	s->reply = reply;
	snprintf(s->path, sizeof s->path, "%s/%s", folder, name);
	snprintf(a.sun_path, sizeof a.sun_path, "%.100s", s->path);
	unlink(s->path);
	s->fd = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(s->fd, (struct sockaddr *)&a, sizeof a), 0);
	assert_int_equal(listen(s->fd, 8), 0);
	pthread_create(&s->thread, NULL, serve, s);
}

static void server_end(struct server *s)
{
	pthread_join(s->thread, NULL);
	close(s->fd);
}

static int call(struct server *s, const char *body, struct wire_reply *reply, struct err *err)
{
	const char *const headers[] = { "X-Remanence-Cwd: /a%20b", NULL };
	struct wire_request q = { .method = "POST",
		.path = "/api/search",
		.body = body,
		.body_len = body ? strlen(body) : 0,
		.headers = headers,
		.deadline_us = clock_mono_us() + 5 * SECOND_US };
	int result = wire_call(s->path, &q, reply, err);

	server_end(s);
	return result;
}

static void a_reply_with_a_length_is_read_whole(void **state)
{
	struct server s = { 0 };
	struct wire_reply r;
	struct err err = { 0 };

	server_start(&s, "a",
		"HTTP/1.1 404 Not Found\r\nX-Remanence-Build: 0.1+x.y\r\nx-remanence-settings: "
		"abc\r\n"
		"content-length: 5\r\n\r\nhello");
	assert_int_equal(call(&s, "{\"query\":\"x\"}", &r, &err), 0);
	assert_int_equal(r.status, 404);
	assert_true(r.is_whole);
	assert_string_equal(r.build, "0.1+x.y");
	assert_string_equal(r.environment, "abc");
	assert_string_equal(buf_cstr(&r.body), "hello");
	assert_non_null(strstr(s.request, "POST /api/search HTTP/1.1\r\n"));
	assert_non_null(strstr(s.request, "X-Remanence-Cwd: /a%20b\r\n"));
	assert_non_null(strstr(s.request, "\r\n\r\n{\"query\":\"x\"}"));
	wire_reply_done(&r);
}

static void chunks_are_joined_however_they_arrive(void **state)
{
	for (size_t piece = 1; piece < 9; piece++) {
		struct server s = { .piece = piece };
		struct wire_reply r;
		struct err err = { 0 };

		server_start(&s, "b",
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
			"5\r\nhello\r\n7;x=y\r\n, world\r\n0\r\nTrailer: 1\r\n\r\n");
		assert_int_equal(call(&s, NULL, &r, &err), 0);
		assert_string_equal(buf_cstr(&r.body), "hello, world");
		assert_true(r.is_whole);
		wire_reply_done(&r);
	}
}

static void a_reply_cut_short_is_no_reply(void **state)
{
	static const char *const cut[] = { "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
		"HTTP/1.1 200 OK\r\n", "", "SSH-2.0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n" };

	for (size_t i = 0; i < ARRAY_LEN(cut); i++) {
		struct server s = { 0 };
		struct wire_reply r;
		struct err err = { 0 };

		server_start(&s, "c", cut[i]);
		assert_int_equal(call(&s, NULL, &r, &err), -1);
		assert_int_equal(err.code, ERR_UNAVAILABLE);
		assert_false(r.is_whole);
		wire_reply_done(&r);
	}
}

static int count_line(void *ctx, const char *line, size_t len)
{
	struct buf *lines = ctx;

	buf_printf(lines, "[%.*s]", (int)len, line);
	return 0;
}

static void a_streamed_reply_comes_line_by_line(void **state)
{
	for (size_t piece = 0; piece < 4; piece++) {
		struct server s = { .piece = piece };
		struct buf lines = { 0 };
		struct wire_request q = { .method = "POST",
			.path = "/api/import",
			.on_line = count_line,
			.ctx = &lines };
		struct wire_reply r;
		struct err err = { 0 };

		server_start(&s, "d",
			"HTTP/1.1 200 OK\r\nContent-Type: "
			"application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n"
			"4\r\n{\"a\"\r\n6\r\n:1}\n{}\r\n1\r\n\n\r\n3\r\n{2}\r\n0\r\n\r\n");
		assert_int_equal(wire_call(s.path, &q, &r, &err), 0);
		server_end(&s);
		assert_true(r.is_streamed);
		assert_string_equal(buf_cstr(&lines), "[{\"a\":1}][{}][{2}]");
		buf_done(&lines);
		wire_reply_done(&r);
	}
}

static void a_daemon_that_does_not_answer_costs_no_more_than_the_deadline(void **state)
{
	struct server s = { .hangs = true };
	struct wire_reply r;
	struct err err = { 0 };
	uint64_t start = clock_mono_us();
	struct wire_request q = {
		.method = "GET", .path = "/health", .deadline_us = start + SECOND_US / 20
	};

	server_start(&s, "e", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhal");
	assert_int_equal(wire_call(s.path, &q, &r, &err), -1);
	assert_int_equal(err.code, ERR_BUSY);
	assert_true(clock_mono_us() - start < SECOND_US);
	server_end(&s);
	wire_reply_done(&r);
}

static void nobody_listening_is_told_apart_from_a_full_backlog(void **state)
{
	char path[512];
	int why = 0, fds[64], n = 0;
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(path, sizeof path, "%s/none", folder);
	assert_int_equal(wire_connect(path, true, &why), -1);
	assert_int_equal(why, ENOENT);
	snprintf(a.sun_path, sizeof a.sun_path, "%.100s", path);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
	assert_int_equal(wire_connect(path, true, &why), -1);
	assert_int_equal(why, ECONNREFUSED);
	listen(fd, 1);
	while (n < 64 && (fds[n] = wire_connect(path, true, &why)) >= 0)
		n++;
	assert_true(n > 0 && n < 64);
	assert_int_equal(why, EAGAIN);
	while (n)
		close(fds[--n]);
	close(fd);
}

static void a_path_longer_than_a_socket_allows_is_reached(void **state)
{
	char long_folder[400], path[512];
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int why = 0, fd = socket(AF_UNIX, SOCK_STREAM, 0);
	char *old = getcwd(NULL, 0);

	snprintf(long_folder, sizeof long_folder, "%s/%0200d", folder, 7);
	assert_int_equal(mkdir(long_folder, 0700), 0);
	assert_int_equal(chdir(long_folder), 0);
	strcpy(a.sun_path, "socket");
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
	listen(fd, 4);
	assert_int_equal(chdir(old), 0);
	snprintf(path, sizeof path, "%s/socket", long_folder);
	int client = wire_connect(path, true, &why);
	assert_true(client >= 0);
	close(client);
	close(fd);
	free(old);
}

static int make_folder(void **state)
{
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	return file_remove_tree(folder, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_reply_with_a_length_is_read_whole),
		cmocka_unit_test(chunks_are_joined_however_they_arrive),
		cmocka_unit_test(a_reply_cut_short_is_no_reply),
		cmocka_unit_test(a_streamed_reply_comes_line_by_line),
		cmocka_unit_test(a_daemon_that_does_not_answer_costs_no_more_than_the_deadline),
		cmocka_unit_test(nobody_listening_is_told_apart_from_a_full_backlog),
		cmocka_unit_test(a_path_longer_than_a_socket_allows_is_reached),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
