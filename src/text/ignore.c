#include "text/ignore.h"

#include <string.h>

#include "base/file.h"

/* Spaces at the end do not count unless they are quoted. */
static struct str without_end(struct str line)
{
	while (line.n &&
		(line.p[line.n - 1] == ' ' || line.p[line.n - 1] == '\t' ||
			line.p[line.n - 1] == '\r') &&
		!(line.n > 1 && line.p[line.n - 2] == '\\'))
		line.n--;
	return line;
}

static void add_line(struct ignore *ig, const char *folder, struct str line)
{
	struct ignore_rule rule = { .folder = folder };

	line = without_end(line);
	if (!line.n || *line.p == '#' || ig->n == IGNORE_RULES_MAX)
		return;
	if (*line.p == '!') {
		rule.is_taking_back = true;
		line = (struct str){ line.p + 1, line.n - 1 };
	}
	if (line.n && line.p[line.n - 1] == '/') {
		rule.is_for_folders = true;
		line.n--;
	}
	rule.is_tied = memchr(line.p, '/', line.n) != NULL;
	if (line.n && *line.p == '/')
		line = (struct str){ line.p + 1, line.n - 1 };
	if (!line.n)
		return;
	rule.pattern = arena_dup(ig->arena, line.p, line.n);
	ARENA_PUSH(ig->arena, ig->rules, ig->n, ig->cap, rule);
}

void ignore_add(struct ignore *ig, const char *folder, struct str text)
{
	const char *copy = arena_str(ig->arena, folder);
	struct str line;

	text.n = text.n > IGNORE_FILE_MAX ? IGNORE_FILE_MAX : text.n;
	while (str_line(&text, &line))
		add_line(ig, copy, line);
}

static bool rule_holds(const struct ignore_rule *r, const char *path, bool is_folder)
{
	const char *below = path_below(r->folder, path);

	if (!below || !*below || (r->is_for_folders && !is_folder))
		return false;
	return str_glob(r->pattern, r->is_tied ? below : path_base(path));
}

bool ignore_holds(const struct ignore *ig, const char *path, bool is_folder)
{
	for (size_t i = ig->n; i-- > 0;)
		if (rule_holds(&ig->rules[i], path, is_folder))
			return !ig->rules[i].is_taking_back;
	return false;
}
