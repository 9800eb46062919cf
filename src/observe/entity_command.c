/*
 * What a shell command runs: the program behind sudo, env, npx and the like, packages that it
 * installs, images, hosts.
 */
#include <ctype.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "model/names.h"
#include "observe/entity_find.h"

#define NESTED_MAX 3 /* shells within shells */

struct looker {
	struct finder *f;
	unsigned depth;
	unsigned shown; /* files that the command shows */
	const char *shown_path;
};

/* ---- package managers ---- */

struct installer {
	const char *tool;
	const char *verbs; /* of its second word; "" when the second word is a package already */
	enum entity_kind kind;
};

static const struct installer installers[] = {
	{ "npm", "install|i|add|uninstall|remove|ci", ENTITY_LIBRARY },
	{ "pnpm", "install|i|add|remove|update", ENTITY_LIBRARY },
	{ "yarn", "add|remove|upgrade", ENTITY_LIBRARY },
	{ "bun", "add|install|remove", ENTITY_LIBRARY },
	{ "pip", "install|uninstall|show", ENTITY_LIBRARY },
	{ "pip3", "install|uninstall|show", ENTITY_LIBRARY },
	{ "poetry", "add|remove", ENTITY_LIBRARY },
	{ "uv", "add|remove", ENTITY_LIBRARY },
	{ "pdm", "add|remove", ENTITY_LIBRARY },
	{ "conda", "install", ENTITY_LIBRARY },
	{ "cargo", "add|remove", ENTITY_LIBRARY },
	{ "gem", "install", ENTITY_LIBRARY },
	{ "composer", "require|remove", ENTITY_LIBRARY },
	{ "go", "get", ENTITY_LIBRARY },
	{ "go", "install", ENTITY_TOOL },
	{ "pipx", "install", ENTITY_TOOL },
	{ "brew", "install|uninstall|upgrade", ENTITY_TOOL },
	{ "apt", "install|remove", ENTITY_TOOL },
	{ "apt-get", "install|remove", ENTITY_TOOL },
	{ "apk", "add", ENTITY_TOOL },
	{ "dnf", "install", ENTITY_TOOL },
	{ "yum", "install", ENTITY_TOOL },
	{ "pacman", "-S", ENTITY_TOOL },
};

/* Options of installers whose value is another word. */
static const char *const valued[] = { "-r", "--requirement", "-c", "--constraint", "-e",
	"--editable", "-t", "--target", "-i", "--index-url", "--extra-index-url", "--prefix",
	"--registry", "--filter", "-F", "--features", "--group", "-G", "--cwd", "-C", "-w",
	"--workspace", "-f", "--find-links", "-n", "--name", "--root", "--path", "--git",
	"--version", "-p", "--package", "--python", "--only", "--extra", "--save-prefix", "--dir" };

static bool is_choice(const char *choices, const char *word)
{
	struct str rest = str_of(choices), one;

	while (str_split(&rest, '|', &one))
		if (str_is(one, word))
			return true;
	return false;
}

/*
 * "react@18", "uvicorn[standard]==0.30", "@scope/name@^1", "tool@latest" without what follows the
 * name.
 */
static struct str package_name(const char *word)
{
	size_t n = strcspn(word + 1, "@=<>~![;^") + 1;

	return (struct str){ word, *word ? n : 0 };
}

static void packages(
	struct finder *f, const struct shell_command *c, size_t from, enum entity_kind kind)
{
	for (size_t i = from; i < c->n; i++) {
		const char *w = c->words[i];
		if (name_is_any(w, valued, ARRAY_LEN(valued))) {
			i++;
			continue;
		}
		if (strchr("-./~$<>%*{}", w[0]) || strstr(w, "://") || strchr(w, '$') || !*w ||
			(strchr(w, '/') && w[0] != '@' && !strchr(w, '.')))
			continue;
		entity_add(f, kind, package_name(w));
	}
}

static bool installs(struct finder *f, const struct shell_command *c, size_t at)
{
	const char *tool = path_base(c->words[at]);
	size_t verb = at + 1;

	while (verb < c->n && c->words[verb][0] == '-' && strcmp(c->words[verb], "-S") != 0)
		verb += name_is_any(c->words[verb], valued, ARRAY_LEN(valued)) ? 2 : 1;
	if (strcmp(tool, "uv") == 0 && verb + 1 < c->n && strcmp(c->words[verb], "pip") == 0) {
		tool = "pip";
		verb++;
	}
	for (size_t i = 0; verb < c->n && i < ARRAY_LEN(installers); i++)
		if (strcmp(installers[i].tool, tool) == 0 &&
			is_choice(installers[i].verbs, c->words[verb])) {
			packages(f, c, verb + 1, installers[i].kind);
			return true;
		}
	return false;
}

/* ---- images ---- */

