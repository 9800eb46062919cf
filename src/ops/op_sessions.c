#include "ops/all.h"
#include "ops/cursor.h"
#include "ops/hits.h"
#include "ops/param.h"

/* sessions and their numbers, newest first. */

#define SESSIONS_LIMIT 20

static void time_write(struct jw *w, const char *key, int64_t at)
{
	if (at)
		jw_int(w, key, at);
	else
		jw_null(w, key);
}

static void session_write(struct op_call *call, struct jw *out, const struct session *s)
{
	jw_object(out, NULL);
	jw_str(out, "ref", ref_text(call->arena, REF_SESSION, s->id));
	jw_str(out, "agent", agent_names[s->agent]);
	jw_str(out, "agent_session", s->agent_session);
	jw_str(out, "project", s->project_name);
	jw_str(out, "branch", s->branch);
	jw_str(out, "title", s->title);
	jw_str(out, "model", s->model);
	jw_str(out, "cwd", s->cwd);
	jw_bool(out, "headless", s->is_headless);
	time_write(out, "started_at", s->started_at);
	time_write(out, "last_event_at", s->last_event_at);
	time_write(out, "ended_at", s->ended_at);
	jw_int(out, "events", s->events);
	jw_int(out, "memories", s->memories);
	jw_int(out, "tokens_in", s->tokens_in);
	jw_int(out, "tokens_out", s->tokens_out);
	jw_end(out, '}');
}

static int query_read(struct op_call *call, struct session_query *q, struct err *err)
{
	int agent;
	if (call_project_named(call, &q->project, err) || param_span(call, &q->after, &q->before, err) ||
		param_name(call, "agent", agent_names, AGENT_COUNT, err, &agent))
		return -1;
	q->agent = agent > 0 ? (enum agent_id)agent : AGENT_NONE;
	q->branch = param_text(call, "branch", NULL);
	q->skip = param_size(call, "offset", 0);
	return 0;
}

int op_sessions(struct op_call *call, struct jw *out, struct err *err)
{
	size_t n, limit = param_size(call, "limit", SESSIONS_LIMIT);
	struct session_query q = { .max = limit + 1 };
	struct cursor c = { .op = "sessions", .nkeys = 2 };
	struct session *list;
	if (query_read(call, &q, err))
		return -1;
	c.project = q.project;
	if (cursor_read(call, &c, err))
		return -1;
	q.behind_at = c.keys[0];
	q.behind_id = c.keys[1];
	if (store_session_list(call->store, call->arena, &q, &list, &n, err))
		return -1;
	jw_object(out, NULL);
	jw_array(out, "sessions");
	for (size_t i = 0; i < n && i < limit; i++) {
		session_write(call, out, &list[i]);
		c.keys[0] = list[i].last_event_at;
		c.keys[1] = list[i].id;
	}
	jw_end(out, ']');
	cursor_write(call, out, &c, n > limit);
	jw_end(out, '}');
	return 0;
}
