#include "ops/suspects.h"

#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"
#include "ops/branches.h"
#include "store/query.h"
#include "store/stale.h"

#define SECOND_US 1000000

static const char *project_root(struct lookup *l, int64_t id)
{
	struct lookup_root root = { .project = id };
	struct err ignored;

	for (size_t i = 0; i < l->nroots; i++)
		if (l->roots[i].project == id)
			return l->roots[i].root;
	if (!id || store_project_root(l->call->store, l->call->arena, id, &root.root, &ignored) ||
		(root.root && !file_is_dir(root.root)))
		root.root = NULL;
	ARENA_PUSH(l->call->arena, l->roots, l->nroots, l->roots_cap, root);
	return root.root;
}

/* Does the file look different from when the keeper saw it? */
static bool has_changed(const char *place, const struct file_state *f)
{
	struct stat st;

	if (stat(place, &st) || !S_ISREG(st.st_mode))
		return f->size >= 0;
	return f->size != st.st_size ||
	       f->mtime != (int64_t)st.st_mtim.tv_sec * SECOND_US + st.st_mtim.tv_nsec / 1000;
}

static bool file_has_changed(struct lookup *l, const struct file_state *f)
{
	struct lookup_file seen = { .project = f->project, .path = f->path };
	const char *root = project_root(l, f->project);

	for (size_t i = 0; i < l->nfiles; i++)
		if (l->files[i].project == f->project && !strcmp(l->files[i].path, f->path))
			return l->files[i].has_changed;
	if (!f->seen_at || (!root && f->path[0] != '/') || l->nfiles == SUSPECT_STATS_MAX)
		return false;
	seen.has_changed = has_changed(path_join(l->call->arena, root ? root : "/", f->path), f);
	if (seen.has_changed && l->call->services && l->call->services->look)
		l->call->services->look(l->call->services->daemon, f->project, f->path);
	ARENA_PUSH(l->call->arena, l->files, l->nfiles, l->files_cap, seen);
	return seen.has_changed;
}

/* The head may have moved since commits were counted. */
static void tell_keeper(struct lookup *l, int64_t project)
{
	const struct services *s = l->call->services;
	const char *root = project_root(l, project);

	if (!l->has_told && root && s && s->stand)
		s->stand(s->daemon, project, root);
	l->has_told = true;
}

/* As they were read with the memory's files, or from the store. */
static int states_find(struct lookup *l, const struct memory *m, struct files_seen *ret)
{
	struct err ignored;

	for (size_t i = 0; i < l->nseen; i++)
		if (l->seen[i].memory == m->id) {
			*ret = l->seen[i];
			ret->n = MIN(ret->n, (size_t)SUSPECT_FILES_MAX);
			return 0;
		}
	return store_memory_states(l->call->store, l->call->arena, m->id, SUSPECT_FILES_MAX,
		&ret->states, &ret->n, &ignored);
}

/*
 * The first of a memory's files that looks different, or NULL; all of them are pointed out to the
 * keeper.
 */
static const char *changed_file(struct lookup *l, const struct memory *m)
{
	const char *changed = NULL;
	struct files_seen seen;

	if (states_find(l, m, &seen))
		return NULL;
	for (size_t i = 0; i < seen.n; i++)
		if (file_has_changed(l, &seen.states[i]) && !changed)
			changed = seen.states[i].path;
	return changed;
}

const char *suspect_reason(struct lookup *l, const struct memory *m)
{
	const char *reason = NULL, *changed;
	struct err ignored;

	if (!m->id || !memory_rests_on_files(m) ||
		store_suspect(l->call->store, l->call->arena, m->id, &reason, &ignored))
		return NULL;
	/* Work of another branch is the keeper's alone to judge: its files may lie elsewhere. */
	if (memory_is_bound_to_branch(m) && !branch_is_default(m->branch))
		return reason;
	if (reason)
		tell_keeper(l, m->project);
	changed = changed_file(l, m);
	if (reason || !changed)
		return reason;
	return arena_printf(
		l->call->arena, "%s changed since, not compared yet", path_base(changed));
}
