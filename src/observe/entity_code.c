/*
 * Libraries that a source text imports: by lines, as each language writes it. What comes with the
 * language is no library, nor what lies in the project itself.
 */
#include <ctype.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "observe/entity_find.h"

#define IMPORT_LINE_MAX 300

struct code {
	struct finder *f;
	const char *path;
	bool is_in_block; /* Go: import ( … ) */
};

struct str entity_line(struct str line)
{
	size_t n = 0;

	while (n < line.n && (line.p[n] == ' ' || line.p[n] == '\t'))
		n++;
	size_t digits = n;
	while (n < line.n && isdigit((unsigned char)line.p[n]))
		n++;
	if (n > digits && n < line.n) {
		static const char arrow[] = "→";
		struct str rest = { line.p + n, line.n - n };
		if (rest.n >= sizeof(arrow) - 1 && memcmp(rest.p, arrow, sizeof(arrow) - 1) == 0)
			return (struct str){ rest.p + sizeof(arrow) - 1,
				rest.n - sizeof(arrow) + 1 };
		if (rest.p[0] == '\t' || rest.p[0] == '|')
			return (struct str){ rest.p + 1, rest.n - 1 };
	}
	return line;
}

/* Names of code and of packages differ in '_' and '-'. */
static bool is_same(struct str part, struct str name)
{
	if (part.n != name.n)
		return false;
	for (size_t i = 0; i < name.n; i++) {
		char x = part.p[i] == '-' ? '_' : part.p[i], y = name.p[i] == '-' ? '_' : name.p[i];
		if (tolower((unsigned char)x) != tolower((unsigned char)y))
			return false;
	}
	return true;
}

static bool has_part(const char *path, struct str name)
{
	struct str rest = str_of(path), part;

	while (str_split(&rest, '/', &part)) {
		const char *dot = rest.n ? NULL : memchr(part.p ? part.p : "", '.', part.n);
		if (dot)
			part.n = (size_t)(dot - part.p);
		if (part.n && is_same(part, name))
			return true;
	}
	return false;
}

bool entity_is_own(const struct finder *f, const char *path, struct str name)
{
	const struct rules_input *in = f->in;
	const char *slash = name.n ? memchr(name.p, '/', name.n) : NULL;

	if (slash && name.p[0] == '@') /* @scope/name: packages of one house */
		name = (struct str){ name.p + 1, (size_t)(slash - name.p) - 1 };
	if (has_part(path, name))
		return true;
	if (in->project && in->project->name && is_same(str_of(in->project->name), name))
		return true;
	return in->project && in->project->root && has_part(path_base(in->project->root), name);
}

/* ---- helpers ---- */

static bool starts(struct str s, const char *word)
{
	size_t n = strlen(word);

	return s.n >= n && memcmp(s.p, word, n) == 0;
}

static struct str from(struct str s, size_t n)
{
	return str_trim((struct str){ s.p + MIN(n, s.n), s.n - MIN(n, s.n) });
}

/* The run of name bytes at the beginning. */
static struct str name_at(struct str s, const char *further)
{
	size_t n = 0;

	while (n < s.n &&
		(isalnum((unsigned char)s.p[n]) || s.p[n] == '_' || strchr(further, s.p[n])))
		n++;
	return (struct str){ s.p, n };
}

static struct str up_to(struct str s, char c)
{
	const char *at = s.n ? memchr(s.p, c, s.n) : NULL;

	return at ? (struct str){ s.p, (size_t)(at - s.p) } : s;
}

static bool is_listed(enum word_list_id list, struct str name)
{
	char lower[64];

	if (name.n >= sizeof(lower))
		return false;
	for (size_t i = 0; i < name.n; i++)
		lower[i] = (char)tolower((unsigned char)name.p[i]);
	lower[name.n] = '\0';
	return word_is_listed(list, lower);
}

/* As package managers write it: with '-'. */
static void add_library(struct code *s, struct str name)
{
	char dashed[ENTITY_NAME_MAX];

	if (!name.n || name.n >= sizeof(dashed) || name.p[0] == '_' ||
		entity_is_own(s->f, s->path, name))
		return;
	for (size_t i = 0; i < name.n; i++)
		dashed[i] = name.p[i] == '_' ? '-' : name.p[i];
	entity_add(s->f, ENTITY_LIBRARY, (struct str){ dashed, name.n });
}

