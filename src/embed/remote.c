#include "embed/remote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "embed/remote_parts.h"
#include "net/key.h"

#define STATUS_NOT_FOUND 404
#define CHECK_MS 10000
#define SERVICE_MODEL \
	"nomic-embed-text" /* of a hand-made service that names only its orchestrator */

static const struct remote_provider *const providers[] = { &remote_openai, &remote_ollama,
	&remote_jobs };

/*
 * What models were trained to find before a text, as their authors write. Looked up in the model's
 * name; the first row that occurs in it counts.
 */
static const struct {
	const char *name, *question, *document;
} prefixes[] = {
	{ "nomic-embed", "search_query: ", "search_document: " },
	{ "multilingual-e5-large-instruct",
		"Instruct: Given a question, retrieve passages that answer it\nQuery: ", "" },
	{ "e5-", "query: ", "passage: " },
	{ "mxbai-embed-large", "Represent this sentence for searching relevant passages: ", "" },
	{ "snowflake-arctic-embed2", "query: ", "" },
	{ "snowflake-arctic-embed",
		"Represent this sentence for searching relevant passages: ", "" },
	{ "bge-m3", "", "" },
	{ "bge-", "Represent this sentence for searching relevant passages: ", "" },
	{ "qwen3-embedding",
		"Instruct: Given a question, retrieve passages that answer it\nQuery: ", "" },
	{ "embeddinggemma", "task: search result | query: ", "title: none | text: " },
};

/* --- The two that answer at once. --- */

static void texts_write(struct remote_work *w, struct jw *j)
{
	jw_array(j, "input");
	for (size_t i = 0; i < w->call->n; i++) {
		AUTO(buf_done) struct buf text = { 0 };
		remote_text(w, i, &text);
		jw_str(j, NULL, buf_cstr(&text));
	}
	jw_end(j, ']');
}

static void openai_take(struct remote_work *w, const json *reply)
{
	json *data = json_get(reply, "data");

	for (size_t i = 0; i < json_len(data); i++) {
		json *row = json_at(data, i);
		int64_t at = json_int(row, "index", (int64_t)i);
		if (!remote_take(w, at < 0 ? w->call->n : (size_t)at, json_get(row, "embedding")))
			return;
	}
	w->result->tokens_in = json_int(json_get(reply, "usage"), "prompt_tokens", -1);
}

static bool has_version(const char *url)
{
	const char *path = strstr(url, "://");

	for (path = strchr(path ? path + strlen("://") : url, '/'); path;
		path = strchr(path + 1, '/'))
		if (path[1] == 'v' && path[2] >= '0' && path[2] <= '9')
			return true;
	return false;
}

static void openai_run(struct remote_work *w)
{
	AUTO(buf_done) struct buf body = { 0 };
	struct jw j = { .out = &body };
	bool has_v1 = has_version(w->r->c.url);

	jw_object(&j, NULL);
	jw_str(&j, "model", w->r->c.model);
	texts_write(w, &j);
	jw_str(&j, "encoding_format", "float");
	if (w->r->c.dims)
		jw_int(&j, "dimensions", w->r->c.dims);
	jw_end(&j, '}');
	bool is_tried = !has_v1 && !w->r->has_no_v1;
	struct remote_exchange x = { .method = "POST",
		.path = is_tried ? "/v1/embeddings" : "/embeddings",
		.body = &body,
		.soft = is_tried ? STATUS_NOT_FOUND : 0 };
	json *reply = remote_exchange(w, &x);
	if (!reply && !remote_has_failed(w)) {
		x.path = "/embeddings";
		x.soft = 0;
		reply = remote_exchange(w, &x);
		w->r->has_no_v1 = reply != NULL;
	}
	if (reply)
		openai_take(w, reply);
	json_free(reply);
}

/* Before /api/embed there was one text at a time. */
static void ollama_old(struct remote_work *w)
{
	for (size_t i = 0; i < w->call->n && !remote_has_failed(w); i++) {
		AUTO(buf_done) struct buf body = { 0 }, text = { 0 };
		struct jw j = { .out = &body };
		remote_text(w, i, &text);
		jw_object(&j, NULL);
		jw_str(&j, "model", w->r->c.model);
		jw_str(&j, "prompt", buf_cstr(&text));
		jw_end(&j, '}');
		AUTO(json_free_ptr)
		json *reply = remote_exchange(
			w, &(struct remote_exchange){
				   .method = "POST", .path = "/api/embeddings", .body = &body });
		if (reply)
			remote_take(w, i, json_get(reply, "embedding"));
	}
}

