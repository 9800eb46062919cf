/*
 * Dependencies that manifests name. A reader of lines, not of formats: an edit shows a piece of a
 * file only. Lock files are left out, since they name what nobody chose.
 */
#include <ctype.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "observe/entity_find.h"

#define MANIFEST_LINE_MAX 400
#define STAGES_MAX 16

struct manifest {
	struct finder *f;
	const char *path;
	struct str section;            /* of the last "[…]" or "key: {" line */
	struct str stages[STAGES_MAX]; /* of a Dockerfile: names that are no images */
	size_t nstages;
};

static bool starts(struct str s, const char *word)
{
	size_t n = strlen(word);

	return s.n >= n && memcmp(s.p, word, n) == 0;
}

static struct str from(struct str s, size_t n)
{
	return str_trim((struct str){ s.p + MIN(n, s.n), s.n - MIN(n, s.n) });
}

static struct str name_at(struct str s, const char *further)
{
	size_t n = 0;

	while (n < s.n && (isalnum((unsigned char)s.p[n]) || strchr(further, s.p[n])))
		n++;
	return (struct str){ s.p, n };
}

static struct str quoted(struct str s)
{
	const char *close;

	if (!s.n || (s.p[0] != '"' && s.p[0] != '\''))
		return (struct str){ 0 };
	close = memchr(s.p + 1, s.p[0], s.n - 1);
	return close ? (struct str){ s.p + 1, (size_t)(close - s.p) - 1 } : (struct str){ 0 };
}

static void add(struct manifest *m, struct str name)
{
	if (starts(name, "@types/"))
		name = from(name, 7);
	if (name.n && !entity_is_own(m->f, m->path, name))
		entity_add(m->f, ENTITY_LIBRARY, name);
}

/* "^1.2", "~1", ">=3", "1.0.0", "*", "workspace:*", "latest" */
static bool is_version(struct str v)
{
	static const char *const words[] = { "workspace:", "latest",
		"catalog:", "file:", "npm:", "git+", "link:", "*" };

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (starts(v, words[i]))
			return true;
	while (v.n && strchr("^~>=<v ", v.p[0]))
		v = from(v, 1);
	return v.n && isdigit((unsigned char)v.p[0]);
}

/* package.json, composer.json: "name": "^1.2.3" */
static void line_json(struct manifest *m, struct str line)
{
	static const char *const others[] = { "version", "node", "npm", "pnpm", "yarn", "engines",
		"packageManager", "target", "port", "php", "minimum-stability",
		"manifest_version" };
	struct str name = quoted(line), rest = from(line, name.n + 2);

	if (!name.n || !starts(rest, ":"))
		return;
	rest = from(rest, 1);
	if (starts(rest, "{"))
		m->section = name;
	if (str_is(m->section, "engines") || str_is(m->section, "volta"))
		return;
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (str_is(name, others[i]))
			return;
	if (is_version(quoted(rest)) && !memchr(name.p, ' ', name.n) &&
		!memchr(name.p, '*', name.n) && name.p[0] != '.')
		add(m, name);
}

/* "name[extra]>=1.2 ; marker" */
static void requirement(struct manifest *m, struct str line)
{
	struct str name = name_at(line, "-_."), rest = from(line, name.n);

	if (starts(rest, "[")) {
		const char *close = memchr(rest.p, ']', rest.n);
		rest = close ? from(rest, (size_t)(close - rest.p) + 1) : rest;
	}
	if (name.n && (!rest.n || strchr("=<>~!;#@,", rest.p[0])))
		add(m, name);
}

static void line_requirements(struct manifest *m, struct str line)
{
	if (line.n && line.p[0] != '#' && line.p[0] != '-')
		requirement(m, line);
}

static bool is_dependencies(struct str section)
{
	return str_find(section, STR("dependenc")) != NULL;
}

/* name = "1.2", name = { version = … }, name.workspace = true */
static void toml_pair(struct manifest *m, struct str line)
{
	static const char *const others[] = { "version", "edition", "rust-version", "python",
		"name", "requires-python", "target-version", "line-length", "python_version",
		"minversion", "resolver", "path", "branch", "rev", "tag", "python-version",
		"target", "pythonVersion" };
	struct str name = name_at(line, "-_"), rest = from(line, name.n);

	if (!name.n)
		return;
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (str_is(name, others[i]))
			return;
	if (starts(rest, ".workspace")) {
		add(m, name);
		return;
	}
	if (!starts(rest, "="))
		return;
	rest = from(rest, 1);
	bool is_table = starts(rest, "{") &&
			(str_find(rest, STR("version")) || str_find(rest, STR("workspace")) ||
				str_find(rest, STR("git =")) || str_find(rest, STR("path =")));
	if (is_table || is_version(quoted(rest)))
		add(m, name);
}

static void line_toml(struct manifest *m, struct str line)
{
	struct str text = quoted(line);

	if (starts(line, "[") && !starts(line, "[\"")) {
		m->section = line;
		/* [dependencies.name] */
		const char *dot = str_find(line, STR("dependencies."));
		if (dot)
			add(m, name_at((struct str){ dot + 13,
					       (size_t)(line.p + line.n - dot) - 13 },
				       "-_"));
	} else if (text.n) {
		requirement(m, text); /* a list of requirements, one a line */
	} else if (!m->section.n || is_dependencies(m->section)) {
		toml_pair(m, line);
	} else if (starts(line, "dependencies") || starts(line, "requires")) {
		const char *open = memchr(line.p, '[', line.n);
		struct str rest =
			open ? from(line, (size_t)(open - line.p) + 1) : (struct str){ 0 };
		while ((text = quoted(rest)).n) {
			requirement(m, text);
			rest = from(rest, text.n + 2);
			rest = starts(rest, ",") ? from(rest, 1) : (struct str){ 0 };
		}
	}
}

