/*
 * From words to a checked JSON object. Options may stand before or after the command; `--` ends
 * them. What is not quite right is taken when it can mean one thing only, with a line that says so,
 * and answered with the right form otherwise.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "client/client.h"

#define WORD_MAX 64

enum global {
	GLOBAL_HOME,
	GLOBAL_JSON,
	GLOBAL_QUIET,
	GLOBAL_NO_COLOR,
	GLOBAL_HELP,
	GLOBAL_VERSION,
	GLOBAL_NONE
};

static const struct {
	const char *name;
	enum global global;
} globals[] = {
	{ "--home", GLOBAL_HOME },
	{ "--json", GLOBAL_JSON },
	{ "--quiet", GLOBAL_QUIET },
	{ "-q", GLOBAL_QUIET },
	{ "--no-color", GLOBAL_NO_COLOR },
	{ "--no-colour", GLOBAL_NO_COLOR },
	{ "--help", GLOBAL_HELP },
	{ "-h", GLOBAL_HELP },
	{ "-?", GLOBAL_HELP },
	{ "--version", GLOBAL_VERSION },
	{ "-V", GLOBAL_VERSION },
};

/* Values given to one parameter, in order. */
struct values {
	const char **list;
	size_t n, cap;
};

struct args {
	struct client *c;
	const struct op_spec *op;
	char **argv;
	int argc, at;          /* at: the next word */
	int command;           /* index of the command's word, -1: none */
	int help;              /* index of the word "help" or "version" before it, -1: none */
	bool is_ended;         /* after "--" */
	struct values *values; /* one per parameter of the operation */
	const struct param *positional; /* the one that takes the next word */
	struct err *err;
};

static void note(struct args *a, const char *taken, const char *as)
{
	if (!a->c->is_quiet)
		fprintf(stderr, "remanence: took '%s' as '%s'\n", taken, as);
}

static enum global global_find(const char *word, const char **ret_value)
{
	const char *equals = strchr(word, '=');
	size_t n = equals ? (size_t)(equals - word) : strlen(word);

	*ret_value = equals ? equals + 1 : NULL;
	for (size_t i = 0; i < ARRAY_LEN(globals); i++)
		if (strlen(globals[i].name) == n && strncmp(globals[i].name, word, n) == 0)
			return globals[i].global;
	return GLOBAL_NONE;
}

/* Takes a global option at a->at, with its value. 1 when it was one. */
static int take_global(struct args *a)
{
	const char *word = a->argv[a->at], *value;

	switch (global_find(word, &value)) {
	case GLOBAL_HOME:
		if (!value && a->at + 1 >= a->argc)
			return err_set(a->err, ERR_USAGE, "--home needs a folder");
		a->c->home = value ? value : a->argv[++a->at];
		break;
	case GLOBAL_JSON:
		a->c->is_json = true;
		break;
	case GLOBAL_QUIET:
		a->c->is_quiet = true;
		break;
	case GLOBAL_NO_COLOR:
		a->c->no_color = true;
		break;
	case GLOBAL_HELP:
		a->c->wants_help = true;
		break;
	case GLOBAL_VERSION:
		a->c->wants_version = true;
		break;
	default:
		return 0;
	}
	a->at++;
	return 1;
}

/* The index of the command's word: the first that names one, else the first that is no option. */
static int command_index(int argc, char **argv)
{
	int first = -1;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--") == 0)
			break;
		if (strcmp(argv[i], "--home") == 0) {
			i++;
			continue;
		}
		if (argv[i][0] == '-')
			continue;
		if (first < 0)
			first = i;
		if (op_spec_find(argv[i]))
			return i;
		/* An option before may own this word; only look on while options lead. */
		if (i == 1)
			break;
	}
	return first;
}

static int unknown_command(const char *word, const char *near, struct err *err)
{
	err_set(err, ERR_USAGE, "there is no command '%.60s'", word);
	return near ? err_hint(err, "is `remanence %s` meant?", near)
		    : err_hint(err, "`remanence --help` lists all commands");
}

static bool is_close(const char *word, const char *name)
{
	return str_distance(word, name) <= 1 || (strlen(word) > 2 && str_istarts(name, word));
}

/* The only command that this word may be a slip for. */
static bool is_close_to_one(const char *word)
{
	size_t n = 0;

	for (size_t i = 0; i < op_specs_n; i++)
		n += is_close(word, op_specs[i].name);
	return n == 1;
}

/* What takes something away must be named exactly. */
static bool is_grave(const struct op_spec *op)
{
	return op_param_find(op, "yes") || strcmp(op->name, "stop") == 0;
}