/* ---- languages ---- */

static void python_name(struct code *s, struct str name)
{
	name = up_to(name, '.');
	if (name.n && !is_listed(STANDARD_PYTHON, name))
		add_library(s, name);
}

/* "import a.b as c, d" and nothing else on the line; "from a.b import c" */
static void line_python(struct code *s, struct str line)
{
	line = str_trim(line);
	if (starts(line, "from ")) {
		struct str name = name_at(from(line, 5), "."), rest = from(line, 5 + name.n);
		if (name.n && name.p[0] != '.' && starts(rest, "import"))
			python_name(s, name);
	} else if (starts(line, "import ")) {
		struct str rest = up_to(from(line, 7), '#'), part;
		for (size_t i = 0; i < rest.n; i++)
			if (!isalnum((unsigned char)rest.p[i]) && !strchr("._, ", rest.p[i]))
				return;
		while (str_split(&rest, ',', &part)) {
			struct str name = name_at(str_trim(part), "."),
				   after = from(str_trim(part), name.n);
			if (after.n && !starts(after, "as "))
				return;
			python_name(s, name);
		}
	}
}

/* "react/jsx" and "@scope/name/x" without what is inside of the package. */
static struct str js_package(struct str name)
{
	struct str first = up_to(name, '/');

	if (name.n && name.p[0] == '@' && first.n < name.n) {
		struct str second =
			up_to((struct str){ first.p + first.n + 1, name.n - first.n - 1 }, '/');
		return (struct str){ name.p, first.n + 1 + second.n };
	}
	return first;
}

static void js_name(struct code *s, struct str name)
{
	static const char *const inner[] = { ".", "/", "@/", "~", "#", "$",
		"node:", "virtual:", "bun:", "http:", "https:", "src/", "astro:", "cloudflare:" };

	if (starts(name, "npm:"))
		name = from(name, 4);
	for (size_t i = 0; i < ARRAY_LEN(inner); i++)
		if (starts(name, inner[i]))
			return;
	if (starts(name, "@types/"))
		name = from(name, 7);
	name = js_package(name);
	if (!name.n || is_listed(STANDARD_JAVASCRIPT, name) || entity_is_own(s->f, s->path, name))
		return;
	for (size_t i = 0; i < name.n; i++)
		if (!isalnum((unsigned char)name.p[i]) && !strchr("@/._-", name.p[i]))
			return;
	entity_add(s->f, ENTITY_LIBRARY, name);
}

/* The quoted text that `at` begins with. */
static struct str quoted(struct str at)
{
	if (!at.n || !strchr("'\"`", at.p[0]))
		return (struct str){ 0 };
	struct str inside = { at.p + 1, at.n - 1 }, text = up_to(inside, at.p[0]);
	return text.n < inside.n ? text : (struct str){ 0 };
}

static void line_javascript(struct code *s, struct str line)
{
	static const char *const calls[] = { "require(", "import(", "jest.mock(", "vi.mock(" };
	const char *at;

	line = str_trim(line);
	bool is_import = starts(line, "import ") || starts(line, "export ") || starts(line, "}");
	if (starts(line, "//") || starts(line, "*"))
		return;
	if (is_import && (at = str_find(line, STR(" from "))))
		js_name(s, quoted(from(line, (size_t)(at - line.p) + 6)));
	else if (starts(line, "import "))
		js_name(s, quoted(from(line, 7)));
	for (size_t i = 0; i < ARRAY_LEN(calls); i++)
		if ((at = str_find(line, str_of(calls[i]))))
			js_name(s, quoted(from(line, (size_t)(at - line.p) + strlen(calls[i]))));
}

/* A module path without what lies inside of the module: three parts at the big hosts, else two. */
static void go_name(struct code *s, struct str path)
{
	struct str first = up_to(path, '/'), name = first, part, rest = path;
	size_t parts = starts(path, "gopkg.in/") || starts(path, "gorm.io/") ||
				       starts(path, "go.uber.org/") || starts(path, "k8s.io/") ||
				       starts(path, "google.golang.org/")
			       ? 2
			       : 3;

	if (first.n == path.n || !memchr(first.p, '.', first.n))
		return;
	for (size_t i = 0; i < parts && str_split(&rest, '/', &part); i++) {
		name.n = (size_t)(part.p + part.n - path.p);
		if (i && i + 1 == parts && entity_is_own(s->f, s->path, part))
			return;
	}
	entity_add(s->f, ENTITY_LIBRARY, name);
}

