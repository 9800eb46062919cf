#include "ops/ready.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

#define INSTRUCTION_GLOBS "/CLAUDE.md\n/CLAUDE.local.md\n/AGENTS.md\n/.claude/CLAUDE.md"
#define USER_GLOBS "/CLAUDE.md\n/AGENTS.md"
#define USER_NAME "user-"

struct ready {
	struct arena *a;
	struct folder *known;
	size_t nknown;
	struct project *projects;
	size_t nprojects;
	struct folder *list;
	size_t n, cap;
};

/* Claude Code's name for a project's folder: whatever is no letter or digit is a dash. */
static bool is_folder_of(const char *name, const char *root)
{
	for (; *name && *root; name++, root++)
		if (*name != (isalnum((unsigned char)*root) ? *root : '-'))
			return false;
	return !*name && !*root;
}

static bool is_followed(const struct ready *r, const char *root, const char *prefix)
{
	for (size_t i = 0; i < r->nknown; i++)
		if (!strcmp(r->known[i].root, root) && str_starts(r->known[i].namespace, prefix))
			return true;
	return false;
}

static bool is_taken(const struct ready *r, const char *namespace)
{
	for (size_t i = 0; i < r->nknown; i++)
		if (!strcmp(r->known[i].namespace, namespace))
			return true;
	for (size_t i = 0; i < r->n; i++)
		if (!strcmp(r->list[i].namespace, namespace))
			return true;
	return false;
}

static char *namespace_made(const struct ready *r, const char *prefix, const char *name)
{
	size_t room = FOLDER_NAMESPACE_MAX - strlen(prefix) - 8;
	char *plain = arena_dup(r->a, name, utf8_cut(name, strlen(name), room));

	for (char *p = plain; *p; p++)
		if (isspace((unsigned char)*p) || *p == '"')
			*p = '-';
	char *namespace = arena_printf(r->a, "%s%s", prefix, plain);
	for (int i = 2; is_taken(r, namespace); i++)
	namespace = arena_printf(r->a, "%s%s-%d", prefix, plain, i);
	return namespace;
}

static void add(struct ready *r, const char *prefix, const char *name, const struct folder *like)
{
	struct folder f = *like;

	if (is_followed(r, f.root, prefix))
		return;
	f.namespace = namespace_made(r, prefix, name);
	ARENA_PUSH(r->a, r->list, r->n, r->cap, f);
}

static bool has_one_of(struct arena *a, const char *root, const char *globs)
{
	struct str rest = str_of(globs), glob;

	while (str_line(&rest, &glob))
		if (file_exists(path_join(a, root, arena_dup(a, glob.p + 1, glob.n - 1))))
			return true;
	return false;
}

static void add_memories(struct ready *r, const char *claude)
{
	const char *projects = path_join(r->a, claude, "projects");
	char **names;
	size_t n;

	if (file_list(r->a, projects, &names, &n, NULL))
		return;
	for (size_t i = 0; i < n; i++) {
		struct folder f = { .root = path_join(
					    r->a, path_join(r->a, projects, names[i]), "memory"),
			.globs = "*.md" };
		const char *name = names[i][0] == '-' ? names[i] + 1 : names[i];
		if (!file_is_dir(f.root))
			continue;
		for (size_t k = 0; k < r->nprojects; k++)
			if (r->projects[k].root && is_folder_of(names[i], r->projects[k].root)) {
				f.project = r->projects[k].id;
				name = r->projects[k].name;
			}
		add(r, READY_MEMORY, name, &f);
	}
}

static void add_instructions(struct ready *r)
{
	for (size_t i = 0; i < r->nprojects; i++) {
		const struct project *p = &r->projects[i];
		struct folder f = { .project = p->id, .root = p->root, .globs = INSTRUCTION_GLOBS };
		if (p->root && *p->root == '/' && has_one_of(r->a, p->root, f.globs))
			add(r, READY_INSTRUCTIONS, p->name, &f);
	}
}

int ready_find(struct store *s, struct arena *a, const char *user_home, struct folder **ret,
	size_t *ret_n, struct err *err)
{
	struct ready r = { .a = a };
	const char *claude = getenv("CLAUDE_CONFIG_DIR"), *codex = getenv("CODEX_HOME");

	*ret = NULL;
	*ret_n = 0;
	if (folder_list(s, a, &r.known, &r.nknown, err) ||
		store_project_list(s, a, &(struct project_query){ .max = READY_PROJECTS_MAX }, &r.projects, &r.nprojects, err))
		return -1;
	if (!user_home)
		return 0;
	const struct {
		const char *name, *root;
	} users[] = {
		{ USER_NAME "claude",
			claude && *claude ? claude : path_join(a, user_home, ".claude") },
		{ USER_NAME "codex", codex && *codex ? codex : path_join(a, user_home, ".codex") },
	};
	add_memories(&r, users[0].root);
	add_instructions(&r);
	for (size_t i = 0; i < ARRAY_LEN(users); i++)
		if (has_one_of(a, users[i].root, USER_GLOBS))
			add(&r, READY_INSTRUCTIONS, users[i].name,
				&(struct folder){ .root = users[i].root, .globs = USER_GLOBS });
	*ret = r.list;
	*ret_n = r.n;
	return 0;
}
