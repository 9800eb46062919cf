/*
 * A value's text is checked once, when it is read; the typed accessors then only look. The file may
 * nest keys ({"context": {"full": 5}}) or write them with dots ({"context.full": 5}).
 */
#include "conf/settings.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

#define SETTINGS_FILE_MAX (1u << 20)
#define SETTINGS_FILE_MODE 0600
#define KEY_MAX 128
#define VARIABLE_PREFIX "REMANENCE_"
#define FNV_OFFSET 14695981039346656037ull
#define FNV_PRIME 1099511628211ull

extern char **environ;

enum origin { ORIGIN_DEFAULT, ORIGIN_OF_FILE, ORIGIN_ENVIRONMENT };
static const char *const origin_names[] = { "default", "file", "environment" };

struct value {
	enum origin origin;
	const char *text;
	double number;
	bool truth;
	const char **list; /* NULL-terminated */
};

struct settings {
	struct arena arena;
	struct value values[SETTING_COUNT];
};

/* Variables that may differ between a client and its daemon without a meaning. */
static const char *const private_variables[] = {
	"REMANENCE_HOME=", "REMANENCE_IGNORE=", "REMANENCE_OBSERVER=", "REMANENCE_HOOK_ASK_MS="
};

static bool is_private(const char *variable)
{
	for (size_t i = 0; i < ARRAY_LEN(private_variables); i++)
		if (str_starts(variable, private_variables[i]))
			return true;
	return false;
}

/* The sum of the variables' hashes (FNV-1a), so that their order does not matter. */
const char *settings_environment_hash(char out[SETTINGS_HASH_MAX])
{
	uint64_t sum = 0;

	for (char **e = environ; e && *e; e++) {
		uint64_t hash = FNV_OFFSET;
		if (!str_starts(*e, VARIABLE_PREFIX) || is_private(*e))
			continue;
		for (const char *p = *e; *p; p++)
			hash = (hash ^ (unsigned char)*p) * FNV_PRIME;
		sum += hash;
	}
	snprintf(out, SETTINGS_HASH_MAX, "%016llx", (unsigned long long)sum);
	return out;
}

int setting_find(const char *key)
{
	for (int i = 0; i < SETTING_COUNT; i++)
		if (strcmp(settings_table[i].key, key) == 0)
			return i;
	return -1;
}

const char *setting_nearest(const char *key)
{
	const char *best = NULL;
	unsigned best_distance = 2 + (unsigned)strlen(key) / 3;

	for (int i = 0; i < SETTING_COUNT; i++) {
		const char *dot = strchr(settings_table[i].key, '.');
		unsigned distance = str_distance(key, settings_table[i].key);
		if (dot && strcmp(dot + 1, key) == 0)
			distance = 0;
		if (distance < best_distance) {
			best_distance = distance;
			best = settings_table[i].key;
		}
	}
	return best;
}

static bool parse_bool(const char *text, bool *ret)
{
	static const char *const words[2][4] = { { "false", "no", "off", "0" },
		{ "true", "yes", "on", "1" } };

	for (int truth = 0; truth < 2; truth++)
		for (size_t i = 0; i < ARRAY_LEN(words[truth]); i++)
			if (str_ieq(text, words[truth][i])) {
				*ret = truth;
				return true;
			}
	return false;
}

/* Is `text` one of "a|b|c"? */
static bool is_choice(const char *choices, const char *text)
{
	struct str rest = str_of(choices), part;

	while (str_split(&rest, '|', &part))
		if (str_is(part, text))
			return true;
	return false;
}

static const char **list_of_json(struct arena *a, const json *array)
{
	size_t n = json_len(array), kept = 0;
	const char **list = ARENA_ARRAY(a, const char *, n + 1);

	for (size_t i = 0; i < n; i++) {
		const char *item = json_value_str(json_at(array, i));
		if (item && *item)
			list[kept++] = arena_str(a, item);
	}
	return list;
}

/* "a, b" or a JSON array of strings. */
static const char **list_of_text(struct arena *a, const char *text)
{
	struct str rest = str_of(text), part;
	size_t n = 0, cap = 0;
	const char **list = NULL;

	if (*text == '[') {
		AUTO(json_free_ptr) json *array = NULL;
		if (json_parse(text, strlen(text), &array, NULL) == 0 &&
			json_type(array) == JSON_ARRAY)
			return list_of_json(a, array);
	}
	while (str_split(&rest, ',', &part)) {
		part = str_trim(part);
		if (part.n)
			ARENA_PUSH(a, list, n, cap, (const char *)arena_dup(a, part.p, part.n));
	}
	ARENA_PUSH(a, list, n, cap, NULL);
	return list;
}

