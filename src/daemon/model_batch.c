/*
 * What goes into one request. The newest work comes first; small units of the same project ride
 * along with it, but none that failed before: it is tried alone, so that it takes nobody along.
 */
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "daemon/model_parts.h"

#define SMALL_SHARE 4 /* of observer.max_chars: up to there a unit is small */
#define LEASE_EXTRA_MS 60000
#define LEASE_REQUESTS 3 /* a question, the shorter one, and the waits between */

static const struct settings *settings_of(const struct batch *b)
{
	return b->hand->settings;
}

int64_t batch_bytes(const struct batch *b)
{
	int64_t bytes = 0;
	for (size_t i = 0; i < b->n; i++)
		bytes += b->units[i].job.bytes;
	return bytes;
}

/* ---- leasing ---- */

static int release(struct store *s, const struct job *job, int64_t run_after, struct err *err)
{
	const struct job_end end = { .job = job,
		.state = JOB_STATE_WAITING,
		.run_after = run_after,
		.error = job->last_error };
	bool is_held;
	return store_job_end(s, &end, &is_held, err);
}

/* More small ones of the same project, as long as there is room. */
static int lease_more(struct store *s, struct batch *b, struct err *err)
{
	int64_t room = settings_int(settings_of(b), SET_OBSERVER_MAX_CHARS);
	struct job *first = &b->units[0].job;
	if (first->attempts || first->bytes * SMALL_SHARE > room)
		return 0;
	struct job_lease l = { .kind = b->kind,
		.now = clock_now(),
		.until = b->until,
		.project = first->project,
		.is_fresh = true };
	while (b->n < MODEL_BATCH_MAX) {
		struct job *job = &b->units[b->n].job;
		if (store_job_lease(s, &b->arena, &l, job, err))
			return -1;
		if (!job->id)
			return 0;
		if (job->bytes * SMALL_SHARE > room || batch_bytes(b) + job->bytes > room)
			return release(s, job, job->run_after, err);
		b->n++;
	}
	return 0;
}

/* A session is summed up once its units are done. */
static int lease_session(struct store *s, struct batch *b, struct err *err)
{
	struct job *job = &b->units[0].job;
	bool has_jobs;
	const struct job_lease l = { .kind = JOB_SUMMARY, .now = clock_now(), .until = b->until };
	if (store_job_lease(s, &b->arena, &l, job, err))
		return -1;
	if (!job->id)
		return 0;
	if (store_session_has_jobs(s, job->session, &has_jobs, err))
		return -1;
	if (has_jobs)
		return release(s, job, clock_now() + LEASE_EXTRA_MS, err);
	b->kind = JOB_SUMMARY;
	b->n = 1;
	return 0;
}

static int lease_run(struct desk *desk, void *ctx, struct err *err)
{
	struct batch *b = ctx;
	struct job *job = &b->units[0].job;
	b->n = 0;
	b->kind = JOB_OBSERVE;
	const struct job_lease l = { .kind = b->kind, .now = clock_now(), .until = b->until };
	if (store_job_lease(desk->store, &b->arena, &l, job, err))
		return -1;
	if (!job->id)
		return lease_session(desk->store, b, err);
	b->n = 1;
	return lease_more(desk->store, b, err);
}

int batch_lease(struct batch *b, struct err *err)
{
	int64_t timeout = settings_int(settings_of(b), SET_OBSERVER_TIMEOUT_MS);
	b->until = clock_now() + LEASE_REQUESTS * timeout + LEASE_EXTRA_MS;
	return writer_run(b->hand->work->setup.writer, LANE_BACKGROUND, lease_run, b, err);
}

/* ---- loading ---- */

static int load_mode(struct batch *b, struct err *err)
{
	const char *language = settings_text(settings_of(b), SET_OBSERVER_LANGUAGE);
	if (mode_load(&b->arena, b->hand->work->setup.prompts,
		    settings_text(settings_of(b), SET_OBSERVER_MODE), &b->mode, err))
		return -1;
	if (language && *language)
		b->mode.language = language;
	return 0;
}

/* What the job was made of is not what is there now: its jobs are made anew. */
struct remake {
	struct unit_jobs jobs;
	const struct turn *turn;
};

static int remake_run(struct desk *desk, void *ctx, struct err *err)
{
	struct remake *r = ctx;
	bool is_new;
	return store_turn_jobs(desk->store, r->turn, r->jobs.jobs, r->jobs.n, &is_new, err);
}

static int remake(struct batch *b, struct unit *u, struct err *err)
{
	struct remake r = { .turn = &u->turn };
	const struct unit_jobs_input in = { .in = &u->in,
		.made = &u->made,
		.max_chars = (size_t)settings_int(settings_of(b), SET_OBSERVER_MAX_CHARS) };
	unit_jobs_make(&b->arena, &in, &r.jobs);
	b->is_lost = true;
	return writer_run(b->hand->work->setup.writer, LANE_BACKGROUND, remake_run, &r, err);
}

static int load_unit(struct batch *b, struct store *s, struct batch_unit *u, struct err *err)
{
	struct unit_request q = { .turn = u->job.turn,
		.part = job_part(&u->job),
		.max_chars = (size_t)settings_int(settings_of(b), SET_OBSERVER_MAX_CHARS),
		.off = settings_list(settings_of(b), SET_RULES_OFF) };
	if (unit_load(s, &b->arena, &q, &u->unit, err))
		return -1;
	if (u->unit.digest.hash != u->job.input)
		return 0;
	q.is_shorter = b->is_again || u->job.attempts >= MODEL_ATTEMPTS_MAX / 2;
	if (q.is_shorter && unit_load(s, &b->arena, &q, &u->unit, err))
		return -1;
	return unit_similar(s, &b->arena, &u->unit, err);
}

static int load_units(struct batch *b, struct store *s, struct err *err)
{
	for (size_t i = 0; i < b->n; i++)
		if (load_unit(b, s, &b->units[i], err))
			return -1;
	return 0;
}

static int make_prompt(struct batch *b, struct err *err)
{
	struct prompt_unit units[MODEL_BATCH_MAX];
	const char *folder = b->hand->work->setup.prompts;
	if (b->kind == JOB_SUMMARY)
		return prompt_session(&b->arena, folder, &b->mode, &b->session_digest, b->is_again,
			&b->ask.prompt, err);
	for (size_t i = 0; i < b->n; i++)
		units[i] = (struct prompt_unit){ .digest = &b->units[i].unit.digest,
			.similar = b->units[i].unit.similar,
			.nsimilar = b->units[i].unit.nsimilar };
	return prompt_make(
		&b->arena, folder, &b->mode, units, b->n, b->is_again, &b->ask.prompt, err);
}

int batch_load(struct batch *b, struct err *err)
{
	struct reader *reader;
	if (load_mode(b, err) || readers_lend(b->hand->work->setup.readers, &reader, err))
		return -1;
	int result = b->kind == JOB_SUMMARY ? session_load(b, reader->store, err)
					    : load_units(b, reader->store, err);
	readers_return(b->hand->work->setup.readers, reader);
	if (result || b->is_lost)
		return result;
	for (size_t i = 0; i < b->n && b->kind == JOB_OBSERVE && !b->is_again; i++)
		if (b->units[i].job.attempts < MODEL_ATTEMPTS_MAX / 2 &&
			b->units[i].unit.digest.hash != b->units[i].job.input &&
			remake(b, &b->units[i].unit, err))
			return -1;
	return b->is_lost ? 0 : make_prompt(b, err);
}