/* A command whose name is nearly right. What writes is never guessed from another word. */
static int take_near_command(struct args *a, const char *word)
{
	const char *near = op_spec_nearest(word);
	const struct op_spec *op = near ? op_spec_find(near) : NULL;
	bool is_synonym = op && !is_close(word, near) && !(op->flags & (OP_WRITES | OP_LOCAL)) &&
			  strlen(word) > 2;

	if (!op || is_grave(op) || !(is_synonym || (is_close(word, near) && is_close_to_one(word))))
		return unknown_command(word, near, a->err);
	note(a, word, op->name);
	a->op = op;
	return 0;
}

static int find_command(struct args *a)
{
	a->command = command_index(a->argc, a->argv);
	if (a->command < 0)
		return 0;
	const char *word = a->argv[a->command];
	bool is_help = strcmp(word, "help") == 0;
	if (is_help || strcmp(word, "version") == 0) {
		*(is_help ? &a->c->wants_help : &a->c->wants_version) = true;
		a->help = a->command;
		a->command =
			a->help + 1 < a->argc && a->argv[a->help + 1][0] != '-' ? a->help + 1 : -1;
		if (a->command < 0)
			return 0;
		word = a->argv[a->command];
	}
	a->op = op_spec_find(word);
	return a->op ? 0 : take_near_command(a, word);
}

static void give(struct args *a, const struct param *p, const char *value)
{
	struct values *v = &a->values[p - a->op->params];

	if (p->type == PARAM_PATH)
		value = path_clean(&a->c->arena, a->c->cwd, value);
	ARENA_PUSH(&a->c->arena, v->list, v->n, v->cap, value);
}

static int unknown_option(struct args *a, const char *word, const char *name)
{
	const char *near = op_param_nearest(a->op, name);
	char option[OPTION_NAME_MAX];

	err_set(a->err, ERR_USAGE, "%s has no option '%.60s'", a->op->name, word);
	if (!near)
		return err_hint(a->err, "see `remanence %s --help`", a->op->name);
	return err_hint(
		a->err, "is --%s meant?", op_param_option(op_param_find(a->op, near), option));
}

/* A parameter by the name of an option: exact, forgiven or nearly right. */
static const struct param *option_param(struct args *a, const char *name)
{
	const struct param *p = op_param_find(a->op, name);
	const char *near = p ? NULL : op_param_nearest(a->op, name);
	char option[OPTION_NAME_MAX];

	if (p || !near)
		return p;
	p = op_param_find(a->op, near);
	op_param_option(p, option);
	if (str_distance(name, option) > 1 && !(strlen(name) > 2 && str_istarts(option, name)))
		return NULL;
	note(a, arena_printf(&a->c->arena, "--%s", name),
		arena_printf(&a->c->arena, "--%s", option));
	return p;
}

/* "--limit 5", "--limit=5", "--count", "--no-count". */
static int take_option(struct args *a, const char *word)
{
	const char *bare = word + (word[1] == '-' ? 2 : 1), *equals = strchr(bare, '=');
	char *name = arena_dup(&a->c->arena, bare, equals ? (size_t)(equals - bare) : strlen(bare));
	const struct param *p = option_param(a, name);
	bool is_off = false;

	if (!p && str_starts(name, "no-")) {
		p = op_param_find(a->op, name + 3);
		is_off = p && p->type == PARAM_BOOL;
		p = is_off ? p : NULL;
	}
	if (!p)
		return unknown_option(a, word, name);
	a->at++;
	if (p->type == PARAM_BOOL) {
		give(a, p, equals ? equals + 1 : is_off ? "false" : "true");
		return 0;
	}
	if (!equals && (p->flags & PARAM_BARE) && (a->at >= a->argc || a->argv[a->at][0] == '-')) {
		give(a, p, ".");
		return 0;
	}
	if (!equals && a->at >= a->argc)
		return err_set(a->err, ERR_USAGE, "--%s needs a value: %s", name, p->help);
	give(a, p, equals ? equals + 1 : a->argv[a->at++]);
	return 0;
}

static bool is_reference(const char *word)
{
	const char *p = word + (*word == '#');

	p += *p == 'e' || *p == 's';
	return *p >= '0' && *p <= '9' && p[strspn(p, "0123456789, es")] == '\0';
}

/* The next parameter that words may go to; NULL when there is none left. */
static const struct param *next_positional(const struct param *p)
{
	while (p->name && !(p->flags & PARAM_POSITIONAL))
		p++;
	return p->name ? p : NULL;
}

