#include "llm/llm.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "llm/parts.h"

#define COMMAND "command"

static const struct provider *const providers[] = { &provider_openai, &provider_ollama,
	&provider_anthropic, &provider_gemini };

/* Only what a shorter and stricter question can change is asked again at once. */
const enum llm_next llm_next[CALL_OUTCOME_COUNT] = {
	[CALL_NONE] = LLM_LATER,
	[CALL_OK] = LLM_KEEP,
	[CALL_NOTHING] = LLM_KEEP,
	[CALL_EMPTY] = LLM_SHORTER,
	[CALL_REFUSED] = LLM_NEVER,
	[CALL_UNREADABLE] = LLM_SHORTER,
	[CALL_CUT] = LLM_KEEP,
	[CALL_TIMEOUT] = LLM_LATER,
	[CALL_ABORTED] = LLM_WAIT,
	[CALL_RATE_LIMIT] = LLM_WAIT,
	[CALL_QUOTA] = LLM_PAUSE,
	[CALL_AUTH] = LLM_PAUSE,
	[CALL_NETWORK] = LLM_LATER,
	[CALL_SERVER] = LLM_LATER,
	[CALL_REQUEST] = LLM_SHORTER,
	[CALL_SETUP] = LLM_PAUSE,
};

static const char *text_or_null(const struct settings *s, enum setting_id id)
{
	const char *text = settings_text(s, id);

	return *text ? text : NULL;
}

bool llm_config_fill(const struct settings *s, struct llm_config *ret)
{
	*ret = (struct llm_config){ .provider = settings_text(s, SET_OBSERVER_PROVIDER),
		.url = text_or_null(s, SET_OBSERVER_URL),
		.model = text_or_null(s, SET_OBSERVER_MODEL),
		.key = text_or_null(s, SET_OBSERVER_KEY),
		.key_file = text_or_null(s, SET_OBSERVER_KEY_FILE),
		.key_command = text_or_null(s, SET_OBSERVER_KEY_COMMAND),
		.timeout_ms = (int)settings_int(s, SET_OBSERVER_TIMEOUT_MS),
		.stall_ms = (int)settings_int(s, SET_OBSERVER_STALL_MS),
		.context_tokens = settings_int(s, SET_OBSERVER_CONTEXT_TOKENS),
		.keep_alive = text_or_null(s, SET_OBSERVER_KEEP_ALIVE) };
	return strcmp(ret->provider, "none") != 0;
}

static const struct provider *provider_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(providers); i++)
		if (strcmp(providers[i]->name, name) == 0)
			return providers[i];
	return NULL;
}

/* Takes the address apart: a query goes behind whatever path is added. */
static void take_address(struct llm *l, const char *url)
{
	const char *query = strchr(url, '?');
	char *base = arena_dup(&l->arena, url, query ? (size_t)(query - url) : strlen(url));

	for (size_t n = strlen(base); n && base[n - 1] == '/'; n--)
		base[n - 1] = '\0';
	l->c.url = base;
	l->query = arena_str(&l->arena, query ? query : "");
}

static int check_config(const struct llm_config *c, const struct provider *p, struct err *err)
{
	bool is_command = strcmp(c->provider, COMMAND) == 0;

	if (!p && !is_command)
		return err_set(err, ERR_USAGE, "there is no provider '%s'", c->provider);
	if (is_command && !(c->url && *c->url)) {
		err_set(err, ERR_USAGE, "observer.url says no command line");
		return err_hint(err, "remanence config set observer.url 'claude -p --model haiku'");
	}
	if (p && !(c->model && *c->model)) {
		err_set(err, ERR_USAGE, "observer.model names no model");
		return err_hint(err, "remanence config set observer.model NAME");
	}
	if (p && c->url && *c->url && !str_istarts(c->url, "http://") &&
		!str_istarts(c->url, "https://"))
		return err_set(err, ERR_USAGE,
			"observer.url '%s' does not begin with http:// or https://", c->url);
	return 0;
}

static void copy_config(struct llm *l, const struct llm_config *c)
{
	struct arena *a = &l->arena;

	l->c = (struct llm_config){ .provider = arena_str(a, c->provider),
		.model = arena_str(a, c->model ? c->model : ""),
		.key = arena_str(a, c->key),
		.key_file = arena_str(a, c->key_file),
		.key_command = arena_str(a, c->key_command),
		.keep_alive = arena_str(a, c->keep_alive),
		.folder = arena_str(a, c->folder),
		.timeout_ms = c->timeout_ms,
		.stall_ms = c->stall_ms,
		.context_tokens = c->context_tokens };
	if (!l->provider)
		l->c.url = arena_str(a, c->url);
	else
		take_address(l, c->url && *c->url ? c->url : l->provider->url);
}

struct key_source llm_key_source(const struct llm *l)
{
	return (struct key_source){ .room = "observer",
		.key = l->c.key,
		.file = l->c.key_file,
		.command = l->c.key_command };
}

int llm_open(const struct llm_config *c, struct llm **ret, struct err *err)
{
	const struct provider *p = provider_find(c->provider);

	if (check_config(c, p, err) < 0)
		return -1;
	struct llm *l = mem_alloc(sizeof *l);
	l->provider = p;
	copy_config(l, c);
	struct key_source source = llm_key_source(l);
	if (p && key_read(&source, &l->key, err) < 0) {
		llm_close(l);
		return -1;
	}
	l->net = p ? net_new() : NULL;
	*ret = l;
	return 0;
}

void llm_close(struct llm *l)
{
	if (!l)
		return;
	key_free(l->key);
	net_free(l->net);
	arena_done(&l->arena);
	free(l);
}

void llm_ask(struct llm *l, const struct llm_question *q, struct llm_answer *ret)
{
	*ret = (struct llm_answer){ .text = { .max = LLM_REPLY_MAX },
		.tokens_in = -1,
		.tokens_out = -1,
		.queue_ms = -1,
		.connect_ms = -1,
		.first_byte_ms = -1,
		.total_ms = -1,
		.retry_after_ms = -1 };
	if (l->provider)
		http_ask(l, q, ret);
	else
		command_ask(l, q, ret);
}

void llm_answer_done(struct llm_answer *a)
{
	buf_done(&a->text);
}

int llm_check(struct llm *l, struct err *err)
{
	return l->provider ? http_check(l, err) : command_check(l, err);
}
