/* The names of jobs and outcomes. A row stands at the number that is stored. */
#include "model/job.h"

const char *const job_kind_names[JOB_KIND_COUNT] = {
	[JOB_NONE] = "none",
	[JOB_OBSERVE] = "observe",
	[JOB_SUMMARY] = "summary",
	[JOB_CANARY] = "canary",
	[JOB_TRIAL] = "trial",
	[JOB_EMBED] = "embed",
};

const char *const job_state_names[JOB_STATE_COUNT] = {
	[JOB_STATE_WAITING] = "waiting",
	[JOB_STATE_RUNNING] = "running",
	[JOB_STATE_DONE] = "done",
	[JOB_STATE_DEAD] = "dead",
};

const char *const call_outcome_names[CALL_OUTCOME_COUNT] = {
	[CALL_NONE] = "none",
	[CALL_OK] = "ok",
	[CALL_NOTHING] = "nothing",
	[CALL_EMPTY] = "empty",
	[CALL_REFUSED] = "refused",
	[CALL_UNREADABLE] = "unreadable",
	[CALL_CUT] = "cut",
	[CALL_TIMEOUT] = "timeout",
	[CALL_ABORTED] = "aborted",
	[CALL_RATE_LIMIT] = "rate_limit",
	[CALL_QUOTA] = "quota",
	[CALL_AUTH] = "auth",
	[CALL_NETWORK] = "network",
	[CALL_SERVER] = "server",
	[CALL_REQUEST] = "request",
	[CALL_SETUP] = "setup",
};
