#include "base/file.h"
#include "base/mem.h"
#include "ops/all.h"
#include "ops/param.h"

/* stats: what is stored, in numbers. */

static int64_t files_in(struct op_call *call, const char *dir, const char *sub)
{
	char **names;
	size_t n = 0;
	struct err ignored;
	if (file_list(call->arena, path_join(call->arena, dir, sub), &names, &n, &ignored))
		return 0;
	return (int64_t)n;
}

static void memories_write(struct jw *out, const struct store_stats *s)
{
	int64_t all = 0;
	jw_object(out, "memories");
	for (int kind = 1; kind < MEMORY_KIND_COUNT; kind++) {
		jw_int(out, memory_kind_names[kind], s->memories[kind]);
		all += s->memories[kind];
	}
	jw_end(out, '}');
	jw_int(out, "memories_total", all);
	jw_int(out, "pending", s->pending);
}

int op_stats(struct op_call *call, struct jw *out, struct err *err)
{
	struct store_stats s = { 0 };
	struct index_stats ix = { 0 };
	int64_t project, vectors = 0, waiting = 0;
	if (call_project_named(call, &project, err) || store_stats(call->store, project, &s, err))
		return -1;
	index_stats(call->index, &ix);
	if (call->services && call->services->embedded)
		call->services->embedded(call->services->daemon, &vectors, &waiting);
	jw_object(out, NULL);
	jw_int(out, "projects", s.projects);
	jw_int(out, "sessions", s.sessions);
	jw_int(out, "turns", s.turns);
	jw_int(out, "events", s.events);
	memories_write(out, &s);
	jw_int(out, "entities", s.entities);
	jw_int(out, "vectors", vectors);
	jw_int(out, "store_bytes", s.store_bytes);
	jw_int(out, "index_bytes", (int64_t)ix.bytes);
	jw_int(out, "index_documents", (int64_t)ix.docs);
	jw_int(out, "spool_files", files_in(call, call->paths->spool, "new"));
	jw_object(out, "jobs");
	jw_int(out, "embed", waiting);
	jw_int(out, "observe", s.jobs_waiting);
	jw_int(out, "dead", s.jobs_dead);
	jw_end(out, '}');
	jw_int(out, "spool_bad", files_in(call, call->paths->spool, "bad"));
	jw_int(out, "redactions", s.redactions);
	if (s.last_event_at)
		jw_int(out, "last_event_at", s.last_event_at);
	else
		jw_null(out, "last_event_at");
	jw_end(out, '}');
	return 0;
}
