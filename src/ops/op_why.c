#include "base/mem.h"
#include "observe/use.h"
#include "ops/all.h"
#include "ops/feedback.h"
#include "ops/hits.h"
#include "ops/param.h"
#include "ops/write.h"
#include "store/query.h"

/* why: what was given to a session, when, and what it cost. */

#define CHARS_PER_TOKEN 4
#define WHY_LIMIT 20

static int session_choose(struct op_call *call, int64_t *ret, struct err *err)
{
	const char *text = param_text(call, "session", "ref");
	int64_t project;
	if (text)
		return session_find(call, text, ret, err);
	if (call_project(call, &project, err) || query_injected_session(call->store, project, ret, err))
		return -1;
	return 0;
}

/* used: null until the session's turns were looked at. prior: what using it or not does to its rank. */
static void used_write(struct op_call *call, struct jw *out, const struct memory *m, int used)
{
	double prior = 0;
	struct err ignored;
	if (used < 0)
		jw_null(out, "used");
	else
		jw_bool(out, "used", used > 0);
	jw_array(out, "how");
	for (int i = 0; used > 0 && i < USE_KINDS; i++)
		if (used >> i & 1)
			jw_str(out, NULL, use_names[i]);
	jw_end(out, ']');
	if (m->id && !feedback_prior(call, m->id, &prior, &ignored))
		jw_real(out, "prior", prior, 3);
}

static int memories_write(struct op_call *call, struct jw *out, const struct injection *in, struct err *err)
{
	struct memory *list = ARENA_ARRAY(call->arena, struct memory, in->n + 1);
	if (in->n && store_memories(call->store, call->arena, in->memories, in->n, list, err))
		return -1;
	jw_array(out, "memories");
	for (size_t i = 0; i < in->n; i++) {
		int used = in->used ? in->used[i] : -1;
		jw_object(out, NULL);
		jw_str(out, "ref", ref_text(call->arena, REF_MEMORY, in->memories[i]));
		jw_str(out, "kind", list[i].id ? memory_kind_names[list[i].kind] : NULL);
		jw_str(out, "title", list[i].id ? memory_title(call->arena, &list[i]) : "(forgotten)");
		author_write(out, &list[i]);
		used_write(call, out, &list[i], used);
		jw_end(out, '}');
	}
	jw_end(out, ']');
	return 0;
}

static int64_t used_count(const struct injection *in)
{
	int64_t n = 0;
	for (size_t i = 0; in->used && i < in->n; i++)
		n += in->used[i] > 0;
	return n;
}

static int injections_write(struct op_call *call, struct jw *out, int64_t session, struct err *err)
{
	struct injection *list = NULL;
	size_t n = 0;
	int64_t chars = 0, given = 0, used = 0;
	if (session && store_injection_list(call->store, call->arena, session, param_size(call, "limit", WHY_LIMIT), &list, &n, err))
		return -1;
	jw_array(out, "injections");
	for (size_t i = 0; i < n; i++) {
		jw_object(out, NULL);
		jw_int(out, "at", list[i].at);
		jw_str(out, "session", ref_text(call->arena, REF_SESSION, session));
		jw_str(out, "where", list[i].where);
		jw_int(out, "chars", list[i].chars);
		jw_int(out, "tokens", list[i].chars / CHARS_PER_TOKEN);
		jw_int(out, "used", used_count(&list[i]));
		if (memories_write(call, out, &list[i], err))
			return -1;
		jw_end(out, '}');
		chars += list[i].chars;
		given += (int64_t)list[i].n;
		used += used_count(&list[i]);
	}
	jw_end(out, ']');
	jw_int(out, "given", given);
	jw_int(out, "used", used);
	jw_int(out, "chars", chars);
	jw_int(out, "tokens", chars / CHARS_PER_TOKEN);
	return 0;
}

int op_why(struct op_call *call, struct jw *out, struct err *err)
{
	struct lookup l = { .call = call };
	int64_t id = 0;
	if (session_choose(call, &id, err))
		return -1;
	const struct session *s = lookup_session(&l, id);
	jw_object(out, NULL);
	jw_str(out, "session", s ? ref_text(call->arena, REF_SESSION, id) : NULL);
	jw_str(out, "agent", s ? agent_names[s->agent] : NULL);
	jw_str(out, "agent_session", s ? s->agent_session : NULL);
	jw_str(out, "project", s ? lookup_project(&l, s->project) : NULL);
	jw_str(out, "title", s ? s->title : NULL);
	if (injections_write(call, out, id, err))
		return -1;
	jw_end(out, '}');
	return 0;
}
