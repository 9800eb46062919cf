/* The common ground of hook inputs; see hooks.h. */

#include "agents/hooks.h"

#include <string.h>

#include "agents/captures.h"

bool hook_session(struct arena *a, const struct spool_header *h, const json *payload,
	enum agent_id agent, struct capture *c)
{
	struct captured_session *s = &c->session;
	s->agent = agent;
	s->agent_session = capture_word(a, payload, "session_id");
	s->cwd = capture_word(a, payload, "cwd");
	if (!s->cwd && h->cwd[0])
		s->cwd = arena_str(a, h->cwd);
	s->model = capture_word(a, payload, "model");
	s->title = capture_word(a, payload, "session_title");
	s->transcript_path = capture_word(a, payload, "transcript_path");
	return s->agent_session != NULL;
}

struct captured_event *hook_event(struct arena *a, const struct spool_header *h,
	const json *payload, struct capture *c, enum event_kind kind)
{
	struct captured_event *e = capture_add(a, c, kind, SOURCE_HOOK);
	e->at = h->at;
	e->cwd = c->session.cwd;
	e->subagent = capture_word(a, payload, "agent_id");
	return e;
}

void hook_start(
	struct arena *a, const struct spool_header *h, const json *payload, struct capture *c)
{
	const char *source = json_str(payload, "source");
	struct captured_event *e = hook_event(a, h, payload, c, EVENT_START);
	e->text = str_of(arena_str(a, source ? source : "startup"));
	bool is_older = source && (!strcmp(source, "resume") || !strcmp(source, "compact"));
	if (!is_older)
		c->session.started_at = h->at;
}

void hook_end(struct arena *a, const struct spool_header *h, const json *payload, struct capture *c)
{
	const char *reason = json_str(payload, "reason");
	struct captured_event *e = hook_event(a, h, payload, c, EVENT_END);
	e->text = str_of(arena_str(a, reason ? reason : "other"));
	c->session.end_reason = e->text.p;
	c->session.ended_at = h->at;
	c->ends_session = true;
	c->wants_transcript = true;
}

void hook_reply(
	struct arena *a, const struct spool_header *h, const json *payload, struct capture *c)
{
	struct str text = str_trim(json_slice(json_get(payload, "last_assistant_message")));
	if (text.n)
		hook_event(a, h, payload, c, EVENT_REPLY)->text = capture_copy(a, text);
	c->wants_transcript = true;
}

void hook_ask(struct arena *a, const struct spool_header *h, const json *payload, struct ask *ret)
{
	ret->agent_session = capture_word(a, payload, "session_id");
	ret->cwd = capture_word(a, payload, "cwd");
	if (!ret->cwd && h->cwd[0])
		ret->cwd = arena_str(a, h->cwd);
	ret->source = capture_word(a, payload, "source");
	ret->prompt = capture_word(a, payload, "prompt");
	ret->transcript_path = capture_word(a, payload, "transcript_path");
	ret->subagent = capture_word(a, payload, "agent_id");
}

/* Length in bytes of the longest beginning that has at most max UTF-16 units. */
static size_t utf16_cut(const char *text, size_t n, size_t max)
{
	const char *p = text, *end = text + n;
	size_t units = 0;
	while (p < end) {
		const char *from = p;
		units += utf8_next(&p, end) > 0xFFFF ? 2 : 1;
		if (units > max)
			return (size_t)(from - text);
	}
	return n;
}

void hook_answer(const char *event, const char *text, size_t max, bool is_utf16, struct buf *out)
{
	if (!text || !*text)
		return;
	size_t n = strlen(text);
	n = is_utf16 ? utf16_cut(text, n, max) : utf8_cut(text, n, max);
	struct jw w = { .out = out };
	jw_object(&w, NULL);
	jw_object(&w, "hookSpecificOutput");
	jw_str(&w, "hookEventName", event);
	jw_slice(&w, "additionalContext", (struct str){ text, n });
	jw_end(&w, '}');
	jw_end(&w, '}');
	buf_char(out, '\n');
}
