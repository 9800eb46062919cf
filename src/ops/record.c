#include "ops/hits.h"

#include <string.h>

#include "base/mem.h"

/* Memories and events as text: titles, bodies, sizes. */

char *ref_text(struct arena *a, enum ref_kind kind, int64_t id)
{
	static const char prefixes[] = { [REF_MEMORY] = '\0', [REF_EVENT] = 'e', [REF_SESSION] = 's' };
	char text[2 + STR_DIGITS_MAX];
	/* Not by a format: a page of hits names a hundred. */
	const struct str digits = str_digits(text + 2, id < 0 ? -(uint64_t)id : (uint64_t)id, 1);
	size_t at = (size_t)(digits.p - text);
	if (id < 0)
		text[--at] = '-';
	if (prefixes[kind])
		text[--at] = prefixes[kind];
	return arena_dup(a, text + at, sizeof(text) - at);
}

/* What a tool was asked to do: the first of these members that its input has. */
static const char *const tool_subjects[] = { "command", "cmd", "file_path", "path", "notebook_path", "pattern", "query", "url",
	"description", "prompt", "skill", "subject" };
#define TOOL_INPUT_MAX 16384

static char *tool_subject(struct arena *a, const char *input)
{
	AUTO(json_free_ptr) json *parsed = NULL;
	struct err ignored;
	size_t n = input ? strlen(input) : 0;
	if (!n || n > TOOL_INPUT_MAX || json_parse(input, n, &parsed, &ignored))
		return n ? text_one_line(a, (struct str){ input, MIN(n, (size_t)TOOL_INPUT_MAX) }, HIT_TITLE_WIDTH) : NULL;
	for (size_t i = 0; i < ARRAY_LEN(tool_subjects); i++) {
		const json *value = json_get(parsed, tool_subjects[i]);
		if (json_type(value) == JSON_ARRAY && json_value_str(json_at(value, json_len(value) - 1)))
			value = json_at(value, json_len(value) - 1); /* ["bash", "-lc", "make"] */
		struct str text = json_slice(value);
		if (text.n)
			return text_one_line(a, text, HIT_TITLE_WIDTH);
	}
	return NULL;
}

static bool is_blank(const char *s)
{
	return !s || !str_trim(str_of(s)).n;
}

char *event_title(struct arena *a, const struct event *e)
{
	if (e->kind != EVENT_TOOL)
		return text_one_line(a, str_of(is_blank(e->text) ? event_kind_names[e->kind] : e->text), HIT_TITLE_WIDTH);
	const char *subject = tool_subject(a, e->input);
	if (!subject && !is_blank(e->text))
		subject = e->text;
	const char *tool = is_blank(e->tool) ? "tool" : e->tool;
	char *whole = subject ? arena_printf(a, "%s: %s", tool, subject) : arena_str(a, tool);
	return text_one_line(a, str_of(whole), HIT_TITLE_WIDTH);
}

char *memory_title(struct arena *a, const struct memory *m)
{
	const char *candidates[] = { m->title, m->request, m->completed, m->body };
	for (size_t i = 0; i < ARRAY_LEN(candidates); i++)
		if (!is_blank(candidates[i]))
			return text_one_line(a, str_of(candidates[i]), HIT_TITLE_WIDTH);
	return arena_printf(a, "%s %lld", memory_kind_names[m->kind], (long long)m->id);
}

const char *memory_text(struct arena *a, const struct memory *m)
{
	const struct {
		const char *name, *text;
	} parts[] = { { "Request", m->request }, { "Investigated", m->investigated }, { "Learned", m->learned },
		{ "Completed", m->completed }, { "Next", m->next_steps }, { "Notes", m->notes } };
	if (!is_blank(m->body))
		return m->body;
	AUTO(buf_done) struct buf b = { 0 };
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if (!is_blank(parts[i].text)) {
			buf_str(&b, b.len ? "\n" : "");
			buf_str(&b, parts[i].name);
			buf_str(&b, ": ");
			buf_str(&b, parts[i].text);
		}
	return arena_dup(a, buf_cstr(&b), b.len);
}

const char *text_beyond(const char *text, const char *title)
{
	size_t n = strlen(title);
	if (!n || strncmp(text, title, n))
		return text;
	const char *rest = text + n;
	if (*rest && !strchr(".!:\n ", *rest))
		return text;
	while (*rest && strchr(".!: \n\r\t", *rest))
		rest++;
	/* A title that breaks off in the middle of a line is no sentence of its own. */
	return rest[-1] == '\n' || rest - (text + n) > 1 || !*rest ? rest : text;
}

/* Cut to what is left of HIT_SOURCE_MAX, head and tail kept, so that the end of a long output can still be found. */
static void part_add(struct arena *a, struct buf *b, const char *text)
{
	if (is_blank(text) || b->len + 256 >= HIT_SOURCE_MAX)
		return;
	if (b->len)
		buf_char(b, '\n');
	struct str cut = utf8_head_tail(a, str_of(text), HIT_SOURCE_MAX - b->len - 128);
	buf_add(b, cut.p, cut.n);
}

const char *event_text(struct arena *a, const struct event *e)
{
	AUTO(buf_done) struct buf b = { 0 };
	part_add(a, &b, e->text);
	part_add(a, &b, e->input);
	part_add(a, &b, e->diff);
	part_add(a, &b, e->output);
	return arena_dup(a, buf_cstr(&b), b.len);
}

size_t memory_tokens(const struct memory *m)
{
	const char *texts[] = { m->title, m->subtitle, m->body, m->facts, m->request, m->investigated, m->learned, m->completed,
		m->next_steps, m->notes, m->commands };
	size_t tokens = 0;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (texts[i])
			tokens += text_tokens(str_of(texts[i]));
	return tokens;
}
