/* A bash completion script made from the table of operations: commands, options, choices, files. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "client/client.h"
#include "conf/settings.h"

static const char script_head[] =
	"# bash completion for remanence\n"
	"_remanence()\n"
	"{\n"
	"\tlocal cur=\"${COMP_WORDS[COMP_CWORD]}\" prev=\"${COMP_WORDS[COMP_CWORD-1]}\" "
	"command=\"\" i\n"
	"\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
	"\t\tcase \"${COMP_WORDS[i]}\" in\n"
	"\t\t--home) ((i++)) ;;\n"
	"\t\t-*) ;;\n"
	"\t\t*) command=\"${COMP_WORDS[i]}\"; break ;;\n"
	"\t\tesac\n"
	"\tdone\n"
	"\tlocal globals=\"--home --json --quiet --no-color --help --version\" options=\"\" "
	"words=\"\" files=\"\"\n"
	"\tif [[ $prev == --home ]]; then COMPREPLY=($(compgen -d -- \"$cur\")); return; fi\n"
	"\tcase \"$command\" in\n";

static const char script_tail[] =
	"\tesac\n"
	"\tcase \"$cur\" in\n"
	"\t-*) COMPREPLY=($(compgen -W \"$options $globals\" -- \"$cur\")) ;;\n"
	"\t*) COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
	"\t\tif [[ -n $files ]]; then compopt -o filenames 2>/dev/null; COMPREPLY+=($(compgen -f "
	"-- \"$cur\")); fi ;;\n"
	"\tesac\n"
	"}\n"
	"complete -F _remanence remanence\n";

/* "a|b" as "a b". */
static void put_choices(struct buf *out, const char *choices)
{
	for (; choices && *choices; choices++)
		buf_char(out, *choices == '|' ? ' ' : *choices);
}

static void put_settings(struct buf *out)
{
	for (int i = 0; i < SETTING_COUNT; i++)
		buf_printf(out, " %s", settings_table[i].key);
}

static void put_operation(struct buf *out, const struct op_spec *op)
{
	AUTO(buf_done) struct buf options = { 0 }, words = { 0 }, values = { 0 };
	char option[OPTION_NAME_MAX];
	bool takes_files = false;

	for (const struct param *p = op->params; p->name; p++) {
		op_param_option(p, option);
		if (p->flags & PARAM_POSITIONAL) {
			put_choices(&words, p->choices);
			takes_files |= p->type == PARAM_PATH || strcmp(p->name, "path") == 0 ||
				       strcmp(p->name, "target") == 0;
			continue;
		}
		buf_printf(&options, "%s--%s", options.len ? " " : "", option);
		if (p->choices) {
			buf_printf(&values, "\t\t\t--%s) COMPREPLY=($(compgen -W \"", option);
			put_choices(&values, p->choices);
			buf_str(&values, "\" -- \"$cur\")); return ;;\n");
		} else if (p->type == PARAM_PATH || strcmp(option, "file") == 0) {
			buf_printf(&values,
				"\t\t\t--%s) COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n",
				option);
		}
	}
	if (strcmp(op->name, "config") == 0)
		put_settings(&words);
	buf_printf(out, "\t%s)\n\t\toptions=\"%s\" words=\"%s\"%s\n", op->name, buf_cstr(&options),
		buf_cstr(&words), takes_files ? " files=1" : "");
	if (values.len)
		buf_printf(out, "\t\tcase \"$prev\" in\n%s\t\tesac\n", values.data);
	buf_str(out, "\t\t;;\n");
}

int local_completion(struct client *c, struct err *err)
{
	AUTO(buf_done) struct buf out = { 0 };

	buf_str(&out, script_head);
	for (size_t i = 0; i < op_specs_n; i++)
		put_operation(&out, &op_specs[i]);
	buf_str(&out, "\t*) words=\"");
	for (size_t i = 0; i < op_specs_n; i++)
		if (!(op_specs[i].flags & OP_HIDDEN))
			buf_printf(&out, "%s%s", i ? " " : "", op_specs[i].name);
	buf_str(&out, "\" ;;\n");
	buf_str(&out, script_tail);
	fwrite(out.data, 1, out.len, stdout);
	return 0;
}
