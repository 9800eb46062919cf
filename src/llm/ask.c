/*
 * A question over HTTP. Servers differ in what they take of a request; what one refuses is left out
 * and the question repeated at once, which costs nothing, and it is not tried again.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "llm/parts.h"

#define TRIES_MAX 8
#define HEADERS_MAX 5
#define REPLY_BYTES_MAX (64u << 20) /* of a stream with all that stands around the text */
#define CHECK_BYTES_MAX (4u << 20)
#define CHECK_MS 15000
#define NAMES_SHOWN 5
#define STATUS_REQUEST 400
#define STATUS_NOT_FOUND 404

struct headers {
	struct buf key;
	const char *list[HEADERS_MAX];
};

static void headers_make(const struct llm *l, struct headers *h)
{
	size_t n = 0;

	*h = (struct headers){ 0 };
	h->list[n++] = "Content-Type: application/json";
	if (l->provider->more_header)
		h->list[n++] = l->provider->more_header;
	if (*l->key) {
		buf_printf(&h->key, "%s%s", l->provider->key_header, l->key);
		h->list[n++] = buf_cstr(&h->key);
	}
	h->list[n] = NULL;
}

static void headers_done(struct headers *h)
{
	if (h->key.data)
		explicit_bzero(h->key.data, h->key.len);
	buf_done(&h->key);
}