/* "require github.com/owner/name v1.2.3" */
static void line_gomod(struct manifest *m, struct str line)
{
	line = starts(line, "require ") ? from(line, 8) : line;
	struct str name = name_at(line, "-_./~"), rest = from(line, name.n);
	const char *slash = name.n ? memchr(name.p, '/', name.n) : NULL;

	if (!slash || !memchr(name.p, '.', (size_t)(slash - name.p)) || !starts(rest, "v"))
		return;
	if (str_find(rest, STR("// indirect")))
		return;
	struct str parts = name, part, kept = name;
	for (size_t i = 0; i < 3 && str_split(&parts, '/', &part); i++)
		if (part.n &&
			!(part.n < 4 && part.p[0] == 'v' && isdigit((unsigned char)part.p[1])))
			kept.n = (size_t)(part.p + part.n - name.p);
	add(m, kept);
}

static void line_pom(struct manifest *m, struct str line)
{
	static const char open[] = "<artifactId>";
	const char *at = str_find(line, STR(open));

	if (at)
		add(m, name_at((struct str){ at + sizeof(open) - 1,
				       (size_t)(line.p + line.n - at) - sizeof(open) + 1 },
			       "-_."));
}

/* implementation "group:artifact:1.0" */
static void line_gradle(struct manifest *m, struct str line)
{
	const char *quote = line.n ? memchr(line.p, '"', line.n) : NULL;
	const char *single = line.n ? memchr(line.p, '\'', line.n) : NULL;
	struct str text, part;

	quote = quote ? quote : single;
	if (!quote)
		return;
	text = quoted((struct str){ quote, (size_t)(line.p + line.n - quote) });
	if (!text.n || !memchr(text.p, ':', text.n) || memchr(text.p, '/', text.n))
		return;
	if (str_split(&text, ':', &part) && memchr(part.p, '.', part.n) &&
		str_split(&text, ':', &part))
		add(m, part);
}

static void line_gemfile(struct manifest *m, struct str line)
{
	if (starts(line, "gem "))
		add(m, quoted(from(line, 4)));
}

void entity_image(struct finder *f, struct str image)
{
	const char *slash = NULL;
	size_t n = 0;

	if (!image.n || strchr("$<.{", image.p[0]) || str_is(image, "scratch"))
		return;
	for (; n < image.n && (isalnum((unsigned char)image.p[n]) || strchr("-_./:", image.p[n]));
		n++)
		slash = image.p[n] == '/' ? image.p + n : slash;
	image.n = n;
	/* The tag stands behind the last slash. */
	struct str tail = slash ? from(image, (size_t)(slash - image.p) + 1) : image;
	const char *colon = tail.n ? memchr(tail.p, ':', tail.n) : NULL;
	if (colon)
		image.n = (size_t)(colon - image.p);
	if (starts(image, "library/"))
		image = from(image, 8);
	/* An image of a tool or service that is known by its last part is that. */
	struct str last = slash && slash < image.p + image.n
				  ? from(image, (size_t)(slash - image.p) + 1)
				  : image;
	char name[ENTITY_NAME_MAX];
	if (last.n < sizeof(name)) {
		memcpy(name, last.p, last.n);
		name[last.n] = '\0';
		if (name_known(name_canonical(name)))
			image = last;
	}
	entity_add(f, ENTITY_SERVICE, image);
}

static void line_dockerfile(struct manifest *m, struct str line)
{
	if (!starts(line, "FROM "))
		return;
	line = from(line, 5);
	while (starts(line, "--"))
		line = from(line, strcspn(line.p, " \n"));
	struct str image = { line.p, MIN(strcspn(line.p, " \t\n"), line.n) },
		   rest = from(line, image.n);
	for (size_t i = 0; i < m->nstages; i++)
		if (str_eq(m->stages[i], image))
			return;
	if ((starts(rest, "AS ") || starts(rest, "as ")) && m->nstages < STAGES_MAX)
		m->stages[m->nstages++] = from(rest, 3);
	entity_image(m->f, image);
}

static void line_compose(struct manifest *m, struct str line)
{
	line = starts(line, "- ") ? from(line, 2) : line;
	if (!starts(line, "image:"))
		return;
	line = from(line, 6);
	entity_image(m->f, quoted(line).n ? quoted(line) : line);
}

static const struct {
	const char *name; /* or an ending, with a star before it */
	void (*line)(struct manifest *m, struct str line);
} manifests[] = { { "package.json", line_json }, { "composer.json", line_json },
	{ "requirements*.txt", line_requirements }, { "requirements*.in", line_requirements },
	{ "constraints.txt", line_requirements }, { "pyproject.toml", line_toml },
	{ "Cargo.toml", line_toml }, { "Pipfile", line_toml }, { "go.mod", line_gomod },
	{ "pom.xml", line_pom }, { "build.gradle", line_gradle },
	{ "build.gradle.kts", line_gradle }, { "Gemfile", line_gemfile },
	{ "*.gemspec", line_gemfile }, { "Dockerfile*", line_dockerfile },
	{ "*.dockerfile", line_dockerfile }, { "docker-compose*.y*ml", line_compose },
	{ "compose*.y*ml", line_compose } };

bool entity_manifest(struct finder *f, const char *path, struct str text)
{
	const char *base = path_base(path);

	for (size_t i = 0; i < ARRAY_LEN(manifests); i++) {
		struct manifest m = { .f = f, .path = path };
		struct str line;
		if (!str_glob(manifests[i].name, base))
			continue;
		while (str_line(&text, &line))
			if (line.n < MANIFEST_LINE_MAX)
				manifests[i].line(&m, str_trim(entity_line(line)));
		return true;
	}
	return false;
}
