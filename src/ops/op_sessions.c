#include <string.h>

#include "base/mem.h"
#include "ops/all.h"
#include "ops/hits.h"
#include "ops/param.h"

/* sessions and their numbers, newest first. */

#define SESSIONS_PAGE 500

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

static bool is_on_branch(const struct session *s, const char *branch)
{
	return !branch || (s->branch && !strcmp(s->branch, branch));
}

/* The store filters all but the branch; with one, pages are gone through. */
static int sessions_write(struct op_call *call, struct jw *out, struct session_query *q, const char *branch, struct err *err)
{
	size_t skip = q->skip, left = q->max, n;
	struct session *list;
	if (branch) {
		q->skip = 0;
		q->max = SESSIONS_PAGE;
	}
	do {
		if (store_session_list(call->store, call->arena, q, &list, &n, err))
			return -1;
		for (size_t i = 0; i < n && left; i++) {
			if (!is_on_branch(&list[i], branch))
				continue;
			if (branch && skip) {
				skip--;
				continue;
			}
			session_write(call, out, &list[i]);
			left--;
		}
		q->skip += n;
	} while (branch && left && n == q->max);
	return 0;
}

int op_sessions(struct op_call *call, struct jw *out, struct err *err)
{
	struct session_query q = { .skip = param_size(call, "offset", 0), .max = param_size(call, "limit", 20) };
	int agent;
	if (call_project_named(call, &q.project, err) || param_span(call, &q.after, &q.before, err) ||
		param_name(call, "agent", agent_names, AGENT_COUNT, err, &agent))
		return -1;
	q.agent = agent > 0 ? (enum agent_id)agent : AGENT_NONE;
	jw_object(out, NULL);
	jw_array(out, "sessions");
	if (sessions_write(call, out, &q, param_text(call, "branch", NULL), err))
		return -1;
	jw_end(out, ']');
	jw_end(out, '}');
	return 0;
}
