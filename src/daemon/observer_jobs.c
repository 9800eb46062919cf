#include "daemon/observer_jobs.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "daemon/catchup.h"
#include "daemon/model_work.h"

/* Work of just now is not sent before its transcript was read a second time. */
#define SETTLED_MS (CATCHUP_LATE_MS + 1000)
#define JUST_NOW_MS 60000

static int64_t run_after(const struct turn *t)
{
	int64_t now = clock_now();
	return now - t->last_event_at < JUST_NOW_MS ? now + SETTLED_MS : 0;
}

static int64_t session_due(const struct session *s)
{
	return s->ended_at && s->ended_at >= s->last_event_at
		       ? 0
		       : s->last_event_at + MODEL_SUMMARY_QUIET_MS;
}

void turn_jobs_make(struct arena *a, const struct settings *s, const struct rules_input *in,
	const struct rules_output *made, struct turn_jobs *ret)
{
	AUTO(arena_done) struct arena scratch = { 0 };
	struct unit_jobs jobs;
	*ret = (struct turn_jobs){ .is_on = strcmp(settings_text(s, SET_OBSERVER_PROVIDER),
						    "none") != 0 };
	if (!ret->is_on)
		return;
	const struct unit_jobs_input q = { .in = in,
		.made = made,
		.max_chars = (size_t)settings_int(s, SET_OBSERVER_MAX_CHARS),
		.run_after = run_after(in->turn) };
	/* The digests are large, and only their hashes are kept. */
	unit_jobs_make(&scratch, &q, &jobs);
	ret->units = (struct unit_jobs){ ARENA_ARRAY(a, struct job, jobs.n), jobs.n };
	for (size_t i = 0; i < jobs.n; i++) {
		ret->units.jobs[i] = jobs.jobs[i];
		ret->units.jobs[i].key = arena_str(a, jobs.jobs[i].key);
	}
	ret->session_due = session_due(in->session);
}

/* One summary of a session that has several units. */
static int session_job(struct store *s, const struct turn *t, const struct turn_jobs *j,
	bool *ret_is_new, struct err *err)
{
	char key[JOB_KEY_MAX];
	struct job job = { .kind = JOB_SUMMARY,
		.key = key,
		.session = t->session,
		.project = t->project,
		.at = t->last_event_at,
		.run_after = j->session_due };
	int64_t units;
	*ret_is_new = false;
	if (store_session_input(s, t->session, &job.input, &units, err))
		return -1;
	if (units < 2)
		return 0;
	job_key_session(t->session, key);
	return store_job_put(s, &job, ret_is_new, err);
}

int turn_jobs_write(struct store *s, const struct turn *t, const struct turn_jobs *j,
	bool *ret_is_new, struct err *err)
{
	bool is_unit = false, is_session = false;
	*ret_is_new = false;
	if (!j->is_on)
		return 0;
	if (store_turn_jobs(s, t, j->units.jobs, j->units.n, &is_unit, err) ||
		session_job(s, t, j, &is_session, err))
		return -1;
	*ret_is_new = is_unit || is_session;
	return 0;
}