static void line_go(struct code *s, struct str line)
{
	line = str_trim(line);
	bool is_single = starts(line, "import ");
	if (starts(line, "import ("))
		s->is_in_block = true;
	else if (s->is_in_block && starts(line, ")"))
		s->is_in_block = false;
	else if (is_single)
		line = from(line, 7);
	if (!line.n || line.p[line.n - 1] != '"')
		return;
	struct str alias = name_at(line, "."), text = quoted(from(line, alias.n));
	if (text.n && (is_single || s->is_in_block || text.n + 2 == line.n))
		go_name(s, text);
}

static void line_rust(struct code *s, struct str line)
{
	line = str_trim(line);
	line = starts(line, "pub ") ? from(line, 4) : line;
	bool is_crate = starts(line, "extern crate ");
	if (!is_crate && !starts(line, "use "))
		return;
	line = from(line, is_crate ? 13 : 4);
	struct str name = name_at(line, "");
	if (!name.n || !islower((unsigned char)name.p[0]) || is_listed(STANDARD_RUST, name))
		return;
	if (is_crate || (name.n < line.n && starts(from(line, name.n), "::")))
		add_library(s, name);
}

static void line_java(struct code *s, struct str line)
{
	static const char *const own[] = { "java.", "javax.", "kotlin.", "kotlinx.", "android.",
		"scala.", "jakarta." };

	line = str_trim(line);
	if (!starts(line, "import "))
		return;
	line = from(line, 7);
	line = starts(line, "static ") ? from(line, 7) : line;
	struct str name = name_at(line, "."), rest = name, part;
	for (size_t i = 0; i < ARRAY_LEN(own); i++)
		if (starts(name, own[i]))
			return;
	size_t parts = starts(name, "com.") || starts(name, "org.apache.") ? 3 : 2, i;
	for (i = 0; i < parts && str_split(&rest, '.', &part); i++)
		if (i + 1 == parts && entity_is_own(s->f, s->path, part))
			return;
	if (i == parts && rest.n)
		entity_add(s->f, ENTITY_LIBRARY,
			(struct str){ name.p, (size_t)(part.p + part.n - name.p) });
}

static void line_c(struct code *s, struct str line)
{
	line = str_trim(line);
	if (!starts(line, "#"))
		return;
	line = from(line, 1);
	if (!starts(line, "include"))
		return;
	line = from(line, 7);
	if (!starts(line, "<"))
		return;
	struct str header = up_to(from(line, 1), '>'), first = up_to(header, '/');
	bool has_folder = first.n < header.n;
	bool is_header = header.n > 2 && memcmp(header.p + header.n - 2, ".h", 2) == 0;
	if (!has_folder && !is_header)
		return; /* C++'s own have no ending */
	if (!has_folder)
		first.n -= 2;
	if (!is_listed(STANDARD_C, first))
		add_library(s, first);
}

static void line_ruby(struct code *s, struct str line)
{
	line = str_trim(line);
	if (!starts(line, "require '") && !starts(line, "require \""))
		return;
	struct str name = up_to(quoted(from(line, 8)), '/');
	if (name.n && name.p[0] != '.' && !is_listed(STANDARD_RUBY, name))
		add_library(s, name);
}

static const struct {
	const char *language;
	void (*line)(struct code *s, struct str line);
} languages[] = { { "python", line_python }, { "javascript", line_javascript },
	{ "typescript", line_javascript }, { "vue.js", line_javascript },
	{ "svelte", line_javascript }, { "astro", line_javascript }, { "go", line_go },
	{ "rust", line_rust }, { "java", line_java }, { "kotlin", line_java },
	{ "scala", line_java }, { "c", line_c }, { "c++", line_c }, { "ruby", line_ruby } };

void entity_imports(struct finder *f, const char *path, struct str text)
{
	const char *language = path_language(path);
	struct code s = { .f = f, .path = path };
	struct str line;

	for (size_t i = 0; language && i < ARRAY_LEN(languages); i++) {
		if (strcmp(languages[i].language, language) != 0)
			continue;
		while (str_line(&text, &line))
			if (line.n < IMPORT_LINE_MAX)
				languages[i].line(&s, entity_line(line));
	}
}
