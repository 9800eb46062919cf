#include "ops/ops.h"

#include <string.h>

#include "base/mem.h"
#include "ops/all.h"

/* The table of operations, by the names that spec/ gives them. */

const struct op ops[] = {
	{ "backup", op_backup },
	{ "config", op_config },
	{ "context", op_context },
	{ "cost", op_cost },
	{ "doctor", op_doctor },
	{ "edit", op_edit },
	{ "entities", op_entities },
	{ "export", op_export },
	{ "facts", op_facts },
	{ "blame", op_blame },
	{ "files", op_files },
	{ "forget", op_forget },
	{ "get", op_get },
	{ "import", op_import },
	{ "jobs", op_jobs },
	{ "model", op_model },
	{ "observer", op_observer },
	{ "pause", op_pause },
	{ "pin", op_pin },
	{ "projects", op_projects },
	{ "recall", op_recall },
	{ "reindex", op_reindex },
	{ "remember", op_remember },
	{ "restore", op_restore },
	{ "review", op_review },
	{ "resume", op_resume },
	{ "search", op_search },
	{ "sessions", op_sessions },
	{ "share", op_share },
	{ "stats", op_stats },
	{ "status", op_status },
	{ "store", op_store },
	{ "stop", op_stop },
	{ "sync", op_sync },
	{ "timeline", op_timeline },
	{ "why", op_why },
};
const size_t ops_n = ARRAY_LEN(ops);

op_fn *op_find(const char *name)
{
	if (!name)
		return NULL;
	for (size_t i = 0; i < ops_n; i++)
		if (!strcmp(ops[i].name, name))
			return ops[i].run;
	return NULL;
}
