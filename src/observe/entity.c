/*
 * The events of a turn, one after the other: what each is (command, reading, edit, words) decides
 * who looks for entities in it. Output of tools is searched for error classes only, since it may
 * hold anything.
 */
#include "observe/entity.h"

#include <ctype.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "observe/entity_find.h"
#include "text/hash.h"

#define SLOTS 2048 /* a power of two above MENTIONS_MAX */

static bool is_name_byte(unsigned char c)
{
	return isalnum(c) || c >= 0x80 || strchr("@/._+#-:", c) != NULL;
}

/* A letter in it, no strange byte, neither too short nor too long. */
static bool has_form(struct str s, enum entity_kind kind)
{
	bool has_letter = false;

	if (!s.n || s.n >= ENTITY_NAME_MAX || (s.n < 2 && kind != ENTITY_LANGUAGE))
		return false;
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];
		if (!c || !is_name_byte(c))
			return false;
		has_letter |= isalpha(c) != 0;
	}
	return has_letter && !strchr("-./:+#", s.p[0]) && !strchr("-/.:", s.p[s.n - 1]);
}

static bool is_noise(enum entity_kind kind, const char *name)
{
	if (kind == ENTITY_COMMAND || kind == ENTITY_TOOL)
		return word_is_listed(NOISE_COMMANDS, name);
	return kind == ENTITY_LIBRARY && word_is_listed(NOISE_LIBRARIES, name);
}

static void count(struct finder *f, enum entity_kind kind, const char *name)
{
	size_t n = strlen(name), slot = (hash64(name, n) + (unsigned)kind) % SLOTS;

	for (; f->slots[slot] >= 0; slot = (slot + 1) % SLOTS) {
		struct mention *m = &f->items[f->slots[slot]];
		if (m->kind != kind || strcmp(m->name, name) != 0)
			continue;
		if (f->orders[f->slots[slot]] == f->order)
			return;
		f->orders[f->slots[slot]] = f->order;
		m->n++;
		m->last_at = f->e->at;
		return;
	}
	if (f->n == MENTIONS_MAX)
		return;
	struct mention fresh = { kind, arena_dup(f->a, name, n), 1, f->e->at, f->e->at };
	f->slots[slot] = (int)f->n;
	ARENA_PUSH(f->a, f->items, f->n, f->cap, fresh);
	ARENA_PUSH(f->a, f->orders, f->orders_n, f->orders_cap, f->order);
}

void entity_add(struct finder *f, enum entity_kind kind, struct str name)
{
	char lower[ENTITY_NAME_MAX];
	const char *canonical = lower;
	const struct known_name *known;

	name = str_trim(name);
	if (!has_form(name, kind))
		return;
	for (size_t i = 0; i < name.n; i++)
		lower[i] = kind == ENTITY_CONCEPT ? name.p[i]
						  : (char)tolower((unsigned char)name.p[i]);
	lower[name.n] = '\0';
	if (kind == ENTITY_CONCEPT) {
		count(f, kind, lower);
		return;
	}
	canonical = name_canonical(lower);
	known = name_known(canonical);
	if (known && (known->kind == ENTITY_FILE) == (kind == ENTITY_FILE))
		count(f, known->kind, canonical);
	else if (kind != ENTITY_FILE && !is_noise(kind, lower))
		count(f, kind, canonical);
}

/* ---- events ---- */

static const char *const shell_tools[] = { "Bash", "shell", "exec_command", "shell_command",
	"local_shell", "local_shell_call", "Execute", "run_shell_command", "bash",
	"container.exec" };

static bool is_shell(const struct event *e)
{
	for (size_t i = 0; e->tool && i < ARRAY_LEN(shell_tools); i++)
		if (strcmp(e->tool, shell_tools[i]) == 0)
			return true;
	return false;
}

static struct str look(const char *text)
{
	struct str s = str_of(text);

	s.n = MIN(s.n, (size_t)LOOK_MAX);
	return s;
}

static void find_path(struct finder *f, const char *path)
{
	const char *language = path_language(path);

	entity_add(f, ENTITY_FILE, str_of(path_base(path)));
	if (language)
		entity_add(f, ENTITY_LANGUAGE, str_of(language));
}

static void find_source(struct finder *f, const char *path, struct str text)
{
	text.n = MIN(text.n, (size_t)LOOK_MAX);
	if (!entity_manifest(f, path, text))
		entity_imports(f, path, text);
}

void entity_shown(struct finder *f, const char *path, struct str text)
{
	const char *cwd = f->e->cwd ? f->e->cwd : "/";

	path = path_clean(f->a, cwd, path);
	find_path(f, path);
	find_source(f, path, text);
}

/* The added and the common lines of a unified diff, file by file. */
static void find_diff(struct finder *f, struct str diff)
{
	char *text = arena_alloc(f->a, diff.n + 1);
	const char *path = f->e->nfiles ? f->e->files[0] : NULL;
	struct str rest = diff, line;
	size_t n = 0;

	while (str_line(&rest, &line)) {
		if (line.n > 4 && memcmp(line.p, "+++ ", 4) == 0) {
			if (path && n)
				find_source(f, path, (struct str){ text, n });
			struct str name = { line.p + 4, line.n - 4 };
			if (name.n > 2 && memcmp(name.p, "b/", 2) == 0)
				name = (struct str){ name.p + 2, name.n - 2 };
			path = arena_dup(f->a, name.p, name.n);
			n = 0;
		} else if (line.n && (line.p[0] == '+' || line.p[0] == ' ')) {
			memcpy(text + n, line.p + 1, line.n - 1);
			n += line.n - 1;
			text[n++] = '\n';
		}
	}
	if (path && n)
		find_source(f, path, (struct str){ text, n });
}