static const char *const image_verbs[] = { "run", "pull", "push", "create" };
static const char *const image_valued[] = { "-e", "--env", "-v", "--volume", "-p", "--publish",
	"--name", "--network", "--net", "-w", "--workdir", "-u", "--user", "--entrypoint",
	"--mount", "--platform", "-h", "--hostname", "--env-file", "-m", "--memory", "--cpus", "-l",
	"--label", "--add-host", "--link", "--restart", "--gpus", "--pull", "--tmpfs", "--ulimit" };

static void image(struct finder *f, const struct shell_command *c, size_t at)
{
	if (at + 1 >= c->n || !name_is_any(c->words[at + 1], image_verbs, ARRAY_LEN(image_verbs)))
		return;
	for (size_t i = at + 2; i < c->n; i++) {
		const char *w = c->words[i];
		if (name_is_any(w, image_valued, ARRAY_LEN(image_valued))) {
			i++;
		} else if (w[0] != '-') {
			entity_image(f, str_of(w));
			return;
		}
	}
}

/* ---- what stands before the program ---- */

struct wrapper {
	const char *name, *verb; /* verb: the word that must follow, or NULL */
	bool is_counted;         /* a tool of its own */
	const char *valued;      /* options whose value is another word */
	size_t skip;             /* further words before the program */
};

static const struct wrapper wrappers[] = {
	{ "sudo", NULL, false, "-u|-g|-C", 0 },
	{ "env", NULL, false, "-u|-C|-S", 0 },
	{ "time", NULL, false, "", 0 },
	{ "nohup", NULL, false, "", 0 },
	{ "nice", NULL, false, "-n", 0 },
	{ "timeout", NULL, false, "-k|-s", 1 },
	{ "gtimeout", NULL, false, "-k|-s", 1 },
	{ "xargs", NULL, false, "-I|-n|-P|-L|-d|-a", 0 },
	{ "exec", NULL, false, "", 0 },
	{ "command", NULL, false, "", 0 },
	{ "builtin", NULL, false, "", 0 },
	{ "stdbuf", NULL, false, "", 0 },
	{ "caffeinate", NULL, false, "", 0 },
	{ "watch", NULL, false, "-n", 0 },
	{ "npx", NULL, true, "-p|--package", 0 },
	{ "bunx", NULL, true, "", 0 },
	{ "uvx", NULL, true, "--from|--with|-p", 0 },
	{ "pnpm", "exec", true, "", 0 },
	{ "pnpm", "dlx", true, "", 0 },
	{ "yarn", "dlx", true, "", 0 },
	{ "npm", "exec", true, "", 0 },
	{ "pipx", "run", true, "", 0 },
	{ "uv", "run", true, "--with|-p|--python|--extra|--group|--package", 0 },
	{ "poetry", "run", true, "", 0 },
	{ "pipenv", "run", true, "", 0 },
	{ "pdm", "run", true, "", 0 },
	{ "rye", "run", true, "", 0 },
	{ "hatch", "run", true, "", 0 },
	{ "bundle", "exec", true, "", 0 },
	{ "mise", "exec", true, "", 0 },
	{ "mise", "x", true, "", 0 },
	{ "direnv", "exec", true, "", 1 },
	{ "strace", NULL, true, "-e|-o|-p|-f", 0 },
	{ "valgrind", NULL, true, "", 0 },
	{ "docker", "exec", true, "-e|-w|-u", 1 },
	{ "kubectl", "exec", true, "-n|-c|--namespace|--container", 1 },
};

static const struct wrapper *wrapper_find(const struct shell_command *c, size_t at)
{
	const char *name = path_base(c->words[at]);

	for (size_t i = 0; i < ARRAY_LEN(wrappers); i++)
		if (strcmp(wrappers[i].name, name) == 0 &&
			(!wrappers[i].verb ||
				(at + 1 < c->n && strcmp(wrappers[i].verb, c->words[at + 1]) == 0)))
			return &wrappers[i];
	return NULL;
}

static bool is_assignment(const char *w)
{
	size_t n = 0;

	while (isalnum((unsigned char)w[n]) || w[n] == '_')
		n++;
	return n && w[n] == '=';
}

/* The place of the program itself; wrappers that are tools are counted. c->n when there is none. */
static size_t program_at(struct finder *f, const struct shell_command *c)
{
	size_t at = 0;
	const struct wrapper *w;

	for (;;) {
		while (at < c->n && is_assignment(c->words[at]))
			at++;
		if (at >= c->n || !(w = wrapper_find(c, at)))
			return at;
		if (w->is_counted)
			entity_add(f, ENTITY_TOOL, str_of(w->name));
		at += w->verb ? 2 : 1;
		if (strcmp(w->name, "command") == 0 && at < c->n && str_istarts(c->words[at], "-v"))
			return c->n; /* asks where a program is */
		while (at < c->n && c->words[at][0] == '-')
			at += strcmp(c->words[at], "--") != 0 && is_choice(w->valued, c->words[at])
				      ? 2
				      : 1;
		at += at < c->n ? w->skip : 0;
		while (at < c->n && strcmp(c->words[at], "--") == 0)
			at++;
	}
}

