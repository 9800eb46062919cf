/*
 * What files were and are. A memory's file is known as it was when its time of change is not after
 * the memory; otherwise git tells it: the content of the first commit since that touches it for
 * work that changed the file (people and agents edit first and commit later), that of the last
 * commit before for work that read it. What neither tells stays unknown and is never held against
 * the memory; only that a file is gone is.
 */
#include "daemon/keep.h"

#include <string.h>
#include <sys/stat.h>

#include "base/blob_id.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

#define SLACK_MS 2000  /* a turn's last edit may be written a little later than it is told */
#define SECOND_MS 1000 /* commit times are whole seconds */
#define LOG_MAX 200    /* commits of one file */
#define RENAMES_MAX 3  /* followed one after another */
#define MS_US 1000

static int64_t mtime_us(const struct stat *st)
{
	return (int64_t)st->st_mtim.tv_sec * 1000000 + st->st_mtim.tv_nsec / 1000;
}

/* --- New memories. --- */

static void base_take(struct keep *k, const struct keep_project *p, const struct memory *m,
	const struct memory_file *f)
{
	const char *place = keep_place(k, p, f->path);
	struct stat st;
	char hash[BLOB_ID_SIZE] = "";

	if (!place || stat(place, &st) || !S_ISREG(st.st_mode) ||
		mtime_us(&st) > (m->at + SLACK_MS) * MS_US)
		return;
	if (st.st_size <= KEEPER_HASH_MAX && blob_id_file(place, KEEPER_HASH_MAX, hash, NULL))
		return;
	keep_add(k, (struct keep_change){ .kind = KEEP_BASE,
			    .memory = m->id,
			    .path = f->path,
			    .text = *hash ? arena_str(k->arena, hash) : NULL,
			    .size = st.st_size });
}

/*
 * The work tree that a session stood in, when it is one of the project's; else the project's own,
 * where that is on the same branch as the memory.
 */
static struct keep_project session_place(
	struct keep *k, struct keep_project *p, const struct memory *m, const char *cwd)
{
	struct keep_project place = *p;

	if (m->branch && p->here.branch && strcmp(m->branch, p->here.branch))
		place.root = NULL;
	if (!cwd || !file_is_dir(cwd))
		return place;
	struct project_identity here = { 0 };
	project_identify(k->arena, cwd, &here);
	const char *root = here.worktree ? here.worktree : here.root;
	if (!here.common_dir || !root)
		return place;
	keep_add(k, (struct keep_change){
			    .kind = KEEP_CHECKOUT, .checkout = { p->id, root, NULL, k->now } });
	if (here.worktree)
		place.root = root;
	return place;
}

static bool is_on_default_branch(const struct keep_project *p, const char *branch)
{
	AUTO(arena_done) struct arena a = { 0 };
	return project_branch_is_default(&a, p->here.common_dir, branch);
}

static int memory_take(struct keep *k, const struct stale_due *due, struct err *err)
{
	struct memory m;
	const char *cwd = NULL;
	struct err why = { 0 };

	keep_add(k, (struct keep_change){ .kind = KEEP_DONE, .due = *due });
	if (store_memory_get(k->store, k->arena, due->memory, &m, &why)) {
		if (why.code == ERR_NOT_FOUND)
			return 0;
		*err = why;
		return -1;
	}
	if (m.session && store_session_cwd(k->store, k->arena, m.session, &cwd, err))
		return -1;
	struct keep_project *p = keep_project(k, m.project);
	struct keep_project place = session_place(k, p, &m, cwd);
	for (size_t i = 0; i < m.nfiles && memory_rests_on_files(&m); i++) {
		if (m.files[i].size < 0)
			base_take(k, &place, &m, &m.files[i]);
		keep_add(k,
			(struct keep_change){
				.kind = KEEP_DUE, .project = m.project, .path = m.files[i].path });
	}
	if (!memory_is_bound_to_branch(&m) || is_on_default_branch(p, m.branch)) {
		keep_add(k, (struct keep_change){ .kind = KEEP_UNBOUND, .memory = m.id });
		return 0;
	}
	p->has_new_branch = true;
	keep_add(k, (struct keep_change){ .kind = KEEP_BRANCH,
			    .branch = { .memory = m.id,
				    .project = m.project,
				    .branch = m.branch,
				    .landed = m.commit } });
	return 0;
}

