/*
 * The question. Its system text is made of a file and the mode and is the same for every question,
 * so that servers need not read it anew; what changes comes last.
 */

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "observe/builtin.h"
#include "observe/digest.h"
#include "observe/mode.h"
#include "observe/prompt_schema.h"
#include "observe/turn_view.h"
#include "text/hash.h"

#define VERSION_MAX 24
#define SIMILAR_TITLE_MAX 160

/* What a fact may be about. */
static const struct {
	enum memory_type category;
	const char *meaning;
} categories[] = {
	{ FACT_PREFERENCE, "what the person wants done in a certain way, always" },
	{ FACT_DECISION, "what was chosen, and why" },
	{ FACT_CONVENTION, "how things are done in this project" },
	{ FACT_ARCHITECTURE, "which part does what" },
	{ FACT_ERROR_FIX, "an error message and what solves it" },
	{ FACT_TOOL_PATTERN, "a command that works for something" },
	{ FACT_DEAD_END, "what was tried and does not work" },
	{ FACT_TODO, "what is left to do" },
};

/* ---- the file ---- */

struct prompt_file {
	const char *name; /* "observe" */
	struct str text;  /* without the line of its version */
	const char *version;
};

static int file_load(struct arena *a, const char *folder, const char *name, struct prompt_file *ret,
	struct err *err)
{
	struct prompt_file f = { .name = name };
	char hex[HASH_HEX];
	struct str line, rest;
	bool is_own;

	if (text_load(a, folder, arena_printf(a, "%s.txt", name), &f.text, &is_own, err))
		return -1;
	rest = f.text;
	f.version = "0";
	if (str_line(&rest, &line) && line.n > 8 && memcmp(line.p, "version ", 8) == 0) {
		f.version = arena_dup(a, line.p + 8, MIN(line.n - 8, VERSION_MAX));
		f.text = rest;
	}
	/* A person changes the text and not the number. */
	if (is_own) {
		hash_hex(f.text.p, f.text.n, hex);
		f.version = arena_printf(a, "%s-own-%.8s", f.version, hex);
	}
	if (!str_trim(f.text).n)
		return err_set(err, ERR_USAGE, "the prompt file '%s.txt' is empty", name);
	*ret = f;
	return 0;
}

/* ---- what the file leaves open ---- */

static void fill_words(const struct mode_word *words, size_t n, struct buf *out)
{
	for (size_t i = 0; i < n; i++)
		buf_printf(out, "%s  - %s%s%s", i ? "\n" : "", words[i].id,
			words[i].description ? ": " : "",
			words[i].description ? words[i].description : "");
}

static void fill_types(const struct mode *m, struct buf *out)
{
	fill_words(m->types, m->ntypes, out);
}

static void fill_concepts(const struct mode *m, struct buf *out)
{
	fill_words(m->concepts, m->nconcepts, out);
}

static void fill_categories(const struct mode *m, struct buf *out)
{
	for (size_t i = 0; i < ARRAY_LEN(categories); i++)
		buf_printf(out, "%s  - %s: %s", i ? "\n" : "",
			memory_type_names[categories[i].category], categories[i].meaning);
}

static void fill_guidance(const struct mode *m, struct buf *out)
{
	if (m->guidance)
		buf_printf(out, "%s\n", m->guidance);
}

static void fill_language(const struct mode *m, struct buf *out)
{
	if (m->language)
		buf_printf(out, "all texts in %s; names and code stay as they are", m->language);
	else
		buf_str(out, "in the language that the assistant wrote to the person");
}

static const struct {
	const char *name;
	void (*fill)(const struct mode *m, struct buf *out);
} places[] = {
	{ "{{types}}", fill_types },
	{ "{{concepts}}", fill_concepts },
	{ "{{categories}}", fill_categories },
	{ "{{guidance}}", fill_guidance },
	{ "{{language}}", fill_language },
};

