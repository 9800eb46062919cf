/*
 * The descriptor is non-blocking throughout and every wait is a poll up to the deadline, so that a
 * stopped or busy daemon can never hold a hook. Names of headers are compared without case (RFC
 * 9110); the body's length is told by Content-Length, by chunks (RFC 9112, 7.1) or by the end of
 * the connection.
 */
#include "wire/client.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"

#define READ_SIZE (64u << 10)
#define REQUEST_HEADER_MAX (32u << 10)
#define LINE_MAX_BYTES (64u << 20) /* of a streamed reply */
#define CHUNK_LINE_MAX 1024
#define RETRY_MS 2 /* a full backlog cannot be waited for with poll */
#define US_PER_MS 1000

/*
 * The address of a path; a long one goes through a descriptor of its folder, left in *dir_fd. -1
 * with errno.
 */
static int socket_address(const char *path, struct sockaddr_un *ret, int *dir_fd)
{
	const char *slash = strrchr(path, '/');
	char folder[PATH_MAX];

	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (strlen(path) < sizeof ret->sun_path) {
		strcpy(ret->sun_path, path);
		return 0;
	}
	errno = ENAMETOOLONG;
	if (!slash || (size_t)(slash - path) >= sizeof folder)
		return -1;
	memcpy(folder, path, (size_t)(slash - path));
	folder[slash - path] = '\0';
	*dir_fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (*dir_fd < 0)
		return -1;
	AUTO(buf_done) struct buf name = { .max = sizeof ret->sun_path - 1 };
	buf_printf(&name, "/proc/self/fd/%d%s", *dir_fd, slash);
	errno = ENAMETOOLONG;
	if (name.is_full || !name.len)
		return -1;
	memcpy(ret->sun_path, name.data, name.len + 1);
	return 0;
}

