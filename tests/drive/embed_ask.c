/*
 * embed_ask PROVIDER URL [NAME=VALUE…]: embeds the lines of standard input, all in one call, `times` times, and prints for each
 * call a line of JSON. NAME: model, key, key_file, key_command, dims, timeout_ms, times, use=1 (a question), check=1.
 */
#include <signal.h>
#include <stdio.h>

#include "base/json.h"
#include "base/mem.h"
#include "drive.h"
#include "embed/remote.h"

struct options {
	struct remote_config config;
	int times, use, check;
};

static void take_option(struct options *o, const char *arg)
{
	const struct drive_option rows[] = {
		{ "model", &o->config.model, NULL, NULL },
		{ "key", &o->config.key, NULL, NULL },
		{ "key_file", &o->config.key_file, NULL, NULL },
		{ "key_command", &o->config.key_command, NULL, NULL },
		{ "dims", NULL, (int *)&o->config.dims, NULL },
		{ "timeout_ms", NULL, &o->config.timeout_ms, NULL },
		{ "times", NULL, &o->times, NULL },
		{ "use", NULL, &o->use, NULL },
		{ "check", NULL, &o->check, NULL },
	};

	drive_take_option(rows, ARRAY_LEN(rows), arg);
}

static void print_result(const struct remote *r, const struct remote_result *result, size_t n)
{
	AUTO(buf_done) struct buf line = { 0 };
	struct jw w = { .out = &line };

	jw_object(&w, NULL);
	jw_str(&w, "id", remote_id(r));
	jw_str(&w, "outcome", call_outcome_names[result->outcome]);
	jw_str(&w, "detail", result->detail);
	jw_bool(&w, "is_too_long", result->is_too_long);
	jw_int(&w, "dims", result->dims);
	jw_int(&w, "tokens_in", result->tokens_in);
	jw_int(&w, "total_ms", result->total_ms);
	jw_int(&w, "retry_after_ms", result->retry_after_ms);
	jw_array(&w, "vectors");
	for (size_t i = 0; result->vectors && i < n; i++) {
		jw_array(&w, NULL);
		for (size_t k = 0; k < result->dims; k++)
			jw_real(&w, NULL, result->vectors[i * result->dims + k], 6);
		jw_end(&w, ']');
	}
	jw_end(&w, ']');
	jw_end(&w, '}');
	drive_print(&line);
}

static size_t read_lines(struct buf *all, struct str texts[REMOTE_BATCH_MAX])
{
	struct str rest, line;
	size_t count = 0;

	drive_read_input(all);
	rest = (struct str){ buf_cstr(all), all->len };
	while (count < REMOTE_BATCH_MAX && str_line(&rest, &line))
		texts[count++] = line;
	return count;
}

int main(int argc, char **argv)
{
	AUTO(buf_done) struct buf all = { 0 };
	struct options o = { .config = { .provider = argv[1],
				     .url = *argv[2] ? argv[2] : NULL,
				     .timeout_ms = 20000 },
		.times = 1 };
	struct str texts[REMOTE_BATCH_MAX];
	struct err err = { 0 };
	struct remote *r;

	signal(SIGPIPE, SIG_IGN);
	for (int i = 3; i < argc; i++)
		take_option(&o, argv[i]);
	if (remote_open(&o.config, &r, &err) < 0)
		return drive_print_error(&err);
	if (o.check) {
		int result = remote_check(r, &err) < 0 ? drive_print_error(&err) : 0;
		remote_close(r);
		return result;
	}
	struct remote_call call = { .texts = texts,
		.n = read_lines(&all, texts),
		.use = o.use ? REMOTE_QUESTION : REMOTE_DOCUMENT };
	for (int i = 0; i < o.times; i++) {
		struct remote_result result;
		remote_embed(r, &call, &result);
		print_result(r, &result, call.n);
		remote_result_done(&result);
	}
	remote_close(r);
	return 0;
}
