#include "daemon/walk.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

static void pass_over(struct walk *w, const char *path, const char *reason)
{
	struct passed_over p = { arena_str(w->arena, path), arena_str(w->arena, reason) };
	ARENA_PUSH(w->arena, w->passed, w->npassed, w->passed_cap, p);
}

/* Links and mounts may lead back: a folder is entered once. */
static bool is_new_folder(struct walk *w, const struct stat *st)
{
	struct folder_key key = { (uint64_t)st->st_dev, (uint64_t)st->st_ino };
	for (size_t i = 0; i < w->nseen; i++)
		if (w->seen[i].inode == key.inode && w->seen[i].device == key.device)
			return false;
	if (w->nseen == WALK_FOLDERS_MAX)
		return false;
	MEM_GROW(w->seen, w->seen_cap, w->nseen + 1);
	w->seen[w->nseen++] = key;
	return true;
}

static void add_file(struct walk *w, const char *path, const struct stat *st, bool is_named)
{
	if (!S_ISREG(st->st_mode)) {
		pass_over(w, path,
			S_ISFIFO(st->st_mode) ? "it is a FIFO, not a file"
					      : "it is no regular file");
		return;
	}
	if (access(path, R_OK)) {
		pass_over(
			w, path, arena_printf(w->arena, "it cannot be read: %s", strerror(errno)));
		return;
	}
	if (w->n == WALK_FILES_MAX)
		return;
	struct found_file f = {
		.path = arena_str(w->arena, path),
		.mtime = (int64_t)st->st_mtim.tv_sec * 1000 + st->st_mtim.tv_nsec / 1000000,
		.size = (uint64_t)st->st_size,
		.is_named = is_named,
	};
	ARENA_PUSH(w->arena, w->files, w->n, w->cap, f);
}

static void add_folder(struct walk *w, const char *path, const struct stat *st, unsigned depth)
{
	AUTO(arena_done) struct arena a = { 0 };
	char **names = NULL;
	size_t n = 0;
	struct err err = { 0 };
	if (!is_new_folder(w, st))
		return;
	if (depth == WALK_DEPTH_MAX) {
		pass_over(w, path, "it lies too deep");
		return;
	}
	if (file_list(&a, path, &names, &n, &err)) {
		pass_over(w, path, err.text);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		const char *child = path_join(&a, path, names[i]);
		struct stat below;
		bool has_ending = str_ends(names[i], w->ending);
		if (stat(child, &below)) {
			if (has_ending)
				pass_over(w, child, strerror(errno));
		} else if (S_ISDIR(below.st_mode)) {
			add_folder(w, child, &below, depth + 1);
		} else if (has_ending) {
			add_file(w, child, &below, false);
		}
	}
}

void walk_add(struct walk *w, const char *path)
{
	struct stat st;
	if (stat(path, &st))
		pass_over(w, path,
			errno == ENOENT ? "there is no such file or folder" : strerror(errno));
	else if (S_ISDIR(st.st_mode))
		add_folder(w, path, &st, 0);
	else
		add_file(w, path, &st, true);
}

static int newest_first(const void *x, const void *y)
{
	const struct found_file *a = x, *b = y;
	if (a->mtime != b->mtime)
		return a->mtime > b->mtime ? -1 : 1;
	return strcmp(a->path, b->path);
}

void walk_sort(struct walk *w)
{
	size_t kept = 0;
	if (w->n)
		qsort(w->files, w->n, sizeof(*w->files), newest_first);
	for (size_t i = 0; i < w->n; i++)
		if (!kept || strcmp(w->files[kept - 1].path, w->files[i].path))
			w->files[kept++] = w->files[i];
	w->n = kept;
}

void walk_done(struct walk *w)
{
	free(w->seen);
	w->seen = NULL;
	w->nseen = w->seen_cap = 0;
}
