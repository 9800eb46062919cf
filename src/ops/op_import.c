#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "ops/all.h"
#include "ops/param.h"

/* import: reads transcripts to their end. The daemon does the work; here it is asked and told. */

static const char *const *paths_read(struct op_call *call, size_t *ret_n)
{
	const char **paths;
	*ret_n = param_list(call, "paths", "path", &paths);
	for (size_t i = 0; i < *ret_n; i++)
		paths[i] = path_clean(call->arena, call->cwd ? call->cwd : "/", paths[i]);
	return paths;
}

static void result_write(struct op_call *call, struct jw *out, const struct import_request *q, const struct import_result *r)
{
	jw_object(out, NULL);
	jw_int(out, "files", r->files);
	jw_int(out, "sessions", r->sessions);
	jw_int(out, "events", r->events);
	jw_int(out, "new_events", r->new_events);
	jw_int(out, "memories", r->memories);
	jw_int(out, "bytes", (int64_t)r->bytes);
	jw_int(out, "files_left", r->files_left);
	jw_bool(out, "dry_run", q->is_dry);
	jw_object(out, "agents");
	for (int i = 1; i < AGENT_COUNT; i++)
		if (r->agent_sessions[i])
			jw_int(out, agent_names[i], r->agent_sessions[i]);
	jw_end(out, '}');
	jw_array(out, "skipped");
	for (size_t i = 0; i < r->nskipped; i++) {
		jw_object(out, NULL);
		jw_str(out, "path", r->skipped[i].path);
		jw_str(out, "reason", r->skipped[i].reason);
		jw_end(out, '}');
	}
	jw_end(out, ']');
	jw_real(out, "took_ms", (double)(clock_mono_us() - call->started_us) / 1000.0, 3);
	jw_end(out, '}');
}

int op_import(struct op_call *call, struct jw *out, struct err *err)
{
	const struct services *v = call->services;
	struct import_request q = { .is_dry = param_bool(call, "dry_run") };
	struct import_result r = { 0 };
	int agent;
	q.paths = paths_read(call, &q.n);
	if (param_time(call, "since", false, &q.since, err) || param_name(call, "agent", agent_names, AGENT_COUNT, err, &agent))
		return -1;
	const char *patience = param_text(call, "patience", NULL);
	if (patience && !clock_parse_span(patience, &q.patience_ms))
		return err_set(err, ERR_USAGE, "'%s' is no span of time for patience: say 50s or 2m", patience);
	q.agent = agent > 0 ? (enum agent_id)agent : AGENT_NONE;
	if (!v || !v->import)
		return err_set(err, ERR_INTERNAL, "this door cannot import");
	if (v->import(v->daemon, call, &q, &r, err))
		return -1;
	result_write(call, out, &q, &r);
	return 0;
}