int keep_memories(struct keep *k, const struct stale_due *due, size_t n, struct err *err)
{
	for (size_t i = 0; i < n; i++)
		if (memory_take(k, &due[i], err))
			return -1;
	return 0;
}

/* --- Files as they are now. --- */

struct look {
	struct keep *k;
	struct keep_project *project;
	struct file_state now;
	struct git_log log;
	bool is_log_read, is_rename_read;
	const char *renamed;
};

static void log_read(struct look *l)
{
	const char *paths[] = { l->now.path };
	struct git_log_query q = {
		.root = l->project->root, .paths = paths, .npaths = 1, .max = LOG_MAX
	};
	struct err ignored;

	if (l->is_log_read)
		return;
	l->is_log_read = true;
	l->k->calls++;
	if (l->project->has_git && l->now.path[0] != '/')
		git_log(l->k->arena, &q, &l->log, &ignored);
}

static const char *renamed_in(struct look *l, const char *path)
{
	const char *paths[] = { path };
	struct git_log_query q = { .root = l->project->root,
		.paths = paths,
		.npaths = 1,
		.max = 1,
		.only_deletions = true };
	struct git_log log;
	struct err ignored;

	l->k->calls += 2;
	if (git_log(l->k->arena, &q, &log, &ignored) || !log.n)
		return NULL;
	q = (struct git_log_query){ .root = l->project->root,
		.rev = log.commits[0].hash,
		.max = 1,
		.finds_renames = true };
	if (git_log(l->k->arena, &q, &log, &ignored))
		return NULL;
	for (size_t i = 0; i < log.nchanges; i++)
		if (log.changes[i].renamed && !strcmp(log.changes[i].path, path))
			return log.changes[i].renamed;
	return NULL;
}

/* Where the file went, as far as it is committed. */
static void rename_read(struct look *l)
{
	const char *path = l->now.path;

	l->is_rename_read = true;
	if (!l->project->has_git || path[0] == '/')
		return;
	for (int i = 0; i < RENAMES_MAX; i++) {
		const char *next = renamed_in(l, path);
		if (!next)
			return;
		l->renamed = path = next;
		if (file_exists(path_join(l->k->arena, l->project->root, next)))
			return;
	}
}

static const char *gone_reason(struct look *l)
{
	const char *name = path_base(l->now.path);

	if (!l->is_rename_read)
		rename_read(l);
	if (l->renamed)
		return arena_printf(l->k->arena, "%s" STALE_RENAMED "%s", name, l->renamed);
	return arena_printf(l->k->arena, "%s is gone", name);
}

static bool is_none(const char *blob)
{
	return strspn(blob, "0") == strlen(blob);
}

/* What the file was for a memory that does not know it. */
static const char *base_from_log(struct look *l, const struct file_base *b)
{
	const char *found = NULL;

	log_read(l);
	for (size_t i = 0; i < l->log.nchanges; i++) {
		const struct git_change *c = &l->log.changes[i];
		int64_t at = l->log.commits[c->commit].at;
		if (b->role == ROLE_MODIFIED && at >= b->from - SECOND_MS)
			found = c->blob;
		else if (b->role != ROLE_MODIFIED && at <= b->at && !found)
			found = c->blob;
	}
	return found && !is_none(found) ? found : NULL;
}

static const char *changed_reason(struct look *l, const struct file_base *b, const char *hash)
{
	const char *name = path_base(l->now.path);
	size_t n = 0;

	log_read(l);
	for (size_t i = 0; i < l->log.nchanges; i++) {
		const struct git_change *c = &l->log.changes[i];
		if (hash && !strcmp(c->blob, hash))
			break;
		if (l->log.commits[c->commit].at <= b->at)
			break;
		n++;
	}
	if (n)
		return arena_printf(l->k->arena, "%s changed in %zu commit%s since", name, n,
			n == 1 ? "" : "s");
	return arena_printf(
		l->k->arena, "%s changed since%s", name, l->log.n ? ", not committed" : "");
}

