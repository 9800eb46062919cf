#include "daemon/http.h"

#include <errno.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "build_id.h"
#include "conf/settings.h"
#include "daemon/api.h"
#include "daemon/ask.h"
#include "daemon/daemon.h"
#include "daemon/exchange.h"
#include "wire/spool.h"

/*
 * libmicrohttpd calls the handler once when the headers are there (a reply queued then would close
 * the connection), then for the body, then once more for the reply; a suspended connection comes
 * back to the handler when it is resumed. Quick reads are answered on the thread that serves the
 * connection.
 */

#define API_PREFIX "/api/"
#define CWD_MAX 4096
#define STREAM_BLOCK (16u << 10)
#define STATUS_OK 200
#define METHOD_NOT_ALLOWED 405

struct http {
	struct daemon *daemon;
	struct MHD_Daemon *mhd;
	char environment[SETTINGS_HASH_MAX];
	int fd;
	pthread_mutex_t mutex;
	pthread_cond_t ended;
	size_t calls; /* threads of calls that last */
	size_t open;  /* exchanges */
};

struct route {
	const char *method, *path;
	bool is_prefix;
	size_t body_max;
	void (*answer)(struct exchange *x);
};

/* --- Replies. --- */

static struct MHD_Response *reply_headers(struct http *h, struct MHD_Response *r, const char *type)
{
	MHD_add_response_header(r, "Content-Type", type);
	MHD_add_response_header(r, "X-Remanence-Build", REMANENCE_BUILD_ID);
	MHD_add_response_header(r, "X-Remanence-Settings", h->environment);
	return r;
}

static enum MHD_Result queue_whole(struct exchange *x)
{
	size_t len = x->reply.len;
	char *data = buf_steal(&x->reply);
	struct MHD_Response *r = MHD_create_response_from_buffer(
		len, data, data ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);
	if (!r)
		return MHD_NO;
	enum MHD_Result result = MHD_queue_response(
		x->connection, (unsigned)x->status, reply_headers(x->http, r, "application/json"));
	MHD_destroy_response(r);
	return result;
}

/* Nothing to give yet: the connection sleeps until the call has something to say. */
static ssize_t stream_read(void *ctx, uint64_t at, char *to, size_t max)
{
	ssize_t n = exchange_take(ctx, to, max, MHD_suspend_connection);
	return n > 0 ? n : n < 0 ? 0 : MHD_CONTENT_READER_END_OF_STREAM;
}

static enum MHD_Result queue_stream(struct exchange *x)
{
	struct MHD_Response *r = MHD_create_response_from_callback(
		MHD_SIZE_UNKNOWN, STREAM_BLOCK, stream_read, x, NULL);
	if (!r)
		return MHD_NO;
	enum MHD_Result result = MHD_queue_response(
		x->connection, STATUS_OK, reply_headers(x->http, r, "application/jsonl"));
	MHD_destroy_response(r);
	return result;
}

static void fail(struct exchange *x, const struct err *err)
{
	x->status = api_error(err, &x->reply);
	x->state = EXCHANGE_READY;
}

static const char *header(struct exchange *x, const char *name)
{
	return MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, name);
}

static void read_caller(struct exchange *x)
{
	const char *encoded = header(x, "X-Remanence-Cwd");
	char *cwd = encoded ? mem_alloc(CWD_MAX) : NULL;
	if (cwd &&
		(!spool_percent_decode(encoded, strlen(encoded), cwd, CWD_MAX) || cwd[0] != '/')) {
		free(cwd);
		cwd = NULL;
	}
	x->cwd = cwd;
	x->is_agent = header(x, "X-Remanence-Agent") != NULL;
}

/* --- Calls that last. --- */

static void call_ended(struct http *h)
{
	pthread_mutex_lock(&h->mutex);
	h->calls--;
	pthread_cond_broadcast(&h->ended);
	pthread_mutex_unlock(&h->mutex);
}

static int call_progress(void *door, const char *line)
{
	struct exchange *x = door;
	return exchange_line(x, line, MHD_resume_connection);
}

static void call_run(struct exchange *x, struct buf *reply, int *ret_status)
{
	struct api_request q = {
		.name = x->path + strlen(API_PREFIX),
		.body = buf_cstr(&x->body),
		.body_len = x->body.len,
		.cwd = x->cwd,
		.is_agent = x->is_agent,
		.started_us = x->started_us,
		.progress = x->has_call ? call_progress : NULL,
		.door = x,
	};
	api_run(x->http->daemon, &q, reply, ret_status);
}

static void *call_main(void *arg)
{
	struct exchange *x = arg;
	struct http *h = x->http;
	struct buf reply = { 0 };
	int status;
	call_run(x, &reply, &status);
	exchange_finish(x, &reply, status, MHD_resume_connection);
	buf_done(&reply);
	call_ended(h);
	return NULL;
}

