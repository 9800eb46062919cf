/*
 * Events out of the pieces of a reply: server-sent events (WHATWG HTML, "data:" lines up to an empty
 * one) or a JSON object a line. Pieces end anywhere, inside a character too. A server that answers
 * with one JSON text instead is understood as well: all is kept until something of an answer came.
 */
#include <string.h>

#include "base/mem.h"
#include "llm/parts.h"

#define END_MARK "[DONE]"

void stream_init(struct stream *s, const struct llm *l, struct reading *r)
{
	*s = (struct stream){ .llm = l,
		.reading = r,
		.line = { .max = STREAM_LINE_MAX },
		.data = { .max = STREAM_LINE_MAX },
		.raw = { .max = STREAM_RAW_MAX } };
}

void stream_done(struct stream *s)
{
	buf_done(&s->line);
	buf_done(&s->data);
	buf_done(&s->raw);
}

static void take_object(struct stream *s, const json *event)
{
	struct reading *r = s->reading;

	if (r->problem.outcome == CALL_NONE && !problem_of_json(&r->problem, 0, event))
		s->llm->provider->event(r, event);
}

static bool take_json(struct stream *s, struct str text)
{
	AUTO(json_free_ptr) json *event = NULL;

	if (json_parse(text.p, text.n, &event, NULL) < 0)
		return false;
	if (json_type(event) == JSON_OBJECT)
		take_object(s, event);
	for (size_t i = 0; i < json_len(event); i++)
		take_object(s, json_at(event, i));
	return json_type(event) == JSON_OBJECT || json_type(event) == JSON_ARRAY;
}

/* Something of an answer came. */
static bool is_answer(const struct reading *r)
{
	return r->is_ended || r->has_thought || r->answer->text.len ||
	       r->problem.outcome != CALL_NONE;
}

static void take_event(struct stream *s, struct str text)
{
	if (str_is(str_trim(text), END_MARK))
		s->reading->is_ended = true;
	else if (!take_json(s, text))
		return;
	s->events++;
	if (is_answer(s->reading))
		buf_done(&s->raw);
}

/* One line, without its end. */
static void take_line(struct stream *s)
{
	struct str line = { buf_cstr(&s->line), s->line.len };
	bool is_first = s->lines++ == 0;

	if (s->llm->provider->is_lines) {
		/* A text over many lines has no object in its first one. */
		if (is_first || s->events)
			take_event(s, line);
	} else if (line.n == 0) {
		if (s->data.len)
			take_event(s, (struct str){ s->data.data, s->data.len });
		buf_cut(&s->data, 0);
	} else if (str_starts(line.p, "data:")) {
		if (s->data.len)
			buf_char(&s->data, '\n');
		buf_add(&s->data, line.p + strlen("data:"), line.n - strlen("data:"));
	}
	s->is_too_long |= s->data.is_full;
	buf_cut(&s->line, 0);
}

int stream_piece(void *stream, const char *p, size_t n)
{
	struct stream *s = stream;
	const char *end = p + n;

	if (!is_answer(s->reading))
		buf_add(&s->raw, p, n);
	s->is_too_long |= s->raw.is_full;
	while (p < end && !s->is_too_long && s->reading->problem.outcome == CALL_NONE) {
		const char *stop = p;
		while (stop < end && *stop != '\n' && *stop != '\r')
			stop++;
		if (stop == p && s->was_cr && *stop == '\n') { /* the second half of a line end */
			s->was_cr = false;
			p++;
			continue;
		}
		buf_add(&s->line, p, (size_t)(stop - p));
		s->is_too_long |= s->line.is_full;
		s->was_cr = stop < end && *stop == '\r';
		if (stop < end)
			take_line(s);
		p = stop + (stop < end);
	}
	return s->is_too_long || s->reading->is_full || s->reading->problem.outcome != CALL_NONE;
}

void stream_end(struct stream *s)
{
	if (s->line.len)
		take_line(s);
	if (!s->llm->provider->is_lines && s->data.len)
		take_line(s);
	if (!s->events && s->raw.len && !s->is_too_long)
		take_json(s, (struct str){ s->raw.data, s->raw.len });
	if (is_answer(s->reading))
		buf_done(&s->raw);
}
