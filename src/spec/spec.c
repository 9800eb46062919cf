/*
 * Looking things up in the table, forgivingly: agents and people guess names before they read help.
 */
#include "spec/spec.h"

#include <ctype.h>
#include <string.h>

#include "base/mem.h"

#define NEAR_ENOUGH(name) (1 + (unsigned)strlen(name) / 3)

/* Names that other tools use for what we call otherwise. */
static const struct {
	const char *theirs, *ours;
} other_commands[] = {
	{ "find", "search" },
	{ "query", "search" },
	{ "grep", "search" },
	{ "show", "get" },
	{ "cat", "get" },
	{ "view", "get" },
	{ "ask", "recall" },
	{ "add", "remember" },
	{ "save", "remember" },
	{ "note", "remember" },
	{ "store", "remember" },
	{ "delete", "forget" },
	{ "remove", "forget" },
	{ "rm", "forget" },
	{ "history", "sessions" },
	{ "list", "sessions" },
	{ "log", "timeline" },
	{ "settings", "config" },
	{ "set", "config" },
	{ "check", "doctor" },
	{ "setup", "install" },
	{ "info", "status" },
	{ "ps", "status" },
	{ "update", "edit" },
	{ "unpause", "resume" },
};

static const struct {
	const char *theirs, *ours;
} other_params[] = {
	{ "ids", "refs" },
	{ "id", "refs" },
	{ "id", "ref" },
	{ "ids", "ref" },
	{ "anchor", "ref" },
	{ "q", "query" },
	{ "question", "query" },
	{ "query", "question" },
	{ "text", "query" },
	{ "text", "question" },
	{ "content", "text" },
	{ "note", "text" },
	{ "since", "after" },
	{ "after", "since" },
	{ "from", "after" },
	{ "date_start", "after" },
	{ "until", "before" },
	{ "to", "before" },
	{ "date_end", "before" },
	{ "n", "limit" },
	{ "max", "limit" },
	{ "max_results", "limit" },
	{ "count", "limit" },
	{ "obs_type", "type" },
	{ "category", "type" },
	{ "type", "category" },
	{ "path", "file" },
	{ "path", "files" },
	{ "file", "path" },
	{ "file_path", "file" },
	{ "depth_before", "before_n" },
	{ "depth_after", "after_n" },
	{ "max_tokens", "budget" },
	{ "tokens", "budget" },
	{ "dir", "cwd" },
	{ "depth", "limit" },
	{ "body", "text" },
	{ "output", "write" },
	{ "output", "file" },
	{ "duration", "for" },
	{ "force", "yes" },
};

const struct op_spec *op_spec_find(const char *name)
{
	for (size_t i = 0; i < op_specs_n; i++) {
		const struct op_spec *op = &op_specs[i];
		if (strcmp(op->name, name) == 0 ||
			(op->mcp_name && strcmp(op->mcp_name, name) == 0))
			return op;
	}
	return NULL;
}

const char *op_spec_nearest(const char *name)
{
	const char *best = NULL;
	unsigned best_distance = NEAR_ENOUGH(name) + 1;

	for (size_t i = 0; i < ARRAY_LEN(other_commands); i++)
		if (str_ieq(other_commands[i].theirs, name))
			return other_commands[i].ours;
	for (size_t i = 0; i < op_specs_n; i++) {
		unsigned distance = str_distance(name, op_specs[i].name);
		if (strlen(name) > 2 && str_istarts(op_specs[i].name, name))
			distance = 0;
		if (distance < best_distance && !(op_specs[i].flags & OP_HIDDEN)) {
			best_distance = distance;
			best = op_specs[i].name;
		}
	}
	return best;
}

/*
 * The next letter of a name in normal form: lower case, without what separates words. 0 at the end.
 */
static char next_letter(const char **p)
{
	while (**p == '-' || **p == '_')
		(*p)++;
	return **p ? (char)tolower((unsigned char)*(*p)++) : '\0';
}

/* "before_n", "before-n" and "beforeN" are one name; so are "file" and "files". */
static bool is_same_name(const char *a, const char *b)
{
	for (;;) {
		char x = next_letter(&a), y = next_letter(&b);
		if (x == y && !x)
			return true;
		if (x == y)
			continue;
		return (!x && y == 's' && !*b) || (!y && x == 's' && !*a);
	}
}

static const struct param *find_same(const struct op_spec *op, const char *name)
{
	for (const struct param *p = op->params; p->name; p++)
		if (is_same_name(p->name, name))
			return p;
	return NULL;
}

const struct param *op_param_find(const struct op_spec *op, const char *name)
{
	const struct param *found = find_same(op, name);

	for (size_t i = 0; !found && i < ARRAY_LEN(other_params); i++)
		if (is_same_name(other_params[i].theirs, name))
			found = find_same(op, other_params[i].ours);
	return found;
}

const char *op_param_nearest(const struct op_spec *op, const char *name)
{
	const char *best = NULL;
	unsigned best_distance = NEAR_ENOUGH(name) + 1;
	char option[OPTION_NAME_MAX];

	for (const struct param *p = op->params; p->name; p++) {
		unsigned distance = MIN(str_distance(name, p->name),
			str_distance(name, op_param_option(p, option)));
		if (strlen(name) > 2 && str_istarts(p->name, name))
			distance = 0;
		if (distance < best_distance) {
			best_distance = distance;
			best = p->name;
		}
	}
	return best;
}

const char *op_param_option(const struct param *p, char out[OPTION_NAME_MAX])
{
	size_t n = strlen(p->name);

	if ((p->flags & PARAM_MANY) && n > 1 && p->name[n - 1] == 's')
		n--;
	for (size_t i = 0; i < n; i++)
		out[i] = (char)(p->name[i] == '_' ? '-' : p->name[i]);
	out[n] = '\0';
	return out;
}

bool op_choice_find(const char *choices, const char *word, struct str *ret_word)
{
	struct str rest = str_of(choices), part;
	size_t n = strlen(word);

	while (str_split(&rest, '|', &part))
		if (part.n == n && strncasecmp(part.p, word, n) == 0) {
			if (ret_word)
				*ret_word = part;
			return true;
		}
	return false;
}