static void ollama_run(struct remote_work *w)
{
	AUTO(buf_done) struct buf body = { 0 };
	struct jw j = { .out = &body };

	if (w->r->is_old) {
		ollama_old(w);
		return;
	}
	jw_object(&j, NULL);
	jw_str(&j, "model", w->r->c.model);
	texts_write(w, &j);
	jw_bool(&j, "truncate", true);
	jw_end(&j, '}');
	AUTO(json_free_ptr)
	json *reply = remote_exchange(w, &(struct remote_exchange){ .method = "POST",
						 .path = "/api/embed",
						 .body = &body,
						 .soft = STATUS_NOT_FOUND });
	json *rows = json_get(reply, "embeddings");
	for (size_t i = 0; i < json_len(rows); i++)
		if (!remote_take(w, i, json_at(rows, i)))
			return;
	w->result->tokens_in = json_int(reply, "prompt_eval_count", -1);
	if (!reply && !remote_has_failed(w)) {
		ollama_old(w);
		w->r->is_old = !remote_has_failed(w);
	}
}

const struct remote_provider remote_openai = {
	.name = "openai",
	.url = "https://api.openai.com/v1",
	.run = openai_run,
};
const struct remote_provider remote_ollama = {
	.name = "ollama",
	.url = "http://127.0.0.1:11434",
	.run = ollama_run,
	.check_path = "/api/version",
};

/* --- Configuration. --- */

static const char *text_or_null(const struct settings *s, enum setting_id id)
{
	const char *text = settings_text(s, id);

	return *text ? text : NULL;
}

static const char *environment_or_null(const char *name)
{
	const char *text = getenv(name);

	return text && *text ? text : NULL;
}

bool remote_config_fill(const struct settings *s, struct remote_config *ret)
{
	const char *provider = settings_text(s, SET_EMBED_PROVIDER);
	const char *orchestrator = environment_or_null("AI_ORCHESTRATOR_URL");
	bool is_default = strcmp(settings_origin(s, SET_EMBED_PROVIDER), "default") == 0;

	/* Whoever names an orchestrator and nothing else has moved from a hand-made service. */
	if (is_default && orchestrator)
		provider = remote_jobs.name;
	*ret = (struct remote_config){ .provider = provider,
		.url = text_or_null(s, SET_EMBED_URL),
		.model = text_or_null(s, SET_EMBED_MODEL),
		.key = text_or_null(s, SET_EMBED_KEY),
		.key_file = text_or_null(s, SET_EMBED_KEY_FILE),
		.key_command = text_or_null(s, SET_EMBED_KEY_COMMAND),
		.dims = (uint32_t)settings_int(s, SET_EMBED_DIMENSION),
		.timeout_ms = (int)settings_int(s, SET_EMBED_TIMEOUT_MS) };
	if (!ret->model)
		ret->model = environment_or_null("EMBEDDING_MODEL");
	if (strcmp(provider, remote_jobs.name) == 0) {
		if (!ret->url)
			ret->url = orchestrator;
		if (!ret->model)
			ret->model = SERVICE_MODEL;
	}
	return strcmp(provider, "builtin") != 0 && strcmp(provider, "none") != 0;
}

/* --- Life. --- */

static const struct remote_provider *provider_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(providers); i++)
		if (strcmp(providers[i]->name, name) == 0)
			return providers[i];
	return NULL;
}

static int check_config(
	const struct remote_config *c, const struct remote_provider *p, struct err *err)
{
	if (!p)
		return err_set(err, ERR_USAGE, "there is no embedding provider '%s'", c->provider);
	if (!c->model || !*c->model) {
		err_set(err, ERR_USAGE, "embed.model names no model");
		return err_hint(err, "remanence config set embed.model NAME");
	}
	const char *url = c->url ? c->url : p->url;
	if (!url) {
		err_set(err, ERR_USAGE, "embed.url says no address of the orchestrator");
		return err_hint(err, "remanence config set embed.url http://HOST:PORT");
	}
	if (!str_istarts(url, "http://") && !str_istarts(url, "https://"))
		return err_set(err, ERR_USAGE,
			"embed.url '%s' does not begin with http:// or https://", url);
	return 0;
}

