#include "daemon/folder_walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"
#include "text/hash.h"
#include "text/ignore.h"

struct place {
	uint64_t device, inode;
};

struct walking {
	struct folder_walk *w;
	struct ignore ignore;
	struct place *seen;
	size_t nseen, seen_cap;
};

/* --- Globs. --- */

static bool has_wildcard(struct str glob)
{
	for (size_t i = 0; i < glob.n; i++)
		if (strchr("*?[", glob.p[i]))
			return true;
	return false;
}

static bool glob_holds(struct arena *a, struct str glob, const char *path)
{
	bool is_tied = memchr(glob.p, '/', glob.n) != NULL;
	struct str pattern =
		glob.n && *glob.p == '/' ? (struct str){ glob.p + 1, glob.n - 1 } : glob;

	return str_glob(arena_dup(a, pattern.p, pattern.n), is_tied ? path : path_base(path));
}

bool globs_hold(const char *globs, const char *path, bool *ret_is_named)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct str rest = str_of(globs), glob;
	bool holds = false;

	*ret_is_named = false;
	while (str_line(&rest, &glob)) {
		bool takes_out = glob.n && *glob.p == '!';
		if (takes_out)
			glob = (struct str){ glob.p + 1, glob.n - 1 };
		if (!glob.n || !glob_holds(&a, glob, path))
			continue;
		holds = !takes_out;
		*ret_is_named = holds && memchr(glob.p, '/', glob.n) && !has_wildcard(glob);
	}
	return holds;
}

/* Whether something below this folder can be meant, part by part. */
static bool glob_reaches(struct arena *a, struct str glob, const char *folder, bool is_literal)
{
	struct str path = str_of(folder), part, wanted;

	if (!memchr(glob.p, '/', glob.n))
		return !is_literal;
	if (*glob.p == '/')
		glob = (struct str){ glob.p + 1, glob.n - 1 };
	while (str_split(&path, '/', &part)) {
		if (!str_split(&glob, '/', &wanted))
			return false;
		if (str_is(wanted, "**"))
			return !is_literal;
		if (!glob.n)
			return false; /* it names a file here */
		bool is_same = str_eq(part, wanted);
		if (!is_same && ((is_literal && *part.p == '.') ||
					!str_glob(arena_dup(a, wanted.p, wanted.n),
						arena_dup(a, part.p, part.n))))
			return false;
	}
	return true;
}

static bool globs_reach(const char *globs, const char *folder, bool is_hidden)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct str rest = str_of(globs), glob;

	while (str_line(&rest, &glob))
		if (glob.n && *glob.p != '!' && glob_reaches(&a, glob, folder, is_hidden))
			return true;
	return false;
}

/* --- Folders. --- */

static void fail(struct walking *k, const char *path, const char *reason, bool is_folder)
{
	struct arena *a = k->w->arena;
	struct unwalked u = { arena_str(a, path), arena_str(a, reason), is_folder };

	ARENA_PUSH(a, k->w->failed, k->w->nfailed, k->w->failed_cap, u);
}

static bool is_new_folder(struct walking *k, const struct stat *st)
{
	struct place place = { (uint64_t)st->st_dev, (uint64_t)st->st_ino };

	for (size_t i = 0; i < k->nseen; i++)
		if (k->seen[i].inode == place.inode && k->seen[i].device == place.device)
			return false;
	if (k->nseen == FOLDER_FOLDERS_MAX) {
		k->w->is_cut = true;
		return false;
	}
	MEM_GROW(k->seen, k->seen_cap, k->nseen + 1);
	k->seen[k->nseen++] = place;
	return true;
}

