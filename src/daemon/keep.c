/* What the rounds of the keeper share: projects, bounds, and what is to be written. */
#include "daemon/keep.h"

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"

void keep_add(struct keep *k, struct keep_change change)
{
	ARENA_PUSH(k->arena, k->changes, k->n, k->cap, change);
}

bool keep_may_ask(struct keep *k)
{
	return k->calls < KEEPER_GIT_CALLS;
}

static void project_read(struct keep *k, struct keep_project *p)
{
	struct err err = { 0 };
	const char *root = NULL;
	bool is_known = false;

	if (!p->id || store_project_root(k->store, k->arena, p->id, &root, &err) || !root ||
		!file_is_dir(root))
		return;
	p->root = root;
	project_identify(k->arena, root, &p->here);
	p->has_git = p->here.common_dir != NULL;
	if (p->here.commit && store_visible(k->store, k->arena, root, p->here.commit, &is_known,
				      &p->visible, &p->nvisible, &err))
		log_debug("what has arrived in '%s' cannot be read: %s", root, err.text);
}

struct keep_project *keep_project(struct keep *k, int64_t id)
{
	for (size_t i = 0; i < k->nprojects; i++)
		if (k->projects[i]->id == id)
			return k->projects[i];
	struct keep_project *p = ARENA_NEW(k->arena, struct keep_project);
	p->id = id;
	project_read(k, p);
	ARENA_PUSH(k->arena, k->projects, k->nprojects, k->projects_cap, p);
	return p;
}

const char *keep_place(struct keep *k, const struct keep_project *p, const char *path)
{
	if (path[0] == '/')
		return path;
	return p->root ? path_join(k->arena, p->root, path) : NULL;
}

static int apply_done(struct store *s, const struct keep_change *c, int64_t now, struct err *err)
{
	return store_stale_done(s, &c->due, err);
}

static int apply_base(struct store *s, const struct keep_change *c, int64_t now, struct err *err)
{
	return store_file_base_set(s, c->memory, c->path, c->text, c->size, err);
}

static int apply_due(struct store *s, const struct keep_change *c, int64_t now, struct err *err)
{
	return store_file_state_due(s, c->project, c->path, err);
}

static int apply_state(struct store *s, const struct keep_change *c, int64_t now, struct err *err)
{
	return store_file_state_put(s, &c->state, err);
}

static int apply_suspect(struct store *s, const struct keep_change *c, int64_t now, struct err *err)
{
	return store_suspect_set(s, c->memory, c->path, c->text, now, err);
}

static int apply_branch(struct store *s, const struct keep_change *c, int64_t now, struct err *err)
{
	return store_branch_memory_put(s, &c->branch, err);
}

static int apply_unbound(struct store *s, const struct keep_change *c, int64_t now, struct err *err)
{
	return store_branch_memory_drop(s, c->memory, err);
}

static int apply_checkout(
	struct store *s, const struct keep_change *c, int64_t now, struct err *err)
{
	if (!c->checkout.head)
		return store_checkout_note(s, &c->checkout, err);
	return store_checkout_put(s, &c->checkout, c->visible, c->nvisible, err);
}

int keep_apply(struct store *s, const struct keep *k, struct err *err)
{
	static int (*const appliers[])(struct store * s, const struct keep_change *c, int64_t now,
		struct err *err) = { [KEEP_DONE] = apply_done,
		[KEEP_BASE] = apply_base,
		[KEEP_DUE] = apply_due,
		[KEEP_STATE] = apply_state,
		[KEEP_SUSPECT] = apply_suspect,
		[KEEP_BRANCH] = apply_branch,
		[KEEP_UNBOUND] = apply_unbound,
		[KEEP_CHECKOUT] = apply_checkout };

	for (size_t i = 0; i < k->n; i++)
		if (appliers[k->changes[i].kind](s, &k->changes[i], k->now, err))
			return -1;
	return 0;
}
