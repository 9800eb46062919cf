/*
 * Chat completions as OpenAI defined them and everybody speaks them. A base address stands with or
 * without its version, or names the whole path.
 */
#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "llm/parts.h"

#define WHOLE_PATH "/chat/completions"
#define CIRCLE_PENALTY 0.5 /* of 0 to 2 */

/* Does a part of the path look like "v1", "v4" or "v1beta"? */
static bool has_version(const char *url)
{
	const char *path = strstr(url, "://");

	path = path ? path + strlen("://") : url;
	for (path = strchr(path, '/'); path; path = strchr(path + 1, '/'))
		if (path[1] == 'v' && isdigit((unsigned char)path[2]))
			return true;
	return false;
}

static void base(const struct llm *l, struct buf *out)
{
	const char *url = l->c.url;
	size_t n = strlen(url) - (str_ends(url, WHOLE_PATH) ? strlen(WHOLE_PATH) : 0);

	buf_add(out, url, n);
	if (!has_version(url) && !str_ends(url, WHOLE_PATH) && !(l->lacks & LACKS_V1))
		buf_str(out, "/v1");
}

static void path(const struct llm *l, struct buf *out)
{
	base(l, out);
	buf_printf(out, "%s%s", WHOLE_PATH, l->query);
}

static void check_path(const struct llm *l, struct buf *out)
{
	base(l, out);
	buf_printf(out, "/models%s", l->query);
}

static void response_format(const struct llm *l, const struct llm_question *q, struct jw *w)
{
	if (!question_by_schema(l, q) && !question_by_json(l, q))
		return;
	jw_object(w, "response_format");
	jw_str(w, "type", question_by_schema(l, q) ? "json_schema" : "json_object");
	if (question_by_schema(l, q)) {
		jw_object(w, "json_schema");
		jw_str(w, "name", q->name ? q->name : "answer");
		question_schema(l, q, w, "schema");
		jw_end(w, '}');
	}
	jw_end(w, '}');
}

static void body(const struct llm *l, const struct llm_question *q, struct jw *w)
{
	AUTO(buf_done) struct buf system = { 0 };

	question_system(l, q, &system);
	jw_str(w, "model", l->c.model);
	question_messages(q, buf_cstr(&system), w);
	jw_bool(w, "stream", true);
	if (!(l->lacks & LACKS_USAGE)) {
		jw_object(w, "stream_options");
		jw_bool(w, "include_usage", true);
		jw_end(w, '}');
	}
	if (!(l->lacks & LACKS_TEMPERATURE))
		jw_int(w, "temperature", 0);
	/* Ollama does so by itself; llama.cpp and its kind go on for ever. */
	if (l->circles && !(l->lacks & LACKS_PENALTY))
		jw_real(w, "frequency_penalty", CIRCLE_PENALTY, 1);
	if (q->max_tokens > 0)
		jw_int(w, l->lacks & LACKS_MAX_TOKENS ? "max_completion_tokens" : "max_tokens",
			question_tokens(l, q));
	response_format(l, q, w);
}

static void finish(struct reading *r, const char *reason)
{
	r->is_ended = true;
	if (strcmp(reason, "length") == 0)
		r->answer->is_cut = true;
	else if (strcmp(reason, "content_filter") == 0)
		reading_refusal(r, "its content filter stopped the answer");
}

static void event(struct reading *r, const json *e)
{
	json *choice = json_at(json_get(e, "choices"), 0), *usage = json_get(e, "usage");
	json *part = json_get(choice, "delta");
	const char *reason = json_str(choice, "finish_reason"), *refusal;

	if (!part)
		part = json_get(choice, "message");
	reading_model(r, json_str(e, "model"));
	reading_content(r, json_get(part, "content"));
	r->has_thought |= json_slice(json_get(part, "reasoning_content")).n > 0 ||
			  json_slice(json_get(part, "reasoning")).n > 0;
	refusal = json_str(part, "refusal");
	if (refusal && *refusal)
		reading_refusal(r, refusal);
	if (reason && *reason)
		finish(r, reason);
	r->has_thought |=
		json_int(json_get(usage, "completion_tokens_details"), "reasoning_tokens", 0) > 0;
	r->answer->tokens_in = json_int(usage, "prompt_tokens", r->answer->tokens_in);
	r->answer->tokens_out = json_int(usage, "completion_tokens", r->answer->tokens_out);
}

const struct provider provider_openai = {
	.name = "openai",
	.url = "https://api.openai.com/v1",
	.key_header = "Authorization: Bearer ",
	.path = path,
	.body = body,
	.event = event,
	.check_path = check_path,
	.names = "data.id",
};