static bool id_is_in(const int64_t *list, size_t n, int64_t id)
{
	for (size_t low = 0, high = n; low < high;) {
		size_t middle = (low + high) / 2;
		if (list[middle] == id)
			return true;
		if (list[middle] < id)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

/* Work of another branch is compared with the files only where it has arrived. */
static bool is_here(const struct keep_project *p, const struct file_base *b)
{
	if (!b->branch || (p->here.branch && !strcmp(p->here.branch, b->branch)))
		return true;
	return id_is_in(p->visible, p->nvisible, b->memory);
}

/* Why this memory is suspect now; NULL when nothing speaks against it. */
static const char *judge(struct look *l, const struct file_base *b)
{
	const struct memory m = { .kind = b->kind, .type = b->type };
	const char *hash = b->hash;

	if (!memory_rests_on_files(&m) || !is_here(l->project, b))
		return NULL;
	/* Told on another machine, perhaps: a folder that was never seen says nothing. */
	if (l->now.size < 0 && !hash && b->size < 0 && l->now.path[0] == '/' &&
		!file_is_dir(path_parent(l->k->arena, l->now.path)))
		return NULL;
	if (l->now.size < 0)
		return gone_reason(l);
	if (!hash && b->size >= 0)
		return b->size == l->now.size ? NULL : changed_reason(l, b, NULL);
	if (!hash) {
		hash = base_from_log(l, b);
		if (!hash)
			return NULL;
		keep_add(l->k, (struct keep_change){ .kind = KEEP_BASE,
				       .memory = b->memory,
				       .path = l->now.path,
				       .text = hash,
				       .size = -1 });
	}
	if (!l->now.hash)
		return b->size < 0 || b->size == l->now.size ? NULL : changed_reason(l, b, hash);
	return strcmp(hash, l->now.hash) ? changed_reason(l, b, hash) : NULL;
}

static bool is_same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static int judge_all(struct look *l, struct err *err)
{
	struct file_base *bases;
	size_t n;

	if (store_file_bases(l->k->store, l->k->arena, l->now.project, l->now.path,
		    KEEPER_FILE_MEMORIES, &bases, &n, err))
		return -1;
	for (size_t i = 0; i < n; i++) {
		const char *reason = judge(l, &bases[i]);
		if (!is_same(reason, bases[i].reason))
			keep_add(l->k, (struct keep_change){ .kind = KEEP_SUSPECT,
					       .memory = bases[i].memory,
					       .path = l->now.path,
					       .text = reason });
	}
	return 0;
}

static void look_at(struct look *l, const char *place, const struct file_state *before)
{
	struct stat st;
	char hash[BLOB_ID_SIZE];

	l->now.size = -1;
	if (stat(place, &st) || !S_ISREG(st.st_mode))
		return;
	l->now.size = st.st_size;
	l->now.mtime = mtime_us(&st);
	if (before->hash && before->size == l->now.size && before->mtime == l->now.mtime)
		l->now.hash = before->hash;
	else if (st.st_size <= KEEPER_HASH_MAX && !blob_id_file(place, KEEPER_HASH_MAX, hash, NULL))
		l->now.hash = arena_str(l->k->arena, hash);
}

int keep_file(struct keep *k, const struct file_state *before, bool is_forced, struct err *err)
{
	struct look l = { .k = k, .project = keep_project(k, before->project) };
	const char *place = keep_place(k, l.project, before->path);

	l.now = (struct file_state){
		.project = before->project, .path = before->path, .seen_at = k->now, .size = -1
	};
	if (!keep_may_ask(k)) {
		k->is_unfinished = true;
		return 0;
	}
	if (place)
		look_at(&l, place, before);
	bool is_changed = l.now.size != before->size || l.now.mtime != before->mtime;
	if (place && (is_changed || is_forced) && judge_all(&l, err))
		return -1;
	keep_add(k, (struct keep_change){ .kind = KEEP_STATE, .state = l.now });
	return 0;
}