static bool fill_place(struct str *rest, const struct mode *m, struct buf *out)
{
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		size_t n = strlen(places[i].name);

		if (rest->n < n || memcmp(rest->p, places[i].name, n) != 0)
			continue;
		places[i].fill(m, out);
		*rest = (struct str){ rest->p + n, rest->n - n };
		return true;
	}
	return false;
}

static char *fill(struct arena *a, struct str text, const struct mode *m)
{
	AUTO(buf_done) struct buf out = { 0 };

	while (text.n) {
		const char *open = str_find(text, STR("{{"));
		size_t n = open ? (size_t)(open - text.p) : text.n;

		buf_add(&out, text.p, n);
		text = (struct str){ text.p + n, text.n - n };
		if (text.n && !fill_place(&text, m, &out)) {
			buf_char(&out, *text.p);
			text.p++, text.n--;
		}
	}
	return arena_dup(a, buf_cstr(&out), out.len);
}

/* ---- the question ---- */

static void add_unit(struct arena *a, struct buf *out, const struct prompt_unit *u, size_t number)
{
	buf_printf(out, "=== unit %zu ===\n", number);
	buf_add(out, u->digest->text, u->digest->n);
	if (u->digest->n && u->digest->text[u->digest->n - 1] != '\n')
		buf_char(out, '\n');
	for (size_t i = 0; i < u->nsimilar && i < DIGEST_SIMILAR_MAX; i++)
		buf_printf(out, "%s\t%s\n", i ? "" : "Known already, not to be told again:\n",
			one_line(a, str_of(u->similar[i]), SIMILAR_TITLE_MAX));
	buf_char(out, '\n');
}

static int add_again(struct arena *a, const char *folder, struct buf *out, struct err *err)
{
	struct prompt_file again;

	if (file_load(a, folder, "again", &again, err))
		return -1;
	buf_char(out, '\n');
	buf_add(out, again.text.p, again.text.n);
	return 0;
}

static int finish(struct arena *a, const struct prompt_file *f, const struct mode *mode,
	const struct buf *user, struct prompt *ret)
{
	ret->system = fill(a, f->text, mode);
	ret->user = arena_dup(a, buf_cstr(user), user->len);
	ret->version = arena_printf(a, "%s/%s %s", f->name, f->version, mode->name);
	return 0;
}

int prompt_make(struct arena *a, const char *folder, const struct mode *mode,
	const struct prompt_unit *units, size_t n, bool is_stricter, struct prompt *ret,
	struct err *err)
{
	AUTO(buf_done) struct buf user = { 0 };
	struct prompt_file file;
	size_t longest = 0;

	if (n > PROMPT_UNITS_MAX)
		return err_set(err, ERR_TOO_LARGE, "%zu units are more than the %d of one question",
			n, PROMPT_UNITS_MAX);
	if (file_load(a, folder, "observe", &file, err))
		return -1;
	for (size_t i = 0; i < n; i++) {
		add_unit(a, &user, &units[i], i + 1);
		longest = MAX(longest, units[i].digest->n);
	}
	if (n > 1)
		buf_printf(&user, "=== end ===\nThe JSON object for units 1 to %zu:\n", n);
	else
		buf_str(&user, "=== end ===\nThe JSON object for unit 1:\n");
	if (is_stricter && add_again(a, folder, &user, err))
		return -1;
	ret->schema = schema_observe(a, mode, n, longest);
	return finish(a, &file, mode, &user, ret);
}

int prompt_session(struct arena *a, const char *folder, const struct mode *mode,
	const struct digest *session, bool is_stricter, struct prompt *ret, struct err *err)
{
	AUTO(buf_done) struct buf user = { 0 };
	struct prompt_file file;

	if (file_load(a, folder, "summary", &file, err))
		return -1;
	buf_add(&user, session->text, session->n);
	buf_str(&user, "=== end ===\nThe JSON object:\n");
	if (is_stricter && add_again(a, folder, &user, err))
		return -1;
	ret->schema = schema_session(a);
	return finish(a, &file, mode, &user, ret);
}
