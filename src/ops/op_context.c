#include "agents/agent.h"
#include "base/file.h"
#include "base/mem.h"
#include "conf/project.h"
#include "ops/all.h"
#include "ops/hits.h"
#include "ops/param.h"

/* context: exactly what a session that starts there would be given. The same code answers the hooks. */

static void context_write(struct op_call *call, struct jw *out, const struct context_result *r)
{
	struct str text = { r->text.data, r->text.len };
	jw_object(out, NULL);
	jw_str(out, "text", buf_cstr(&r->text));
	jw_int(out, "chars", (int64_t)r->chars);
	jw_int(out, "tokens", text.n ? (int64_t)text_tokens(text) : 0);
	jw_array(out, "memories");
	for (size_t i = 0; i < r->n; i++)
		jw_str(out, NULL, ref_text(call->arena, REF_MEMORY, r->memories[i]));
	jw_end(out, ']');
	jw_array(out, "sections");
	for (size_t i = 0; i < r->nsections; i++) {
		jw_object(out, NULL);
		jw_str(out, "name", r->sections[i].name);
		jw_int(out, "chars", (int64_t)r->sections[i].chars);
		jw_end(out, '}');
	}
	jw_end(out, ']');
	jw_end(out, '}');
}

int op_context(struct op_call *call, struct jw *out, struct err *err)
{
	const char *cwd = param_text(call, "cwd", NULL), *agent = param_text(call, "agent", NULL);
	struct context_request q = { .ask = ASK_START, .source = "startup" };
	struct context_result result;
	int found = -1;
	if (agent && (found = name_parse("agent", agent, agent_names, AGENT_COUNT, err)) < 0)
		return -1;
	if (cwd)
		call->cwd = path_clean(call->arena, call->cwd ? call->cwd : "/", cwd);
	q.agent = found > 0 ? (enum agent_id)found : AGENT_NONE;
	q.cwd = call->cwd;
	if (call_project(call, &q.project, err) || context_build(call, &q, &result, err))
		return -1;
	context_write(call, out, &result);
	buf_done(&result.text);
	return 0;
}
