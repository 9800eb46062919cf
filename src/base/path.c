/* Paths as text: nothing here touches the disk. */
#include <string.h>

#include "base/file.h"
#include "base/mem.h"

char *path_join(struct arena *a, const char *dir, const char *name)
{
	size_t n = strlen(dir);

	if (n == 0 || name[0] == '/')
		return arena_str(a, name);
	return arena_printf(a, "%s%s%s", dir, dir[n - 1] == '/' ? "" : "/", name);
}

char *path_parent(struct arena *a, const char *path)
{
	size_t n = strlen(path);

	while (n > 1 && path[n - 1] == '/')
		n--;
	while (n > 0 && path[n - 1] != '/')
		n--;
	while (n > 1 && path[n - 1] == '/')
		n--;
	return n ? arena_dup(a, path, n) : arena_str(a, ".");
}

const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

char *path_clean(struct arena *a, const char *cwd, const char *path)
{
	char *in = path[0] == '/' ? arena_str(a, path) : arena_printf(a, "%s/%s", cwd, path);
	char *out = arena_alloc(a, strlen(in) + 2);
	size_t n = 0;

	for (const char *p = in; *p;) {
		size_t len = strcspn(p, "/");

		if (len == 2 && p[0] == '.' && p[1] == '.') {
			while (n > 0 && out[--n] != '/')
				continue;
		} else if (len > 0 && !(len == 1 && p[0] == '.')) {
			out[n++] = '/';
			memcpy(out + n, p, len);
			n += len;
		}
		p += len + (p[len] == '/');
	}
	if (n == 0)
		out[n++] = '/';
	out[n] = '\0';
	return out;
}

const char *path_below(const char *root, const char *path)
{
	size_t n = strlen(root);

	while (n > 0 && root[n - 1] == '/')
		n--;
	if (strncmp(root, path, n) != 0 || (path[n] != '/' && path[n] != '\0'))
		return NULL;
	path += n;
	return path + strspn(path, "/");
}
