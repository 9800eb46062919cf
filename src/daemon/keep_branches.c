/*
 * Where the work of branches has arrived. Its landing is the first later commit on its branch that
 * touches its files; it has arrived at a head that the landing is an ancestor of. After a squash
 * or a rebase the landing is not: then the work has arrived when the files' contents have, those
 * that the memory knew or those at the branch's last known tip. A branch that is gone, of which
 * neither is known (history that was imported), counts as arrived when the head has a commit that
 * touches the files changed within GONE_DAYS. Everything else stays on its branch.
 */
#include "daemon/keep.h"

#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "store/query.h"

#define SECOND_MS 1000 /* commit times are whole seconds */
#define DAY_MS 86400000ll
#define GONE_DAYS 30
#define BESIDE_MS 600000 /* between a sentence and the work that it was told with */
#define HEAD_COMMITS 5000
#define BRANCH_COMMITS 1000
#define BRANCHES 24    /* asked about in one round, those worked on last */
#define TREE_PATHS 256 /* whose contents at a head are asked for */
#define TREE_BYTES (1u << 20)
#define BLOB_HEX 40

struct tree {
	struct {
		const char *path, *blob;
	} files[TREE_PATHS];
	size_t n;
};

struct known_branch {
	const char *name, *ref; /* ref NULL: it is gone */
	const char *tip;        /* also of one that is gone: as last seen */
	struct git_log log;
	struct tree *tree; /* at its tip; NULL: not asked yet */
};

struct bound {
	struct branch_memory row;
	struct memory_file *files;
	size_t nfiles;
	struct known_branch *branch;
};

struct arrival {
	struct keep *k;
	struct keep_project *project;
	struct bound *list;
	size_t n;
	struct known_branch branches[BRANCHES];
	size_t nbranches;
	int64_t since;
	const char *head;
	struct git_log log;
	struct tree *tree;
	const char *root;
};

/* --- Contents at a commit. --- */

static void tree_parse(struct tree *t, char *text)
{
	for (char *line = text; *line && t->n < TREE_PATHS;) {
		char *end = strchr(line, '\0'), *tab = strchr(line, '\t');
		if (tab && tab - line > BLOB_HEX) {
			*tab = '\0';
			t->files[t->n].blob = tab - BLOB_HEX;
			t->files[t->n++].path = tab + 1;
		}
		line = end + 1;
	}
}

/* Contents of the bound memories' files at this commit. */
static struct tree *tree_ask(struct arrival *v, const char *rev)
{
	struct tree *t = ARENA_NEW(v->k->arena, struct tree);
	for (size_t i = 0, seen = 0; i < v->n && seen < TREE_PATHS;) {
		const char *args[GIT_PATHS_MAX + 8] = { "ls-tree", "-r", "-z", "--full-tree", rev,
			"--" };
		AUTO(buf_done) struct buf out = { .max = TREE_BYTES };
		size_t n = 6, paths = 0;
		for (; i < v->n && paths + v->list[i].nfiles <= GIT_PATHS_MAX; i++)
			for (size_t f = 0; f < v->list[i].nfiles; f++)
				if (v->list[i].files[f].path[0] != '/') {
					args[n++] = v->list[i].files[f].path;
					paths++;
				}
		seen += paths;
		v->k->calls++;
		if (paths && !git_run(v->root, args, GIT_TIMEOUT_MS, &out, NULL))
			tree_parse(t, arena_dup(v->k->arena, buf_cstr(&out), out.len));
	}
	return t;
}

static const char *tree_blob(const struct tree *t, const char *path)
{
	for (size_t i = 0; i < t->n; i++)
		if (!strcmp(t->files[i].path, path))
			return t->files[i].blob;
	return NULL;
}

/* --- Branches. --- */

static bool has_ref(const struct project_identity *here, const char *ref)
{
	AUTO(arena_done) struct arena a = { 0 };
	AUTO(buf_done) struct buf packed = { 0 };
	struct err ignored;

	if (file_exists(path_join(&a, here->common_dir, ref)))
		return true;
	if (file_read(path_join(&a, here->common_dir, "packed-refs"), GIT_OUTPUT_MAX, &packed,
		    &ignored))
		return false;
	return strstr(buf_cstr(&packed), arena_printf(&a, " %s\n", ref)) != NULL;
}

/* The branch that work ends on; NULL when it cannot be told. */
static const char *default_ref(struct arrival *v)
{
	static const char *const refs[] = { "refs/remotes/origin/HEAD", "refs/heads/main",
		"refs/heads/master", "refs/heads/trunk" };

	for (size_t i = 0; i < ARRAY_LEN(refs); i++)
		if (has_ref(&v->project->here, refs[i]))
			return refs[i];
	return NULL;
}

