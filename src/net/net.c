/*
 * One transfer at a time on a multi handle: its loop can watch for silence and for *stop, which an
 * easy handle alone would notice a second late. The multi handle keeps the connections.
 */
#include "net/net.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"

#define WAIT_MAX_MS 1000
#define US_PER_MS 1000
#define MS_PER_S 1000

struct net {
	CURLM *multi;
	CURL *easy;
};

struct transfer {
	const struct net_request *q;
	struct net_reply *r;
	CURL *easy;
	uint64_t start_us, active_us; /* active: when a byte last went or came */
	size_t taken;                 /* bytes of the body */
	curl_off_t moved;             /* bytes in both directions, as curl counts */
	bool is_connected, is_over;   /* over: r->end says why */
	char curl_says[CURL_ERROR_SIZE];
};

static void global_init(void)
{
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != 0)
		die("libcurl cannot be started");
}

struct net *net_new(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct net *n = mem_alloc(sizeof *n);

	pthread_once(&once, global_init);
	n->multi = curl_multi_init();
	n->easy = curl_easy_init();
	if (!n->multi || !n->easy)
		die("libcurl cannot be started");
	return n;
}

void net_free(struct net *n)
{
	if (!n)
		return;
	curl_easy_cleanup(n->easy);
	curl_multi_cleanup(n->multi);
	free(n);
}

void net_reply_done(struct net_reply *r)
{
	buf_done(&r->body);
}

const char *net_host(const char *url, char out[NET_HOST_MAX])
{
	CURLU *u = curl_url();
	char *host = NULL, *port = NULL;

	snprintf(out, NET_HOST_MAX, "the address");
	if (u && curl_url_set(u, CURLUPART_URL, url, 0) == CURLUE_OK &&
		curl_url_get(u, CURLUPART_HOST, &host, 0) == CURLUE_OK) {
		curl_url_get(u, CURLUPART_PORT, &port, 0);
		snprintf(out, NET_HOST_MAX, "%s%s%s", host, port ? ":" : "", port ? port : "");
	}
	curl_free(host);
	curl_free(port);
	curl_url_cleanup(u);
	return out;
}

static int64_t ms_since(uint64_t start_us)
{
	return (int64_t)((clock_mono_us() - start_us) / US_PER_MS);
}

