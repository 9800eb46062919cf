#include "daemon/api.h"

#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "daemon/daemon.h"
#include "ops/ops.h"
#include "spec/spec.h"

#define STATUS_OK 200

/* Reads that look at the whole store. */
static const char *const long_reads[] = { "backup", "blame", "doctor", "export", "restore", "scan",
	"stats" };

bool api_lasts(const char *name)
{
	const struct op_spec *spec = op_spec_find(name);
	if (!spec)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(long_reads); i++)
		if (!strcmp(spec->name, long_reads[i]))
			return true;
	return spec->flags & (OP_WRITES | OP_STREAMS);
}

bool api_changes(const char *name)
{
	const struct op_spec *spec = op_spec_find(name);

	return spec && (spec->flags & OP_WRITES || !strcmp(spec->name, "stop"));
}

/* Name files of the daemon's machine, or change how it runs. */
static const char *const near_only[] = { "backup", "config", "import", "restore", "stop" };

bool api_is_near(const char *name)
{
	const struct op_spec *spec = op_spec_find(name);

	for (size_t i = 0; spec && i < ARRAY_LEN(near_only); i++)
		if (!strcmp(spec->name, near_only[i]))
			return true;
	return false;
}

/* The operation behind a name. */
static int find(const char *name, const struct op_spec **ret_spec, op_fn **ret_run, struct err *err)
{
	const struct op_spec *spec = op_spec_find(name);
	op_fn *run = spec && !(spec->flags & OP_LOCAL) ? op_find(spec->name) : NULL;
	if (run) {
		*ret_spec = spec;
		*ret_run = run;
		return 0;
	}
	const char *near = spec ? NULL : op_spec_nearest(name);
	err_set(err, ERR_NOT_FOUND, "there is no operation '%.64s'%s", name,
		spec ? " of the daemon" : "");
	return near ? err_hint(err, "did you mean '%s'?", near) : -1;
}

static int object_read(const struct api_request *q, json **ret, struct err *err)
{
	const char *body = q->body_len ? q->body : "{}";
	if (json_parse(body, q->body_len ? q->body_len : strlen(body), ret, err))
		return err_prefix(err, "the request is not JSON");
	if (json_type(*ret) != JSON_OBJECT)
		return err_set(err, ERR_USAGE, "the request is not a JSON object");
	return 0;
}

/* Parses and checks the parameters; *ret is theirs in normal form. */
static int params_read(
	const struct op_spec *spec, const struct api_request *q, json **ret, struct err *err)
{
	AUTO(json_free_ptr) json *given = NULL;
	AUTO(buf_done) struct buf normal = { 0 };
	if (object_read(q, &given, err) || op_params_check(spec, given, &normal, err))
		return -1;
	return json_parse(buf_cstr(&normal), normal.len, ret, err);
}

/* What is to run, and its parameters. */
static int prepare(const struct api_request *q, op_fn **ret, json **ret_params, struct err *err)
{
	const struct op_spec *spec = NULL;
	if (q->op) {
		*ret = q->op;
		return object_read(q, ret_params, err);
	}
	return find(q->name, &spec, ret, err) ? -1 : params_read(spec, q, ret_params, err);
}

/* What an operation is given to speak with its door. */
struct door {
	const struct api_request *request;
};

static int door_progress(struct op_call *call, const char *line)
{
	const struct door *door = call->door;
	return door->request->progress(door->request->door, line);
}

static int run(struct daemon *d, const struct api_request *q, struct reader *reader,
	struct buf *out, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	AUTO(json_free_ptr) json *params = NULL;
	op_fn *op = NULL;
	struct door door = { q };
	struct jw w = { .out = out };
	if (prepare(q, &op, &params, err))
		return -1;
	struct op_call call = {
		.arena = &a,
		.store = reader->store,
		.index = follow_index(d->follow),
		.settings = current_settings(d->current),
		.paths = &d->paths,
		.services = &d->services,
		.analyser = reader->analyser,
		.params = params,
		.cwd = q->cwd,
		.is_agent = q->is_agent,
		.started_us = q->started_us,
		.progress = q->progress ? door_progress : NULL,
		.door = &door,
	};
	return op(&call, &w, err);
}

void api_run(struct daemon *d, const struct api_request *q, struct buf *out, int *ret_status)
{
	struct err err = { 0 };
	struct reader *reader = NULL;
	out->max = API_REPLY_MAX;
	int failed = readers_lend(d->readers, &reader, &err);
	if (!failed)
		failed = run(d, q, reader, out, &err);
	readers_return(d->readers, reader);
	if (!failed && out->is_full)
		failed = err_set(&err, ERR_TOO_LARGE, "the reply exceeds %u MB; ask for less",
			API_REPLY_MAX >> 20);
	*ret_status = failed ? q->say(&err, 0, out) : STATUS_OK;
	if (failed && err.code >= ERR_STORE)
		log_warn("%s: %s", q->name, err.text);
}
