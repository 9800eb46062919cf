/* One question, from the prompt to what the answer is. */
#include "observe/ask.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"

#define PROMPT_BYTES_ROUND \
	8000 /* what stands around the units: instructions, what is known already */
#define BYTES_PER_TOKEN_LEAST 3 /* code has shorter ones than prose */
#define CONTEXT_STEP 2048

static const enum call_outcome outcomes[REPLY_CLASS_COUNT] = {
	[REPLY_NONE] = CALL_EMPTY,
	[REPLY_JSON] = CALL_OK,
	[REPLY_JSON_LOOSE] = CALL_OK,
	[REPLY_XML] = CALL_OK,
	[REPLY_CUT] = CALL_CUT,
	[REPLY_NOTHING] = CALL_NOTHING,
	[REPLY_EMPTY] = CALL_EMPTY,
	[REPLY_REFUSAL] = CALL_REFUSED,
	[REPLY_QUOTA] = CALL_QUOTA,
	[REPLY_PAGE] = CALL_SERVER,
	[REPLY_PROSE] = CALL_UNREADABLE,
	[REPLY_THOUGHT] = CALL_EMPTY,
};

enum call_outcome ask_outcome(const struct reply *r)
{
	enum call_outcome o = outcomes[r->class];

	if ((o == CALL_OK || o == CALL_CUT) && !r->n)
		return r->dropped || o == CALL_CUT ? CALL_UNREADABLE : CALL_NOTHING;
	return o;
}

double ask_cost(const struct settings *s, const struct model_call *c)
{
	int64_t in = c->tokens_in < 0 ? c->bytes_in / BYTES_PER_TOKEN : c->tokens_in;
	int64_t out = c->tokens_out < 0 ? c->bytes_out / BYTES_PER_TOKEN : c->tokens_out;

	return ((double)in * settings_real(s, SET_OBSERVER_PRICE_IN) +
		       (double)out * settings_real(s, SET_OBSERVER_PRICE_OUT)) /
	       1e6;
}

void ask_begin(struct ask *k)
{
	size_t system = strlen(k->prompt.system);

	k->call = (struct model_call){ .kind = k->kind,
		.at = clock_now(),
		.provider = settings_text(k->settings, SET_OBSERVER_PROVIDER),
		.model = k->model,
		.units = (int64_t)k->units,
		.bytes_in = (int64_t)(system + strlen(k->prompt.user)),
		.bytes_shared = (int64_t)(k->units > 1 ? system * (k->units - 1) : 0),
		.tokens_in = -1,
		.tokens_out = -1,
		.queue_ms = -1,
		.connect_ms = -1,
		.first_byte_ms = -1,
		.total_ms = -1 };
}

/* Refused before the model saw it: costs nothing. */
static bool is_free(enum call_outcome o)
{
	return o == CALL_NETWORK || o == CALL_SETUP || o == CALL_AUTH || o == CALL_RATE_LIMIT ||
	       o == CALL_QUOTA || o == CALL_REQUEST;
}

static void finish(struct ask *k)
{
	const struct llm_answer *a = &k->answer;
	struct model_call *c = &k->call;

	if (*a->model)
		c->model = a->model;
	c->tokens_in = a->tokens_in < 0 && is_free(k->outcome) ? 0 : a->tokens_in;
	c->tokens_out = a->tokens_out < 0 && is_free(k->outcome) ? 0 : a->tokens_out;
	c->bytes_out = (int64_t)a->text.len;
	c->queue_ms = a->queue_ms;
	c->connect_ms = a->connect_ms;
	c->first_byte_ms = a->first_byte_ms;
	c->total_ms = a->total_ms;
	c->outcome = k->outcome;
	c->detail = *a->detail ? a->detail : k->reply.why;
	bool is_kept = a->text.len && settings_int(k->settings, SET_OBSERVER_REPLIES_DAYS) > 0;
	c->reply = is_kept ? buf_cstr(&k->answer.text) : NULL;
	c->cost = ask_cost(k->settings, c);
}

int64_t ask_answer_tokens(size_t units, size_t bytes)
{
	size_t n = MAX(units, (size_t)1);

	return (int64_t)(n * ASK_TOKENS_FORM +
			 MIN(bytes / ASK_BYTES_PER_TEXT_TOKEN, n * ASK_TOKENS_TEXT));
}

int64_t ask_context_tokens(const struct settings *s)
{
	size_t bytes = (size_t)settings_int(s, SET_OBSERVER_MAX_CHARS) + PROMPT_BYTES_ROUND;
	int64_t tokens = (int64_t)(bytes / BYTES_PER_TOKEN_LEAST) +
			 ask_answer_tokens(PROMPT_UNITS_MAX, bytes);

	return (tokens + CONTEXT_STEP - 1) / CONTEXT_STEP * CONTEXT_STEP;
}

void ask_send(struct ask *k, struct arena *a)
{
	const struct llm_question q = { .system = k->prompt.system,
		.user = k->prompt.user,
		.schema = k->prompt.schema,
		.name = k->kind == JOB_SUMMARY ? "session" : "memories",
		.max_tokens = ask_answer_tokens(k->units, strlen(k->prompt.user)),
		.context_tokens = ask_context_tokens(k->settings),
		.stop = k->stop };

	ask_done(k);
	k->reply = (struct reply){ 0 };
	llm_ask(k->llm, &q, &k->answer);
	k->outcome = k->answer.outcome;
	if (k->outcome == CALL_OK || k->outcome == CALL_CUT) {
		reply_read(a, (struct str){ buf_cstr(&k->answer.text), k->answer.text.len },
			k->answer.is_cut, &k->reply);
		k->outcome = ask_outcome(&k->reply);
	}
	finish(k);
}

void ask_done(struct ask *k)
{
	llm_answer_done(&k->answer);
	k->answer = (struct llm_answer){ 0 };
}