/* Ends the transfer for a reason of ours. */
static void transfer_end(struct transfer *t, enum net_end end, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static void transfer_end(struct transfer *t, enum net_end end, const char *format, ...)
{
	char host[NET_HOST_MAX], what[ERR_TEXT_MAX / 2];
	va_list ap;

	va_start(ap, format);
	vsnprintf(what, sizeof what, format, ap);
	va_end(ap);
	t->is_over = true;
	t->r->end = end;
	snprintf(t->r->why, sizeof t->r->why, "%.*s: %s", ERR_TEXT_MAX / 3,
		net_host(t->q->url, host), what);
}

/* --- What curl calls. --- */

static bool is_success(long status)
{
	return status >= 200 && status < 300;
}

static size_t take_body(char *p, size_t size, size_t n, void *ctx)
{
	struct transfer *t = ctx;
	size_t len = size * n, room = t->q->max_bytes - t->taken, kept = MIN(len, room);
	long status = 0;

	t->active_us = clock_mono_us();
	if (t->r->first_byte_ms < 0)
		t->r->first_byte_ms = ms_since(t->start_us);
	curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
	t->taken += kept;
	if (!t->q->piece || !is_success(status)) {
		buf_add(&t->r->body, p, kept);
	} else if (kept && t->q->piece(t->q->ctx, p, kept) != 0) {
		transfer_end(t, NET_ENOUGH, "no more of the reply is wanted");
		return 0;
	}
	if (kept < len) {
		transfer_end(
			t, NET_TOO_LONG, "the reply is longer than %zu bytes", t->q->max_bytes);
		return 0;
	}
	return len;
}

/* "Retry-After" takes seconds or a date; some servers also say milliseconds. */
static int64_t retry_after(const char *value, bool is_ms)
{
	double number;
	int64_t wait;

	if (str_to_double(value, &number)) {
		if (!(number >= 0))
			return -1;
		wait = (int64_t)MIN(
			is_ms ? number : number * MS_PER_S, (double)NET_RETRY_AFTER_MAX_MS);
	} else {
		time_t at = curl_getdate(value, NULL);
		if (at < 0)
			return -1;
		wait = (int64_t)at * MS_PER_S - clock_now();
	}
	return MAX(MIN(wait, (int64_t)NET_RETRY_AFTER_MAX_MS), (int64_t)0);
}

/* The value of a header of this name, trimmed, in out; false when it is another. */
static bool header_value(struct str line, const char *name, char *out, size_t size)
{
	size_t n = strlen(name);

	if (line.n <= n || line.p[n] != ':' || strncasecmp(line.p, name, n) != 0)
		return false;
	struct str value = str_trim((struct str){ line.p + n + 1, line.n - n - 1 });
	snprintf(out, size, "%.*s", (int)MIN(value.n, size), value.p);
	return true;
}

static size_t take_header(char *p, size_t size, size_t n, void *ctx)
{
	struct transfer *t = ctx;
	struct str line = { p, size * n };
	char value[sizeof t->r->content_type];

	t->active_us = clock_mono_us();
	if (header_value(line, "content-type", value, sizeof value))
		memcpy(t->r->content_type, value, sizeof value);
	else if (header_value(line, "retry-after-ms", value, sizeof value))
		t->r->retry_after_ms = retry_after(value, true);
	else if (t->r->retry_after_ms < 0 && header_value(line, "retry-after", value, sizeof value))
		t->r->retry_after_ms = retry_after(value, false);
	return line.n;
}

static int take_progress(
	void *ctx, curl_off_t dltotal, curl_off_t dlnow, curl_off_t ultotal, curl_off_t ulnow)
{
	struct transfer *t = ctx;

	if (dlnow + ulnow != t->moved)
		t->active_us = clock_mono_us();
	t->moved = dlnow + ulnow;
	return 0;
}

/* --- One request. --- */

/* curl's own program reads these; its library does not. */
static void set_certificates(CURL *easy)
{
	const char *file = getenv("CURL_CA_BUNDLE"), *dir = getenv("SSL_CERT_DIR");

	if (!file || !*file)
		file = getenv("SSL_CERT_FILE");
	if (file && *file)
		curl_easy_setopt(easy, CURLOPT_CAINFO, file);
	if (dir && *dir)
		curl_easy_setopt(easy, CURLOPT_CAPATH, dir);
}

static void set_body(CURL *easy, const struct net_request *q)
{
	if (strcmp(q->method, "GET") == 0) {
		curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
		return;
	}
	curl_easy_setopt(easy, CURLOPT_POST, 1L);
	curl_easy_setopt(easy, CURLOPT_POSTFIELDS, q->body ? q->body : "");
	curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)q->body_len);
}

static void set_options(struct transfer *t, struct curl_slist *headers)
{
	CURL *easy = t->easy;

	curl_easy_reset(easy);
	curl_easy_setopt(easy, CURLOPT_URL, t->q->url);
	curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(easy, CURLOPT_USERAGENT, "remanence");
	curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)t->q->connect_ms);
	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, t->curl_says);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, t);
	curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header);
	curl_easy_setopt(easy, CURLOPT_HEADERDATA, t);
	curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
	curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, take_progress);
	curl_easy_setopt(easy, CURLOPT_XFERINFODATA, t);
	set_body(easy, t->q);
	set_certificates(easy);
}

/* Notes the connection; ends the transfer when its time or patience is over. Gives how long to wait. */
static int look(struct transfer *t)
{
	const struct net_request *q = t->q;
	curl_off_t connected_us = 0;
	int64_t total, silent;

	if (!t->is_connected &&
		curl_easy_getinfo(t->easy, CURLINFO_PRETRANSFER_TIME_T, &connected_us) ==
			CURLE_OK &&
		connected_us > 0) {
		t->is_connected = true;
		t->active_us = MAX(t->active_us, t->start_us + (uint64_t)connected_us);
	}
	total = ms_since(t->start_us);
	silent = t->is_connected ? ms_since(t->active_us) : 0;
	if (q->stop && atomic_load(q->stop))
		transfer_end(t, NET_ABORTED, "the request was given up by us");
	else if (total >= q->total_ms)
		transfer_end(t, NET_TIMEOUT, "not finished within %d ms", q->total_ms);
	else if (silent >= q->stall_ms)
		transfer_end(t, NET_STALLED, "silent for %d ms", q->stall_ms);
	return (int)MIN(MIN(q->total_ms - total, q->stall_ms - silent),
		(int64_t)(q->stop ? NET_STOP_MS : WAIT_MAX_MS));
}

