#include "observe/prompt_schema.h"

#include <stdint.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"

/*
 * How much fits into an answer: what the prompt asks for, with room to spare, and for a short unit
 * less. A small model that is held to a form of no end fills it until its tokens are used up.
 */
enum {
	CONCEPTS = 3,
	TITLE_CHARS = 120,
	SENTENCE_CHARS = 240,
	FILE_CHARS = 240,
	WORD_CHARS = 60,
	SESSION_PART_CHARS = 600
};

struct form {
	size_t bytes;                       /* of the longest unit, at most */
	int observations, sentences, files; /* of a unit, of an observation */
	int narrative, part;                /* characters */
};

/* In few steps: servers keep the beginning of a question, and to some the schema belongs to it. */
static const struct form forms[] = {
	{ 1600, 1, 3, 5, 600, 240 },
	{ 4500, 2, 4, 8, 900, 320 },
	{ SIZE_MAX, 3, 5, 10, 1200, 400 },
};

static const struct form *form_for(size_t bytes)
{
	const struct form *f = forms;

	while (bytes > f->bytes)
		f++;
	return f;
}

static const char *const unit_parts[] = { "request", "learned", "completed", "next_steps", NULL };
static const char *const session_parts[] = { "title", "request", "investigated", "learned",
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

static void array_begin(struct jw *w, const char *key, int least, int most)
{
	jw_object(w, key);
	jw_str(w, "type", "array");
	if (least)
		jw_int(w, "minItems", least);
	jw_int(w, "maxItems", most);
}

static void text(struct jw *w, const char *key, int most)
{
	jw_object(w, key);
	jw_str(w, "type", "string");
	jw_int(w, "maxLength", most);
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

static void texts(struct jw *w, const char *key, int most_items, int most)
{
	array_begin(w, key, 0, most_items);
	text(w, "items", most);
	jw_end(w, '}');
}

static void observation(struct jw *w, const struct mode *mode, const struct form *f)
{
	static const char *const members[] = { "type", "title", "narrative", "facts", "concepts",
		"files", NULL };

	object_begin(w, "items");
	words(w, "type", mode->types, mode->ntypes);
	text(w, "title", TITLE_CHARS);
	text(w, "narrative", f->narrative);
	texts(w, "facts", f->sentences, SENTENCE_CHARS);
	array_begin(w, "concepts", 0, CONCEPTS);
	if (mode->nconcepts)
		words(w, "items", mode->concepts, mode->nconcepts);
	else
		text(w, "items", WORD_CHARS);
	jw_end(w, '}');
	texts(w, "files", f->files, FILE_CHARS);
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
	text(w, "subject", WORD_CHARS);
	text(w, "statement", SENTENCE_CHARS);
	text(w, "quote", SENTENCE_CHARS);
	object_end(w, members);
}

static void parts(struct jw *w, const char *key, const char *const *names, int most)
{
	object_begin(w, key);
	for (size_t i = 0; names[i]; i++)
		text(w, names[i], most);
	object_end(w, names);
}

static void unit(struct jw *w, const struct mode *mode, const struct form *f)
{
	static const char *const members[] = { "unit", "observations", "facts", "summary",
		"nothing", NULL };

	object_begin(w, "items");
	jw_object(w, "unit");
	jw_str(w, "type", "integer");
	jw_end(w, '}');
	array_begin(w, "observations", 0, f->observations);
	observation(w, mode, f);
	jw_end(w, '}');
	array_begin(w, "facts", 0, f->observations + 1);
	fact(w);
	jw_end(w, '}');
	parts(w, "summary", unit_parts, f->part);
	text(w, "nothing", SENTENCE_CHARS);
	object_end(w, members);
}

char *schema_observe(struct arena *a, const struct mode *mode, size_t units, size_t longest)
{
	static const char *const members[] = { "units", NULL };
	AUTO(buf_done) struct buf out = { 0 };
	struct jw w = { .out = &out };

	object_begin(&w, NULL);
	array_begin(&w, "units", (int)units, (int)units);
	unit(&w, mode, form_for(longest));
	jw_end(&w, '}');
	object_end(&w, members);
	return arena_dup(a, out.data, out.len);
}

char *schema_session(struct arena *a)
{
	AUTO(buf_done) struct buf out = { 0 };
	struct jw w = { .out = &out };

	parts(&w, NULL, session_parts, SESSION_PART_CHARS);
	return arena_dup(a, out.data, out.len);
}
