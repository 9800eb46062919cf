/* Google's generateContent, streamed as server-sent events. */
#include <string.h>

#include "base/mem.h"
#include "llm/parts.h"

#define JSON_TYPE "application/json"

/* With or without its version, "models/" before the name or not. */
static void base(const struct llm *l, struct buf *out)
{
	const char *name = l->c.model;

	buf_str(out, l->c.url);
	if (!str_ends(l->c.url, "/v1beta") && !str_ends(l->c.url, "/v1"))
		buf_str(out, "/v1beta");
	buf_printf(
		out, "/models/%s", str_starts(name, "models/") ? name + strlen("models/") : name);
}

static void path(const struct llm *l, struct buf *out)
{
	base(l, out);
	buf_str(out, ":streamGenerateContent?alt=sse");
}

static void text_parts(struct jw *w, const char *text)
{
	jw_array(w, "parts");
	jw_object(w, NULL);
	jw_str(w, "text", text);
	jw_end(w, '}');
	jw_end(w, ']');
}

static void body(const struct llm *l, const struct llm_question *q, struct jw *w)
{
	AUTO(buf_done) struct buf system = { 0 };

	question_system(l, q, &system);
	if (system.len) {
		jw_object(w, "systemInstruction");
		text_parts(w, system.data);
		jw_end(w, '}');
	}
	jw_array(w, "contents");
	jw_object(w, NULL);
	jw_str(w, "role", "user");
	text_parts(w, q->user);
	jw_end(w, '}');
	jw_end(w, ']');
	jw_object(w, "generationConfig");
	if (q->max_tokens > 0)
		jw_int(w, "maxOutputTokens", question_tokens(l, q));
	if (question_by_schema(l, q) || question_by_json(l, q))
		jw_str(w, "responseMimeType", JSON_TYPE);
	if (question_by_schema(l, q))
		question_schema(l, q, w, "responseJsonSchema");
	jw_end(w, '}');
}

static void finish(struct reading *r, const char *reason)
{
	AUTO(buf_done) struct buf why = { 0 };

	r->is_ended = true;
	if (strcmp(reason, "MAX_TOKENS") == 0) {
		r->answer->is_cut = true;
	} else if (strcmp(reason, "STOP") != 0 &&
		   strcmp(reason, "FINISH_REASON_UNSPECIFIED") != 0) {
		buf_printf(&why, "its filter stopped the answer (%s)", reason);
		reading_refusal(r, buf_cstr(&why));
	}
}

static void usage(struct llm_answer *a, const json *u)
{
	a->tokens_in = json_int(u, "promptTokenCount", a->tokens_in);
	if (json_get(u, "candidatesTokenCount") || json_get(u, "thoughtsTokenCount"))
		a->tokens_out = json_int(u, "candidatesTokenCount", 0) +
				json_int(u, "thoughtsTokenCount", 0);
}

static void event(struct reading *r, const json *e)
{
	json *candidate = json_at(json_get(e, "candidates"), 0);
	json *parts = json_path(candidate, "content.parts");
	const char *reason = json_str(candidate, "finishReason");
	json *blocked = json_path(e, "promptFeedback.blockReason");

	reading_model(r, json_str(e, "modelVersion"));
	for (size_t i = 0; i < json_len(parts); i++) {
		json *part = json_at(parts, i);
		if (json_bool(part, "thought", false))
			r->has_thought = true;
		else
			reading_text(r, json_str(part, "text"));
	}
	if (reason && *reason)
		finish(r, reason);
	if (json_value_str(blocked))
		finish(r, json_value_str(blocked));
	usage(r->answer, json_get(e, "usageMetadata"));
	r->has_thought |= json_int(json_get(e, "usageMetadata"), "thoughtsTokenCount", 0) > 0;
}

const struct provider provider_gemini = {
	.name = "gemini",
	.url = "https://generativelanguage.googleapis.com",
	.key_header = "x-goog-api-key: ",
	.path = path,
	.body = body,
	.event = event,
	.check_path = base,
};
