#include "daemon/pairs.h"

#include <string.h>

#include "base/mem.h"
#include "text/hash.h"

static bool is_call(const struct captured_event *e)
{
	return e->kind == EVENT_TOOL && e->source == SOURCE_TRANSCRIPT && e->tool_use_id;
}

/* The second telling brings the result; one that brings an input is another call of that id. */
static bool is_result(const struct captured_event *e)
{
	return is_call(e) && !e->input.n;
}

static uint64_t call_hash(const struct captured_event *e)
{
	return hash64(e->tool_use_id, strlen(e->tool_use_id));
}

/* NULL or empty says nothing. */
static bool says_no_more(const char *later, const char *first)
{
	return !later || !*later || (first && strcmp(later, first) == 0);
}

/* Would the session be any other for the later telling? */
static bool session_says_no_more(
	const struct captured_session *later, const struct captured_session *first)
{
	return later->agent == first->agent && later->agent_session && first->agent_session &&
	       strcmp(later->agent_session, first->agent_session) == 0 &&
	       says_no_more(later->parent, first->parent) && says_no_more(later->cwd, first->cwd) &&
	       says_no_more(later->branch, first->branch) &&
	       says_no_more(later->model, first->model) &&
	       says_no_more(later->title, first->title) &&
	       says_no_more(later->transcript_path, first->transcript_path) &&
	       (!later->started_at ||
		       (first->started_at && later->started_at >= first->started_at)) &&
	       !later->ended_at && !later->end_reason && later->is_headless <= first->is_headless;
}

static struct captured_event *find_first(
	const struct pairs *p, const struct capture *c, const struct captured_event *e)
{
	uint64_t hash = is_result(e) ? call_hash(e) : 0;

	for (size_t i = p->n; hash && i-- > 0 && p->n - i <= PAIRS_LOOK;) {
		const struct call *call = &p->calls[i];

		if (call->hash == hash && !call->event->later &&
			strcmp(call->event->tool_use_id, e->tool_use_id) == 0)
			return session_says_no_more(&c->session, &call->session) &&
					       says_no_more(e->cwd, call->event->cwd)
				       ? call->event
				       : NULL;
	}
	return NULL;
}

bool pairs_join(struct pairs *p, const struct capture *c)
{
	struct captured_event *first = NULL;

	if (c->nevents == 1 && !c->nempty)
		first = find_first(p, c, &c->events[0]);
	if (first)
		first->later = &c->events[0];
	return first != NULL;
}

void pairs_add(struct pairs *p, struct arena *a, const struct capture *c)
{
	for (size_t i = 0; i < c->nevents; i++) {
		struct captured_event *e = &c->events[i];

		if (!is_call(e))
			continue;
		struct call call = { call_hash(e), e, c->session };
		ARENA_PUSH(a, p->calls, p->n, p->cap, call);
	}
}