/* What curl itself ended the transfer for. */
static void take_result(struct transfer *t, CURLcode code)
{
	static const CURLcode refused[] = { CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_RESOLVE_HOST,
		CURLE_COULDNT_CONNECT };
	const char *says = *t->curl_says ? t->curl_says : curl_easy_strerror(code);

	if (code == CURLE_OK)
		return;
	for (size_t i = 0; i < ARRAY_LEN(refused); i++)
		if (code == refused[i]) {
			transfer_end(t, NET_REFUSED, "%s", says);
			return;
		}
	if (code == CURLE_OPERATION_TIMEDOUT)
		transfer_end(t, NET_REFUSED, "no connection within %d ms", t->q->connect_ms);
	else
		transfer_end(t, NET_BROKEN, "%s", says);
}

static void run(struct net *n, struct transfer *t)
{
	int running = 0, left, wait;
	CURLMsg *m;

	curl_multi_add_handle(n->multi, t->easy);
	for (;;) {
		curl_multi_perform(n->multi, &running);
		if (!running || t->is_over)
			break;
		wait = look(t);
		if (t->is_over)
			break;
		curl_multi_poll(n->multi, NULL, 0, MAX(wait, 1), NULL);
	}
	while ((m = curl_multi_info_read(n->multi, &left)))
		if (m->msg == CURLMSG_DONE && !t->is_over)
			take_result(t, m->data.result);
}

static void take_times(struct transfer *t)
{
	curl_off_t plain = 0, tls = 0, sent = 0;

	curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &t->r->status);
	curl_easy_getinfo(t->easy, CURLINFO_CONNECT_TIME_T, &plain);
	curl_easy_getinfo(t->easy, CURLINFO_APPCONNECT_TIME_T, &tls);
	curl_easy_getinfo(t->easy, CURLINFO_PRETRANSFER_TIME_T, &sent);
	if (sent > 0)
		t->r->connect_ms = (int64_t)MAX(plain, tls) / US_PER_MS;
	t->r->total_ms = ms_since(t->start_us);
}

static int check(const struct net_request *q, struct err *err)
{
	if (!str_istarts(q->url, "http://") && !str_istarts(q->url, "https://"))
		return err_set(
			err, ERR_USAGE, "the address does not begin with http:// or https://");
	for (const char *const *h = q->headers; h && *h; h++)
		if (strpbrk(*h, "\r\n"))
			return err_set(
				err, ERR_USAGE, "a header of the request has a line end in it");
	CURLU *u = curl_url();
	CURLUcode code = curl_url_set(u, CURLUPART_URL, q->url, 0);
	curl_url_cleanup(u);
	if (code != CURLUE_OK)
		return err_set(err, ERR_USAGE, "the address cannot be read as one");
	return 0;
}

int net_ask(struct net *n, const struct net_request *q, struct net_reply *ret, struct err *err)
{
	*ret = (struct net_reply){ .body = { .max = MIN(q->max_bytes, BUF_MAX) },
		.retry_after_ms = -1,
		.connect_ms = -1,
		.first_byte_ms = -1,
		.total_ms = -1 };
	if (check(q, err) < 0)
		return -1;
	struct transfer t = { .q = q, .r = ret, .easy = n->easy, .start_us = clock_mono_us() };
	/* curl would wait for a "100 Continue" that few servers send. */
	struct curl_slist *headers = curl_slist_append(NULL, "Expect:");

	t.active_us = t.start_us;
	for (const char *const *h = q->headers; h && *h; h++)
		headers = curl_slist_append(headers, *h);
	set_options(&t, headers);
	run(n, &t);
	take_times(&t);
	curl_multi_remove_handle(n->multi, n->easy);
	curl_easy_reset(n->easy);
	curl_slist_free_all(headers);
	return 0;
}
