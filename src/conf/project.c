/*
 * Project identity out of git's own files: .git (a folder, or a file that points to one),
 * commondir, HEAD, packed-refs and config. A few small reads per call; nothing is run, nothing is
 * written.
 */

#include "conf/project.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

#define GIT_POINTER_MAX (16u << 10)
#define GIT_CONFIG_MAX (1u << 20)
#define GIT_PACKED_MAX (32u << 20) /* a larger one: the head commit stays unknown */
#define REMOTE_MAX 2000            /* a longer URL is none */

/* Where a work tree keeps its things. */
struct git_place {
	const char *top;    /* top of the work tree, or the bare repository itself */
	const char *dir;    /* its own git folder: HEAD */
	const char *common; /* the one it shares: config and refs */
	bool is_bare;
};

/* A whole small file, trimmed; NULL when it cannot be read. */
static const char *read_small(struct arena *a, const char *dir, const char *name, size_t max)
{
	AUTO(buf_done) struct buf b = { .max = max };
	if (file_read(path_join(a, dir, name), max, &b, NULL))
		return NULL;
	struct str s = str_trim((struct str){ buf_cstr(&b), b.len });
	return s.n ? arena_dup(a, s.p, s.n) : NULL;
}

static const char *resolve(struct arena *a, const char *path)
{
	char real[PATH_MAX];
	return realpath(path, real) ? arena_str(a, real) : path;
}

static bool is_git_dir(struct arena *a, const char *dir)
{
	return file_exists(path_join(a, dir, "HEAD")) &&
	       file_is_dir(path_join(a, dir, "objects")) && file_exists(path_join(a, dir, "refs"));
}

/* "gitdir: ../.git/worktrees/x" of a .git file. */
static const char *git_pointer(struct arena *a, const char *top)
{
	const char *text = read_small(a, top, ".git", GIT_POINTER_MAX);
	if (!text || !str_starts(text, "gitdir:"))
		return NULL;
	text += 7;
	while (*text == ' ')
		text++;
	const char *end = strchr(text, '\n');
	return path_clean(a, top, end ? arena_dup(a, text, (size_t)(end - text)) : text);
}

static bool git_at(struct arena *a, const char *top, struct git_place *ret)
{
	const char *git = path_join(a, top, ".git");
	const char *dir = file_is_dir(git) ? git : file_exists(git) ? git_pointer(a, top) : NULL;
	if (dir && file_exists(path_join(a, dir, "HEAD"))) {
		const char *common = read_small(a, dir, "commondir", GIT_POINTER_MAX);
		*ret = (struct git_place){ .top = top,
			.dir = dir,
			.common = resolve(a, common ? path_clean(a, dir, common) : dir) };
		return true;
	}
	if (strcmp(path_base(top), ".git") && is_git_dir(a, top)) {
		*ret = (struct git_place){
			.top = top, .dir = top, .common = resolve(a, top), .is_bare = true
		};
		return true;
	}
	return false;
}

/*
 * The work tree that a folder lies in. For a folder that is gone, the home folder's own repository
 * does not count.
 */
static bool git_find(struct arena *a, const char *folder, struct git_place *ret)
{
	bool is_gone = !file_exists(folder);
	const char *home = getenv("HOME");
	for (const char *dir = folder;; dir = path_parent(a, dir)) {
		bool is_root = !strcmp(dir, "/");
		bool is_too_high = is_gone && (is_root || (home && !strcmp(dir, home)));
		if (!is_too_high && git_at(a, dir, ret))
			return true;
		if (is_root || is_too_high)
			return false;
	}
}

/*
 * A value of git's config: `key` of the section whose header reads `section`, quotes and comments
 * taken off.
 */
struct config_cursor {
	struct str rest;
	struct str section; /* remote "origin" */
};

static bool config_next(struct config_cursor *c, struct str *ret_key, struct str *ret_value)
{
	struct str line;
	while (str_line(&c->rest, &line)) {
		line = str_trim(line);
		if (!line.n || line.p[0] == '#' || line.p[0] == ';')
			continue;
		if (line.p[0] == '[') {
			const char *end = memchr(line.p, ']', line.n);
			c->section = str_trim((struct str){
				line.p + 1, end ? (size_t)(end - line.p - 1) : line.n - 1 });
			continue;
		}
		const char *eq = memchr(line.p, '=', line.n);
		if (!eq)
			continue;
		*ret_key = str_trim((struct str){ line.p, (size_t)(eq - line.p) });
		*ret_value = str_trim((struct str){ eq + 1, (size_t)(line.p + line.n - eq - 1) });
		if (ret_value->n >= 2 && ret_value->p[0] == '"' &&
			ret_value->p[ret_value->n - 1] == '"')
			*ret_value = (struct str){ ret_value->p + 1, ret_value->n - 2 };
		return true;
	}
	return false;
}