/* Suspends the connection and starts the call's thread. */
static void call_start(struct exchange *x)
{
	struct http *h = x->http;
	struct err err = { 0 };
	pthread_mutex_lock(&h->mutex);
	bool has_room = h->calls < HTTP_CALLS_MAX;
	h->calls += has_room;
	pthread_mutex_unlock(&h->mutex);
	if (!has_room) {
		err_set(&err, ERR_BUSY, "%d calls that last are going on already", HTTP_CALLS_MAX);
		fail(x, &err);
		return;
	}
	pthread_t thread;
	pthread_attr_t detached;
	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	x->has_call = true;
	x->state = EXCHANGE_RUNNING;
	x->is_suspended = true;
	MHD_suspend_connection(x->connection);
	if (pthread_create(&thread, &detached, call_main, x))
		die("cannot start a thread for a call");
	pthread_attr_destroy(&detached);
}

/* --- Routes. --- */

static void answer_api(struct exchange *x)
{
	if (api_lasts(x->path + strlen(API_PREFIX))) {
		call_start(x);
		return;
	}
	call_run(x, &x->reply, &x->status);
	x->state = EXCHANGE_READY;
}

static void answer_ask(struct exchange *x)
{
	struct ask_request q = {
		.agent = header(x, "X-Remanence-Agent"),
		.event = header(x, "X-Remanence-Event"),
		.spool = header(x, "X-Remanence-Spool"),
		.at = header(x, "X-Remanence-At"),
		.cwd = x->cwd,
		.body = buf_cstr(&x->body),
		.body_len = x->body.len,
		.started_us = x->started_us,
	};
	x->status = ask_run(x->http->daemon, &q, &x->reply, &x->note);
	x->state = EXCHANGE_READY;
}

static void answer_health(struct exchange *x)
{
	struct jw w = { .out = &x->reply };
	jw_object(&w, NULL);
	jw_bool(&w, "ok", true);
	jw_str(&w, "build", REMANENCE_BUILD_ID);
	jw_int(&w, "pid", getpid());
	jw_end(&w, '}');
	x->status = STATUS_OK;
	x->state = EXCHANGE_READY;
}

static const struct route routes[] = {
	{ "POST", "/ask", false, ASK_BODY_MAX, answer_ask },
	{ "POST", API_PREFIX, true, HTTP_BODY_MAX, answer_api },
	{ "GET", "/health", false, 0, answer_health },
};

static bool route_matches(const struct route *r, const char *path)
{
	return r->is_prefix ? !strncmp(path, r->path, strlen(r->path)) && path[strlen(r->path)]
			    : !strcmp(path, r->path);
}

static void find_route(struct exchange *x, const char *method)
{
	struct err err = { 0 };
	const struct route *other = NULL;
	for (size_t i = 0; i < ARRAY_LEN(routes) && !x->route; i++) {
		if (!route_matches(&routes[i], x->path))
			continue;
		if (!strcmp(routes[i].method, method))
			x->route = &routes[i];
		else
			other = &routes[i];
	}
	if (x->route)
		return;
	if (other) {
		err_set(&err, ERR_USAGE, "'%.200s' answers to %s only", x->path, other->method);
		fail(x, &err);
		x->status = METHOD_NOT_ALLOWED;
		return;
	}
	err_set(&err, ERR_NOT_FOUND, "there is no route '%.200s'", x->path);
	err_hint(&err, "operations are at POST " API_PREFIX "<name>");
	fail(x, &err);
}

/* --- libmicrohttpd's side. --- */

static enum MHD_Result begin_exchange(
	struct http *h, struct MHD_Connection *c, const char *path, const char *method, void **ret)
{
	struct exchange *x = exchange_new(h, c, path);
	x->started_us = clock_mono_us();
	find_route(x, method);
	x->body.max = x->route ? x->route->body_max : 0;
	read_caller(x);
	pthread_mutex_lock(&h->mutex);
	h->open++;
	pthread_mutex_unlock(&h->mutex);
	*ret = x;
	return MHD_YES;
}

/* A body that is too long is read to its end and thrown away: the caller is to read the reply. */
static void take_body(struct exchange *x, const char *data, size_t len)
{
	if (x->body.max && !x->is_too_large)
		buf_add(&x->body, data, len);
	x->is_too_large = !x->body.max || x->body.is_full;
}

static void answer_exchange(struct exchange *x)
{
	struct err err = { 0 };
	if (x->is_too_large && x->route) {
		err_set(&err, ERR_TOO_LARGE, "the request's body exceeds %zu KB",
			x->route->body_max >> 10);
		fail(x, &err);
	} else if (x->route) {
		x->route->answer(x);
	}
}

