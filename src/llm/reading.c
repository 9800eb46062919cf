/* An answer while it comes: what providers have in common. */
#include <stdio.h>
#include <string.h>

#include "llm/parts.h"

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
