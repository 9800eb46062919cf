#include "observe/mode.h"

#include <ctype.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "observe/builtin.h"

#define CHAIN_MAX 4                       /* "a--b--c--d" */
#define OBSERVATION_TYPES FACT_PREFERENCE /* types of observations lie below */

/* ---- words ---- */

/* "Bug-Fix" and "bug_fix" are one word. */
static bool is_same_word(const char *x, const char *y)
{
	for (;; x++, y++) {
		while (*x == '-' || *x == '_' || *x == ' ')
			x++;
		while (*y == '-' || *y == '_' || *y == ' ')
			y++;
		if (tolower((unsigned char)*x) != tolower((unsigned char)*y))
			return false;
		if (!*x)
			return true;
	}
}

/* What models say for what the list offers. */
static const struct {
	const char *said;
	enum memory_type type;
} meanings[] = {
	{ "bug", TYPE_BUGFIX },
	{ "fix", TYPE_BUGFIX },
	{ "bug fix", TYPE_BUGFIX },
	{ "hotfix", TYPE_BUGFIX },
	{ "repair", TYPE_BUGFIX },
	{ "error fix", TYPE_BUGFIX },
	{ "debugging", TYPE_BUGFIX },
	{ "feat", TYPE_FEATURE },
	{ "new feature", TYPE_FEATURE },
	{ "enhancement", TYPE_FEATURE },
	{ "improvement", TYPE_FEATURE },
	{ "implementation", TYPE_FEATURE },
	{ "addition", TYPE_FEATURE },
	{ "refactoring", TYPE_REFACTOR },
	{ "cleanup", TYPE_REFACTOR },
	{ "clean up", TYPE_REFACTOR },
	{ "rename", TYPE_REFACTOR },
	{ "restructure", TYPE_REFACTOR },
	{ "changes", TYPE_CHANGE },
	{ "update", TYPE_CHANGE },
	{ "modification", TYPE_CHANGE },
	{ "config", TYPE_CHANGE },
	{ "configuration", TYPE_CHANGE },
	{ "docs", TYPE_CHANGE },
	{ "documentation", TYPE_CHANGE },
	{ "chore", TYPE_CHANGE },
	{ "test", TYPE_CHANGE },
	{ "tests", TYPE_CHANGE },
	{ "testing", TYPE_CHANGE },
	{ "build", TYPE_CHANGE },
	{ "deployment", TYPE_CHANGE },
	{ "release", TYPE_CHANGE },
	{ "performance", TYPE_CHANGE },
	{ "optimization", TYPE_CHANGE },
	{ "migration", TYPE_CHANGE },
	{ "finding", TYPE_DISCOVERY },
	{ "findings", TYPE_DISCOVERY },
	{ "investigation", TYPE_DISCOVERY },
	{ "analysis", TYPE_DISCOVERY },
	{ "research", TYPE_DISCOVERY },
	{ "learning", TYPE_DISCOVERY },
	{ "insight", TYPE_DISCOVERY },
	{ "observation", TYPE_DISCOVERY },
	{ "review", TYPE_DISCOVERY },
	{ "code review", TYPE_DISCOVERY },
	{ "how it works", TYPE_DISCOVERY },
	{ "problem solution", TYPE_BUGFIX },
	{ "what changed", TYPE_CHANGE },
	{ "gotcha", TYPE_DISCOVERY },
	{ "trade off", TYPE_DECISION },
	{ "architecture", TYPE_DECISION },
	{ "design", TYPE_DECISION },
	{ "choice", TYPE_DECISION },
	{ "plan", TYPE_DECISION },
	{ "security", TYPE_SECURITY_NOTE },
	{ "vulnerability", TYPE_SECURITY_ALERT },
};

static enum memory_type type_of_ours(const char *said)
{
	for (int i = TYPE_NONE + 1; i < OBSERVATION_TYPES; i++)
		if (is_same_word(memory_type_names[i], said))
			return (enum memory_type)i;
	return TYPE_NONE;
}

static enum memory_type type_meant(const char *said)
{
	enum memory_type ours = type_of_ours(said);

	for (size_t i = 0; i < ARRAY_LEN(meanings) && ours == TYPE_NONE; i++)
		if (is_same_word(meanings[i].said, said))
			ours = meanings[i].type;
	return ours;
}

enum memory_type mode_type_of(const struct mode *mode, const char *said, bool *ret_is_listed)
{
	*ret_is_listed = false;
	if (!said || !*said)
		return TYPE_NONE;
	for (size_t i = 0; mode && i < mode->ntypes; i++)
		if (is_same_word(mode->types[i].id, said)) {
			*ret_is_listed = true;
			return mode->types[i].as;
		}
	*ret_is_listed = !mode && type_of_ours(said) != TYPE_NONE;
	return type_meant(said);
}

const char *mode_concept_of(const struct mode *mode, const char *said)
{
	if (!mode || !said)
		return said;
	for (size_t i = 0; i < mode->nconcepts; i++)
		if (is_same_word(mode->concepts[i].id, said))
			return mode->concepts[i].id;
	return NULL;
}

/* ---- reading a file ---- */

static size_t read_words(struct arena *a, const json *list, struct mode_word *words, size_t max)
{
	size_t n = 0;

	for (size_t i = 0; i < json_len(list) && n < max; i++) {
		const json *item = json_at(list, i);
		const char *id = json_str(item, "id"), *as = json_str(item, "as");

		id = id ? id : json_value_str(item);
		if (!id || !*id || strlen(id) > MODE_NAME_MAX)
			continue;
		words[n].id = arena_str(a, id);
		words[n].description = arena_str(a, json_str(item, "description"));
		words[n].as = type_meant(as ? as : id);
		if (words[n].as == TYPE_NONE)
			words[n].as = TYPE_DISCOVERY;
		n++;
	}
	return n;
}

