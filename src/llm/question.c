/* The parts of a request that providers have in common. */
#include <string.h>

#include "base/mem.h"
#include "llm/parts.h"

bool question_by_schema(const struct llm *l, const struct llm_question *q)
{
	return q->schema && !(l->lacks & LACKS_SCHEMA);
}

bool question_by_json(const struct llm *l, const struct llm_question *q)
{
	return q->schema && (l->lacks & LACKS_SCHEMA) && !(l->lacks & LACKS_JSON);
}

void question_system(const struct llm *l, const struct llm_question *q, struct buf *out)
{
	buf_str(out, q->system ? q->system : "");
	if (q->schema && !question_by_schema(l, q))
		buf_printf(out,
			"%sAnswer with JSON that fits this schema, and with nothing else:\n%s",
			out->len ? "\n\n" : "", q->schema);
}

void question_schema(const struct llm_question *q, struct jw *w, const char *key)
{
	jw_raw(w, key, str_of(q->schema));
}

static void message(struct jw *w, const char *role, const char *text)
{
	if (!*text)
		return;
	jw_object(w, NULL);
	jw_str(w, "role", role);
	jw_str(w, "content", text);
	jw_end(w, '}');
}

void question_messages(const struct llm_question *q, const char *system, struct jw *w)
{
	jw_array(w, "messages");
	message(w, "system", system);
	message(w, "user", q->user);
	jw_end(w, ']');
}

void llm_base(const struct llm *l, const char *const *ends, size_t n, struct buf *out)
{
	size_t len = strlen(l->c.url);

	for (size_t i = 0; i < n; i++)
		if (str_ends(l->c.url, ends[i])) {
			len -= strlen(ends[i]);
			break;
		}
	buf_add(out, l->c.url, len);
}
