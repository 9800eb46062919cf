/* An answer while it comes: what providers have in common. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "llm/parts.h"

#define CIRCLE_BYTES 400     /* so much of the same … */
#define CIRCLE_PERIOD_MAX 80 /* … in pieces of at most so many bytes is no text */
#define CIRCLE_STEP 64

static bool is_circle(const char *text)
{
	for (size_t period = 1; period <= CIRCLE_PERIOD_MAX; period++)
		if (memcmp(text, text + period, CIRCLE_BYTES - period) == 0)
			return true;
	return false;
}

static void look_for_circles(struct reading *r)
{
	const struct buf *b = &r->answer->text;

	if (b->len < CIRCLE_BYTES || b->len - r->looked < CIRCLE_STEP)
		return;
	r->looked = b->len;
	if (is_circle(b->data + b->len - CIRCLE_BYTES))
		r->is_circle = r->answer->is_cut = r->is_ended = r->is_full = true;
}

void reading_text(struct reading *r, const char *text)
{
	struct buf *b = &r->answer->text;
	size_t n = text ? strlen(text) : 0, room = LLM_REPLY_MAX - b->len;

	if (n > room) {
		n = utf8_cut(text, n, room);
		r->answer->is_cut = r->is_ended = r->is_full = true;
	}
	if (n)
		buf_add(b, text, n);
	look_for_circles(r);
}

void reading_content(struct reading *r, const json *content)
{
	reading_text(r, json_value_str(content));
	for (size_t i = 0; i < json_len(content); i++) {
		json *part = json_at(content, i);
		const char *type = json_str(part, "type");
		if (type && strstr(type, "think"))
			r->has_thought = true;
		else
			reading_text(r, json_str(part, "text"));
	}
}

void reading_model(struct reading *r, const char *name)
{
	if (name && *name)
		snprintf(r->answer->model, sizeof r->answer->model, "%s", name);
}

void reading_refusal(struct reading *r, const char *why)
{
	r->is_refused = r->is_ended = true;
	if (why && *why && !*r->problem.message)
		snprintf(r->problem.message, sizeof r->problem.message, "%s", why);
}
