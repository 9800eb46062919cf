/* The table of rules that see facts. */

#include <string.h>

#include "observe/fact_table.h"

#define WORDS (LANGUAGE_EN | LANGUAGE_FR | LANGUAGE_DE | LANGUAGE_ES)

const struct fact_rule fact_rules[] = {
	{ "preference", FACT_PREFERENCE, WORDS, false, fact_prefer,
		"what the person demands, forbids or prefers for good" },
	{ "correction", FACT_PREFERENCE, WORDS, false, fact_correct,
		"how the person wants it, said when it was done otherwise" },
	{ "decision", FACT_DECISION, WORDS, false, fact_decide,
		"what was chosen among options, and why" },
	{ "dead_end", FACT_DEAD_END, WORDS, true, fact_dead_end,
		"what was tried and did not work" },
	{ "todo", FACT_TODO, WORDS, true, fact_todo,
		"what the last message leaves open, until it is done" },
	{ "convention", FACT_CONVENTION, WORDS, true, fact_convention,
		"how things are done in this project" },
	{ "architecture", FACT_ARCHITECTURE, WORDS, true, fact_architecture,
		"which part does what, and where it is" },
	{ "error_fix", FACT_ERROR_FIX, 0, false, fact_error_fix,
		"a command failed and later passed: what was changed between" },
	{ "tool_pattern", FACT_TOOL_PATTERN, 0, false, fact_tool_pattern,
		"commands that are used again and again and pass" },
	{ NULL, FACT_PREFERENCE, 0, false, NULL, NULL },
};

const struct fact_rule *fact_rule_find(const char *name)
{
	for (const struct fact_rule *r = fact_rules; name && r->name; r++)
		if (strcmp(r->name, name) == 0)
			return r;
	return NULL;
}

static bool is_off(const struct rules_input *in, const char *name)
{
	for (const char *const *off = in->off; off && *off; off++)
		if (strcmp(*off, name) == 0)
			return true;
	return false;
}

void facts_run(struct turn_view *v, struct rules_output *out)
{
	for (const struct fact_rule *r = fact_rules; r->name; r++)
		if (!is_off(v->in, r->name))
			r->run(v, r, out);
}
