#include "base/clock.h"
#include "base/mem.h"
#include "ops/all.h"
#include "ops/hits.h"
#include "ops/param.h"
#include "ops/pauses.h"
#include "ops/write.h"
#include "store/query.h"

/* pause and resume: the off switch. An interval of the events' own time, so that a later import honours it too. */

#define PAUSES_SHOWN 100

struct pausing {
	struct op_call *call;
	int64_t session, project, from, until, id, ended;
	const char *project_name;
};

int pauses_write(struct op_call *call, struct jw *out, const char *key, struct err *err)
{
	struct lookup l = { .call = call };
	struct pause *list;
	size_t n;
	if (query_pauses(call->store, call->arena, clock_now(), PAUSES_SHOWN, &list, &n, err))
		return -1;
	jw_array(out, key);
	for (size_t i = 0; i < n; i++) {
		jw_object(out, NULL);
		jw_str(out, "session", list[i].session ? ref_text(call->arena, REF_SESSION, list[i].session) : NULL);
		jw_str(out, "project", list[i].project ? lookup_project(&l, list[i].project) : NULL);
		jw_int(out, "from", list[i].from);
		if (list[i].until)
			jw_int(out, "until", list[i].until);
		else
			jw_null(out, "until");
		jw_end(out, '}');
	}
	jw_end(out, ']');
	return 0;
}

static int what_read(struct pausing *p, struct err *err)
{
	const char *session = param_text(p->call, "session", NULL);
	p->project_name = param_text(p->call, "project", NULL);
	p->from = clock_now();
	return session ? session_find(p->call, session, &p->session, err) : 0;
}

/* A folder that is no project yet becomes one, so that it can be paused before its first session. */
static int project_resolve(struct store *s, struct pausing *p, struct err *err)
{
	p->project = 0;
	if (!p->project_name)
		return 0;
	return project_for_write(s, p->call->arena, p->project_name, p->call->cwd, &p->project, err);
}

static int pause_write(struct store *s, void *ctx, struct err *err)
{
	struct pausing *p = ctx;
	if (project_resolve(s, p, err))
		return -1;
	return store_pause(s, p->session, p->project, p->from, p->until, &p->id, err);
}

static int resume_write(struct store *s, void *ctx, struct err *err)
{
	struct pausing *p = ctx;
	if (project_resolve(s, p, err))
		return -1;
	return store_resume(s, p->session, p->project, p->from, &p->ended, err);
}

int op_pause(struct op_call *call, struct jw *out, struct err *err)
{
	struct pausing p = { .call = call };
	const char *span = param_text(call, "for", NULL);
	int64_t length = 0;
	if (what_read(&p, err))
		return -1;
	if (span && (!clock_parse_span(span, &length) || length <= 0)) {
		err_set(err, ERR_USAGE, "for: '%s' is no span of time", span);
		return err_hint(err, "for example 30m, 2h or 1d");
	}
	p.until = length ? p.from + length : 0;
	if (call_write(call, pause_write, &p, err))
		return -1;
	jw_object(out, NULL);
	jw_bool(out, "paused", true);
	jw_int(out, "from", p.from);
	if (p.until)
		jw_int(out, "until", p.until);
	else
		jw_null(out, "until");
	if (pauses_write(call, out, "pauses", err))
		return -1;
	jw_end(out, '}');
	return 0;
}

int op_resume(struct op_call *call, struct jw *out, struct err *err)
{
	struct pausing p = { .call = call };
	if (what_read(&p, err) || call_write(call, resume_write, &p, err))
		return -1;
	jw_object(out, NULL);
	jw_int(out, "ended", p.ended);
	if (pauses_write(call, out, "pauses", err))
		return -1;
	jw_end(out, '}');
	return 0;
}