/* What an editing tool was told to write, where no diff says it. */
static void find_edit(struct finder *f, const char *input)
{
	static const char *const keys[] = { "content", "new_string", "new_str", "file_text" };
	AUTO(json_free_ptr) json *j = NULL;

	if (json_parse(input, strlen(input), &j, NULL) < 0)
		return;
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (json_str(j, keys[i]))
			find_source(f, f->e->files[0], json_slice(json_get(j, keys[i])));
	const json *edits = json_get(j, "edits");
	for (size_t i = 0; i < json_len(edits); i++)
		if (json_str(json_at(edits, i), "new_string"))
			find_source(f, f->e->files[0],
				json_slice(json_get(json_at(edits, i), "new_string")));
}

static void find_shell(struct finder *f)
{
	AUTO(json_free_ptr) json *j = NULL;
	const struct event *e = f->e;
	json *c;

	if (!e->input || json_parse(e->input, strlen(e->input), &j, NULL) < 0)
		return;
	c = json_get(j, "command");
	c = c ? c : json_get(j, "cmd");
	if (json_type(c) == JSON_ARRAY && json_len(c))
		c = json_at(c, json_len(c) - 1);
	if (json_type(c) == JSON_STRING)
		entity_command(f, json_value_str(c));
	if (e->output)
		entity_errors(f, look(e->output));
}

static void find_fetch(struct finder *f)
{
	AUTO(json_free_ptr) json *j = NULL;

	if (!f->e->input || json_parse(f->e->input, strlen(f->e->input), &j, NULL) < 0)
		return;
	if (json_str(j, "url"))
		entity_url(f, str_of(json_str(j, "url")));
}

static void find_tool(struct finder *f)
{
	const struct event *e = f->e;

	for (size_t i = 0; i < e->nfiles; i++)
		find_path(f, e->files[i]);
	if (is_shell(e))
		find_shell(f);
	else if (e->tool && strcmp(e->tool, "WebFetch") == 0)
		find_fetch(f);
	else if (e->nfiles == 1 && e->writes_files && e->input && !(e->diff && *e->diff))
		find_edit(f, e->input);
	else if (e->nfiles == 1 && !e->writes_files && e->output)
		find_source(f, e->files[0], str_of(e->output));
	if (e->diff && *e->diff)
		find_diff(f, look(e->diff));
}

void entities_run(
	struct arena *a, const struct rules_input *in, struct mention **ret, size_t *ret_n)
{
	struct finder f = { .a = a, .in = in, .slots = ARENA_ARRAY(a, int, SLOTS) };

	for (size_t i = 0; i < SLOTS; i++)
		f.slots[i] = -1;
	for (size_t i = 0; i < in->n; i++) {
		f.e = &in->events[i];
		f.order = i + 1;
		if (f.e->is_meta || f.e->status == STATUS_DENIED)
			continue;
		if (f.e->kind == EVENT_TOOL)
			find_tool(&f);
		else if ((f.e->kind == EVENT_PROMPT || f.e->kind == EVENT_REPLY) && f.e->text)
			entity_prose(&f, look(f.e->text));
	}
	*ret = f.items;
	*ret_n = f.n;
}

/* ---- names as people say them ---- */

const char *entity_name(struct arena *a, const char *name)
{
	char *lower = arena_str(a, name);

	for (char *p = lower; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	return name_canonical(lower);
}

/* At the beginning of code, first in a command of a list, or written as a name. */
static bool is_set_off(struct str text, struct str w)
{
	if (w.p > text.p && w.p[-1] == '`')
		return true;
	if (w.p > text.p + 1 && w.p[-1] == '"' && w.p[-2] == ':')
		return true;
	return entity_is_written_as_name(text, w);
}

static bool names(struct str text, const char *name, bool is_any_case)
{
	size_t n = strlen(name);
	struct str rest = text;

	for (const char *at; (at = str_ifind(rest, name));) {
		const char *end = at + n, *stop = text.p + text.n;
		bool is_open = at == text.p || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');
		bool is_closed = end == stop || !(isalnum((unsigned char)*end) || *end == '_');
		if (is_open && is_closed &&
			(is_any_case || is_set_off(text, (struct str){ at, n })))
			return true;
		rest = (struct str){ at + 1, (size_t)(stop - at) - 1 };
	}
	return false;
}

bool entity_is_named(struct str text, const char *name)
{
	const struct known_name *known = name_known(name);

	if (names(text, name, !known || known->prose == PROSE_WORD))
		return true;
	for (size_t i = 0; i < name_aliases_n; i++)
		if (strcmp(name_aliases[i].value, name) == 0 &&
			names(text, name_aliases[i].name,
				strlen(name_aliases[i].name) > 2 &&
					!word_is_listed(NOISE_SPELLINGS, name_aliases[i].name)))
			return true;
	return false;
}

bool entity_is_language_of(const char *language, const char *path)
{
	const char *found = path_language(path);

	return found && strcmp(name_canonical(found), language) == 0;
}
