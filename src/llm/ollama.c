/*
 * Ollama's own chat: unlike its OpenAI door it takes the context's size and tells its durations. The
 * total includes the wait for a free slot, which is what is left when its parts are taken away.
 */
#include <string.h>

#include "base/mem.h"
#include "llm/parts.h"

#define NS_PER_MS 1000000

/* People give the address of either door. */
static void base(const struct llm *l, struct buf *out)
{
	static const char *const doors[] = { "/api/chat", "/api", "/v1" };

	llm_base(l, doors, ARRAY_LEN(doors), out);
}

static void path(const struct llm *l, struct buf *out)
{
	base(l, out);
	buf_printf(out, "/api/chat%s", l->query);
}

static void check_path(const struct llm *l, struct buf *out)
{
	base(l, out);
	buf_printf(out, "/api/tags%s", l->query);
}

static void options(const struct llm *l, const struct llm_question *q, struct jw *w)
{
	int64_t context = l->c.context_tokens, thinking = l->thinks ? LLM_THINKING_TOKENS : 0;

	if (!context && q->context_tokens)
		context = q->context_tokens + thinking;
	jw_object(w, "options");
	jw_int(w, "temperature", 0);
	if (context > 0)
		jw_int(w, "num_ctx", context);
	if (q->max_tokens > 0)
		jw_int(w, "num_predict", question_tokens(l, q));
	jw_end(w, '}');
}

static void body(const struct llm *l, const struct llm_question *q, struct jw *w)
{
	AUTO(buf_done) struct buf system = { 0 };

	question_system(l, q, &system);
	jw_str(w, "model", l->c.model);
	question_messages(q, buf_cstr(&system), w);
	jw_bool(w, "stream", true);
	/* A question that does not fit is an error then, where it would silently lose its beginning. */
	jw_bool(w, "truncate", false);
	jw_bool(w, "shift", false);
	if (question_by_schema(l, q))
		question_schema(l, q, w, "format");
	else if (question_by_json(l, q))
		jw_str(w, "format", "json");
	if (l->c.keep_alive && *l->c.keep_alive)
		jw_str(w, "keep_alive", l->c.keep_alive);
	options(l, q, w);
}

static void durations(struct reading *r, const json *e)
{
	int64_t total = json_int(e, "total_duration", -1);
	int64_t prepare = json_int(e, "load_duration", 0) + json_int(e, "prompt_eval_duration", 0);
	int64_t known = prepare + json_int(e, "eval_duration", 0);

	r->prepare_ms = prepare / NS_PER_MS;
	if (total >= 0)
		r->answer->queue_ms = MAX(total - known, (int64_t)0) / NS_PER_MS;
}

static void event(struct reading *r, const json *e)
{
	json *part = json_get(e, "message");
	const char *reason = json_str(e, "done_reason");

	reading_model(r, json_str(e, "model"));
	reading_content(r, json_get(part, "content"));
	r->has_thought |= json_slice(json_get(part, "thinking")).n > 0;
	if (!json_bool(e, "done", false))
		return;
	r->is_ended = true;
	r->answer->is_cut |= reason && strcmp(reason, "length") == 0;
	r->answer->tokens_in = json_int(e, "prompt_eval_count", -1);
	r->answer->tokens_out = json_int(e, "eval_count", -1);
	durations(r, e);
}

const struct provider provider_ollama = {
	.name = "ollama",
	.url = "http://127.0.0.1:11434",
	.key_header = "Authorization: Bearer ",
	.is_lines = true,
	.path = path,
	.body = body,
	.event = event,
	.check_path = check_path,
	.names = "models.name",
};
