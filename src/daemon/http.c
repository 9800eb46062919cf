#include "daemon/http.h"

#include <errno.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
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
#include "daemon/http_request.h"
#include "daemon/openapi.h"
#include "daemon/problem.h"
#include "daemon/watch.h"
#include "ops/service.h"
#include "wire/spool.h"

/*
 * libmicrohttpd calls the handler once when the headers are there (a reply queued then would close
 * the connection), then for the body, then once more for the reply; a suspended connection comes
 * back to the handler when it is resumed. Quick reads are answered on the thread that serves the
 * connection.
 *
 * Over TCP each request passes the gate first, routes are compared with the path as it was sent, so
 * that no way of writing a path leads anywhere else, and every connection has deadlines.
 */

#define API_PREFIX "/api/"
#define CWD_MAX 4096
#define STREAM_BLOCK (16u << 10)
#define STATUS_OK 200
#define UNAUTHORIZED 401
#define METHOD_NOT_ALLOWED 405
#define ERROR_FROM 400
#define QUERY_JSON_MAX (256u << 10)

struct http {
	struct daemon *daemon;
	struct tcp_door *tcp; /* NULL: this is the unix socket */
	struct MHD_Daemon *mhd;
	char environment[SETTINGS_HASH_MAX];
	int fd; /* listens, without waiting */
	bool is_quiesced;
	pthread_mutex_t mutex;
	pthread_cond_t ended;
	size_t calls; /* threads of calls that last */
	size_t calls_max;
	size_t open; /* exchanges */
};

struct route {
	const char *method, *path;
	bool is_prefix, is_local; /* local: on the unix socket only */
	size_t body_max;
	void (*answer)(struct exchange *x);
	error_writer *say; /* NULL: the door's own */
};

/* --- Replies. --- */

static const struct {
	const char *name, *value;
} tcp_headers[] = {
	{ "Cache-Control", "no-store" },
	{ "Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'" },
	{ "Cross-Origin-Resource-Policy", "same-origin" },
	{ "Referrer-Policy", "no-referrer" },
	{ "X-Content-Type-Options", "nosniff" },
};

static void reply_headers(struct exchange *x, struct MHD_Response *r, const char *type)
{
	MHD_add_response_header(r, "Content-Type", type);
	if (x->allow[0])
		MHD_add_response_header(r, "Allow", x->allow);
	if (!x->http->tcp) {
		MHD_add_response_header(r, "X-Remanence-Build", REMANENCE_BUILD_ID);
		MHD_add_response_header(r, "X-Remanence-Settings", x->http->environment);
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(tcp_headers); i++)
		MHD_add_response_header(r, tcp_headers[i].name, tcp_headers[i].value);
	if (x->status == UNAUTHORIZED)
		MHD_add_response_header(r, "WWW-Authenticate", "Bearer realm=\"remanence\"");
}

/* The deadline of this connection over TCP. */
static void connection_until(struct http *h, struct MHD_Connection *c, unsigned ms)
{
	const union MHD_ConnectionInfo *info =
		h->tcp ? MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT) : NULL;
	if (info)
		watch_until(info->socket_context, ms);
}

static enum MHD_Result queue_whole(struct exchange *x)
{
	bool is_problem = x->say == error_write_problem && x->status >= ERROR_FROM;
	size_t len = x->reply.len;
	char *data = buf_steal(&x->reply);
	struct MHD_Response *r = MHD_create_response_from_buffer(
		len, data, data ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);
	if (!r)
		return MHD_NO;
	reply_headers(x, r, is_problem ? "application/problem+json" : "application/json");
	connection_until(x->http, x->connection, HTTP_REPLY_MS);
	enum MHD_Result result = MHD_queue_response(x->connection, (unsigned)x->status, r);
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
	reply_headers(x, r, "application/jsonl");
	enum MHD_Result result = MHD_queue_response(x->connection, STATUS_OK, r);
	MHD_destroy_response(r);
	return result;
}