static void detail(const struct llm *l, struct llm_answer *a, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static void detail(const struct llm *l, struct llm_answer *a, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(a->detail, sizeof a->detail, format, ap);
	va_end(ap);
	a->detail[utf8_cut(a->detail, strlen(a->detail), sizeof a->detail - 1)] = '\0';
	key_hide(l->key, a->detail);
}

/* --- What an exchange came to. --- */

/* The connection failed, or we gave it up. False when the reply can be read. */
static bool take_end(const struct llm *l, const struct net_reply *reply, const struct reading *r)
{
	if (reply->end == NET_DONE || reply->end == NET_ENOUGH)
		return false;
	/* All was said before the connection broke. */
	if (reply->end == NET_BROKEN && r->is_ended)
		return false;
	r->answer->outcome = problem_of_end(reply->end);
	detail(l, r->answer, "%s", reply->why);
	return true;
}

static void take_problem(const struct llm *l, struct llm_answer *a, const struct problem *p)
{
	char host[NET_HOST_MAX];

	net_host(l->c.url, host);
	a->outcome = p->outcome;
	if (p->status)
		detail(l, a, "%.100s answered with status %ld%s%s", host, p->status,
			*p->message ? ": " : "", p->message);
	else
		detail(l, a, "%.100s answered with an error: %s", host, p->message);
}

/* A reply of status 2xx was read to its end. */
static void take_answer(const struct llm *l, const struct stream *s, const struct net_reply *reply)
{
	struct reading *r = s->reading;
	struct llm_answer *a = r->answer;
	char host[NET_HOST_MAX];

	net_host(l->c.url, host);
	a->outcome = CALL_OK;
	if (r->is_refused) {
		a->outcome = CALL_REFUSED;
		detail(l, a, "%.100s refused: %s", host, r->problem.message);
	} else if (a->text.len && a->is_cut) {
		a->outcome = CALL_CUT;
		detail(l, a, "%s",
			r->is_circle ? "the answer went round in circles and was stopped"
				     : "the answer was cut off at its limit");
	} else if (s->raw.len) {
		problem_of_body(&r->problem, 0, reply->content_type,
			(struct str){ s->raw.data, s->raw.len });
		a->outcome = CALL_SERVER;
		detail(l, a, "%.100s sent what is no answer of a model (%.60s): %.200s", host,
			*reply->content_type ? reply->content_type : "of no stated type",
			r->problem.message);
	} else if (!r->is_ended && (a->text.len || r->has_thought)) {
		a->outcome = CALL_NETWORK;
		detail(l, a, "%.100s ended the connection before the answer was whole", host);
	} else if (!str_trim((struct str){ buf_cstr(&a->text), a->text.len }).n) {
		a->outcome = CALL_EMPTY;
		detail(l, a, "%.100s sent no text%s", host,
			!r->has_thought ? ""
			: a->is_cut     ? "; thinking took all the tokens"
					: ", only thinking");
	}
}

static void take_reply(const struct llm *l, struct stream *s, const struct net_reply *reply)
{
	struct reading *r = s->reading;

	stream_end(s);
	if (s->is_too_long) {
		r->answer->outcome = CALL_SERVER;
		detail(l, r->answer, "the server sent more than %u bytes without an event in them",
			STREAM_LINE_MAX);
		return;
	}
	/* What a server says about a failure counts more than how the connection ended. */
	if (!r->is_refused && r->problem.outcome == CALL_NONE && reply->status &&
		(reply->status < 200 || reply->status >= 300) &&
		(reply->end == NET_DONE || reply->end == NET_TOO_LONG))
		problem_of_body(&r->problem, reply->status, reply->content_type,
			(struct str){ buf_cstr(&reply->body), reply->body.len });
	if (r->problem.outcome != CALL_NONE)
		take_problem(l, r->answer, &r->problem);
	else if (!take_end(l, reply, r))
		take_answer(l, s, reply);
}

/*
 * A loaded server also loses time between the words of its answer (checking them against the schema, waiting for a
 * processor): of what it does not account for, only that before the first word was the queue.
 */
static void queue_bound(struct reading *r)
{
	struct llm_answer *a = r->answer;
	int64_t before = a->first_byte_ms - MAX(a->connect_ms, (int64_t)0) - r->prepare_ms;

	if (a->queue_ms >= 0 && a->first_byte_ms >= 0)
		a->queue_ms = MIN(a->queue_ms, MAX(before, (int64_t)0));
}

static void take_times(struct llm_answer *a, const struct net_reply *reply)
{
	a->connect_ms = reply->connect_ms;
	a->first_byte_ms = reply->first_byte_ms;
	a->total_ms = MAX(a->total_ms, (int64_t)0) + reply->total_ms;
	a->retry_after_ms = reply->retry_after_ms;
}

/* --- One exchange. --- */

/* Some say so, some mark it in the text, and some use up their tokens in silence. */
static bool thinks(const struct reading *r)
{
	struct str text = str_trim((struct str){ buf_cstr(&r->answer->text), r->answer->text.len });

	return r->has_thought || (r->answer->is_cut && !text.n) || str_starts(text.p, "<think");
}

static void answer_restart(const struct llm *l, struct llm_answer *a)
{
	buf_cut(&a->text, 0);
	a->text.max = LLM_REPLY_MAX;
	a->is_cut = false;
	a->tokens_in = a->tokens_out = a->queue_ms = -1;
	*a->detail = '\0';
	snprintf(a->model, sizeof a->model, "%s", l->c.model);
}

/* total_ms: what is left of the time. */
static void send_once(struct llm *l, const struct llm_question *q, int total_ms, struct reading *r)
{
	AUTO(buf_done) struct buf url = { 0 }, body = { 0 };
	AUTO(stream_done) struct stream s;
	AUTO(headers_done) struct headers h;
	AUTO(net_reply_done) struct net_reply reply;
	struct jw w = { .out = &body };
	struct err err = { 0 };

	stream_init(&s, l, r);
	headers_make(l, &h);
	l->provider->path(l, &url);
	jw_object(&w, NULL);
	l->provider->body(l, q, &w);
	jw_end(&w, '}');
	r->answer->request_bytes = body.len;
	struct net_request request = { .method = "POST",
		.url = buf_cstr(&url),
		.headers = h.list,
		.body = body.data,
		.body_len = body.len,
		.connect_ms = MIN(CONNECT_MS, total_ms),
		.stall_ms = l->c.stall_ms,
		.total_ms = total_ms,
		.max_bytes = REPLY_BYTES_MAX,
		.piece = stream_piece,
		.ctx = &s,
		.stop = q->stop };
	if (net_ask(l->net, &request, &reply, &err) < 0) {
		r->answer->outcome = CALL_SETUP;
		detail(l, r->answer, "%s", err.text);
		return;
	}
	take_times(r->answer, &reply);
	take_reply(l, &s, &reply);
	queue_bound(r);
	l->thinks |= thinks(r);
	l->circles |= r->is_circle;
}

/* --- What a server does not take. --- */

static unsigned lower_format(const struct llm *l, const struct llm_question *q)
{
	if (question_has_limits(l, q))
		return LACKS_LIMITS;
	if (question_by_schema(l, q))
		return LACKS_SCHEMA | (l->provider == &provider_anthropic ? LACKS_JSON : 0);
	return question_by_json(l, q) ? LACKS_JSON : 0;
}

/* What a refusal names, or what may be meant by it; 0: nothing can be left out. */
static unsigned refused_part(
	const struct llm *l, const struct llm_question *q, const struct problem *p)
{
	static const struct {
		const char *word;
		unsigned lack;
	} parts[] = {
		{ "max_completion_tokens", LACKS_MAX_TOKENS },
		{ "stream_options", LACKS_USAGE },
		{ "temperature", LACKS_TEMPERATURE },
		{ "frequency_penalty", LACKS_PENALTY },
	};
	char said[2 * PROBLEM_TEXT_MAX + 2];

	if (p->status == STATUS_NOT_FOUND && l->provider == &provider_openai &&
		!str_ifind(str_of(p->message), "model"))
		return LACKS_V1 & ~l->lacks;
	snprintf(said, sizeof said, "%s %s", p->message, p->code);
	/* Ollama says 500 of a schema that it cannot use. */
	if (p->outcome == CALL_SERVER && p->status >= 500)
		return str_ifind(str_of(said), "schema") || str_ifind(str_of(said), "grammar")
			       ? lower_format(l, q)
			       : 0;
	if (p->outcome != CALL_REQUEST || p->is_too_long || p->status < STATUS_REQUEST)
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if (str_ifind(str_of(said), parts[i].word) && !(l->lacks & parts[i].lack))
			return parts[i].lack;
	return lower_format(l, q);
}

/* A key that a file or a command gives may have been renewed. */
static bool key_is_renewed(struct llm *l)
{
	char *key = NULL;

	struct key_source source = llm_key_source(l);

	if ((l->c.key && *l->c.key) || key_read(&source, &key, NULL) < 0)
		return false;
	if (strcmp(key, l->key) == 0) {
		key_free(key);
		return false;
	}
	key_free(l->key);
	l->key = key;
	return true;
}

void http_ask(struct llm *l, const struct llm_question *q, struct llm_answer *ret)
{
	unsigned before = l->lacks, lack;
	bool may_renew = true;

	for (int i = 0; i < TRIES_MAX; i++) {
		struct reading r = { .answer = ret };
		int left = l->c.timeout_ms - (int)MAX(ret->total_ms, (int64_t)0);
		answer_restart(l, ret);
		send_once(l, q, MAX(left, 1), &r);
		lack = refused_part(l, q, &r.problem);
		if (ret->outcome == CALL_AUTH && may_renew && key_is_renewed(l)) {
			may_renew = false;
			continue;
		}
		if (!lack) {
			/* It was something else that the server did not like. */
			if (r.problem.outcome == CALL_REQUEST || r.problem.outcome == CALL_SETUP)
				l->lacks = before;
			break;
		}
		l->lacks |= lack;
	}
}

/* --- Is it there? --- */

/* The names in a list of models: "data.id" is the member id of each element of data. */
static bool has_name(const json *reply, const char *where, const char *model, struct buf *ret_some)
{
	char list[32], member[32];
	size_t shown = 0, n;

	if (sscanf(where, "%31[^.].%31s", list, member) != 2)
		return true;
	json *names = json_get(reply, list);
	n = json_len(names);
	for (size_t i = 0; i < n; i++) {
		const char *name = json_str(json_at(names, i), member);
		if (!name)
			continue;
		/* Ollama adds ":latest". */
		if (strcmp(name, model) == 0 ||
			(str_starts(name, model) && strcmp(name + strlen(model), ":latest") == 0))
			return true;
		if (shown++ < NAMES_SHOWN)
			buf_printf(ret_some, "%s%s", shown > 1 ? ", " : "", name);
	}
	return n == 0;
}

static int check_reply(struct llm *l, const struct net_reply *reply, struct err *err)
{
	AUTO(json_free_ptr) json *list = NULL;
	AUTO(buf_done) struct buf some = { 0 };
	struct llm_answer a = { 0 };
	struct reading r = { .answer = &a };
	bool is_success = reply->status >= 200 && reply->status < 300;

	if (take_end(l, reply, &r))
		return err_set(err, ERR_UPSTREAM, "%s", a.detail);
	if (!is_success) {
		/* Many servers have no list of models; that they answer is enough. */
		if (reply->status == STATUS_NOT_FOUND && l->provider->names)
			return 0;
		problem_of_body(&r.problem, reply->status, reply->content_type,
			(struct str){ buf_cstr(&reply->body), reply->body.len });
		take_problem(l, &a, &r.problem);
		return err_set(err, ERR_UPSTREAM, "%s", a.detail);
	}
	if (json_parse(buf_cstr(&reply->body), reply->body.len, &list, NULL) < 0)
		return err_set(
			err, ERR_UPSTREAM, "what answers at %s is no model server", l->c.url);
	if (l->provider->names && !has_name(list, l->provider->names, l->c.model, &some)) {
		err_set(err, ERR_UPSTREAM, "the server has no model '%s'", l->c.model);
		return err_hint(err, "it has %s", buf_cstr(&some));
	}
	return 0;
}

int http_check(struct llm *l, struct err *err)
{
	AUTO(buf_done) struct buf url = { 0 };
	AUTO(headers_done) struct headers h;
	AUTO(net_reply_done) struct net_reply reply;

	headers_make(l, &h);
	l->provider->check_path(l, &url);
	struct net_request request = { .method = "GET",
		.url = buf_cstr(&url),
		.headers = h.list,
		.connect_ms = CONNECT_MS,
		.stall_ms = CHECK_MS,
		.total_ms = CHECK_MS,
		.max_bytes = CHECK_BYTES_MAX };
	if (net_ask(l->net, &request, &reply, err) < 0)
		return -1;
	return check_reply(l, &reply, err);
}
