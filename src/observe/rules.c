/* The table of rules, and running it over one turn. */
#include "observe/rules.h"

#include "observe/fact_table.h"
#include "observe/rule_table.h"

const struct rule rules_table[] = { { "decision", rule_decision,
					    "the agent says what it decided and why" },
	{ "work", rule_work, "files were changed: what was built, fixed or reshaped" },
	{ "finding", rule_finding,
		"nothing was changed: what reading, searching or thinking found" },
	{ "repair", rule_repair, "a check failed, files were changed, the check passed" },
	{ "choice", rule_choice, "the person chose among options or refused a step with a reason" },
	{ "report", rule_report, "what a sub-agent reported" },
	{ "summary", rule_summary, "what the turn came to" }, { NULL, NULL, NULL } };

void rules_run(struct arena *a, const struct rules_input *in, struct rules_output *ret)
{
	struct turn_view v;

	*ret = (struct rules_output){ 0 };
	turn_view_make(&v, a, in);
	if (!v.prompt && !v.tools && !v.reply)
		return;
	for (const struct rule *r = rules_table; r->name; r++)
		r->run(&v, r, ret);
	facts_run(&v, ret);
}
