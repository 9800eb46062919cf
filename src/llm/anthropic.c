/*
 * Anthropic's messages. A schema is given as that of a tool which the model must call: every model
 * takes that, and the arguments of the call are the answer.
 */
#include <string.h>

#include "base/mem.h"
#include "llm/parts.h"

#define TOKENS_DEFAULT 4096 /* the limit is not optional there */

static void base(const struct llm *l, struct buf *out)
{
	static const char *const ends[] = { "/v1/messages", "/v1" };

	llm_base(l, ends, ARRAY_LEN(ends), out);
}

static void path(const struct llm *l, struct buf *out)
{
	base(l, out);
	buf_printf(out, "/v1/messages%s", l->query);
}

static void check_path(const struct llm *l, struct buf *out)
{
	base(l, out);
	buf_printf(out, "/v1/models?limit=1000");
}

static void tool(const struct llm *l, const struct llm_question *q, struct jw *w)
{
	const char *name = q->name ? q->name : "answer";

	jw_array(w, "tools");
	jw_object(w, NULL);
	jw_str(w, "name", name);
	jw_str(w, "description", "Gives the answer.");
	question_schema(l, q, w, "input_schema");
	jw_end(w, '}');
	jw_end(w, ']');
	jw_object(w, "tool_choice");
	jw_str(w, "type", "tool");
	jw_str(w, "name", name);
	jw_end(w, '}');
}

static void body(const struct llm *l, const struct llm_question *q, struct jw *w)
{
	AUTO(buf_done) struct buf system = { 0 };

	question_system(l, q, &system);
	jw_str(w, "model", l->c.model);
	jw_int(w, "max_tokens", q->max_tokens > 0 ? question_tokens(l, q) : TOKENS_DEFAULT);
	jw_bool(w, "stream", true);
	if (system.len)
		jw_str(w, "system", system.data);
	question_messages(q, "", w);
	if (question_by_schema(l, q))
		tool(l, q, w);
}

static void stop_reason(struct reading *r, const char *reason)
{
	if (!reason)
		return;
	if (strcmp(reason, "max_tokens") == 0 ||
		strcmp(reason, "model_context_window_exceeded") == 0)
		r->answer->is_cut = true;
	else if (strcmp(reason, "refusal") == 0)
		reading_refusal(r, "it refuses to answer this");
}

/* What is read from a cache or written to one was sent all the same. */
static void usage(struct llm_answer *a, const json *u)
{
	int64_t plain = json_int(u, "input_tokens", -1);

	if (plain >= 0)
		a->tokens_in = plain + json_int(u, "cache_read_input_tokens", 0) +
			       json_int(u, "cache_creation_input_tokens", 0);
	a->tokens_out = json_int(u, "output_tokens", a->tokens_out);
}

/* A whole block, of a reply that was not streamed. */
static void block(struct reading *r, const json *b)
{
	AUTO(buf_done) struct buf input = { 0 };
	json *arguments = json_get(b, "input");
	const char *type = json_str(b, "type");

	r->has_thought |= type && strstr(type, "thinking");
	if (type && strcmp(type, "text") == 0)
		reading_text(r, json_str(b, "text"));
	if (type && strcmp(type, "tool_use") == 0 && arguments) {
		json_print(arguments, &input);
		reading_text(r, buf_cstr(&input));
	}
}

static void delta(struct reading *r, const json *d)
{
	reading_text(r, json_str(d, "text"));
	reading_text(r, json_str(d, "partial_json"));
	r->has_thought |= json_get(d, "thinking") != NULL;
}

static void message(struct reading *r, const json *m)
{
	json *content = json_get(m, "content");

	reading_model(r, json_str(m, "model"));
	usage(r->answer, json_get(m, "usage"));
	for (size_t i = 0; i < json_len(content); i++)
		block(r, json_at(content, i));
	stop_reason(r, json_str(m, "stop_reason"));
}

static void event(struct reading *r, const json *e)
{
	const char *type = json_str(e, "type");

	if (!type)
		return;
	if (strcmp(type, "message_start") == 0)
		message(r, json_get(e, "message"));
	else if (strcmp(type, "content_block_delta") == 0)
		delta(r, json_get(e, "delta"));
	else if (strcmp(type, "message_delta") == 0) {
		usage(r->answer, json_get(e, "usage"));
		stop_reason(r, json_str(json_get(e, "delta"), "stop_reason"));
	} else if (strcmp(type, "message") == 0)
		message(r, e);
	r->is_ended |= strcmp(type, "message_stop") == 0 || strcmp(type, "message") == 0;
}

const struct provider provider_anthropic = {
	.name = "anthropic",
	.url = "https://api.anthropic.com",
	.key_header = "x-api-key: ",
	.more_header = "anthropic-version: 2023-06-01",
	.path = path,
	.body = body,
	.event = event,
	.check_path = check_path,
	.names = "data.id",
};
