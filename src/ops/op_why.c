#include "base/mem.h"
#include "ops/all.h"
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

static int memories_write(struct op_call *call, struct jw *out, const struct injection *in, struct err *err)
{
	struct memory *list = ARENA_ARRAY(call->arena, struct memory, in->n + 1);
	if (in->n && store_memories(call->store, call->arena, in->memories, in->n, list, err))
		return -1;
	jw_array(out, "memories");
	for (size_t i = 0; i < in->n; i++) {
		jw_object(out, NULL);
		jw_str(out, "ref", ref_text(call->arena, REF_MEMORY, in->memories[i]));
		jw_str(out, "kind", list[i].id ? memory_kind_names[list[i].kind] : NULL);
		jw_str(out, "title", list[i].id ? memory_title(call->arena, &list[i]) : "(forgotten)");
		jw_end(out, '}');
	}
	jw_end(out, ']');
	return 0;
}

static int injections_write(struct op_call *call, struct jw *out, int64_t session, struct err *err)
{
	struct injection *list = NULL;
	size_t n = 0;
	int64_t chars = 0;
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
		if (memories_write(call, out, &list[i], err))
			return -1;
		jw_end(out, '}');
		chars += list[i].chars;
	}
	jw_end(out, ']');
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
