/*
 * llm_ask PROVIDER URL [NAME=VALUE…]: asks a model what stands on standard input, `times` times, and prints each answer as a
 * line of JSON. NAME: model, key, key_file, key_command, timeout_ms, stall_ms, context_tokens, keep_alive, system, schema,
 * max_tokens, times, stop_ms (gives up by itself then), check=1 (asks nothing, only whether the server is there).
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "base/json.h"
#include "base/mem.h"
#include "drive.h"
#include "llm/llm.h"

#define SHOWN 2000

struct options {
	struct llm_config config;
	struct llm_question question;
	int64_t times, stop_ms, check;
};

static _Atomic bool stop;

static void take_option(struct options *o, const char *arg)
{
	const struct drive_option rows[] = {
		{ "model", &o->config.model, NULL, NULL },
		{ "key", &o->config.key, NULL, NULL },
		{ "key_file", &o->config.key_file, NULL, NULL },
		{ "key_command", &o->config.key_command, NULL, NULL },
		{ "keep_alive", &o->config.keep_alive, NULL, NULL },
		{ "system", &o->question.system, NULL, NULL },
		{ "schema", &o->question.schema, NULL, NULL },
		{ "timeout_ms", NULL, &o->config.timeout_ms, NULL },
		{ "stall_ms", NULL, &o->config.stall_ms, NULL },
		{ "context_tokens", NULL, NULL, &o->config.context_tokens },
		{ "max_tokens", NULL, NULL, &o->question.max_tokens },
		{ "times", NULL, NULL, &o->times },
		{ "stop_ms", NULL, NULL, &o->stop_ms },
		{ "check", NULL, NULL, &o->check },
	};

	drive_take_option(rows, ARRAY_LEN(rows), arg);
}

static void *stop_later(void *ctx)
{
	const struct options *o = ctx;
	struct timespec t = { o->stop_ms / 1000, o->stop_ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
	atomic_store(&stop, true);
	return NULL;
}

/* Of this program alone; what getrusage says includes that of whoever started it. */
static int64_t peak_kb(void)
{
	char line[128];
	long long kb = -1;
	FILE *f = fopen("/proc/self/status", "re");

	while (f && kb < 0 && fgets(line, sizeof line, f))
		if (sscanf(line, "VmHWM: %lld", &kb) != 1)
			kb = -1;
	if (f)
		fclose(f);
	return kb;
}

static void print_answer(const struct llm_answer *a)
{
	static const char *const nexts[] = { [LLM_KEEP] = "keep",
		[LLM_SHORTER] = "shorter",
		[LLM_LATER] = "later",
		[LLM_WAIT] = "wait",
		[LLM_PAUSE] = "pause",
		[LLM_NEVER] = "never" };
	AUTO(buf_done) struct buf line = { 0 };
	struct jw w = { .out = &line };
	jw_object(&w, NULL);
	jw_str(&w, "outcome", call_outcome_names[a->outcome]);
	jw_str(&w, "next", nexts[llm_next[a->outcome]]);
	jw_slice(&w, "text",
		(struct str){
			buf_cstr(&a->text), utf8_cut(buf_cstr(&a->text), a->text.len, SHOWN) });
	jw_int(&w, "bytes", (int64_t)a->text.len);
	jw_bool(&w, "is_utf8", utf8_is_valid(buf_cstr(&a->text), a->text.len));
	jw_bool(&w, "is_cut", a->is_cut);
	jw_int(&w, "tokens_in", a->tokens_in);
	jw_int(&w, "tokens_out", a->tokens_out);
	jw_int(&w, "queue_ms", a->queue_ms);
	jw_int(&w, "connect_ms", a->connect_ms);
	jw_int(&w, "first_byte_ms", a->first_byte_ms);
	jw_int(&w, "total_ms", a->total_ms);
	jw_int(&w, "retry_after_ms", a->retry_after_ms);
	jw_int(&w, "request_bytes", (int64_t)a->request_bytes);
	jw_str(&w, "model", a->model);
	jw_str(&w, "detail", a->detail);
	jw_int(&w, "peak_kb", peak_kb());
	jw_end(&w, '}');
	drive_print(&line);
}

int main(int argc, char **argv)
{
	AUTO(buf_done) struct buf user = { 0 };
	struct options o = { .config = { .provider = argv[1],
				     .url = argv[2],
				     .timeout_ms = 20000,
				     .stall_ms = 10000 },
		.question = { .name = "answer", .stop = &stop },
		.times = 1 };
	struct err err = { 0 };
	struct llm *l;
	pthread_t thread;

	signal(SIGPIPE, SIG_IGN);
	for (int i = 3; i < argc; i++)
		take_option(&o, argv[i]);
	if (llm_open(&o.config, &l, &err) < 0)
		return drive_print_error(&err);
	if (o.check) {
		int result = llm_check(l, &err) < 0 ? drive_print_error(&err) : 0;
		llm_close(l);
		return result;
	}
	drive_read_input(&user);
	o.question.user = buf_cstr(&user);
	if (o.stop_ms && pthread_create(&thread, NULL, stop_later, &o) != 0)
		return 1;
	for (int64_t i = 0; i < o.times; i++) {
		struct llm_answer a;
		llm_ask(l, &o.question, &a);
		print_answer(&a);
		llm_answer_done(&a);
	}
	llm_close(l);
	if (o.stop_ms)
		pthread_join(thread, NULL);
	return 0;
}
