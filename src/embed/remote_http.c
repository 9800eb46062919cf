/* What all embedding servers have in common: an exchange, a failure, a vector that is checked. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "embed/remote_parts.h"
#include "net/key.h"

#define REPLY_MAX (7u << 20) /* 64 vectors of 4096 numbers are 4 MB */
#define HEADERS_MAX 4
#define LENGTH_LEAST 1e-12

void remote_fail(struct remote_work *w, enum call_outcome outcome, const char *format, ...)
{
	struct remote_result *r = w->result;
	va_list ap;

	r->outcome = outcome;
	va_start(ap, format);
	vsnprintf(r->detail, sizeof r->detail, format, ap);
	va_end(ap);
	r->detail[utf8_cut(r->detail, strlen(r->detail), sizeof r->detail - 1)] = '\0';
	key_hide(w->r->key, r->detail);
}

static void take_times(struct remote_result *r, const struct net_reply *reply)
{
	r->connect_ms = reply->connect_ms;
	if (r->first_byte_ms < 0)
		r->first_byte_ms = reply->first_byte_ms;
	r->retry_after_ms = reply->retry_after_ms;
}

static void take_problem(struct remote_work *w, const struct net_reply *reply)
{
	char host[NET_HOST_MAX];
	struct problem p = { 0 };

	problem_of_body(&p, reply->status, reply->content_type,
		(struct str){ buf_cstr(&reply->body), reply->body.len });
	w->result->is_too_long = p.is_too_long;
	remote_fail(w, p.outcome, "%.100s answered with status %ld%s%s",
		net_host(w->r->c.url, host), reply->status, *p.message ? ": " : "", p.message);
}

/* The JSON of a reply of status 2xx. */
static json *take_json(struct remote_work *w, const struct net_reply *reply)
{
	char host[NET_HOST_MAX];
	json *value = NULL;
	struct problem p = { 0 };

	net_host(w->r->c.url, host);
	if (json_parse(buf_cstr(&reply->body), reply->body.len, &value, NULL) < 0) {
		problem_of_body(&p, 0, reply->content_type,
			(struct str){ buf_cstr(&reply->body), reply->body.len });
		remote_fail(w, CALL_SERVER, "%.100s sent what is no embedding (%.60s): %.200s",
			host, *reply->content_type ? reply->content_type : "of no stated type",
			p.message);
		return NULL;
	}
	return value;
}

json *remote_exchange(struct remote_work *w, const struct remote_exchange *x)
{
	AUTO(buf_done) struct buf url = { 0 }, header = { 0 };
	AUTO(net_reply_done) struct net_reply reply;
	const char *headers[HEADERS_MAX] = { "Content-Type: application/json" };
	struct err err = { 0 };
	uint64_t now = clock_mono_us();
	int left = now < w->end_us ? (int)((w->end_us - now) / 1000) : 0;

	buf_printf(&url, "%s%s", w->r->c.url, x->path);
	if (*w->r->key) {
		buf_printf(&header, "Authorization: Bearer %s", w->r->key);
		headers[1] = buf_cstr(&header);
	}
	struct net_request q = { .method = x->method,
		.url = buf_cstr(&url),
		.headers = headers,
		.body = x->body ? x->body->data : NULL,
		.body_len = x->body ? x->body->len : 0,
		.connect_ms = MAX(MIN(REMOTE_CONNECT_MS, left), 1),
		.stall_ms = MAX(left, 1),
		.total_ms = MAX(left, 1),
		.max_bytes = REPLY_MAX,
		.stop = w->call->stop };
	int result = net_ask(w->r->net, &q, &reply, &err);
	if (header.data)
		explicit_bzero(header.data, header.len);
	if (result < 0) {
		remote_fail(w, CALL_SETUP, "%s", err.text);
		return NULL;
	}
	take_times(w->result, &reply);
	if (problem_of_end(reply.end) != CALL_OK) {
		remote_fail(w, problem_of_end(reply.end), "%s", reply.why);
		return NULL;
	}
	if (reply.status >= 200 && reply.status < 300)
		return take_json(w, &reply);
	/* A path that a server does not have is told from a model that it does not have. */
	if (!x->soft || reply.status != x->soft ||
		str_ifind((struct str){ buf_cstr(&reply.body), reply.body.len }, "model"))
		take_problem(w, &reply);
	return NULL;
}

static bool check_dims(struct remote_work *w, size_t dims)
{
	struct remote *r = w->r;

	if (dims == 0 || dims > REMOTE_DIMS_MAX) {
		remote_fail(w, CALL_SERVER, "the server sent a vector of %zu numbers", dims);
		return false;
	}
	if (r->dims && dims != r->dims) {
		remote_fail(w, CALL_SETUP,
			"the model %s gave a vector of %zu numbers, and %u were expected; %s",
			r->c.model, dims, r->dims,
			r->c.dims ? "is embed.dimension right?"
				  : "is another model behind that name now?");
		return false;
	}
	return true;
}

bool remote_take(struct remote_work *w, size_t i, const json *numbers)
{
	size_t dims = json_len(numbers);
	double squared = 0;

	if (i >= w->call->n || w->taken[i]) {
		remote_fail(w, CALL_SERVER, "the server sent more vectors than it was given texts");
		return false;
	}
	if (!check_dims(w, dims))
		return false;
	if (!w->result->vectors) {
		w->result->vectors = mem_alloc(w->call->n * dims * sizeof(float));
		w->result->dims = (uint32_t)dims;
	}
	float *to = w->result->vectors + i * dims;
	if (w->result->dims != dims) {
		remote_fail(w, CALL_SERVER, "the server sent vectors of different dimensions");
		return false;
	}
	for (size_t k = 0; k < dims; k++) {
		to[k] = (float)json_value_real(json_at(numbers, k), NAN);
		squared += (double)to[k] * (double)to[k];
	}
	if (!(squared > LENGTH_LEAST) || isinf(squared)) {
		remote_fail(w, CALL_SERVER, "the server sent a vector that has no direction");
		return false;
	}
	for (size_t k = 0; k < dims; k++)
		to[k] = (float)(to[k] / sqrt(squared));
	w->taken[i] = true;
	w->have++;
	return true;
}

void remote_text(const struct remote_work *w, size_t i, struct buf *to)
{
	struct str t = w->call->texts[i];
	const char *before = w->r->before[w->call->use];

	buf_str(to, before);
	buf_add(to, t.p, utf8_cut(t.p ? t.p : "", t.n, REMOTE_TEXT_MAX));
	if (!to->len)
		buf_char(to, ' '); /* an empty text is refused by many */
}