static enum MHD_Result handle(void *ctx, struct MHD_Connection *c, const char *path,
	const char *method, const char *version, const char *data, size_t *len, void **of_request)
{
	if (!*of_request)
		return begin_exchange(ctx, c, path, method, of_request);
	struct exchange *x = *of_request;
	if (*len) {
		take_body(x, data, *len);
		*len = 0;
		return MHD_YES;
	}
	pthread_mutex_lock(&x->mutex);
	enum exchange_state state = x->state;
	pthread_mutex_unlock(&x->mutex);
	if (state == EXCHANGE_READING) {
		answer_exchange(x);
		if (x->has_call)
			return MHD_YES;
		state = x->state;
	}
	if (state == EXCHANGE_READY)
		return queue_whole(x);
	return state == EXCHANGE_STREAMING ? queue_stream(x) : MHD_YES;
}

static void completed(void *ctx, struct MHD_Connection *c, void **of_request,
	enum MHD_RequestTerminationCode code)
{
	struct http *h = ctx;
	struct exchange *x = *of_request;
	if (!x)
		return;
	*of_request = NULL;
	if (x->note && code == MHD_REQUEST_TERMINATED_COMPLETED_OK) {
		ask_answered(h->daemon, x->note);
		x->note = NULL;
	}
	exchange_close(x);
	daemon_use(h->daemon);
	pthread_mutex_lock(&h->mutex);
	h->open--;
	pthread_cond_broadcast(&h->ended);
	pthread_mutex_unlock(&h->mutex);
}

static void knocked(void *ctx, struct MHD_Connection *c, void **of_socket,
	enum MHD_ConnectionNotificationCode code)
{
	struct http *h = ctx;
	if (code != MHD_CONNECTION_NOTIFY_STARTED)
		return;
	daemon_use(h->daemon);
	drain_poke(h->daemon->drain);
}

static void complain(void *ctx, const char *format, va_list ap)
{
	char text[ERR_TEXT_MAX];
	vsnprintf(text, sizeof(text), format, ap);
	text[strcspn(text, "\n")] = '\0';
	log_debug("http: %s", text);
}

int http_open(struct daemon *d, int fd, struct http **ret, struct err *err)
{
	struct http *h = mem_alloc(sizeof(*h));
	h->daemon = d;
	h->fd = fd;
	settings_environment_hash(h->environment);
	pthread_mutex_init(&h->mutex, NULL);
	pthread_cond_init(&h->ended, NULL);
	/* Requests may be answered, and look here, before MHD_start_daemon returns. */
	*ret = h;
	h->mhd =
		MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_EPOLL |
					 MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC | MHD_USE_ERROR_LOG,
			0, NULL, NULL, handle, h, MHD_OPTION_EXTERNAL_LOGGER, complain, NULL,
			MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_THREAD_POOL_SIZE,
			(unsigned)HTTP_THREADS, MHD_OPTION_CONNECTION_LIMIT,
			(unsigned)HTTP_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
			(unsigned)HTTP_TIMEOUT_S, MHD_OPTION_NOTIFY_COMPLETED, completed, h,
			MHD_OPTION_NOTIFY_CONNECTION, knocked, h, MHD_OPTION_END);
	if (h->mhd)
		return 0;
	*ret = NULL;
	free(h);
	return err_set(err, ERR_INTERNAL, "the HTTP server does not start: %s", strerror(errno));
}

void http_quiesce(struct http *h)
{
	if (!h || h->fd < 0)
		return;
	MHD_quiesce_daemon(h->mhd);
	close(h->fd);
	h->fd = -1;
}

/* Calls must be over before libmicrohttpd is stopped; replies get a while to be written. */
static void wait_for_replies(struct http *h)
{
	struct timespec end;
	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += HTTP_LEAVE_MS / 1000;
	pthread_mutex_lock(&h->mutex);
	while (h->calls)
		pthread_cond_wait(&h->ended, &h->mutex);
	while (h->open && !pthread_cond_timedwait(&h->ended, &h->mutex, &end))
		;
	pthread_mutex_unlock(&h->mutex);
}

void http_close(struct http *h)
{
	if (!h)
		return;
	http_quiesce(h);
	wait_for_replies(h);
	MHD_stop_daemon(h->mhd);
	pthread_cond_destroy(&h->ended);
	pthread_mutex_destroy(&h->mutex);
	free(h);
}

bool http_is_idle(struct http *h)
{
	pthread_mutex_lock(&h->mutex);
	bool is_idle = !h->calls && !h->open;
	pthread_mutex_unlock(&h->mutex);
	return is_idle;
}

size_t http_calls(struct http *h)
{
	pthread_mutex_lock(&h->mutex);
	size_t n = h->calls;
	pthread_mutex_unlock(&h->mutex);
	return n;
}
