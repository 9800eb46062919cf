/* A session in one summary, made of those of its units when it is over. */
#include <string.h>

#include "base/mem.h"
#include "daemon/model_parts.h"

/* Those of its units, the oldest first; the one of the session itself belongs to no turn. */
static int load_summaries(struct batch *b, struct store *s, struct err *err)
{
	struct memory_query q = { .session = b->session.id,
		.kind = KIND_SUMMARY,
		.type = -1,
		.status = MEMORY_ACTIVE,
		.origin = -1,
		.max = DIGEST_SUMMARIES_MAX };
	struct memory *newest, *first;
	size_t n, nfirst = 0;
	if (store_memory_list(s, &b->arena, &q, &newest, &n, err))
		return -1;
	/* Of more than there may be, the first says what it was all about. */
	q.oldest_first = true;
	q.max = 1;
	if (n == DIGEST_SUMMARIES_MAX && store_memory_list(s, &b->arena, &q, &first, &nfirst, err))
		return -1;
	b->summaries = ARENA_ARRAY(&b->arena, struct memory, n + 1);
	b->nsummaries = 0;
	if (nfirst && first->turn && first->id != newest[n - 1].id)
		b->summaries[b->nsummaries++] = *first;
	for (size_t i = n; i-- > 0;)
		if (newest[i].turn)
			b->summaries[b->nsummaries++] = newest[i];
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