int wire_connect(const char *socket_path, bool nonblocking, int *ret_errno)
{
	struct sockaddr_un address;
	int dir_fd = -1, result = -1;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | (nonblocking ? SOCK_NONBLOCK : 0), 0);

	if (fd >= 0 && socket_address(socket_path, &address, &dir_fd) == 0)
		do
			result = connect(fd, (struct sockaddr *)&address, sizeof address);
		while (result < 0 && errno == EINTR);
	*ret_errno = result < 0 ? errno : 0;
	if (dir_fd >= 0)
		close(dir_fd);
	if (result == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Milliseconds left, -1 without a deadline, 0 when it has passed. */
static int time_left(uint64_t deadline_us)
{
	uint64_t now = deadline_us ? clock_mono_us() : 0;

	if (!deadline_us)
		return -1;
	if (now >= deadline_us)
		return 0;
	return (int)MIN((deadline_us - now + US_PER_MS - 1) / US_PER_MS, (uint64_t)INT_MAX);
}

static int late(struct err *err)
{
	err_set(err, ERR_BUSY, "the daemon did not answer in time");
	return err_hint(err, "try again; `remanence status` tells what it is doing");
}

static int gone(const char *what, int why, struct err *err)
{
	return err_set(err, ERR_UNAVAILABLE, "the daemon %s (%s)", what, strerror(why));
}

static int wait_for(int fd, short events, uint64_t deadline_us, struct err *err)
{
	struct pollfd p = { .fd = fd, .events = events };
	int ready;

	do {
		int left = time_left(deadline_us);
		if (left == 0)
			return late(err);
		ready = poll(&p, 1, left);
	} while (ready < 0 && errno == EINTR);
	if (ready == 0)
		return late(err);
	return ready < 0 ? gone("cannot be waited for", errno, err) : 0;
}

static int connect_until(const char *path, uint64_t deadline_us, int *ret_fd, struct err *err)
{
	int why = 0;

	for (;;) {
		*ret_fd = wire_connect(path, true, &why);
		if (*ret_fd >= 0)
			return 0;
		if (why != EAGAIN)
			return gone("does not answer", why, err);
		if (time_left(deadline_us) == 0)
			return late(err);
		clock_sleep_us(RETRY_MS * 1000);
	}
}

static int send_all(int fd, const char *data, size_t len, uint64_t deadline_us, struct err *err)
{
	while (len) {
		ssize_t n = send(fd, data, len, MSG_NOSIGNAL);
		if (n >= 0) {
			data += n;
			len -= (size_t)n;
		} else if (errno == EAGAIN) {
			if (wait_for(fd, POLLOUT, deadline_us, err) < 0)
				return -1;
		} else if (errno != EINTR) {
			return gone("closed the connection", errno, err);
		}
	}
	return 0;
}

static int send_request(int fd, const struct wire_request *q, struct err *err)
{
	AUTO(buf_done) struct buf head = { .max = REQUEST_HEADER_MAX };

	buf_printf(&head, "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n", q->method,
		q->path);
	for (const char *const *h = q->headers; h && *h; h++) {
		buf_str(&head, *h);
		buf_str(&head, "\r\n");
	}
	if (q->body)
		buf_printf(&head, "Content-Type: %s\r\nContent-Length: %zu\r\n",
			q->content_type ? q->content_type : "application/json", q->body_len);
	buf_str(&head, "\r\n");
	if (head.is_full)
		return err_set(err, ERR_TOO_LARGE, "the request's headers exceed %u bytes",
			REQUEST_HEADER_MAX);
	if (send_all(fd, head.data, head.len, q->deadline_us, err) < 0)
		return -1;
	return q->body ? send_all(fd, q->body, q->body_len, q->deadline_us, err) : 0;
}

enum framing { BY_CLOSE, BY_LENGTH, BY_CHUNKS };
enum chunk_state { CHUNK_SIZE, CHUNK_DATA, CHUNK_DATA_END, CHUNK_TRAILER };

/* A reply being read. `raw` holds what came and is not yet understood. */
struct reading {
	int fd;
	const struct wire_request *q;
	struct wire_reply *reply;
	struct buf raw, line;
	enum framing framing;
	enum chunk_state chunk;
	uint64_t left; /* bytes of the body or of the chunk still to come */
	bool is_ended;
};

/* Reads some more into raw. *ret_n is 0 at the end of the connection. */
static int read_more(struct reading *r, size_t *ret_n, struct err *err)
{
	for (;;) {
		if (!buf_reserve(&r->raw, READ_SIZE))
			return err_set(err, ERR_TOO_LARGE, "the reply is too long");
		ssize_t n = recv(r->fd, r->raw.data + r->raw.len, READ_SIZE, 0);
		if (n >= 0) {
			r->raw.len += (size_t)n;
			r->raw.data[r->raw.len] = '\0';
			*ret_n = (size_t)n;
			return 0;
		}
		if (errno == EAGAIN) {
			if (wait_for(r->fd, POLLIN, r->q->deadline_us, err) < 0)
				return -1;
		} else if (errno != EINTR) {
			return gone("closed the connection", errno, err);
		}
	}
}

/* Drops n bytes at the front of raw. */
static void raw_skip(struct reading *r, size_t n)
{
	memmove(r->raw.data, r->raw.data + n, r->raw.len - n);
	buf_cut(&r->raw, r->raw.len - n);
}

static void copy_value(struct str value, char *out, size_t size)
{
	size_t n = MIN(value.n, size - 1);

	memcpy(out, value.p, n);
	out[n] = '\0';
}

static void take_header(struct reading *r, struct str line)
{
	struct str name;
	char number[32];
	int64_t length;

	if (!str_split(&line, ':', &name))
		return;
	line = str_trim(line);
	AUTO(mem_free_ptr) char *key = mem_dup(name.p, name.n);
	if (str_ieq(key, "Content-Length") && r->framing != BY_CHUNKS) {
		copy_value(line, number, sizeof number);
		if (str_to_i64(number, &length) && length >= 0) {
			r->framing = BY_LENGTH;
			r->left = (uint64_t)length;
		}
	} else if (str_ieq(key, "Transfer-Encoding")) {
		if (str_ifind(line, "chunked"))
			r->framing = BY_CHUNKS;
	} else if (str_ieq(key, "Content-Type")) {
		r->reply->is_streamed = str_ifind(line, "jsonl") || str_ifind(line, "ndjson");
	} else if (str_ieq(key, "X-Remanence-Build")) {
		copy_value(line, r->reply->build, sizeof r->reply->build);
	} else if (str_ieq(key, "X-Remanence-Settings")) {
		copy_value(line, r->reply->environment, sizeof r->reply->environment);
	}
}

static int broken(struct err *err)
{
	return err_set(err, ERR_UNAVAILABLE, "the daemon's reply is not HTTP");
}

/* "HTTP/1.1 200 OK" and the headers. */
static int take_head(struct reading *r, size_t len, struct err *err)
{
	struct str rest = { r->raw.data, len }, line;

	if (!str_line(&rest, &line) || line.n < sizeof "HTTP/1.1 200" - 1 ||
		memcmp(line.p, "HTTP/1.", 7) != 0)
		return broken(err);
	r->reply->status = atoi(line.p + sizeof "HTTP/1.1");
	if (r->reply->status < 100)
		return broken(err);
	while (str_line(&rest, &line) && line.n)
		take_header(r, line);
	if (r->reply->status == 204 || r->reply->status == 304) {
		r->framing = BY_LENGTH;
		r->left = 0;
	}
	return 0;
}

static int read_head(struct reading *r, struct err *err)
{
	size_t n;

	for (;;) {
		const char *end = r->raw.len ? strstr(r->raw.data, "\r\n\r\n") : NULL;
		if (end) {
			size_t len = (size_t)(end - r->raw.data) + 4;
			if (take_head(r, len, err) < 0)
				return -1;
			raw_skip(r, len);
			if (r->reply->status >= 200)
				return 0;
			r->framing = BY_CLOSE; /* 100 Continue: the real head follows */
			continue;
		}
		if (r->raw.len > WIRE_HEADER_MAX)
			return broken(err);
		if (read_more(r, &n, err) < 0)
			return -1;
		if (n == 0)
			return err_set(err, ERR_UNAVAILABLE,
				"the daemon closed the connection without a reply");
	}
}

static int give_line(struct reading *r, struct err *err)
{
	if (!r->line.len || r->q->on_line(r->q->ctx, r->line.data, r->line.len) == 0) {
		buf_cut(&r->line, 0);
		return 0;
	}
	return err_set(err, ERR_BUSY, "the call was ended");
}

static bool gives_lines(const struct reading *r)
{
	return r->q->on_line && r->reply->is_streamed && r->reply->status < 300;
}

/* Decoded bytes of the body: to the reply, or cut into lines. */
static int take_body(struct reading *r, const char *data, size_t len, struct err *err)
{
	if (!gives_lines(r)) {
		buf_add(&r->reply->body, data, len);
		if (r->reply->body.is_full)
			return err_set(err, ERR_TOO_LARGE, "the reply exceeds %u MB",
				WIRE_REPLY_MAX >> 20);
		return 0;
	}
	while (len) {
		const char *end = memchr(data, '\n', len);
		size_t n = end ? (size_t)(end - data) : len;
		buf_add(&r->line, data, n);
		if (r->line.is_full)
			return err_set(err, ERR_TOO_LARGE, "a line of the reply exceeds %u MB",
				LINE_MAX_BYTES >> 20);
		if (end && give_line(r, err) < 0)
			return -1;
		n += end ? 1 : 0;
		data += n;
		len -= n;
	}
	return 0;
}

/* Takes up to r->left bytes of the body out of raw. */
static int take_counted(struct reading *r, struct err *err)
{
	size_t n = (size_t)MIN((uint64_t)r->raw.len, r->left);

	if (take_body(r, r->raw.data, n, err) < 0)
		return -1;
	r->left -= n;
	raw_skip(r, n);
	return 0;
}

/* A line of the chunk framing at *offset of raw; false when it is not whole yet. */
static bool chunk_line(struct reading *r, struct str *ret, size_t *ret_used)
{
	const char *end = r->raw.len ? memchr(r->raw.data, '\n', r->raw.len) : NULL;

	if (!end)
		return false;
	*ret_used = (size_t)(end - r->raw.data) + 1;
	*ret = str_trim((struct str){ r->raw.data, *ret_used });
	return true;
}

static int take_chunk_size(struct reading *r, struct str line, struct err *err)
{
	char *end = NULL;
	char digits[20];

	copy_value(line, digits, sizeof digits);
	errno = 0;
	r->left = strtoull(digits, &end, 16);
	if (end == digits || errno || r->left > WIRE_REPLY_MAX ||
		(*end && *end != ';' && *end != ' '))
		return broken(err);
	r->chunk = r->left ? CHUNK_DATA : CHUNK_TRAILER;
	return 0;
}

/* One step of the chunk framing. *ret_moved is false when more bytes are needed. */
static int take_chunk(struct reading *r, bool *ret_moved, struct err *err)
{
	struct str line;
	size_t used = 0;

	*ret_moved = true;
	if (r->chunk == CHUNK_DATA) {
		*ret_moved = r->raw.len > 0;
		if (take_counted(r, err) < 0)
			return -1;
		if (r->left == 0)
			r->chunk = CHUNK_DATA_END;
		return 0;
	}
	if (!chunk_line(r, &line, &used)) {
		*ret_moved = false;
		return r->raw.len > CHUNK_LINE_MAX ? broken(err) : 0;
	}
	if (r->chunk == CHUNK_TRAILER)
		r->is_ended = line.n == 0;
	else if (r->chunk == CHUNK_DATA_END)
		r->chunk = CHUNK_SIZE;
	else if (take_chunk_size(r, line, err) < 0)
		return -1;
	raw_skip(r, used);
	return 0;
}

/* Decodes what raw holds. */
static int take_raw(struct reading *r, struct err *err)
{
	bool moved = r->framing == BY_CHUNKS;

	while (moved && !r->is_ended)
		if (take_chunk(r, &moved, err) < 0)
			return -1;
	if (r->framing == BY_CHUNKS)
		return 0;
	if (r->framing == BY_CLOSE)
		r->left = r->raw.len;
	if (take_counted(r, err) < 0)
		return -1;
	r->is_ended = r->framing == BY_LENGTH && r->left == 0;
	return 0;
}

static int read_body(struct reading *r, struct err *err)
{
	size_t n = 0;

	for (;;) {
		if (take_raw(r, err) < 0)
			return -1;
		if (r->is_ended)
			break;
		if (read_more(r, &n, err) < 0)
			return -1;
		if (n == 0 && r->framing == BY_CLOSE)
			break;
		if (n == 0)
			return err_set(err, ERR_UNAVAILABLE,
				"the daemon closed the connection in the middle of its reply");
	}
	r->reply->is_whole = true;
	return gives_lines(r) ? give_line(r, err) : 0;
}

int wire_call(const char *socket_path, const struct wire_request *q, struct wire_reply *ret,
	struct err *err)
{
	struct reading r = { .q = q, .reply = ret, .line = { .max = LINE_MAX_BYTES } };
	int result = -1;

	*ret = (struct wire_reply){ .body = { .max = WIRE_REPLY_MAX } };
	if (connect_until(socket_path, q->deadline_us, &r.fd, err) < 0)
		return -1;
	/* A request refused before it was read whole may still have a reply waiting. */
	if (send_request(r.fd, q, err) == 0 || (err && err->code == ERR_UNAVAILABLE))
		result = read_head(&r, err) == 0 ? read_body(&r, err) : -1;
	close(r.fd);
	buf_done(&r.raw);
	buf_done(&r.line);
	return result;
}

void wire_reply_done(struct wire_reply *r)
{
	buf_done(&r->body);
}
