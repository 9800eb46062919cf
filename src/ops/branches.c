#include "ops/branches.h"

#include <string.h>

#include "base/mem.h"
#include "store/fact.h"
#include "store/stale.h"

bool branch_is_default(const char *name)
{
	AUTO(arena_done) struct arena a = { 0 };
	return project_branch_is_default(&a, NULL, name);
}

void branches_init(struct branches *b, struct op_call *call, int64_t project, const char *cwd,
	const char *branch)
{
	*b = (struct branches){ .call = call, .project = project, .current = branch };
	if (!cwd || cwd[0] != '/')
		return;
	project_identify(call->arena, cwd, &b->here);
	if (!b->current)
		b->current = b->here.branch;
}

/*
 * What has arrived at the head that is looked from; nothing while that is not known. The keeper
 * learns that somebody stands here.
 */
static void visible_read(struct branches *b)
{
	const struct services *s = b->call->services;
	const char *root = b->here.worktree ? b->here.worktree : b->here.root;
	bool is_known = false;
	struct err ignored;

	b->is_read = true;
	if (!b->here.common_dir || !b->here.commit || !root)
		return;
	if (store_visible(b->call->store, b->call->arena, root, b->here.commit, &is_known,
		    &b->visible, &b->n, &ignored))
		b->n = 0;
	if (!is_known && b->project && s && s->stand)
		s->stand(s->daemon, b->project, root);
}

static bool has_arrived(struct branches *b, int64_t memory)
{
	if (!b->is_read)
		visible_read(b);
	for (size_t low = 0, high = b->n; low < high;) {
		size_t middle = (low + high) / 2;
		if (b->visible[middle] == memory)
			return true;
		if (b->visible[middle] < memory)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

bool memory_is_elsewhere(struct branches *b, const struct memory *m)
{
	if (!memory_is_bound_to_branch(m) || (b->current && !strcmp(m->branch, b->current)))
		return false;
	if (project_branch_is_default(b->call->arena, b->here.common_dir, m->branch))
		return false;
	return !has_arrived(b, m->id);
}

bool fact_is_revised(struct branches *b, const struct memory *m)
{
	int64_t *ids;
	size_t n;
	struct memory *list;
	struct err ignored;

	if (m->kind != KIND_FACT || !memory_type_binds(m->type) || m->type == FACT_TODO ||
		store_fact_siblings(b->call->store, b->call->arena, m->id, &ids, &n, &ignored))
		return false;
	list = ARENA_ARRAY(b->call->arena, struct memory, n + 1);
	if (n && store_memories(b->call->store, b->call->arena, ids, n, list, &ignored))
		return false;
	for (size_t i = 0; i < n; i++)
		if (list[i].id && list[i].status == MEMORY_ACTIVE && list[i].at > m->at &&
			!memory_is_elsewhere(b, &list[i]))
			return true;
	return false;
}
