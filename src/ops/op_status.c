#include "base/clock.h"
#include "base/mem.h"
#include "ops/all.h"
#include "ops/hits.h"
#include "ops/pauses.h"
#include "store/author.h"
#include "store/job.h"

#define SHARED_SHOWN_MAX 1000

/* status: the daemon, and whether capturing is paused. stop: ask it to leave. reindex: build the index anew. */

static int jobs_write(struct op_call *call, struct jw *out, struct err *err)
{
	int64_t counts[JOB_STATE_COUNT];
	if (!call->store || store_job_counts(call->store, JOB_NONE, counts, err))
		return call->store ? -1 : 0;
	jw_object(out, "jobs");
	for (int i = 0; i < JOB_STATE_COUNT; i++)
		jw_int(out, job_state_names[i], counts[i]);
	jw_end(out, '}');
	return 0;
}

/* How many people's the store is, and what the author shares of each project without being asked. */
static int shared_write(struct op_call *call, struct jw *out, struct err *err)
{
	const char **names;
	size_t n;
	int64_t authors;
	if (!call->store)
		return 0;
	if (store_authors(call->store, &authors, err) || store_projects_shared(call->store, call->arena, SHARED_SHOWN_MAX, &names, &n, err))
		return -1;
	jw_int(out, "authors", authors);
	jw_array(out, "shared_projects");
	for (size_t i = 0; i < n; i++)
		jw_str(out, NULL, names[i]);
	jw_end(out, ']');
	return 0;
}

int op_status(struct op_call *call, struct jw *out, struct err *err)
{
	const struct services *v = call->services;
	jw_object(out, NULL);
	if (v && v->status)
		v->status(v->daemon, out);
	if (shared_write(call, out, err) || jobs_write(call, out, err) || pauses_write(call, out, "paused", err))
		return -1;
	jw_end(out, '}');
	return 0;
}

int op_stop(struct op_call *call, struct jw *out, struct err *err)
{
	const struct services *v = call->services;
	if (!v || !v->stop)
		return err_set(err, ERR_INTERNAL, "this door cannot stop the daemon");
	if (v->stop(v->daemon, err))
		return -1;
	jw_object(out, NULL);
	jw_bool(out, "stopping", true);
	jw_end(out, '}');
	return 0;
}

int op_reindex(struct op_call *call, struct jw *out, struct err *err)
{
	const struct services *v = call->services;
	struct index_stats s = { 0 };
	if (!v || !v->index_purge)
		return err_set(err, ERR_INTERNAL, "this door has no index to rebuild");
	if (v->index_purge(v->daemon, true, err))
		return -1;
	index_stats(call->index, &s);
	jw_object(out, NULL);
	jw_int(out, "documents", (int64_t)s.docs);
	jw_int(out, "bytes", (int64_t)s.bytes);
	jw_real(out, "took_ms", (double)(clock_mono_us() - call->started_us) / 1000.0, 3);
	jw_end(out, '}');
	return 0;
}