static void copy_config(struct remote *r, const struct remote_config *c)
{
	static const char *const doors[] = { "/embeddings", "/api/embed", "/api" };
	char *url = arena_str(&r->arena, c->url ? c->url : r->provider->url);

	r->c = *c;
	for (size_t n = strlen(url); n && url[n - 1] == '/'; n--)
		url[n - 1] = '\0';
	for (size_t i = 0; i < ARRAY_LEN(doors); i++)
		if (str_ends(url, doors[i]))
			url[strlen(url) - strlen(doors[i])] = '\0';
	if (r->provider == &remote_ollama && str_ends(url, "/v1"))
		url[strlen(url) - strlen("/v1")] = '\0';
	r->c.url = url;
	r->c.model = arena_str(&r->arena, c->model);
	r->c.provider = r->provider->name;
	r->c.key = r->c.key_file = r->c.key_command = NULL;
	r->dims = c->dims;
}

static void take_prefixes(struct remote *r)
{
	r->before[REMOTE_QUESTION] = r->before[REMOTE_DOCUMENT] = "";
	for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
		if (str_ifind(str_of(r->c.model), prefixes[i].name)) {
			r->before[REMOTE_QUESTION] = prefixes[i].question;
			r->before[REMOTE_DOCUMENT] = prefixes[i].document;
			return;
		}
}

int remote_open(const struct remote_config *c, struct remote **ret, struct err *err)
{
	const struct remote_provider *p = provider_find(c->provider);

	if (check_config(c, p, err) < 0)
		return -1;
	struct key_source source = {
		.room = "embed", .key = c->key, .file = c->key_file, .command = c->key_command
	};
	char *key = NULL;
	if (key_read(&source, &key, err) < 0)
		return -1;
	struct remote *r = mem_alloc(sizeof *r);
	r->provider = p;
	r->key = key;
	copy_config(r, c);
	take_prefixes(r);
	/* Ollama gives the same vectors whoever stands before it. */
	r->id = arena_printf(&r->arena, "%s/%.*s%s", p == &remote_openai ? p->name : "ollama",
		REMOTE_ID_MAX / 2, r->c.model, *r->before[REMOTE_QUESTION] ? "+prefix" : "");
	r->net = net_new();
	*ret = r;
	return 0;
}

void remote_close(struct remote *r)
{
	if (!r)
		return;
	key_free(r->key);
	net_free(r->net);
	arena_done(&r->arena);
	free(r);
}

const char *remote_id(const struct remote *r)
{
	return r->id;
}

void remote_embed(struct remote *r, const struct remote_call *call, struct remote_result *ret)
{
	uint64_t start = clock_mono_us();
	int total = call->total_ms > 0 ? call->total_ms : r->c.timeout_ms;
	struct remote_work w = {
		.r = r, .call = call, .result = ret, .end_us = start + (uint64_t)total * 1000
	};

	*ret = (struct remote_result){
		.tokens_in = -1, .connect_ms = -1, .first_byte_ms = -1, .retry_after_ms = -1
	};
	r->provider->run(&w);
	if (!remote_has_failed(&w) && w.have != call->n)
		remote_fail(&w, CALL_SERVER, "the server sent %zu vectors for %zu texts", w.have,
			call->n);
	if (!remote_has_failed(&w)) {
		ret->outcome = CALL_OK;
		r->dims = ret->dims;
	} else {
		free(ret->vectors);
		ret->vectors = NULL;
	}
	ret->total_ms = (int64_t)((clock_mono_us() - start) / 1000);
}

void remote_forget_dims(struct remote *r)
{
	r->dims = r->c.dims;
}

void remote_result_done(struct remote_result *r)
{
	free(r->vectors);
	r->vectors = NULL;
}

int remote_check(struct remote *r, struct err *err)
{
	struct remote_result result = { 0 };
	struct remote_call call = { 0 };
	struct remote_work w = { .r = r,
		.call = &call,
		.result = &result,
		.end_us = clock_mono_us() + CHECK_MS * 1000ull };
	/* OpenAI's list of models is the one thing that costs nothing; not every server has it. */
	bool is_openai = r->provider == &remote_openai;
	AUTO(json_free_ptr)
	json *reply = remote_exchange(&w, &(struct remote_exchange){ .method = "GET",
						  .path = !is_openai ? r->provider->check_path
							  : has_version(r->c.url) ? "/models"
										  : "/v1/models",
						  .soft = is_openai ? STATUS_NOT_FOUND : 0 });
	if (remote_has_failed(&w))
		return err_set(err, ERR_UPSTREAM, "%s", result.detail);
	return r->provider == &remote_jobs ? remote_jobs_check(r, reply, err) : 0;
}