/* "LANGUAGE REQUIREMENTS: Please write the observation data in français": how others say it. */
static const char *language_in(struct arena *a, const char *text)
{
	const char *at = text ? strstr(text, "LANGUAGE REQUIREMENTS") : NULL, *in = NULL;
	struct str line;

	if (!at)
		return NULL;
	line = (struct str){ at, strcspn(at, "\n") };
	for (const char *p = at; (p = strstr(p, " in ")) && p < line.p + line.n; p++)
		in = p + 4;
	if (!in)
		return NULL;
	line = str_trim((struct str){ in, (size_t)(line.p + line.n - in) });
	while (line.n && strchr(".!)", line.p[line.n - 1]))
		line.n--;
	return line.n && line.n < MODE_NAME_MAX ? arena_dup(a, line.p, line.n) : NULL;
}

static const char *find_language(struct arena *a, const json *j)
{
	const char *said = json_str(j, "language"), *found = NULL;
	const json *prompts = json_get(j, "prompts");

	if (said)
		return *said && strlen(said) < MODE_NAME_MAX ? arena_str(a, said) : NULL;
	if (!prompts)
		return NULL;
	for (struct json_iter it = json_iter(prompts); !found && json_next(&it);)
		found = language_in(a, json_value_str(it.value));
	return found;
}

/* Guidance of other tools' modes for code says what ours says. */
static const char *find_guidance(struct arena *a, const json *j, bool is_code)
{
	static const char *const members[] = { "recording_focus", "skip_guidance" };
	const char *own = json_str(j, "guidance");
	const json *prompts = json_get(j, "prompts");
	AUTO(buf_done) struct buf out = { 0 };

	if (own)
		buf_str(&out, own);
	for (size_t i = 0; i < ARRAY_LEN(members) && !own && !is_code; i++) {
		const char *text = json_str(prompts, members[i]);

		if (text)
			buf_printf(&out, "%s%s", out.len ? "\n" : "", text);
	}
	if (!out.len)
		return NULL;
	return arena_dup(a, out.data, utf8_cut(out.data, out.len, MODE_GUIDANCE_MAX));
}

static int apply(
	struct arena *a, const char *name, struct str text, struct mode *m, struct err *err)
{
	AUTO(json_free_ptr) json *j = NULL;
	struct mode_word words[MAX(MODE_TYPES_MAX, MODE_CONCEPTS_MAX)];
	const char *said;
	size_t n;

	if (json_parse(text.p, text.n, &j, err)) {
		err_prefix(err, "mode '%s'", name);
		return -1;
	}
	if (json_type(j) != JSON_OBJECT)
		return err_set(err, ERR_USAGE, "mode '%s' is not a JSON object", name);
	if ((n = read_words(a, json_get(j, "observation_types"), words, MODE_TYPES_MAX))) {
		memcpy(m->types, words, n * sizeof(*words));
		m->ntypes = n;
	}
	if ((n = read_words(a, json_get(j, "observation_concepts"), words, MODE_CONCEPTS_MAX))) {
		memcpy(m->concepts, words, n * sizeof(*words));
		m->nconcepts = n;
	}
	said = find_language(a, j);
	m->language = said ? said : m->language;
	said = find_guidance(a, j, str_starts(name, MODE_DEFAULT));
	m->guidance = said ? said : m->guidance;
	return 0;
}

static bool is_name(const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("-_", name[i]))
			return false;
	return n > 0 && n < MODE_NAME_MAX;
}

static int not_found(const char *name, const char *folder, struct err *err)
{
	AUTO(buf_done) struct buf names = { 0 };

	for (const struct builtin_text *t = builtin_texts; t->name; t++)
		if (str_starts(t->name, "modes/"))
			buf_printf(&names, "%s%.*s", names.len ? ", " : "",
				(int)(strlen(t->name) - strlen("modes/.json")),
				t->name + strlen("modes/"));
	err_set(err, ERR_NOT_FOUND, "there is no mode '%s'%s%s", name,
		folder ? " built in or in " : "", folder ? folder : "");
	return err_hint(err, "built in are: %s", buf_cstr(&names));
}

int mode_load(
	struct arena *a, const char *folder, const char *name, struct mode *ret, struct err *err)
{
	struct mode m = { .name = arena_str(a, name) };
	const char *border = name;

	if (!is_name(name))
		return err_set(err, ERR_USAGE,
			"'%s' is no name of a mode: letters, digits, '-' and '_' only", name);
	for (unsigned i = 0; i < CHAIN_MAX && border; i++) {
		struct str text;
		bool is_own;
		const char *part;

		border = strstr(i ? border + 2 : border, "--");
		part = border ? arena_dup(a, name, (size_t)(border - name)) : name;
		if (text_load(
			    a, folder, arena_printf(a, "modes/%s.json", part), &text, &is_own, err))
			return err && err->code == ERR_NOT_FOUND ? not_found(part, folder, err)
								 : -1;
		if (apply(a, part, text, &m, err))
			return -1;
	}
	if (!m.ntypes)
		return err_set(err, ERR_USAGE, "mode '%s' has no observation_types", name);
	*ret = m;
	return 0;
}
