#include "ops/branches.h"

#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

#define PACKED_REFS_MAX (4u << 20)

static const char *const default_branches[] = { "main", "master", "trunk" };

bool branch_is_default(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(default_branches); i++)
		if (!strcmp(name, default_branches[i]))
			return true;
	return false;
}

void branches_init(struct branches *b, struct arena *a, const char *cwd, const char *branch)
{
	struct project_identity here = { 0 };
	*b = (struct branches){ .arena = a, .current = branch };
	if (!cwd || cwd[0] != '/')
		return;
	project_identify(a, cwd, &here);
	b->common_dir = here.common_dir;
	if (!b->current)
		b->current = here.branch;
}

static bool is_packed(struct branches *b, const char *name)
{
	AUTO(buf_done) struct buf text = { 0 };
	struct err ignored;
	if (!b->is_packed_read) {
		b->is_packed_read = true;
		if (!file_read(path_join(b->arena, b->common_dir, "packed-refs"), PACKED_REFS_MAX, &text, &ignored))
			b->packed = arena_dup(b->arena, text.data ? text.data : "", text.len);
	}
	if (!b->packed)
		return false;
	const char *line = arena_printf(b->arena, " refs/heads/%s\n", name);
	return strstr(b->packed, line) != NULL;
}

/* Gone for sure: a repository that keeps its branches in files, and none of that name. */
static bool look_up(struct branches *b, const char *name)
{
	if (!b->common_dir || strstr(name, "..") || name[0] == '/')
		return false;
	if (!file_is_dir(path_join(b->arena, b->common_dir, "refs")) ||
		file_exists(path_join(b->arena, b->common_dir, "reftable")))
		return false;
	return !file_exists(arena_printf(b->arena, "%s/refs/heads/%s", b->common_dir, name)) && !is_packed(b, name);
}

static bool is_gone(struct branches *b, const char *name)
{
	for (size_t i = 0; i < b->n; i++)
		if (!strcmp(b->seen[i].name, name))
			return b->seen[i].is_gone;
	if (b->n == BRANCHES_MAX)
		return false;
	b->seen[b->n].name = name;
	b->seen[b->n].is_gone = look_up(b, name);
	return b->seen[b->n++].is_gone;
}

static bool is_bound_to_branch(const struct memory *m)
{
	if (!m->branch || !*m->branch || m->is_pinned || m->kind == KIND_NOTE)
		return false;
	return m->type != FACT_PREFERENCE && m->type != FACT_ERROR_FIX && m->type != FACT_TOOL_PATTERN;
}

bool memory_is_elsewhere(struct branches *b, const struct memory *m)
{
	if (!is_bound_to_branch(m) || (b->current && !strcmp(m->branch, b->current)))
		return false;
	return !branch_is_default(m->branch) && !is_gone(b, m->branch);
}
