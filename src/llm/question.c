/* The parts of a request that providers have in common. */
#include <string.h>

#include "base/mem.h"
#include "llm/parts.h"
#include "model/names.h"

bool question_by_schema(const struct llm *l, const struct llm_question *q)
{
	return q->schema && !(l->lacks & LACKS_SCHEMA);
}

bool question_by_json(const struct llm *l, const struct llm_question *q)
{
	return q->schema && (l->lacks & LACKS_SCHEMA) && !(l->lacks & LACKS_JSON);
}

static const char *const limits[] = { "minItems", "maxItems", "minLength", "maxLength" };

bool question_has_limits(const struct llm *l, const struct llm_question *q)
{
	bool has_one = false;

	for (size_t i = 0; i < ARRAY_LEN(limits) && question_by_schema(l, q); i++)
		has_one |= strstr(q->schema, limits[i]) != NULL;
	return has_one && !(l->lacks & LACKS_LIMITS);
}

static void without_limits(struct jw *w, const char *key, const json *j)
{
	if (json_type(j) != JSON_OBJECT) {
		jw_json(w, key, j);
		return;
	}
	jw_object(w, key);
	for (struct json_iter it = json_iter(j); json_next(&it);)
		if (json_type(it.value) != JSON_INT || !name_is_any(it.key, limits, ARRAY_LEN(limits)))
			without_limits(w, it.key, it.value);
	jw_end(w, '}');
}

static void schema_without_limits(const struct llm_question *q, struct jw *w, const char *key)
{
	AUTO(json_free_ptr) json *schema = NULL;

	if (json_parse(q->schema, strlen(q->schema), &schema, NULL) == 0)
		without_limits(w, key, schema);
	else
		jw_raw(w, key, str_of(q->schema));
}

void question_schema(
	const struct llm *l, const struct llm_question *q, struct jw *w, const char *key)
{
	if (l->lacks & LACKS_LIMITS)
		schema_without_limits(q, w, key);
	else
		jw_raw(w, key, str_of(q->schema));
}

/* Limits differ from question to question, and the system text must not. */
void question_in_words(const struct llm_question *q, struct buf *out)
{
	struct jw w = { .out = out };

	buf_str(out, q->system ? q->system : "");
	if (!q->schema)
		return;
	buf_printf(out, "%sAnswer with JSON that fits this schema, and with nothing else:\n",
		out->len ? "\n\n" : "");
	schema_without_limits(q, &w, NULL);
}

void question_system(const struct llm *l, const struct llm_question *q, struct buf *out)
{
	if (!question_by_schema(l, q))
		question_in_words(q, out);
	else if (q->system)
		buf_str(out, q->system);
}

int64_t question_tokens(const struct llm *l, const struct llm_question *q)
{
	return q->max_tokens + (q->max_tokens && l->thinks ? LLM_THINKING_TOKENS : 0);
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
