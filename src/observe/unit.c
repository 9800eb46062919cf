/* A work unit, from the store to what a model is shown of it. */
#include "observe/unit.h"

#include <string.h>

#include "base/mem.h"

#define SIMILAR_FILES 4
#define SIMILAR_OF_FILE 6

int unit_events(struct store *s, struct arena *a, const struct turn *t, struct event **ret,
	size_t *ret_n, struct err *err)
{
	const struct turn_events q = { .session = t->session,
		.turn = t->id,
		.max = UNIT_EVENTS_MAX,
		.whole = UNIT_EVENTS_WHOLE };

	return store_turn_events(s, a, &q, ret, ret_n, err);
}

int unit_load(struct store *s, struct arena *a, const struct unit_request *q, struct unit *ret,
	struct err *err)
{
	struct unit *u = ret;
	size_t max = q->is_shorter ? MAX(q->max_chars / 2, (size_t)UNIT_CHARS_LEAST) : q->max_chars;

	*u = (struct unit){ 0 };
	if (store_turn_get(s, a, q->turn, &u->turn, err) ||
		store_session_of(s, a, u->turn.session, &u->session, err) ||
		(u->turn.project && store_project_get(s, a, u->turn.project, &u->project, err)) ||
		unit_events(s, a, &u->turn, &u->events, &u->n, err))
		return -1;
	u->in = (struct rules_input){ .turn = &u->turn,
		.session = &u->session,
		.project = &u->project,
		.events = u->events,
		.n = u->n,
		.off = q->off };
	rules_run(a, &u->in, &u->made);
	const struct digest_input d = { .unit = &u->in,
		.made = &u->made,
		.max_chars = MIN(max, q->max_chars),
		.part = q->part };
	digest_make(a, &d, &u->digest);
	return 0;
}

/* ---- what exists already ---- */

static bool is_given(const struct unit *u, const char *title)
{
	for (size_t i = 0; i < u->nsimilar; i++)
		if (!strcmp(u->similar[i], title))
			return true;
	return false;
}

static int similar_of_file(
	struct store *s, struct arena *a, struct unit *u, const char *path, struct err *err)
{
	const struct memory_query q = { .project = u->turn.project,
		.kind = -1,
		.type = -1,
		.status = MEMORY_ACTIVE,
		.origin = -1,
		.file = path,
		.max = SIMILAR_OF_FILE };
	struct memory *list;
	size_t n;

	if (store_memory_list(s, a, &q, &list, &n, err))
		return -1;
	for (size_t i = 0; i < n && u->nsimilar < DIGEST_SIMILAR_MAX; i++)
		if (list[i].turn != u->turn.id && list[i].title && *list[i].title &&
			!is_given(u, list[i].title))
			u->similar[u->nsimilar++] = list[i].title;
	return 0;
}

int unit_similar(struct store *s, struct arena *a, struct unit *u, struct err *err)
{
	size_t files = 0;

	u->similar = ARENA_ARRAY(a, const char *, DIGEST_SIMILAR_MAX);
	if (!u->turn.project)
		return 0;
	for (size_t i = 0; i < u->made.n && files < SIMILAR_FILES; i++) {
		const struct memory *m = &u->made.memories[i];
		for (size_t k = 0; k < m->nfiles && files < SIMILAR_FILES; k++, files++)
			if (similar_of_file(s, a, u, m->files[k].path, err))
				return -1;
	}
	return 0;
}

/* ---- jobs ---- */

void unit_jobs_make(struct arena *a, const struct unit_jobs_input *in, struct unit_jobs *ret)
{
	const struct turn *t = in->in->turn;
	size_t cap = 0;
	int parts = 1;

	*ret = (struct unit_jobs){ 0 };
	for (int part = 0; part < parts && part < DIGEST_PARTS_MAX; part++) {
		const struct digest_input q = {
			.unit = in->in, .made = in->made, .max_chars = in->max_chars, .part = part
		};
		struct digest d;
		digest_make(a, &q, &d);
		parts = d.is_worth_it ? d.parts : 1;
		struct job job = { .kind = JOB_OBSERVE,
			.key = arena_alloc(a, JOB_KEY_MAX),
			.turn = t->id,
			.session = t->session,
			.project = t->project,
			.at = t->last_event_at,
			.input = d.hash,
			.bytes = (int64_t)d.n,
			.state = d.is_worth_it ? JOB_STATE_WAITING : JOB_STATE_DONE,
			.run_after = in->run_after };
		job_key_turn(t->id, part, (char *)job.key);
		ARENA_PUSH(a, ret->jobs, ret->n, cap, job);
	}
}