static int take_word(struct args *a, const char *word)
{
	const struct param *p = a->positional;

	a->at++;
	if (!p)
		return err_set(a->err, ERR_USAGE, "%s does not know what to do with '%.60s'",
			a->op->name, word);
	/* `timeline flaky parser` can only be a query. */
	if (p->type == PARAM_REF && !(p->flags & PARAM_MANY) && !is_reference(word)) {
		const struct param *query = op_param_find(a->op, "query");
		p = query ? query : p;
		a->positional = p;
	}
	give(a, p, word);
	if (!(p->flags & (PARAM_MANY | PARAM_JOINED)))
		a->positional = next_positional(p + 1);
	return 0;
}

/* Do words of this operation form free text, in which "-word" means something? */
static bool takes_text(const struct args *a)
{
	return a->positional && (a->positional->flags & PARAM_JOINED);
}

/* "-5" is a limit, "-n 5" too, "-limit" a slip, "-word" a word that a query leaves out. */
static int take_short(struct args *a, const char *word)
{
	const struct param *limit = op_param_find(a->op, "limit");
	int64_t n;

	if (limit && str_to_i64(word + 1, &n)) {
		a->at++;
		give(a, limit, word + 1);
		return 0;
	}
	if (strcmp(word, "-n") == 0 && limit)
		return take_option(a, "--limit");
	if (strcmp(word, "-y") == 0 && op_param_find(a->op, "yes"))
		return take_option(a, "--yes");
	for (const struct param *p = a->op->params; p->name; p++) {
		char option[OPTION_NAME_MAX];
		size_t len = strlen(op_param_option(p, option));
		if (strncmp(word + 1, option, len) == 0 && (!word[len + 1] || word[len + 1] == '='))
			return take_option(a, word);
	}
	if (takes_text(a) || !word[1])
		return take_word(a, word);
	return unknown_option(a, word, word + 1);
}

static int take_one(struct args *a)
{
	const char *word = a->argv[a->at];
	int taken;

	if (a->at == a->command || a->at == a->help) {
		a->at++;
		return 0;
	}
	if (!a->is_ended && strcmp(word, "--") == 0) {
		a->is_ended = true;
		a->at++;
		return 0;
	}
	if (!a->is_ended && word[0] == '-') {
		taken = take_global(a);
		if (taken)
			return taken < 0 ? -1 : 0;
		if (!a->op)
			return err_set(a->err, ERR_USAGE, "there is no option '%.60s'", word);
		return word[1] == '-' ? take_option(a, word) : take_short(a, word);
	}
	if (!a->op)
		return unknown_command(word, op_spec_nearest(word), a->err);
	return take_word(a, word);
}

/* What may be given once only: the last holds, as people expect of a corrected command line. */
static void values_write(struct jw *w, const struct param *p, const struct values *v)
{
	AUTO(buf_done) struct buf text = { 0 };

	if (!v->n)
		return;
	if (p->flags & PARAM_MANY) {
		jw_array(w, p->name);
		for (size_t i = 0; i < v->n; i++)
			jw_str(w, NULL, v->list[i]);
		jw_end(w, ']');
		return;
	}
	for (size_t i = p->flags & PARAM_JOINED ? 0 : v->n - 1; i < v->n; i++)
		buf_printf(&text, "%s%s", text.len ? " " : "", v->list[i]);
	jw_str(w, p->name, buf_cstr(&text));
}

static int check(struct args *a)
{
	AUTO(buf_done) struct buf text = { 0 };
	AUTO(json_free_ptr) json *given = NULL;
	struct jw w = { .out = &text };

	jw_object(&w, NULL);
	for (size_t i = 0; a->op->params[i].name; i++)
		values_write(&w, &a->op->params[i], &a->values[i]);
	jw_end(&w, '}');
	if (json_parse(text.data, text.len, &given, a->err) < 0)
		return -1;
	if (op_params_check(a->op, given, &a->c->params, a->err) < 0)
		return -1;
	return json_parse(a->c->params.data, a->c->params.len, &a->c->given, a->err);
}

int args_parse(struct client *c, int argc, char **argv, struct err *err)
{
	struct args a = {
		.c = c, .argv = argv, .argc = argc, .at = 1, .command = -1, .help = -1, .err = err
	};

	/* A wrong command with --json must still be answered in JSON. */
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		c->is_json |= strcmp(argv[i], "--json") == 0;
	if (find_command(&a) < 0)
		return -1;
	if (a.op) {
		size_t n = 0;
		while (a.op->params[n].name)
			n++;
		a.values = ARENA_ARRAY(&c->arena, struct values, n + 1);
		a.positional = next_positional(a.op->params);
	}
	while (a.at < argc)
		if (take_one(&a) < 0)
			return -1;
	c->op = a.op;
	return a.op && !c->wants_help && !c->wants_version ? check(&a) : 0;
}
