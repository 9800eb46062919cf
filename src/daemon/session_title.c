#include "daemon/session_title.h"

#include "base/arena.h"
#include "base/mem.h"
#include "observe/title.h"
#include "store/query.h"

static int title_of_prompts(
	struct store *s, struct arena *a, int64_t session, const char **ret, struct err *err)
{
	struct event_query q = {
		.session = session, .kinds = 1u << EVENT_PROMPT, .max = TITLE_PROMPTS
	};
	int64_t *ids;
	size_t n;

	if (query_events(s, a, &q, &ids, &n, err))
		return -1;
	for (size_t i = 0; i < n && !*ret; i++) {
		struct event e;
		if (store_event_get(s, a, ids[i], &e, err))
			return -1;
		if (e.text && !e.is_meta && !e.subagent)
			*ret = title_from_prompt(a, str_of(e.text));
	}
	return 0;
}

static int title_of_summaries(
	struct store *s, struct arena *a, int64_t session, const char **ret, struct err *err)
{
	struct memory_query q = {
		.session = session,
		.kind = KIND_SUMMARY,
		.type = -1,
		.status = MEMORY_ACTIVE,
		.origin = ORIGIN_RULES,
		.oldest_first = true,
		.max = TITLE_SUMMARIES,
	};
	struct memory *summaries;
	size_t n;

	if (store_memory_list(s, a, &q, &summaries, &n, err))
		return -1;
	for (size_t i = 0; i < n && !*ret; i++)
		if (summaries[i].title && *summaries[i].title)
			*ret = summaries[i].title;
	return 0;
}

int session_title_make(struct store *s, const struct turn *t, bool has_title, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	const char *title = NULL;

	if (has_title && t->ordinal > TITLE_PROMPTS)
		return 0;
	if (title_of_prompts(s, &a, t->session, &title, err) ||
		(!title && title_of_summaries(s, &a, t->session, &title, err)))
		return -1;
	return title ? store_session_made_title(s, t->session, title, err) : 0;
}