static int bad_value(const struct setting_info *info, const char *text, struct err *err)
{
	const char *shown = info->is_secret ? "the value given" : text;

	switch (info->type) {
	case SETTING_BOOL:
		return err_set(
			err, ERR_USAGE, "%s is '%s', but takes true or false", info->key, shown);
	case SETTING_CHOICE:
		return err_set(err, ERR_USAGE, "%s is '%s', but takes one of %s", info->key, shown,
			info->choices);
	case SETTING_INT:
	case SETTING_REAL:
		return err_set(err, ERR_USAGE, "%s is '%s', but takes a number from %.15g to %.15g",
			info->key, shown, info->min, info->max);
	default:
		if (info->type == SETTING_TEXT && (double)strlen(text) <= info->max)
			return err_set(err, ERR_USAGE, "%s holds a control character", info->key);
		return err_set(
			err, ERR_USAGE, "%s is longer than %.0f bytes", info->key, info->max);
	}
}

/* Checks a value's text and fills *ret (except its origin), with pointers into the arena. */
static int value_parse(const struct setting_info *info, const char *text, struct arena *a,
	struct value *ret, struct err *err)
{
	struct value v = { .text = arena_str(a, text) };
	int64_t whole = 0;

	switch (info->type) {
	case SETTING_BOOL:
		if (!parse_bool(text, &v.truth))
			return bad_value(info, text, err);
		break;
	case SETTING_INT:
		if (!str_to_i64(text, &whole) || (double)whole < info->min ||
			(double)whole > info->max)
			return bad_value(info, text, err);
		v.number = (double)whole;
		break;
	case SETTING_REAL:
		if (!str_to_double(text, &v.number) ||
			!(v.number >= info->min && v.number <= info->max))
			return bad_value(info, text, err);
		break;
	case SETTING_CHOICE:
		if (!is_choice(info->choices, text))
			return bad_value(info, text, err);
		break;
	case SETTING_TEXT:
		/* White space around it came by copying. */
		v.text = arena_dup(a, str_trim(str_of(text)).p, str_trim(str_of(text)).n);
		if ((double)strlen(v.text) > info->max || str_has_control(str_of(v.text)))
			return bad_value(info, v.text, err);
		break;
	case SETTING_LIST:
		if ((double)strlen(text) > info->max)
			return bad_value(info, text, err);
		v.list = list_of_text(a, text);
	}
	*ret = v;
	return 0;
}

static void warn(struct buf *warnings, const char *where, const char *text)
{
	if (warnings)
		buf_printf(warnings, "%s: %s\n", where, text);
}

static void settings_put(struct settings *s, int id, const char *text, enum origin origin,
	const char *where, struct buf *warnings)
{
	struct err err = { 0 };
	struct value v;

	if (value_parse(&settings_table[id], text, &s->arena, &v, &err) < 0) {
		if (warnings)
			buf_printf(warnings, "%s: %s; %s holds\n", where, err.text,
				*s->values[id].text && !settings_table[id].is_secret ?
					s->values[id].text :
					"the default");
		return;
	}
	v.origin = origin;
	s->values[id] = v;
}

/* A JSON value as the text that a person would have typed. */
static void value_text(const json *value, struct buf *out)
{
	if (json_value_str(value))
		buf_str(out, json_value_str(value));
	else
		json_print(value, out);
}

/* Takes the members of an object; `prefix` is "" or "context.". */
static void take_members(struct settings *s, const json *object, const char *prefix,
	const char *path, struct buf *warnings)
{
	for (struct json_iter it = json_iter(object); json_next(&it);) {
		AUTO(buf_done) struct buf key = { .max = KEY_MAX }, text = { 0 };
		buf_printf(&key, "%s%s", prefix, it.key);
		int id = setting_find(buf_cstr(&key));
		if (id >= 0) {
			value_text(it.value, &text);
			settings_put(s, id, buf_cstr(&text), ORIGIN_OF_FILE, path, warnings);
		} else if (json_type(it.value) == JSON_OBJECT && !*prefix) {
			buf_char(&key, '.');
			take_members(s, it.value, buf_cstr(&key), path, warnings);
		} else {
			const char *near = setting_nearest(buf_cstr(&key));
			buf_printf(&text, "there is no setting '%s'%s%s%s", buf_cstr(&key),
				near ? "; is '" : "", near ? near : "", near ? "' meant?" : "");
			warn(warnings, path, buf_cstr(&text));
		}
	}
}

/* A key belongs to one person; a file that others can read is said, and used all the same. */
static void warn_of_secrets(const struct settings *s, const char *path, struct buf *warnings)
{
	struct stat st;

	if (!path || stat(path, &st) < 0 || !(st.st_mode & (S_IRWXG | S_IRWXO)))
		return;
	for (int id = 0; id < SETTING_COUNT; id++) {
		AUTO(buf_done) struct buf text = { 0 };
		const struct value *v = &s->values[id];
		if (!settings_table[id].is_secret || v->origin != ORIGIN_OF_FILE || !*v->text)
			continue;
		buf_printf(&text, "others can read this file, and %s in it is a secret: chmod 600 '%s'",
			settings_table[id].key, path);
		warn(warnings, path, buf_cstr(&text));
	}
}

