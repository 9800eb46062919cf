/*
 * Filling captures: see captures.h. The one rule here is that nothing points into the parsed line.
 */

#include "agents/captures.h"

#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"

struct captured_event *capture_add(
	struct arena *a, struct capture *c, enum event_kind kind, enum source source)
{
	struct captured_event e = { .kind = kind, .source = source, .exit_code = -1 };
	ARENA_PUSH(a, c->events, c->nevents, c->events_cap, e);
	return &c->events[c->nevents - 1];
}

void capture_file(struct arena *a, struct captured_event *e, const char *path, bool is_written)
{
	if (!path || !*path || e->nfiles >= CAPTURE_FILES_MAX)
		return;
	if (*path != '/' && e->cwd)
		path = path_clean(a, e->cwd, path);
	e->writes_files |= is_written;
	for (size_t i = 0; i < e->nfiles; i++)
		if (!strcmp(e->files[i], path))
			return;
	const char **files = ARENA_ARRAY(a, const char *, e->nfiles + 1);
	for (size_t i = 0; i < e->nfiles; i++)
		files[i] = e->files[i];
	files[e->nfiles++] = arena_str(a, path);
	e->files = files;
}

struct str capture_copy(struct arena *a, struct str s)
{
	if (!s.n)
		return (struct str){ "", 0 };
	return (struct str){ arena_dup(a, s.p, s.n), s.n };
}

struct str capture_text(struct arena *a, const json *string)
{
	return capture_copy(a, json_slice(string));
}

const char *capture_word(struct arena *a, const json *object, const char *key)
{
	const char *s = json_str(object, key);
	return s && *s ? arena_str(a, s) : NULL;
}

/* Blocks that stand for something that cannot be kept as text. */
static const struct {
	const char *type, *mark, *already;
} content_marks[] = {
	{ "image", "[image]", "[Image" },
	{ "input_image", "[image]", "[Image" },
	{ "local_image", "[image]", "[Image" },
	{ "document", "[document]", NULL },
};

static const char *content_mark(const json *block, const struct buf *so_far)
{
	const char *type = json_str(block, "type");
	for (size_t i = 0; type && i < ARRAY_LEN(content_marks); i++) {
		if (strcmp(type, content_marks[i].type))
			continue;
		struct str text = { buf_cstr(so_far), so_far->len };
		if (content_marks[i].already && str_ifind(text, content_marks[i].already))
			return NULL;
		return content_marks[i].mark;
	}
	return NULL;
}

static bool content_is_text(const json *block)
{
	static const char *const types[] = { "text", "input_text", "output_text", "inputText",
		"outputText", "Text" };
	const char *type = json_str(block, "type");
	for (size_t i = 0; type && i < ARRAY_LEN(types); i++)
		if (!strcmp(type, types[i]))
			return true;
	return !type && json_get(block, "text");
}

struct str capture_content(struct arena *a, const json *content)
{
	if (json_type(content) == JSON_STRING)
		return capture_text(a, content);
	if (json_type(content) == JSON_OBJECT)
		return content_is_text(content) ? capture_text(a, json_get(content, "text"))
						: (struct str){ "", 0 };
	AUTO(buf_done) struct buf b = { 0 };
	for (size_t i = 0; i < json_len(content); i++) {
		const json *block = json_at(content, i);
		struct str part = { 0 };
		if (json_type(block) == JSON_STRING)
			part = json_slice(block);
		else if (content_is_text(block))
			part = json_slice(json_get(block, "text"));
		else
			part = str_of(content_mark(block, &b));
		if (b.len && part.n)
			buf_char(&b, '\n');
		buf_add(&b, part.p ? part.p : "", part.n);
	}
	return capture_copy(a, (struct str){ buf_cstr(&b), b.len });
}

/* Writes a value with its long strings cut; depth is bounded by the parser. */
static void input_print_cut(struct jw *w, const char *key, const json *j, struct arena *a)
{
	if (w->depth >= JW_DEPTH_MAX - 2) {
		jw_null(w, key);
		return;
	}
	if (json_type(j) == JSON_STRING) {
		jw_slice(w, key, utf8_head_tail(a, json_slice(j), CAPTURE_INPUT_STRING));
	} else if (json_type(j) == JSON_ARRAY) {
		jw_array(w, key);
		for (size_t i = 0; i < json_len(j) && w->out->len < CAPTURE_INPUT_MAX; i++)
			input_print_cut(w, NULL, json_at(j, i), a);
		jw_end(w, ']');
	} else if (json_type(j) == JSON_OBJECT) {
		jw_object(w, key);
		struct json_iter it = json_iter(j);
		while (w->out->len < CAPTURE_INPUT_MAX && json_next(&it))
			input_print_cut(w, it.key, it.value, a);
		jw_end(w, '}');
	} else {
		jw_json(w, key, j);
	}
}

struct str capture_input(struct arena *a, const json *input, uint64_t *true_size)
{
	if (json_type(input) == JSON_NULL)
		return (struct str){ "", 0 };
	AUTO(buf_done) struct buf b = { 0 };
	json_print(input, &b);
	if (b.len <= CAPTURE_INPUT_MAX)
		return capture_copy(a, (struct str){ buf_cstr(&b), b.len });
	*true_size = MAX(*true_size, b.len);
	buf_cut(&b, 0);
	struct jw w = { .out = &b };
	input_print_cut(&w, NULL, input, a);
	return capture_copy(a, (struct str){ buf_cstr(&b), b.len });
}

struct str capture_description(struct arena *a, const json *input)
{
	static const char *const keys[] = { "description", "query", "pattern", "url", "skill",
		"subject", "question" };
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		struct str s = str_trim(json_slice(json_get(input, keys[i])));
		struct str line;
		if (s.n && str_line(&s, &line) && line.n)
			return capture_copy(
				a, (struct str){ line.p, utf8_cut(line.p, line.n, 300) });
	}
	return (struct str){ "", 0 };
}

int capture_exit_code(struct str *output)
{
	static const char *const heads[] = { "Exit code ", "Exit code: " };
	struct str rest = *output, line;
	if (!str_line(&rest, &line))
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(heads); i++) {
		size_t n = strlen(heads[i]);
		if (line.n <= n || memcmp(line.p, heads[i], n))
			continue;
		int code = 0;
		size_t at = n;
		while (at < line.n && line.p[at] >= '0' && line.p[at] <= '9' && code < 100000)
			code = code * 10 + (line.p[at++] - '0');
		if (at == n || at != line.n)
			continue;
		*output = rest;
		return code;
	}
	return -1;
}