static bool str_is_word(struct str s, const char *word)
{
	return s.n == strlen(word) && !strncasecmp(s.p, word, s.n);
}

/* remote "origin" gives origin. */
static bool section_remote(struct str section, struct str *ret_name)
{
	if (section.n < 10 || strncasecmp(section.p, "remote", 6))
		return false;
	const char *from = memchr(section.p, '"', section.n);
	if (!from || section.p[section.n - 1] != '"' || from == section.p + section.n - 1)
		return false;
	*ret_name = (struct str){ from + 1, (size_t)(section.p + section.n - 1 - from - 1) };
	return ret_name->n > 0;
}

struct git_config {
	const char *remote_name, *remote, *worktree;
};

static void config_read(struct arena *a, const char *common, struct git_config *ret)
{
	AUTO(buf_done) struct buf b = { .max = GIT_CONFIG_MAX };
	if (file_read(path_join(a, common, "config"), GIT_CONFIG_MAX, &b, NULL))
		return;
	struct config_cursor c = { .rest = { buf_cstr(&b), b.len } };
	struct str key, value, name;
	while (config_next(&c, &key, &value)) {
		if (str_is_word(c.section, "core") && str_is_word(key, "worktree"))
			ret->worktree = path_clean(a, common, arena_dup(a, value.p, value.n));
		if (!str_is_word(key, "url") || !section_remote(c.section, &name))
			continue;
		bool is_origin = str_is(name, "origin");
		if (ret->remote && !(is_origin && strcmp(ret->remote_name, "origin")))
			continue;
		const char *remote = project_normalise_remote(a, arena_dup(a, value.p, value.n));
		if (!remote)
			continue;
		ret->remote = remote;
		ret->remote_name = arena_dup(a, name.p, name.n);
	}
}

static bool is_hash(const char *s, size_t n)
{
	if (n != 40 && n != 64)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!isxdigit((unsigned char)s[i]))
			return false;
	return true;
}

static const char *packed_ref(struct arena *a, const char *common, const char *ref)
{
	AUTO(buf_done) struct buf b = { .max = GIT_PACKED_MAX };
	if (file_read(path_join(a, common, "packed-refs"), GIT_PACKED_MAX, &b, NULL))
		return NULL;
	struct str rest = { buf_cstr(&b), b.len }, line;
	while (str_line(&rest, &line)) {
		const char *space = memchr(line.p, ' ', line.n);
		if (!space || !is_hash(line.p, (size_t)(space - line.p)))
			continue;
		if (str_is((struct str){ space + 1, (size_t)(line.p + line.n - space - 1) }, ref))
			return arena_dup(a, line.p, (size_t)(space - line.p));
	}
	return NULL;
}

static bool is_ref_name(const char *ref)
{
	return str_starts(ref, "refs/") && !strstr(ref, "..") && strlen(ref) < 1000;
}

static void head_read(struct arena *a, const struct git_place *g, struct project_identity *ret)
{
	const char *head = read_small(a, g->dir, "HEAD", GIT_POINTER_MAX);
	if (!head)
		return;
	if (is_hash(head, strlen(head))) {
		ret->commit = head;
		return;
	}
	if (!str_starts(head, "ref: ") || !is_ref_name(head + 5))
		return;
	const char *ref = head + 5;
	if (str_starts(ref, "refs/heads/") && strcmp(ref, "refs/heads/.invalid"))
		ret->branch = ref + 11;
	const char *commit = read_small(a, g->common, ref, GIT_POINTER_MAX);
	ret->commit =
		commit && is_hash(commit, strlen(commit)) ? commit : packed_ref(a, g->common, ref);
}

static bool branch_is_default(
	struct arena *a, const struct git_place *g, const char *remote, const char *branch)
{
	static const char *const usual[] = { "main", "master", "trunk" };
	const char *name = remote ? remote : "origin";
	const char *head = g->common ? read_small(a, g->common,
					       arena_printf(a, "refs/remotes/%s/HEAD", name),
					       GIT_POINTER_MAX)
				     : NULL;
	const char *prefix = arena_printf(a, "ref: refs/remotes/%s/", name);
	if (head && str_starts(head, prefix))
		return !strcmp(head + strlen(prefix), branch);
	for (size_t i = 0; i < ARRAY_LEN(usual); i++)
		if (!strcmp(usual[i], branch))
			return true;
	return false;
}

bool project_branch_is_default(struct arena *a, const char *common_dir, const char *branch)
{
	struct git_place g = { .common = common_dir ? arena_str(a, common_dir) : NULL };

	return branch_is_default(a, &g, NULL, branch);
}

