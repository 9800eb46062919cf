#ifndef OPS_ALL_H
#define OPS_ALL_H

#include "ops/ops.h"

/* One function per operation; ops.c is the table that names them. */

op_fn op_backup, op_blame, op_config, op_context, op_cost, op_doctor, op_edit, op_entities, op_export, op_facts, op_files, op_forget, op_get, op_import, op_jobs, op_model, op_observer, op_pause, op_pin,
	op_projects, op_recall, op_reindex, op_remember, op_restore, op_resume, op_review, op_search, op_sessions, op_share, op_stats, op_status, op_store, op_stop, op_sync,
	op_timeline, op_why;

#endif
