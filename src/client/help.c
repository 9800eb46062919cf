/* Help from the table of operations. */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "client/client.h"

#define NAME_WIDTH 14
#define OPTION_WIDTH 26

static const struct {
	const char *form, *help;
} global_options[] = {
	{ "--home DIR", "the data folder (REMANENCE_HOME)" },
	{ "--json", "print JSON, errors too" },
	{ "--quiet", "print results only" },
	{ "--no-color", "no colours (NO_COLOR)" },
	{ "--help, --version", "this; which build it is" },
};

static void put_row(struct term *t, enum style style, const char *name, int width, const char *help)
{
	term_indent(t, 2);
	if (term_columns(str_of(name)) < width) {
		term_cell(t, style, name, width, false);
	} else {
		term_put(t, style, name);
		term_newline(t);
		term_indent(t, 2 + width);
	}
	term_put(t, PLAIN, help);
	term_newline(t);
}

static void put_globals(struct term *t)
{
	term_newline(t);
	term_put(t, BOLD, "Everywhere");
	term_newline(t);
	for (size_t i = 0; i < ARRAY_LEN(global_options); i++)
		put_row(t, PLAIN, global_options[i].form, OPTION_WIDTH, global_options[i].help);
}

void help_overview(struct term *t)
{
	const char *group = NULL;

	term_put(t, BOLD, "remanence");
	term_put(t, PLAIN, ": persistent memory for coding agents");
	term_newline(t);
	for (size_t i = 0; i < op_specs_n; i++) {
		const struct op_spec *op = &op_specs[i];
		if (op->flags & OP_HIDDEN)
			continue;
		if (!group || strcmp(group, op->group) != 0) {
			term_newline(t);
			term_put(t, BOLD, op->group);
			term_newline(t);
		}
		group = op->group;
		put_row(t, NAME, op->name, NAME_WIDTH, op->summary);
	}
	put_globals(t);
	term_newline(t);
	term_put(t, DIM,
		"`remanence COMMAND --help` tells more. References: 12 a memory, e345 an event, s7 "
		"a session.");
	term_newline(t);
}

static const char *const type_words[] = { [PARAM_TEXT] = "TEXT",
	[PARAM_INT] = "N",
	[PARAM_REAL] = "X",
	[PARAM_BOOL] = "",
	[PARAM_REF] = "REF",
	[PARAM_TIME] = "TIME",
	[PARAM_RANGE] = "TIME",
	[PARAM_CHOICE] = "",
	[PARAM_PATH] = "PATH" };

/* "REF…", "[QUERY…]" */
static void put_positional(struct term *t, const struct param *p)
{
	char option[OPTION_NAME_MAX];
	const char *name = op_param_option(p, option);
	bool is_needed = p->flags & PARAM_REQUIRED;
	char *upper = arena_str(&t->arena, name);

	for (char *c = upper; *c; c++)
		*c = (char)(*c >= 'a' && *c <= 'z' ? *c - 32 : *c);
	term_printf(t, PLAIN, " %s%s%s%s", is_needed ? "" : "[", upper,
		p->flags & (PARAM_MANY | PARAM_JOINED) ? "…" : "", is_needed ? "" : "]");
}

static const char *option_form(struct term *t, const struct param *p)
{
	char option[OPTION_NAME_MAX];
	const char *word = type_words[p->type];

	op_param_option(p, option);
	if (p->type == PARAM_CHOICE &&
		term_columns(str_of(p->choices)) + (int)strlen(option) + 3 < OPTION_WIDTH)
		word = p->choices;
	else if (p->type == PARAM_CHOICE)
		word = "WORD";
	return arena_printf(&t->arena, "--%s%s%s%s", option, *word ? " " : "", word,
		p->flags & PARAM_MANY ? " …" : "");
}

static const char *option_help(struct term *t, const struct param *p)
{
	bool is_long = p->type == PARAM_CHOICE && !strstr(option_form(t, p), p->choices);
	const char *help = p->help;

	if (is_long)
		help = arena_printf(&t->arena, "%s: %s", help, p->choices);
	if (p->standard && p->type != PARAM_BOOL)
		help = arena_printf(&t->arena, "%s (%s)", help, p->standard);
	return help;
}

static void put_option(struct term *t, const struct param *p)
{
	size_t start = t->out.len;
	int indent = 2 + OPTION_WIDTH;
	const char *form = option_form(t, p);

	term_indent(t, 2);
	term_cell(t, NAME, form, OPTION_WIDTH, false);
	start = t->out.len;
	term_wrap(t, PLAIN, option_help(t, p), indent);
	/* The first line stands beside the option. */
	memmove(t->out.data + start, t->out.data + start + indent,
		t->out.len - start - (size_t)indent);
	buf_cut(&t->out, t->out.len - (size_t)indent);
}

void help_operation(struct term *t, const struct op_spec *op)
{
	bool has_options = false;

	term_put(t, DIM, "remanence ");
	term_put(t, BOLD, op->name);
	for (const struct param *p = op->params; p->name; p++)
		if (p->flags & PARAM_POSITIONAL)
			put_positional(t, p);
		else
			has_options = true;
	if (has_options)
		term_put(t, PLAIN, " [OPTION…]");
	term_newline(t);
	term_wrap(t, PLAIN, op->summary, 0);
	if (op->help) {
		term_newline(t);
		term_wrap(t, PLAIN, op->help, 0);
	}
	if (op->params->name) {
		term_newline(t);
		term_put(t, BOLD, "Parameters");
		term_newline(t);
	}
	for (const struct param *p = op->params; p->name; p++)
		put_option(t, p);
	put_globals(t);
}