static int64_t ms_of(struct timespec t)
{
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int64_t folder_stamp(const void *stat)
{
	const struct stat *st = stat;
	const int64_t parts[] = { st->st_size, st->st_mtim.tv_sec, st->st_mtim.tv_nsec,
		st->st_ctim.tv_sec, st->st_ctim.tv_nsec, (int64_t)st->st_ino };
	int64_t stamp = (int64_t)hash64(parts, sizeof(parts));

	return stamp ? stamp : 1;
}

static void take_file(struct walking *k, const char *path, const struct stat *st)
{
	struct folder_walk *w = k->w;

	if (!S_ISREG(st->st_mode)) {
		fail(k, path, "it is no regular file", false);
		return;
	}
	if (w->n == FOLDER_FILES_MAX) {
		w->is_cut = true;
		return;
	}
	struct walked_file f = {
		.path = arena_str(w->arena, path),
		.mtime = ms_of(st->st_mtim),
		.changed_at = MAX(ms_of(st->st_mtim), ms_of(st->st_ctim)),
		.stamp = folder_stamp(st),
		.size = (uint64_t)st->st_size,
	};
	ARENA_PUSH(w->arena, w->files, w->n, w->cap, f);
}

static void ignore_file(struct walking *k, const char *folder)
{
	AUTO(buf_done) struct buf text = { 0 };
	AUTO(arena_done) struct arena a = { 0 };

	if (!file_read(path_join(&a, folder, ".gitignore"), IGNORE_FILE_MAX, &text, NULL))
		ignore_add(&k->ignore, folder, (struct str){ text.data, text.len });
}

static void walk_folder(struct walking *k, const char *path, const char *below, unsigned depth);

static void walk_entry(struct walking *k, const char *path, const char *below, unsigned depth)
{
	struct folder_walk *w = k->w;
	bool is_hidden = *path_base(path) == '.', is_named;
	bool is_wanted = globs_hold(w->globs, below, &is_named);
	struct stat st;

	if (stat(path, &st)) {
		/* It went while we looked, or a link leads nowhere. */
		if (is_wanted && errno != ENOENT)
			fail(k, below, strerror(errno), false);
		return;
	}
	if (!utf8_is_valid(below, strlen(below))) {
		if (is_wanted || S_ISDIR(st.st_mode))
			fail(k, utf8_repair(w->arena, str_of(below)).p, "its name is not UTF-8",
				S_ISDIR(st.st_mode));
		return;
	}
	if (S_ISDIR(st.st_mode)) {
		if (globs_reach(w->globs, below, is_hidden) &&
			(!ignore_holds(&k->ignore, path, true) ||
				globs_reach(w->globs, below, true)) &&
			is_new_folder(k, &st))
			walk_folder(k, path, below, depth + 1);
	} else if (is_wanted &&
		   (is_named || (!is_hidden && !ignore_holds(&k->ignore, path, false)))) {
		take_file(k, below, &st);
	}
}

static void walk_folder(struct walking *k, const char *path, const char *below, unsigned depth)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct err err = { 0 };
	size_t n, rules = k->ignore.n;
	char **names;

	if (k->w->entered)
		k->w->entered(k->w->ctx, path);
	if (depth == FOLDER_DEPTH_MAX) {
		fail(k, below, "it lies too deep", true);
		return;
	}
	if (file_list(&a, path, &names, &n, &err)) {
		fail(k, below, err.text, true);
		return;
	}
	ignore_file(k, path);
	for (size_t i = 0; i < n; i++)
		walk_entry(k, path_join(&a, path, names[i]),
			*below ? arena_printf(&a, "%s/%s", below, names[i]) : names[i], depth);
	k->ignore.n = rules;
}

/* The rules of the repository that the root lies in. */
static void ignore_above(struct walking *k, struct arena *a, const char *folder)
{
	if (!strcmp(folder, "/") || file_exists(path_join(a, folder, ".git")))
		return;
	const char *parent = path_parent(a, folder), *top = parent;
	for (; strcmp(top, "/") && !file_exists(path_join(a, top, ".git"));
		top = path_parent(a, top))
		;
	if (!strcmp(top, "/"))
		return;
	if (strcmp(parent, top))
		ignore_above(k, a, parent);
	ignore_file(k, parent);
}

static int by_path(const void *x, const void *y)
{
	return strcmp(((const struct walked_file *)x)->path, ((const struct walked_file *)y)->path);
}

int folder_walk(struct folder_walk *w, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct walking k = { .w = w, .ignore = { .arena = &a } };
	struct stat st;

	if (stat(w->root, &st))
		return err_set(err, ERR_NOT_FOUND, "cannot read the folder '%s': %s", w->root,
			strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return err_set(err, ERR_USAGE, "'%s' is no folder", w->root);
	ignore_above(&k, &a, w->root);
	is_new_folder(&k, &st);
	walk_folder(&k, w->root, "", 0);
	free(k.seen);
	if (w->nfailed && !*w->failed[0].path && w->failed[0].is_folder)
		return err_set(err, ERR_IO, "cannot read the folder '%s': %s", w->root,
			w->failed[0].reason);
	if (w->n)
		qsort(w->files, w->n, sizeof(*w->files), by_path);
	return 0;
}
