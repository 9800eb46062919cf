/* The parts of a request that providers have in common. */
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