/* `status` 0: the one that belongs to the error. */
static void fail(struct exchange *x, const struct err *err, int status)
{
	x->status = x->say(err, status, &x->reply);
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

/* `op` NULL: the operation that the path names. */
static void call_op(struct exchange *x, op_fn *op, struct buf *reply, int *ret_status)
{
	struct api_request q = {
		.name = op ? x->path : x->path + strlen(API_PREFIX),
		.op = op,
		.body = buf_cstr(&x->body),
		.body_len = x->body.len,
		.cwd = x->cwd,
		.is_agent = x->is_agent,
		.started_us = x->started_us,
		.progress = x->has_call ? call_progress : NULL,
		.door = x,
		.say = x->say,
	};
	api_run(x->http->daemon, &q, reply, ret_status);
}

static void *call_main(void *arg)
{
	struct exchange *x = arg;
	struct http *h = x->http;
	struct buf reply = { 0 };
	int status;
	call_op(x, NULL, &reply, &status);
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
	bool has_room = h->calls < h->calls_max;
	h->calls += has_room;
	pthread_mutex_unlock(&h->mutex);
	if (!has_room) {
		err_set(&err, ERR_BUSY, "%zu calls that last are going on already", h->calls_max);
		fail(x, &err, 0);
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

static void answer_with(struct exchange *x, op_fn *op)
{
	call_op(x, op, &x->reply, &x->status);
	x->state = EXCHANGE_READY;
}

static void answer_api(struct exchange *x)
{
	const char *name = x->path + strlen(API_PREFIX);
	struct err err = { 0 };
	if (x->http->tcp && !x->http->tcp->address.is_loopback && api_is_near(name)) {
		err_set(&err, ERR_FORBIDDEN, "'%.64s' is for the machine that the daemon runs on",
			name);
		err_hint(&err, "run `remanence %.64s` there", name);
		fail(x, &err, 0);
	} else if (api_lasts(name)) {
		call_start(x);
	} else {
		answer_with(x, NULL);
	}
}

/* What only reads can be asked for with parameters in the query. */
static void answer_api_get(struct exchange *x)
{
	const char *name = x->path + strlen(API_PREFIX);
	struct err err = { 0 };
	if (api_changes(name)) {
		err_set(&err, ERR_USAGE, "'%.64s' changes something and answers to POST only",
			name);
		strcpy(x->allow, "POST");
		fail(x, &err, METHOD_NOT_ALLOWED);
		return;
	}
	x->body.max = QUERY_JSON_MAX;
	http_query_json(x->connection, &x->body);
	answer_api(x);
}

static void answer_openapi(struct exchange *x)
{
	openapi_write(&x->reply);
	x->status = STATUS_OK;
	x->state = EXCHANGE_READY;
}

static void answer_stats(struct exchange *x)
{
	answer_with(x, service_stats);
}

static void answer_search(struct exchange *x)
{
	answer_with(x, service_search);
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

/* On the socket it says whom one talks to, without asking the store. */
static void answer_health(struct exchange *x)
{
	struct jw w = { .out = &x->reply };
	if (x->http->tcp) {
		answer_with(x, service_health);
		return;
	}
	jw_object(&w, NULL);
	jw_bool(&w, "ok", true);
	jw_str(&w, "build", REMANENCE_BUILD_ID);
	jw_int(&w, "pid", getpid());
	jw_end(&w, '}');
	x->status = STATUS_OK;
	x->state = EXCHANGE_READY;
}

static const struct route routes[] = {
	{ "POST", "/ask", false, true, ASK_BODY_MAX, answer_ask, NULL },
	{ "GET", API_PREFIX "openapi.json", false, false, 0, answer_openapi, NULL },
	{ "POST", API_PREFIX, true, false, HTTP_BODY_MAX, answer_api, NULL },
	{ "GET", API_PREFIX, true, false, 0, answer_api_get, NULL },
	{ "GET", "/health", false, false, 0, answer_health, error_write_detail },
	{ "GET", "/stats", false, false, 0, answer_stats, error_write_detail },
	{ "POST", "/search", false, false, HTTP_SEARCH_BODY_MAX, answer_search,
		error_write_detail },
};

static bool route_matches(const struct route *r, const char *path)
{
	return r->is_prefix ? !strncmp(path, r->path, strlen(r->path)) && path[strlen(r->path)]
			    : !strcmp(path, r->path);
}

/* HEAD is a GET whose body libmicrohttpd leaves out. */
static bool method_matches(const struct route *r, const char *method)
{
	return !strcmp(r->method, strcmp(method, "HEAD") ? method : "GET");
}

static void allow_add(struct exchange *x, const char *method)
{
	size_t n = strlen(x->allow);
	if (!strstr(x->allow, method))
		snprintf(x->allow + n, sizeof(x->allow) - n, "%s%s", n ? ", " : "", method);
}

static void find_route(struct exchange *x, const char *method)
{
	struct err err = { 0 };
	for (size_t i = 0; i < ARRAY_LEN(routes) && !x->route; i++) {
		const struct route *r = &routes[i];
		if (!route_matches(r, x->path) || (r->is_local && x->http->tcp))
			continue;
		x->say = r->say ? r->say : x->say;
		if (method_matches(r, method))
			x->route = r;
		else
			allow_add(x, r->method);
	}
	if (x->route) {
		x->allow[0] = '\0';
	} else if (x->allow[0]) {
		err_set(&err, ERR_USAGE, "'%.200s' answers to %s only", x->path, x->allow);
		fail(x, &err, METHOD_NOT_ALLOWED);
	} else {
		err_set(&err, ERR_NOT_FOUND, "there is no route '%.200s'", x->path);
		err_hint(&err, "operations are at POST " API_PREFIX "<name>");
		fail(x, &err, 0);
	}
}

/* --- libmicrohttpd's side. --- */

static void pass_gate(struct exchange *x)
{
	struct http *h = x->http;
	const struct settings *s = current_settings(h->daemon->current);
	struct gate_rules rules = {
		.address = &h->tcp->address,
		.token = &h->tcp->token,
		.hosts = settings_list(s, SET_HTTP_HOSTS),
		.open_routes = settings_list(s, SET_HTTP_OPEN_ROUTES),
	};
	struct gate_request q = http_gate_request(x->connection, x->path);
	struct err err = { 0 };
	int status = gate_check(&rules, &q, &err);
	x->is_refused = status != 0;
	if (!status) {
		daemon_use(h->daemon);
		return;
	}
	x->route = NULL;
	x->allow[0] = '\0';
	fail(x, &err, status);
}

/* Over TCP, a refusal does not wait for a long body. */
static bool is_answered_early(struct exchange *x)
{
	struct err err = { 0 };
	if (!x->http->tcp)
		return false;
	if (x->route && http_body_exceeds(x->connection, x->route->body_max)) {
		err_set(&err, ERR_TOO_LARGE, "the request's body exceeds %zu KB",
			x->route->body_max >> 10);
		fail(x, &err, 0);
		return true;
	}
	return x->state == EXCHANGE_READY && !http_body_is_short(x->connection);
}

static enum MHD_Result begin_exchange(struct exchange *x, const char *method)
{
	struct http *h = x->http;
	x->is_begun = true;
	x->started_us = clock_mono_us();
	x->say = h->tcp ? error_write_problem : error_write_plain;
	find_route(x, method);
	if (h->tcp)
		pass_gate(x);
	x->body.max = x->route ? x->route->body_max : 0;
	if (!x->is_refused)
		read_caller(x);
	pthread_mutex_lock(&h->mutex);
	h->open++;
	pthread_mutex_unlock(&h->mutex);
	connection_until(h, x->connection, HTTP_REQUEST_MS);
	return is_answered_early(x) ? queue_whole(x) : MHD_YES;
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
		fail(x, &err, 0);
	} else if (x->route) {
		connection_until(x->http, x->connection, 0);
		x->route->answer(x);
	}
}

static enum MHD_Result handle(void *ctx, struct MHD_Connection *c, const char *path,
	const char *method, const char *version, const char *data, size_t *len, void **of_request)
{
	if (!*of_request)
		*of_request = exchange_new(ctx, c, path);
	struct exchange *x = *of_request;
	if (!x->is_begun)
		return begin_exchange(x, method);
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
	bool was_begun = x->is_begun;
	exchange_close(x);
	connection_until(h, c, HTTP_HEADERS_MS); /* of the next request */
	if (!h->tcp)
		daemon_use(h->daemon);
	pthread_mutex_lock(&h->mutex);
	h->open -= was_begun;
	pthread_cond_broadcast(&h->ended);
	pthread_mutex_unlock(&h->mutex);
}

/* Over TCP: the first that is known of a request, before its headers. */
static void *requested(void *ctx, const char *uri, struct MHD_Connection *c)
{
	char *path = mem_strdup(uri);
	path[strcspn(path, "?")] = '\0';
	struct exchange *x = exchange_new(ctx, c, path);
	free(path);
	return x;
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

static void connected(void *ctx, struct MHD_Connection *c, void **of_socket,
	enum MHD_ConnectionNotificationCode code)
{
	struct http *h = ctx;
	if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
		watch_remove(*of_socket);
		*of_socket = NULL;
		return;
	}
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	*of_socket = watch_add(h->tcp->watch, info->connect_fd);
	watch_until(*of_socket, HTTP_HEADERS_MS);
}

__attribute__((format(printf, 2, 0)))
static void complain(void *ctx, const char *format, va_list ap)
{
	char text[ERR_TEXT_MAX];
	vsnprintf(text, sizeof(text), format, ap);
	text[strcspn(text, "\n")] = '\0';
	log_debug("http: %s", text);
}

static struct MHD_Daemon *mhd_start(struct http *h)
{
	const struct MHD_OptionItem over_tcp[] = {
		{ MHD_OPTION_PER_IP_CONNECTION_LIMIT, HTTP_TCP_CONNECTIONS_PER_IP, NULL },
		{ MHD_OPTION_CONNECTION_MEMORY_LIMIT, HTTP_HEADERS_MAX, NULL },
		{ MHD_OPTION_STRICT_FOR_CLIENT, 1, NULL },
		{ MHD_OPTION_URI_LOG_CALLBACK, (intptr_t)requested, h },
		{ MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)connected, h },
		{ MHD_OPTION_END, 0, NULL },
	};
	const struct MHD_OptionItem over_socket[] = {
		{ MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)knocked, h },
		{ MHD_OPTION_END, 0, NULL },
	};
	return MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_EPOLL |
					MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC | MHD_USE_ERROR_LOG,
		0, NULL, NULL, handle, h, MHD_OPTION_EXTERNAL_LOGGER, complain, NULL,
		MHD_OPTION_LISTEN_SOCKET, h->fd, MHD_OPTION_THREAD_POOL_SIZE,
		(unsigned)HTTP_THREADS, MHD_OPTION_CONNECTION_LIMIT,
		(unsigned)(h->tcp ? HTTP_TCP_CONNECTIONS : HTTP_CONNECTIONS),
		MHD_OPTION_CONNECTION_TIMEOUT,
		(unsigned)(h->tcp ? HTTP_TCP_TIMEOUT_S : HTTP_TIMEOUT_S),
		MHD_OPTION_NOTIFY_COMPLETED, completed, h, MHD_OPTION_ARRAY,
		h->tcp ? over_tcp : over_socket, MHD_OPTION_END);
}