/* "context.max_chars" becomes "REMANENCE_CONTEXT_MAX_CHARS". */
static const char *variable_name(const char *key, char out[KEY_MAX])
{
	size_t n = sizeof VARIABLE_PREFIX - 1;

	memcpy(out, VARIABLE_PREFIX, n);
	for (; *key && n + 1 < KEY_MAX; key++)
		out[n++] = (char)(*key == '.' ? '_' : toupper((unsigned char)*key));
	out[n] = '\0';
	return out;
}

/* Names that a hand-made service used; our own come first. */
static const struct {
	const char *name;
	enum setting_id id;
} other_names[] = {
	{ "CHUNK_SIZE", SET_CHUNK_CHARS },
};

static void take_environment(struct settings *s, struct buf *warnings)
{
	char name[KEY_MAX];

	for (size_t i = 0; i < ARRAY_LEN(other_names); i++) {
		const char *text = getenv(other_names[i].name);
		if (text && *text)
			settings_put(s, other_names[i].id, text, ORIGIN_ENVIRONMENT, other_names[i].name, warnings);
	}

	for (int id = 0; id < SETTING_COUNT; id++) {
		const char *text = getenv(variable_name(settings_table[id].key, name));
		if (text)
			settings_put(s, id, text, ORIGIN_ENVIRONMENT, name, warnings);
	}
}

int setting_value_json(int id, const char *text, struct buf *out, struct err *err)
{
	const struct setting_info *info = &settings_table[id];
	AUTO(arena_done) struct arena a = { 0 };
	struct jw w = { .out = out };
	struct value v;

	if (value_parse(info, text, &a, &v, err) < 0)
		return -1;
	if (info->type == SETTING_INT || info->type == SETTING_REAL) {
		buf_printf(out, "%.15g", v.number);
	} else if (info->type == SETTING_BOOL) {
		jw_bool(&w, NULL, v.truth);
	} else if (info->type == SETTING_LIST) {
		jw_array(&w, NULL);
		for (const char **item = v.list; *item; item++)
			jw_str(&w, NULL, *item);
		jw_end(&w, ']');
	} else {
		jw_str(&w, NULL, v.text);
	}
	return 0;
}

int settings_file_read(const char *path, json **ret, struct err *err)
{
	AUTO(buf_done) struct buf text = { 0 };

	*ret = NULL;
	if (!path || !file_exists(path))
		return 0;
	if (file_read(path, SETTINGS_FILE_MAX, &text, err) < 0)
		return -1;
	if (!str_trim((struct str){ buf_cstr(&text), text.len }).n)
		return 0;
	if (json_parse(text.data, text.len, ret, err) < 0) {
		err_prefix(err, "cannot read the settings in '%s'", path);
		return err_hint(
			err, "correct the file, or move it away to go back to the defaults");
	}
	if (json_type(*ret) != JSON_OBJECT) {
		json_free(*ret);
		*ret = NULL;
		return err_set(err, ERR_USAGE,
			"cannot read the settings in '%s': not a JSON object", path);
	}
	return 0;
}

int settings_load(const char *path, struct settings **ret, struct buf *warnings, struct err *err)
{
	AUTO(json_free_ptr) json *file = NULL;

	if (settings_file_read(path, &file, err) < 0)
		return -1;
	struct settings *s = mem_alloc(sizeof *s);
	for (int id = 0; id < SETTING_COUNT; id++)
		if (value_parse(&settings_table[id], settings_table[id].standard, &s->arena,
			    &s->values[id], NULL) < 0)
			die("the default of the setting %s is not valid", settings_table[id].key);
	take_members(s, file, "", path, warnings);
	warn_of_secrets(s, path, warnings);
	take_environment(s, warnings);
	*ret = s;
	return 0;
}

void settings_free(struct settings *s)
{
	if (!s)
		return;
	arena_done(&s->arena);
	free(s);
}

int64_t settings_int(const struct settings *s, enum setting_id id)
{
	return (int64_t)s->values[id].number;
}

double settings_real(const struct settings *s, enum setting_id id)
{
	return s->values[id].number;
}

bool settings_bool(const struct settings *s, enum setting_id id)
{
	return s->values[id].truth;
}

const char *settings_text(const struct settings *s, enum setting_id id)
{
	return s->values[id].text;
}

const char *const *settings_list(const struct settings *s, enum setting_id id)
{
	return s->values[id].list;
}

const char *settings_origin(const struct settings *s, enum setting_id id)
{
	return origin_names[s->values[id].origin];
}