/* ---- the program ---- */

/* A program that no table knows: a plain name, which ran. */
static bool is_plain(const char *w)
{
	size_t n = strlen(w);

	if (n < 2 || n > 24 || !islower((unsigned char)w[0]))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!islower((unsigned char)w[i]) && !isdigit((unsigned char)w[i]) &&
			!strchr("-_", w[i]))
			return false;
	return true;
}

static bool was_found(const struct event *e)
{
	return e->exit_code != 127 && !(e->output && (strstr(e->output, "command not found") ||
							     strstr(e->output, ": not found")));
}

static void program(struct finder *f, const char *word)
{
	const char *base = path_base(word);
	char name[ENTITY_NAME_MAX];
	bool is_path = base != word;

	if (strlen(base) >= sizeof(name) || !*base || word_is_listed(NOISE_COMMANDS, base))
		return;
	memcpy(name, base, strlen(base) + 1);
	/* "python3.11", "gcc-12" */
	for (size_t n = strlen(name);
		n > 3 && (isdigit((unsigned char)name[n - 1]) ||
				 ((name[n - 1] == '.' || name[n - 1] == '-') &&
					 isdigit((unsigned char)name[n])));)
		if (!name_known(name_canonical(name)))
			name[--n] = '\0';
		else
			break;
	const struct known_name *known = name_known(name_canonical(name));
	if (known && known->kind != ENTITY_FILE)
		entity_add(f, known->kind, str_of(name));
	else if (is_plain(base) && was_found(f->e) && (!is_path || strstr(word, "bin/")))
		entity_add(f, ENTITY_COMMAND, str_of(base));
}

/* Programs that show a file as it is. */
static void shows(struct looker *l, const struct shell_command *c, size_t at)
{
	static const char *const showing[] = { "cat", "head", "tail", "nl", "sed", "bat", "less" };
	const char *last = c->words[c->n - 1];

	if (!name_is_any(c->words[at], showing, ARRAY_LEN(showing)) || c->n - at < 2)
		return;
	if (last[0] == '-' || !strchr(last, '.') || strchr(last, ' ') || strchr(last, ','))
		return;
	l->shown++;
	l->shown_path = last;
}

static void each_command(void *ctx, const struct shell_command *c);

static void nested(struct looker *l, const char *text)
{
	if (l->depth == NESTED_MAX)
		return;
	l->depth++;
	shell_each(l->f->a, str_of(text), each_command, l);
	l->depth--;
}

/* "bash -lc TEXT", "python -m MODULE" */
static void inner(struct looker *l, const struct shell_command *c, size_t at)
{
	static const char *const shells[] = { "bash", "sh", "zsh", "dash" };
	const char *name = path_base(c->words[at]);

	for (size_t i = at + 1; i + 1 < c->n && c->words[i][0] == '-'; i++) {
		if (name_is_any(name, shells, ARRAY_LEN(shells)) && strchr(c->words[i], 'c')) {
			nested(l, c->words[i + 1]);
			return;
		}
		if (str_starts(name, "python") && strcmp(c->words[i], "-m") == 0) {
			struct shell_command module = { .n = c->n - i - 1 };
			memcpy(module.words, &c->words[i + 1], module.n * sizeof(*module.words));
			module.words[0] = arena_str(l->f->a, module.words[0]);
			module.words[0][strcspn(module.words[0], ".")] = '\0';
			if (!word_is_listed(STANDARD_PYTHON, module.words[0]))
				each_command(l, &module);
			return;
		}
	}
}

static void each_command(void *ctx, const struct shell_command *c)
{
	struct looker *l = ctx;
	size_t at = program_at(l->f, c);

	for (size_t i = 0; i < c->n; i++)
		entity_url(l->f, str_of(c->words[i]));
	if (at >= c->n)
		return;
	program(l->f, c->words[at]);
	installs(l->f, c, at);
	if (strcmp(c->words[at], "docker") == 0 || strcmp(c->words[at], "podman") == 0)
		image(l->f, c, at);
	shows(l, c, at);
	inner(l, c, at);
}

void entity_command(struct finder *f, const char *text)
{
	struct looker l = { .f = f };
	struct str s = str_of(text);

	s.n = MIN(s.n, (size_t)LOOK_MAX);
	shell_each(f->a, s, each_command, &l);
	if (l.shown == 1 && f->e->output && *f->e->output)
		entity_shown(f, l.shown_path, str_of(f->e->output));
}
