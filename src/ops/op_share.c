#include "base/file.h"
#include "base/mem.h"
#include "ops/all.h"
#include "ops/hits.h"
#include "ops/param.h"
#include "ops/write.h"
#include "store/author.h"

/*
 * share: makes memories the team's, on a store that colleagues use too, or takes them back. A project is shared with what comes
 * later; what is there already follows in transactions of a page, so that no other write waits for all of it.
 */

struct sharing {
	const int64_t *ids;
	size_t n, changed;
	bool is_team;
	int64_t project;
};

static int memories_write(struct store *s, void *ctx, struct err *err)
{
	struct sharing *sh = ctx;
	size_t changed = 0;
	if (store_share(s, sh->ids, sh->n, sh->is_team, &changed, err))
		return -1;
	sh->changed += changed;
	return 0;
}

static int project_write(struct store *s, void *ctx, struct err *err)
{
	const struct sharing *sh = ctx;
	return store_project_share(s, sh->project, sh->is_team, err);
}

static int refs_share(struct op_call *call, struct sharing *sh, const char **refs, size_t n, struct err *err)
{
	int64_t *ids = ARENA_ARRAY(call->arena, int64_t, n + 1);
	for (size_t i = 0; i < n; i++) {
		struct ref ref;
		if (ref_parse(refs[i], &ref, err))
			return -1;
		if (ref.kind != REF_MEMORY) {
			err_set(err, ERR_USAGE, "only memories are shared, '%s' is none", refs[i]);
			return err_hint(err, "sessions and events stay their author's");
		}
		ids[i] = ref.id;
	}
	sh->ids = ids;
	for (size_t i = 0; i < n; i += sh->n, sh->ids += sh->n) {
		sh->n = MIN(n - i, (size_t)SHARE_PAGE);
		if (call_write(call, memories_write, sh, err))
			return -1;
	}
	return 0;
}

static int project_share(struct op_call *call, struct sharing *sh, struct err *err)
{
	int64_t after = 0, *ids;
	size_t n;
	if (call_project(call, &sh->project, err))
		return -1;
	if (!sh->project) {
		err_set(err, ERR_USAGE, "share --project speaks of one project, not of all");
		return err_hint(err, "name it: `remanence projects` lists them");
	}
	if (call_write(call, project_write, sh, err))
		return -1;
	do {
		if (store_unshared(call->store, call->arena, sh->project, sh->is_team, after, &ids, &n, err))
			return -1;
		sh->ids = ids;
		sh->n = n;
		if (n && call_write(call, memories_write, sh, err))
			return -1;
		after = n ? ids[n - 1] : after;
	} while (n == SHARE_PAGE);
	return 0;
}

int op_share(struct op_call *call, struct jw *out, struct err *err)
{
	struct lookup l = { .call = call };
	struct sharing sh = { .is_team = !param_bool(call, "private") };
	const char **refs, *project = param_text(call, "project", NULL);
	size_t n = param_list(call, "refs", "ref", &refs);
	if (!n == !project) {
		err_set(err, ERR_USAGE, n ? "share takes memories or a project, not both" : "share needs memories, or --project");
		return err_hint(err, "remanence share 12, or remanence share --project");
	}
	if (project ? project_share(call, &sh, err) : refs_share(call, &sh, refs, n, err))
		return -1;
	jw_object(out, NULL);
	jw_str(out, "visibility", sh.is_team ? "team" : "private");
	jw_int(out, "changed", (int64_t)sh.changed);
	jw_str(out, "project", lookup_project(&l, sh.project));
	jw_bool(out, "shared_store", db_is_shared(store_db(call->store)));
	jw_end(out, '}');
	return 0;
}