static void branch_read(struct arrival *v, struct known_branch *b)
{
	struct arena *a = v->k->arena;
	struct git_log_query q = { .root = v->root, .since = v->since, .max = BRANCH_COMMITS };
	struct err ignored;
	const char *refs[] = { arena_printf(a, "refs/heads/%s", b->name),
		arena_printf(a, "refs/remotes/origin/%s", b->name) };

	for (size_t i = 0; i < ARRAY_LEN(refs) && !b->ref; i++)
		if (has_ref(&v->project->here, refs[i]))
			b->ref = refs[i];
	if (!b->ref)
		return;
	q.rev = b->ref;
	q.without = default_ref(v);
	v->k->calls += 2;
	/*
	 * What others did and was merged into the branch is not its own; once it is merged itself,
	 * all is.
	 */
	if (git_log(a, &q, &b->log, &ignored) || (!b->log.n && q.without)) {
		q.without = NULL;
		if (git_log(a, &q, &b->log, &ignored))
			b->log = (struct git_log){ 0 };
	}
	if (b->log.n)
		b->tip = b->log.commits[0].hash;
}

static struct known_branch *branch_of(struct arrival *v, const struct branch_memory *m)
{
	for (size_t i = 0; i < v->nbranches; i++)
		if (!strcmp(v->branches[i].name, m->branch)) {
			if (!v->branches[i].tip)
				v->branches[i].tip = m->tip;
			return &v->branches[i];
		}
	if (v->nbranches == BRANCHES)
		return NULL;
	struct known_branch *b = &v->branches[v->nbranches++];
	*b = (struct known_branch){ .name = m->branch };
	branch_read(v, b);
	if (!b->tip)
		b->tip = m->tip;
	return b;
}

/* What names no file came with whatever work was done beside it. */
static bool touches(const struct bound *m, const char *path)
{
	if (!m->nfiles)
		return true;
	for (size_t i = 0; i < m->nfiles; i++)
		if (!strcmp(m->files[i].path, path))
			return true;
	return false;
}

/* The first later commit of its branch that touches its files. */
static const char *landing_find(const struct bound *m)
{
	const struct git_log *log = &m->branch->log;
	const char *found = NULL;

	for (size_t i = 0; i < log->nchanges; i++) {
		const struct git_commit *c = &log->commits[log->changes[i].commit];
		if (c->at >= m->row.from - SECOND_MS && touches(m, log->changes[i].path))
			found = c->hash;
	}
	return found;
}

/* --- Heads. --- */

static bool has_commit(const struct git_log *log, const char *hash)
{
	size_t n = strlen(hash);
	for (size_t i = 0; i < log->n; i++)
		if (n >= 7 && !strncmp(log->commits[i].hash, hash, n))
			return true;
	return false;
}

static bool had_content(const struct arrival *v, const char *path, const char *blob)
{
	const char *now = tree_blob(v->tree, path);
	if (now && !strcmp(now, blob))
		return true;
	for (size_t i = 0; i < v->log.nchanges; i++)
		if (!strcmp(v->log.changes[i].blob, blob) && !strcmp(v->log.changes[i].path, path))
			return true;
	return false;
}

static bool all_contents(const struct arrival *v, const struct bound *m, const struct tree *tip)
{
	bool has_changed = false;
	size_t known = 0;

	for (size_t i = 0; i < m->nfiles; i++)
		has_changed |= m->files[i].role == ROLE_MODIFIED;
	for (size_t i = 0; i < m->nfiles; i++) {
		const struct memory_file *f = &m->files[i];
		const char *blob = tip ? tree_blob(tip, f->path) : f->hash;
		if ((has_changed && f->role != ROLE_MODIFIED) || !blob)
			continue;
		if (!had_content(v, f->path, blob))
			return false;
		known++;
	}
	return known > 0;
}

static bool was_committed_soon(const struct arrival *v, const struct bound *m)
{
	if (!m->nfiles)
		return false;
	for (size_t i = 0; i < v->log.nchanges; i++) {
		int64_t at = v->log.commits[v->log.changes[i].commit].at;
		if (at >= m->row.from - SECOND_MS && at <= m->row.at + GONE_DAYS * DAY_MS &&
			touches(m, v->log.changes[i].path))
			return true;
	}
	return false;
}

static bool has_arrived(struct arrival *v, struct bound *m)
{
	struct known_branch *b = m->branch;

	if (m->row.landed && has_commit(&v->log, m->row.landed))
		return true;
	if (!b)
		return false;
	if (all_contents(v, m, NULL))
		return true;
	if (m->row.landed && b->tip) {
		if (!b->tree)
			b->tree = tree_ask(v, b->tip);
		if (all_contents(v, m, b->tree))
			return true;
	}
	bool is_untold = !b->ref && !m->row.landed && !b->tip;
	for (size_t i = 0; i < m->nfiles; i++)
		is_untold = is_untold && !m->files[i].hash;
	return is_untold && was_committed_soon(v, m);
}

static int order(const void *x, const void *y)
{
	int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
	return (a > b) - (a < b);
}

static bool share_change(const struct bound *x, const struct bound *y)
{
	if (!x->nfiles)
		return y->nfiles > 0;
	for (size_t i = 0; i < x->nfiles; i++)
		if (x->files[i].role == ROLE_MODIFIED && touches(y, x->files[i].path))
			return true;
	return false;
}

