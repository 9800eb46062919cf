/*
 * The way to the daemon: started when nobody answers, replaced when it is older than we are. A
 * reply is used even when it came from an older daemon; the next call meets the new one.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "client/client.h"
#include "client/start.h"
#include "conf/settings.h"
#include "wire/client.h"
#include "wire/spool.h"

#define CALL_MAX_MS 120000 /* operations that are not OP_SLOW */
#define BUSY_RETRY_MS 200
#define BUSY_RETRIES 10
#define HTTP_NOT_FOUND 404
#define HTTP_UNAVAILABLE 503
#define ENCODED_CWD_MAX (3 * 4096)
#define CALL_HEADERS_MAX 4

/* What a streamed reply's lines are sorted into. */
struct lines {
	struct client *c;
	const struct call *call;
	struct buf *result;
};

static int take_line(void *ctx, const char *line, size_t len)
{
	struct lines *l = ctx;

	if (len > 12 && memcmp(line, "{\"progress\":", 12) == 0) {
		if (l->call->on_progress)
			l->call->on_progress(l->c, line, len);
		return 0;
	}
	/* Only the last line is the result: those before it are records. */
	if (l->result->len && l->call->on_record)
		l->call->on_record(l->c, l->result->data, l->result->len);
	buf_cut(l->result, 0);
	buf_add(l->result, line, len);
	return 0;
}

static const char *const *call_headers(struct client *c)
{
	const char **list = ARENA_ARRAY(&c->scratch, const char *, CALL_HEADERS_MAX + 1);
	char *cwd = arena_alloc(&c->scratch, ENCODED_CWD_MAX), hash[SETTINGS_HASH_MAX];
	size_t n = 0;

	spool_percent_encode(c->cwd, cwd, ENCODED_CWD_MAX);
	list[n++] = arena_printf(&c->scratch, "X-Remanence-Cwd: %s", cwd);
	list[n++] = arena_printf(
		&c->scratch, "X-Remanence-Settings: %s", settings_environment_hash(hash));
	if (c->session)
		list[n++] = arena_printf(&c->scratch, "X-Remanence-Session: %s", c->session);
	if (c->agent)
		list[n++] = arena_printf(&c->scratch, "X-Remanence-Agent: %s", c->agent);
	return list;
}

/* One request. The reply's text goes to *ret, whatever its status. */
static int call_once(struct client *c, const struct call *call, struct wire_reply *reply,
	struct buf *ret, struct err *err)
{
	struct lines lines = { .c = c, .call = call, .result = ret };
	struct wire_request q = { .method = "POST",
		.path = arena_printf(&c->scratch, "/api/%s", call->op->name),
		.body = call->params,
		.body_len = strlen(call->params),
		.headers = call_headers(c),
		.on_line = take_line,
		.ctx = &lines };

	if (!(call->op->flags & OP_SLOW))
		q.deadline_us = clock_mono_us() + CALL_MAX_MS * 1000ull;
	buf_cut(ret, 0);
	if (wire_call(c->paths.socket, &q, reply, err) < 0)
		return -1;
	if (reply->body.len)
		buf_add(ret, reply->body.data, reply->body.len);
	return 0;
}

/* Asks the daemon to leave and waits until it has. */
static int replace_daemon(struct client *c, struct err *err)
{
	if (start_stop(&c->paths, err) < 0)
		return -1;
	return start_is_answered(&c->paths) ? 0 : start_and_wait(&c->paths, err);
}

static void say_settings_differ(struct client *c, const struct wire_reply *reply)
{
	char ours[SETTINGS_HASH_MAX];

	if (c->said_settings || c->is_quiet || !reply->environment[0])
		return;
	if (strcmp(reply->environment, settings_environment_hash(ours)) != 0)
		fprintf(stderr, "remanence: the daemon runs with other REMANENCE_* variables than "
				"this shell; "
				"`remanence stop` lets the next command start it with these\n");
	c->said_settings = true;
}

/*
 * Runs a call that may be repeated: for a daemon that is just leaving, or after an older one was
 * replaced.
 */
static int call_patiently(struct client *c, const struct call *call, struct wire_reply *reply,
	struct buf *ret, struct err *err)
{
	bool may_start = !(call->op->flags & OP_NO_START);

	for (int tries = 0;; tries++) {
		if (may_start && !start_is_answered(&c->paths) &&
			start_and_wait(&c->paths, err) < 0)
			return -1;
		int result = call_once(c, call, reply, ret, err);
		bool is_leaving = result == 0 && reply->status == HTTP_UNAVAILABLE;
		bool is_gone = result < 0 && err->code == ERR_UNAVAILABLE &&
			       (!(call->op->flags & OP_WRITES) || call->op->flags & OP_AGAIN);
		if (!may_start || tries >= BUSY_RETRIES || !(is_leaving || is_gone))
			return result;
		wire_reply_done(reply);
		*err = (struct err){ 0 };
		clock_sleep_us(BUSY_RETRY_MS * 1000ull);
	}
}

/* {"error":{…}} into an error. */
static int reply_error(const json *reply, int status, struct err *err)
{
	const json *e = json_get(reply, "error");
	const char *message = json_str(e, "message"), *hint = json_str(e, "hint"),
		   *code = json_str(e, "code");

	if (!message)
		return err_set(err, ERR_INTERNAL,
			"the daemon answered with status %d and no reason", status);
	err_set(err, code ? err_code_of(code) : ERR_INTERNAL, "%s", message);
	if (hint && *hint)
		err_hint(err, "%s", hint);
	return -1;
}

static int check_reply(const struct buf *text, int status, struct err *err)
{
	AUTO(json_free_ptr) json *reply = NULL;
	bool may_be_error =
		status >= 300 || (text->len > 9 && memcmp(text->data, "{\"error\":", 9) == 0);

	if (!may_be_error && text->len)
		return 0;
	if (!text->len)
		return err_set(err, ERR_INTERNAL,
			"the daemon answered with status %d and nothing else", status);
	json_parse(text->data, text->len, &reply, NULL);
	return reply_error(reply, status, err);
}

int client_call(struct client *c, const struct call *call, struct buf *ret, struct err *err)
{
	struct wire_reply reply = { 0 };

	arena_reset(&c->scratch);
	int result = call_patiently(c, call, &reply, ret, err);

	if (result < 0) {
		wire_reply_done(&reply);
		return -1;
	}
	say_settings_differ(c, &reply);
	if (!c->handed_over && !(call->op->flags & OP_NO_START) &&
		start_should_replace(&c->paths, reply.build)) {
		struct err why = { 0 };
		c->handed_over = true;
		bool is_unknown = reply.status == HTTP_NOT_FOUND;
		if (replace_daemon(c, &why) == 0 && is_unknown) {
			wire_reply_done(&reply);
			result = call_once(c, call, &reply, ret, err);
		}
	}
	if (result == 0)
		result = check_reply(ret, reply.status, err);
	wire_reply_done(&reply);
	return result;
}

int client_ask(struct client *c, const char *op, const char *params, json **ret, struct err *err)
{
	AUTO(buf_done) struct buf text = { 0 };
	struct call call = { .op = op_spec_find(op), .params = params };

	if (client_call(c, &call, &text, err) < 0)
		return -1;
	if (json_parse(text.data, text.len, ret, err) < 0)
		return err_prefix(err, "cannot read the daemon's reply to %s", op);
	return 0;
}
