/* A session in one summary, made of those of its units when it is over. */
#include <string.h>

#include "base/mem.h"
#include "daemon/model_parts.h"

/* Those of its units; the one of the session itself belongs to no turn. */
static int load_summaries(struct batch *b, struct store *s, struct err *err)
{
	const struct memory_query q = { .session = b->session.id,
		.kind = KIND_SUMMARY,
		.type = -1,
		.status = MEMORY_ACTIVE,
		.origin = -1,
		.oldest_first = true,
		.max = DIGEST_SUMMARIES_MAX };
	size_t n = 0;
	if (store_memory_list(s, &b->arena, &q, &b->summaries, &b->nsummaries, err))
		return -1;
	for (size_t i = 0; i < b->nsummaries; i++)
		if (b->summaries[i].turn)
			b->summaries[n++] = b->summaries[i];
	b->nsummaries = n;
	return 0;
}

int session_load(struct batch *b, struct store *s, struct err *err)
{
	struct digest_session_input in = { .session = &b->session,
		.max_chars = (size_t)settings_int(b->hand->settings, SET_OBSERVER_MAX_CHARS) };
	struct project project = { 0 };
	if (store_session_get(s, &b->arena, b->units[0].job.session, &b->session, err) ||
		(b->session.project &&
			store_project_get(s, &b->arena, b->session.project, &project, err)) ||
		load_summaries(b, s, err))
		return -1;
	in.summaries = b->summaries;
	in.n = b->nsummaries;
	in.project = &project;
	if (b->is_again)
		in.max_chars = MAX(in.max_chars / 2, (size_t)UNIT_CHARS_LEAST);
	digest_session(&b->arena, &in, &b->session_digest);
	b->is_lost = !b->session_digest.is_worth_it;
	return 0;
}

void session_judge(struct batch *b)
{
	struct batch_unit *u = &b->units[0];
	const struct refine_session_input in = { .session = &b->session,
		.summaries = b->summaries,
		.n = b->nsummaries,
		.digest = &b->session_digest,
		.reply = &b->ask.reply,
		.model = b->ask.call.model,
		.version = b->ask.prompt.version,
		.threshold = settings_real(b->hand->settings, SET_REVIEW_THRESHOLD) };
	b->has_memory =
		b->ask.outcome != CALL_NOTHING && refine_session(&b->arena, &in, &b->memory);
	u->end = JOB_STATE_DONE;
	u->error = NULL;
	u->is_attempt = true;
}

int session_store(struct store *s, struct batch *b, struct err *err)
{
	return b->has_memory ? store_session_memory(s, &b->memory, err) : 0;
}
