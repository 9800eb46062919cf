#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "ops/all.h"
#include "ops/hits.h"
#include "ops/param.h"

/* sessions and their numbers, newest first. */

#define SESSIONS_PAGE 500
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

static bool is_on_branch(const struct session *s, const char *branch)
{
	return !branch || (s->branch && !strcmp(s->branch, branch));
}

struct page {
	const char *branch; /* NULL: any */
	size_t skip, left;
	bool has_more;
	int64_t at, id; /* of the last session written */
};

static void take(struct op_call *call, struct jw *out, struct page *p, const struct session *s)
{
	if (!is_on_branch(s, p->branch) || p->has_more)
		return;
	if (p->skip) {
		p->skip--;
		return;
	}
	if (!p->left) {
		p->has_more = true;
		return;
	}
	session_write(call, out, s);
	p->left--;
	p->at = s->last_event_at;
	p->id = s->id;
}

/* The store filters all but the branch; with one, pages are gone through. */
static int sessions_write(
	struct op_call *call, struct jw *out, struct session_query *q, struct page *p, struct err *err)
{
	struct session *list;
	size_t n;

	if (p->branch) {
		p->skip = q->skip;
		q->skip = 0;
		q->max = SESSIONS_PAGE;
	}
	do {
		if (store_session_list(call->store, call->arena, q, &list, &n, err))
			return -1;
		for (size_t i = 0; i < n; i++)
			take(call, out, p, &list[i]);
		q->skip += n;
	} while (p->branch && !p->has_more && n == q->max);
	return 0;
}

/* A cursor names the last session of a page: "<last_event_at>.<id>". */
static int cursor_read(struct op_call *call, struct session_query *q, struct err *err)
{
	const char *text = param_text(call, "cursor", NULL);
	const char *dot = text ? strchr(text, '.') : NULL;

	if (!text)
		return 0;
	if (dot && str_to_i64(arena_dup(call->arena, text, (size_t)(dot - text)), &q->below_at) &&
		str_to_i64(dot + 1, &q->below_id) && q->below_id > 0)
		return 0;
	err_set(err, ERR_USAGE, "cursor is '%.40s', which is none of this list", text);
	return err_hint(err, "send the next_cursor of the page before");
}

int op_sessions(struct op_call *call, struct jw *out, struct err *err)
{
	struct page p = { .branch = param_text(call, "branch", NULL),
		.left = param_size(call, "limit", SESSIONS_LIMIT) };
	struct session_query q = { .skip = param_size(call, "offset", 0), .max = p.left + 1 };
	int agent;
	if (call_project_named(call, &q.project, err) || param_span(call, &q.after, &q.before, err) ||
		param_name(call, "agent", agent_names, AGENT_COUNT, err, &agent) || cursor_read(call, &q, err))
		return -1;
	q.agent = agent > 0 ? (enum agent_id)agent : AGENT_NONE;
	jw_object(out, NULL);
	jw_array(out, "sessions");
	if (sessions_write(call, out, &q, &p, err))
		return -1;
	jw_end(out, ']');
	if (p.has_more && p.id)
		jw_printf(out, "next_cursor", "%lld.%lld", (long long)p.at, (long long)p.id);
	else
		jw_null(out, "next_cursor");
	jw_end(out, '}');
	return 0;
}
