#include "observe/prompt_schema.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"

const char *const schema_unit_parts[] = { "request", "learned", "completed", "next_steps", NULL };
const char *const schema_session_parts[] = { "title", "request", "investigated", "learned",
	"completed", "next_steps", "notes", NULL };

static void object_begin(struct jw *w, const char *key)
{
	jw_object(w, key);
	jw_str(w, "type", "object");
	jw_object(w, "properties");
}

/* Closes the properties that object_begin opened. */
static void object_end(struct jw *w, const char *const *required)
{
	jw_end(w, '}');
	jw_array(w, "required");
	for (; *required; required++)
		jw_str(w, NULL, *required);
	jw_end(w, ']');
	jw_bool(w, "additionalProperties", false);
	jw_end(w, '}');
}

static void array_begin(struct jw *w, const char *key)
{
	jw_object(w, key);
	jw_str(w, "type", "array");
}

static void simple(struct jw *w, const char *key, const char *type)
{
	jw_object(w, key);
	jw_str(w, "type", type);
	jw_end(w, '}');
}

static void words(struct jw *w, const char *key, const struct mode_word *list, size_t n)
{
	jw_object(w, key);
	jw_str(w, "type", "string");
	jw_array(w, "enum");
	for (size_t i = 0; i < n; i++)
		jw_str(w, NULL, list[i].id);
	jw_end(w, ']');
	jw_end(w, '}');
}

static void strings(struct jw *w, const char *key)
{
	array_begin(w, key);
	simple(w, "items", "string");
	jw_end(w, '}');
}

static void observation(struct jw *w, const struct mode *mode)
{
	static const char *const members[] = { "type", "title", "narrative", "facts", "concepts",
		"files", NULL };

	object_begin(w, "items");
	words(w, "type", mode->types, mode->ntypes);
	simple(w, "title", "string");
	simple(w, "narrative", "string");
	strings(w, "facts");
	array_begin(w, "concepts");
	if (mode->nconcepts)
		words(w, "items", mode->concepts, mode->nconcepts);
	else
		simple(w, "items", "string");
	jw_end(w, '}');
	strings(w, "files");
	object_end(w, members);
}

static void fact(struct jw *w)
{
	static const char *const members[] = { "category", "subject", "statement", "quote", NULL };

	object_begin(w, "items");
	jw_object(w, "category");
	jw_str(w, "type", "string");
	jw_array(w, "enum");
	for (int i = FACT_PREFERENCE; i < MEMORY_TYPE_COUNT; i++)
		jw_str(w, NULL, memory_type_names[i]);
	jw_end(w, ']');
	jw_end(w, '}');
	for (size_t i = 1; members[i]; i++)
		simple(w, members[i], "string");
	object_end(w, members);
}

static void parts(struct jw *w, const char *key, const char *const *names)
{
	object_begin(w, key);
	for (size_t i = 0; names[i]; i++)
		simple(w, names[i], "string");
	object_end(w, names);
}

static void unit(struct jw *w, const struct mode *mode)
{
	static const char *const members[] = { "unit", "observations", "facts", "summary",
		"nothing", NULL };

	object_begin(w, "items");
	simple(w, "unit", "integer");
	array_begin(w, "observations");
	observation(w, mode);
	jw_end(w, '}');
	array_begin(w, "facts");
	fact(w);
	jw_end(w, '}');
	parts(w, "summary", schema_unit_parts);
	simple(w, "nothing", "string");
	object_end(w, members);
}

char *schema_observe(struct arena *a, const struct mode *mode)
{
	static const char *const members[] = { "units", NULL };
	AUTO(buf_done) struct buf out = { 0 };
	struct jw w = { .out = &out };

	object_begin(&w, NULL);
	array_begin(&w, "units");
	unit(&w, mode);
	jw_end(&w, '}');
	object_end(&w, members);
	return arena_dup(a, out.data, out.len);
}

char *schema_session(struct arena *a)
{
	AUTO(buf_done) struct buf out = { 0 };
	struct jw w = { .out = &out };

	parts(&w, NULL, schema_session_parts);
	return arena_dup(a, out.data, out.len);
}