/* What people call it: a bare repository "name.git" is "name", one kept as "name/.bare" too. */
static const char *name_of(struct arena *a, const char *path)
{
	const char *base = path_base(path);
	if (!strcmp(base, ".git") || !strcmp(base, ".bare"))
		return path_base(path_parent(a, path));
	if (str_ends(base, ".git"))
		return arena_dup(a, base, strlen(base) - 4);
	return *base ? base : "/";
}

/* Folders in which agents and people keep linked work trees of the repository above. */
static const char *const worktree_folders[] = { "/.claude/worktrees/", "/.worktrees/",
	"/.codex/worktrees/" };

/* A work tree that is gone cannot say whose it was; where it lay can. */
static void identify_gone(struct arena *a, struct project_identity *ret)
{
	if (file_exists(ret->path))
		return;
	for (size_t i = 0; i < ARRAY_LEN(worktree_folders); i++) {
		const char *at = strstr(ret->path, worktree_folders[i]);
		if (!at || at == ret->path)
			continue;
		const char *name = at + strlen(worktree_folders[i]);
		const char *end = strchrnul(name, '/');
		if (end == name)
			continue;
		ret->worktree = arena_dup(a, ret->path, (size_t)(end - ret->path));
		ret->path = ret->root = arena_dup(a, ret->path, (size_t)(at - ret->path));
		ret->name = path_base(ret->root);
		return;
	}
}

/*
 * A linked work tree belongs to the main one, which lies beside a common folder named .git or is
 * named in its config.
 */
static void identify_linked(struct arena *a, const struct git_place *g,
	const struct git_config *config, struct project_identity *ret)
{
	ret->worktree = g->top;
	if (config->worktree)
		ret->root = config->worktree;
	else if (!strcmp(path_base(g->common), ".git"))
		ret->root = path_parent(a, g->common);
	ret->name = name_of(a, config->worktree ? config->worktree : g->common);
}

void project_identify(struct arena *a, const char *cwd, struct project_identity *ret)
{
	struct git_place g;
	struct git_config config = { 0 };
	const char *folder = path_clean(a, "/", cwd && *cwd ? cwd : "/");
	*ret = (struct project_identity){
		.root = folder, .path = folder, .name = name_of(a, folder)
	};
	if (!git_find(a, folder, &g)) {
		identify_gone(a, ret);
		return;
	}
	config_read(a, g.common, &config);
	ret->root = g.top;
	ret->common_dir = g.common;
	ret->remote = config.remote;
	ret->name = name_of(a, g.top);
	if (!g.is_bare && file_exists(path_join(a, g.dir, "commondir")))
		identify_linked(a, &g, &config, ret);
	ret->path = ret->root;
	head_read(a, &g, ret);
	ret->is_default_branch =
		ret->branch && branch_is_default(a, &g, config.remote_name, ret->branch);
}

/* Host and path of a URL, or of "user@host:path"; false for local paths. */
static bool remote_split(struct str url, struct str *host, struct str *path)
{
	const char *scheme = str_find(url, STR("://"));
	const char *from = scheme ? scheme + 3 : url.p, *end = url.p + url.n;
	if (scheme && (size_t)(scheme - url.p) == 4 && !strncasecmp(url.p, "file", 4))
		return false;
	const char *slash = memchr(from, '/', (size_t)(end - from));
	const char *stop = slash ? slash : end;
	if (!scheme) {
		const char *colon = memchr(from, ':', (size_t)(stop - from));
		if (!colon || colon - from < 2)
			return false;
		slash = stop = colon;
	}
	if (!slash)
		return false;
	const char *at = memrchr(from, '@', (size_t)(stop - from));
	from = at ? at + 1 : from;
	*host = (struct str){ from, (size_t)(stop - from) };
	*path = (struct str){ slash + 1, (size_t)(end - slash - 1) };
	const char *bracket = host->n && from[0] == '[' ? memchr(from, ']', host->n) : from;
	const char *port = bracket ? memchr(bracket, ':', (size_t)(stop - bracket)) : NULL;
	if (port)
		host->n = (size_t)(port - from);
	return host->n > 0;
}

char *project_normalise_remote(struct arena *a, const char *url)
{
	struct str s = str_trim(str_of(url)), host, path;
	if (!s.n || s.n > REMOTE_MAX || !remote_split(s, &host, &path))
		return NULL;
	AUTO(buf_done) struct buf b = { 0 };
	buf_add(&b, host.p, host.n);
	size_t host_len = b.len;
	struct str part;
	while (str_split(&path, '/', &part))
		if (part.n) {
			buf_char(&b, '/');
			buf_add(&b, part.p, part.n);
		}
	if (b.len > host_len + 5 && !strncasecmp(b.data + b.len - 4, ".git", 4))
		buf_cut(&b, b.len - 4);
	if (b.len == host_len)
		return NULL;
	char *ret = arena_dup(a, b.data, b.len);
	for (char *p = ret; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	return str_starts(ret, "ssh.github.com/") ? ret + 4 : ret;
}