struct http *http_new(struct daemon *d, int fd, struct tcp_door *tcp)
{
	struct http *h = mem_alloc(sizeof(*h));
	h->daemon = d;
	h->fd = fd;
	h->tcp = tcp;
	h->calls_max = tcp ? HTTP_TCP_CALLS_MAX : HTTP_CALLS_MAX;
	settings_environment_hash(h->environment);
	pthread_mutex_init(&h->mutex, NULL);
	pthread_cond_init(&h->ended, NULL);
	return h;
}

int http_start(struct http *h, struct err *err)
{
	h->mhd = mhd_start(h);
	if (h->mhd)
		return 0;
	return err_set(err, ERR_INTERNAL, "the HTTP server does not start: %s", strerror(errno));
}

void http_quiesce(struct http *h)
{
	if (!h || h->is_quiesced)
		return;
	h->is_quiesced = true;
	if (h->mhd)
		MHD_quiesce_daemon(h->mhd);
	/*
	 * Who waits to be let in, or comes now, learns that nobody will. The descriptor itself stays until the server has
	 * stopped: its threads may still be about to take it out of their epoll sets, and would abort over a closed one.
	 */
	shutdown(h->fd, SHUT_RDWR);
	int peer;
	while ((peer = accept4(h->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0)
		close(peer);
}

/* Calls must be over before libmicrohttpd is stopped; replies get a while to be written. */
static void wait_for_replies(struct http *h)
{
	struct timespec end = clock_after_us(HTTP_LEAVE_MS * 1000ull);
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
	if (h->mhd)
		MHD_stop_daemon(h->mhd);
	close(h->fd);
	pthread_cond_destroy(&h->ended);
	pthread_mutex_destroy(&h->mutex);
	free(h);
}

bool http_is_idle(struct http *h)
{
	if (!h)
		return true;
	pthread_mutex_lock(&h->mutex);
	bool is_idle = !h->calls && !h->open;
	pthread_mutex_unlock(&h->mutex);
	return is_idle;
}

size_t http_calls(struct http *h)
{
	if (!h)
		return 0;
	pthread_mutex_lock(&h->mutex);
	size_t n = h->calls;
	pthread_mutex_unlock(&h->mutex);
	return n;
}