/*
 * A step on the way to what has arrived: later work of the same branch on the same file. The list
 * is newest first. A sentence without files comes with the work told at about the same time.
 */
static bool is_step(const struct arrival *v, const bool *arrived, size_t i)
{
	size_t end = i;

	while (!v->list[i].nfiles && end < v->n &&
		v->list[end].row.at >= v->list[i].row.at - BESIDE_MS)
		end++;
	for (size_t j = 0; j < end; j++)
		if (arrived[j] && !strcmp(v->list[i].row.branch, v->list[j].row.branch) &&
			share_change(&v->list[i], &v->list[j]))
			return true;
	return false;
}

static void head_judge(struct arrival *v, const struct checkout *c)
{
	struct git_log_query q = {
		.root = c->root, .rev = v->head, .since = v->since, .max = HEAD_COMMITS
	};
	struct keep_change change = { .kind = KEEP_CHECKOUT,
		.checkout = { v->project->id, c->root, v->head, c->asked_at } };
	struct err err = { 0 };

	v->root = c->root;
	v->k->calls++;
	if (git_log(v->k->arena, &q, &v->log, &err))
		return;
	v->tree = tree_ask(v, v->head);
	change.visible = ARENA_ARRAY(v->k->arena, int64_t, v->n + 1);
	bool *arrived = ARENA_ARRAY(v->k->arena, bool, v->n + 1);
	for (size_t i = 0; i < v->n; i++)
		arrived[i] = has_arrived(v, &v->list[i]) ||
			     (v->list[i].nfiles && is_step(v, arrived, i));
	for (size_t i = 0; i < v->n; i++) {
		arrived[i] = arrived[i] || is_step(v, arrived, i);
		if (arrived[i])
			change.visible[change.nvisible++] = v->list[i].row.memory;
	}
	qsort(change.visible, change.nvisible, sizeof(*change.visible), order);
	keep_add(v->k, change);
}

/* --- A project. --- */

static int bound_read(struct arrival *v, struct err *err)
{
	struct branch_memory *rows;
	size_t n;

	if (store_branch_memories(v->k->store, v->k->arena, v->project->id, KEEPER_BRANCH_MEMORIES,
		    &rows, &n, err))
		return -1;
	v->list = ARENA_ARRAY(v->k->arena, struct bound, n + 1);
	v->since = n ? rows[n - 1].at - DAY_MS : 0;
	for (size_t i = 0; i < n; i++) {
		struct memory m = { .id = rows[i].memory };
		if (query_memory_files(v->k->store, v->k->arena, &m, GIT_PATHS_MAX, err))
			return -1;
		v->list[v->n++] =
			(struct bound){ .row = rows[i], .files = m.files, .nfiles = m.nfiles };
	}
	return 0;
}

static void landings_find(struct arrival *v)
{
	for (size_t i = 0; i < v->n; i++) {
		struct bound *m = &v->list[i];
		m->branch = branch_of(v, &m->row);
		if (!m->branch || !m->branch->log.n)
			continue;
		const char *landed = landing_find(m);
		bool is_same = m->row.landed && landed && str_starts(landed, m->row.landed);
		bool is_known = m->row.tip && !strcmp(m->row.tip, m->branch->tip);
		if (landed && !is_same)
			m->row.landed = landed;
		else if (is_known)
			continue;
		m->row.tip = m->branch->tip;
		keep_add(v->k, (struct keep_change){ .kind = KEEP_BRANCH, .branch = m->row });
	}
}

/* Heads that are not those that were asked about last. */
static size_t moved_heads(struct arrival *v, struct checkout *list, size_t n, bool is_new)
{
	size_t kept = 0;
	for (size_t i = 0; i < n; i++) {
		struct project_identity here = { 0 };
		if (!file_is_dir(list[i].root))
			continue;
		project_identify(v->k->arena, list[i].root, &here);
		if (!here.commit || (!is_new && list[i].head && !strcmp(list[i].head, here.commit)))
			continue;
		list[kept] = list[i];
		list[kept++].head = here.commit;
	}
	return kept;
}

int keep_branches(struct keep *k, int64_t project, bool is_new, struct err *err)
{
	struct arrival *v = ARENA_NEW(k->arena, struct arrival);
	struct checkout *list;
	size_t n;

	*v = (struct arrival){ .k = k, .project = keep_project(k, project) };
	if (!v->project->has_git)
		return 0;
	if (store_checkouts(k->store, k->arena, project, KEEPER_CHECKOUTS, &list, &n, err))
		return -1;
	n = moved_heads(v, list, n, is_new);
	if (!n)
		return 0;
	if (bound_read(v, err))
		return -1;
	v->root = v->project->root;
	if (v->n)
		landings_find(v);
	for (size_t i = 0; i < n; i++) {
		v->head = list[i].head;
		if (v->n)
			head_judge(v, &list[i]);
		else
			keep_add(k, (struct keep_change){ .kind = KEEP_CHECKOUT,
					    .checkout = { project, list[i].root, v->head,
						    list[i].asked_at } });
	}
	return 0;
}
