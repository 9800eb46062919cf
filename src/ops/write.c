#include "ops/write.h"

#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "conf/project.h"
#include "observe/clean.h"

int call_write(struct op_call *call, int (*fn)(struct store *s, void *ctx, struct err *err), void *ctx, struct err *err)
{
	const struct services *v = call->services;
	if (!v || !v->write)
		return err_set(err, ERR_INTERNAL, "this door cannot write");
	return v->write(v->daemon, fn, ctx, err);
}

static int project_of_path(struct store *s, struct arena *a, const char *path, int64_t *ret, struct err *err)
{
	struct project_identity p;
	project_identify(a, path, &p);
	return store_project_resolve(s, &p, ret, err);
}

int project_for_write(struct store *s, struct arena *a, const char *name, const char *cwd, int64_t *ret, struct err *err)
{
	*ret = 0;
	if (!name || !*name)
		return cwd && cwd[0] == '/' ? project_of_path(s, a, cwd, ret, err) : 0;
	if (str_ieq(name, "all"))
		return 0;
	if (store_project_find(s, name, ret, err))
		return -1;
	if (*ret)
		return 0;
	if (strchr(name, '/') || !strcmp(name, "."))
		return project_of_path(s, a, path_clean(a, cwd ? cwd : "/", name), ret, err);
	return store_project_create(s, name, ret, err);
}

int text_for_write(struct op_call *call, const char *text, const char **ret, uint64_t *redactions, struct err *err)
{
	struct redactor *redactor;
	if (redactor_new(settings_list(call->settings, SET_REDACT_PATTERNS), &redactor, err))
		return -1;
	struct str cleaned = clean_text(call->arena, redactor, str_of(text), redactions);
	cleaned = str_trim(cleaned);
	*ret = arena_dup(call->arena, cleaned.p, cleaned.n);
	redactor_free(redactor);
	return 0;
}

int session_find(struct op_call *call, const char *text, int64_t *ret, struct err *err)
{
	struct ref ref;
	struct err ignored;
	struct session s;
	int64_t id = 0;
	if (store_session_find(call->store, AGENT_NONE, text, &id, err))
		return -1;
	if (!id && !ref_parse(text, &ref, &ignored) && (ref.kind == REF_SESSION || ref.kind == REF_MEMORY))
		id = ref.id;
	if (!id || store_session_get(call->store, call->arena, id, &s, &ignored)) {
		err_set(err, ERR_NOT_FOUND, "there is no session '%.80s'", text);
		return err_hint(err, "`remanence sessions` lists them");
	}
	*ret = id;
	return 0;
}
