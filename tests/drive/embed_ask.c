/*
 * embed_ask PROVIDER URL [NAME=VALUE…]: embeds the lines of standard input, all in one call, `times` times, and prints for each
 * call a line of JSON. NAME: model, key, key_file, key_command, dims, timeout_ms, times, use=1 (a question), check=1.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "embed/remote.h"

struct options {
	struct remote_config config;
	int times, use, check;
};

static void take_option(struct options *o, const char *arg)
{
	const struct {
		const char *name;
		const char **text;
		int *number;
	} rows[] = {
		{ "model", &o->config.model, NULL },
		{ "key", &o->config.key, NULL },
		{ "key_file", &o->config.key_file, NULL },
		{ "key_command", &o->config.key_command, NULL },
		{ "dims", NULL, (int *)&o->config.dims },
		{ "timeout_ms", NULL, &o->config.timeout_ms },
		{ "times", NULL, &o->times },
		{ "use", NULL, &o->use },
		{ "check", NULL, &o->check },
	};
	const char *value = strchr(arg, '=');

	for (size_t i = 0; value && i < ARRAY_LEN(rows); i++) {
		if (strlen(rows[i].name) != (size_t)(value - arg) || !str_starts(arg, rows[i].name))
			continue;
		if (rows[i].text)
			*rows[i].text = value + 1;
		else
			*rows[i].number = atoi(value + 1);
		return;
	}
	die("there is no option '%s'", arg);
}

static void print(struct buf *line)
{
	puts(buf_cstr(line));
	fflush(stdout);
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
	print(&line);
}

static int print_error(const struct err *err)
{
	AUTO(buf_done) struct buf line = { 0 };
	struct jw w = { .out = &line };

	jw_object(&w, NULL);
	jw_str(&w, "error", err_codes[err->code].name);
	jw_str(&w, "detail", err->text);
	jw_str(&w, "hint", err->hint);
	jw_end(&w, '}');
	print(&line);
	return 1;
}

static size_t read_lines(struct buf *all, struct str texts[REMOTE_BATCH_MAX])
{
	char piece[4096];
	struct str rest, line;
	size_t count = 0;

	for (size_t n; (n = fread(piece, 1, sizeof piece, stdin)) > 0;)
		buf_add(all, piece, n);
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
		return print_error(&err);
	if (o.check) {
		int result = remote_check(r, &err) < 0 ? print_error(&err) : 0;
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
