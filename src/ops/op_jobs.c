#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "ops/all.h"
#include "ops/cursor.h"
#include "ops/hits.h"
#include "ops/param.h"
#include "ops/write.h"
#include "store/job.h"

/* jobs: what waits for a model, what runs, what was given up and why; trying again and dropping. */

#define JOBS_LIMIT 50
#define REF_MAX 24

static const char *job_ref(struct op_call *call, int64_t id)
{
	return arena_printf(call->arena, "j%lld", (long long)id);
}

static void job_write(struct lookup *l, struct jw *w, const struct job *j)
{
	struct arena *a = l->call->arena;
	const struct session *s = lookup_session(l, j->session);
	jw_object(w, NULL);
	jw_str(w, "ref", job_ref(l->call, j->id));
	jw_str(w, "kind", job_kind_names[j->kind]);
	jw_str(w, "state", job_state_names[j->state]);
	jw_int(w, "attempts", j->attempts);
	jw_str(w, "last_error", j->last_error);
	jw_str(w, "key", j->key);
	jw_str(w, "session", s ? ref_text(a, REF_SESSION, s->id) : NULL);
	jw_str(w, "title", s ? s->title : NULL);
	jw_str(w, "project", lookup_project(l, j->project));
	jw_int(w, "at", j->at);
	jw_int(w, "bytes", j->bytes);
	if (j->state == JOB_STATE_WAITING && j->run_after)
		jw_int(w, "run_after", j->run_after);
	jw_end(w, '}');
}

static void counts_write(struct jw *w, const int64_t counts[JOB_STATE_COUNT])
{
	jw_object(w, "counts");
	for (int i = 0; i < JOB_STATE_COUNT; i++)
		jw_int(w, job_state_names[i], counts[i]);
	jw_end(w, '}');
}

static int list_write(struct op_call *call, struct jw *out, struct err *err)
{
	struct lookup l = { .call = call };
	size_t limit = param_size(call, "limit", JOBS_LIMIT);
	struct job_query q = { .max = limit + 1 };
	struct cursor c = { .op = "jobs", .nkeys = 1 };
	int64_t counts[JOB_STATE_COUNT];
	struct job *jobs;
	size_t n;
	if (param_name(call, "kind", job_kind_names, JOB_TRIAL, err, &q.kind) ||
		param_name(call, "state", job_state_names, JOB_STATE_COUNT, err, &q.state) ||
		call_project_named(call, &q.project, err))
		return -1;
	if (param_bool(call, "dead"))
		q.state = JOB_STATE_DEAD;
	q.is_open = q.state < 0;
	c.project = q.project;
	if (cursor_read(call, &c, err))
		return -1;
	q.below = c.keys[0];
	if (store_job_list(call->store, call->arena, &q, &jobs, &n, err) ||
		store_job_counts(call->store, JOB_NONE, counts, err))
		return -1;
	jw_object(out, NULL);
	jw_array(out, "jobs");
	for (size_t i = 0; i < n && i < limit; i++) {
		job_write(&l, out, &jobs[i]);
		c.keys[0] = jobs[i].id;
	}
	jw_end(out, ']');
	cursor_write(call, out, &c, n > limit);
	counts_write(out, counts);
	jw_end(out, '}');
	return 0;
}

struct job_change {
	int64_t id; /* 0: all */
	bool is_drop;
	int64_t n;
};

static int change_run(struct store *s, void *ctx, struct err *err)
{
	struct job_change *c = ctx;
	AUTO(arena_done) struct arena a = { 0 };
	struct job job;
	if (c->id && store_job_get(s, &a, c->id, &job, err))
		return -1;
	if (!c->is_drop)
		return store_job_retry(s, c->id, &c->n, err);
	c->n = 1;
	return store_job_drop(s, c->id, err);
}

/* "j12", "12" or, for retry, "all". */
static int change_read(struct op_call *call, const char *action, struct job_change *ret, struct err *err)
{
	const char *ref = param_text(call, "ref", NULL);
	char *end = NULL;
	ret->is_drop = !strcmp(action, "drop");
	if (ref && !ret->is_drop && str_ieq(ref, "all"))
		return 0;
	const char *number = ref && (*ref == 'j' || *ref == 'J') ? ref + 1 : ref;
	ret->id = number && *number >= '0' && *number <= '9' ? strtoll(number, &end, 10) : 0;
	if (ret->id > 0 && end && !*end)
		return 0;
	if (ref)
		err_set(err, ERR_USAGE, "'%.40s' is no job", ref);
	else
		err_set(err, ERR_USAGE, "jobs %s needs to know which job", action);
	return err_hint(err, "remanence jobs %s j12%s; `remanence jobs` lists them", action, ret->is_drop ? "" : ", or all");
}

int op_jobs(struct op_call *call, struct jw *out, struct err *err)
{
	const struct services *v = call->services;
	const char *action = param_text(call, "action", NULL);
	struct job_change c = { 0 };
	if (!action || !strcmp(action, "list"))
		return list_write(call, out, err);
	if (change_read(call, action, &c, err) || call_write(call, change_run, &c, err))
		return -1;
	if (v && v->model_wake)
		v->model_wake(v->daemon, false);
	jw_object(out, NULL);
	jw_int(out, c.is_drop ? "dropped" : "waiting_again", c.n);
	jw_str(out, "ref", c.id ? job_ref(call, c.id) : NULL);
	jw_end(out, '}');
	return 0;
}
