/*
 * Reading JSON over json-c. Its tokener refuses invalid UTF-8 and stops at NUL, and its C strings end
 * at an escaped NUL; the text is repaired before, since an event must not be lost over a byte.
 */
/* json-c has types of two names that the contract of this room uses. */
#define json_type json_c_type
#define json_bool json_c_bool
#include <json-c/json.h>
#undef json_type
#undef json_bool

#include "base/json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"

#define ESCAPED_NUL "\\u0000"
#define ESCAPED_NUL_LEN 6

static void tokener_done(json_tokener **t)
{
	if (*t)
		json_tokener_free(*t);
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Whether the backslash at text[at] begins an escape: an even number of backslashes stands before it. */
static bool begins_escape(const char *text, size_t at)
{
	size_t run = 0;

	while (run < at && text[at - run - 1] == '\\')
		run++;
	return run % 2 == 0;
}

/* Turns each \u0000 into \ufffd; gives the input back when there is none. */
static struct str repair_nul(struct arena *a, struct str text)
{
	struct str rest = text;
	const char *at;
	char *copy = NULL;

	while ((at = str_find(rest, STR(ESCAPED_NUL)))) {
		size_t offset = (size_t)(at - text.p);

		if (begins_escape(text.p, offset)) {
			if (!copy)
				copy = arena_dup(a, text.p, text.n);
			memcpy(copy + offset, "\\ufffd", ESCAPED_NUL_LEN);
		}
		at += ESCAPED_NUL_LEN;
		rest = (struct str){ at, (size_t)(text.p + text.n - at) };
	}
	return copy ? (struct str){ copy, text.n } : text;
}

static int parse_error(struct err *err, enum json_tokener_error why, size_t at)
{
	if (why == json_tokener_continue)
		return err_set(err, ERR_USAGE, "JSON ends too early, at byte %zu", at);
	if (why == json_tokener_error_depth)
		return err_set(err, ERR_USAGE, "JSON is nested deeper than %d, at byte %zu",
			JSON_DEPTH_MAX, at);
	return err_set(
		err, ERR_USAGE, "not JSON at byte %zu: %s", at, json_tokener_error_desc(why));
}

int json_parse(const char *text, size_t len, json **ret, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	AUTO(tokener_done) json_tokener *t = NULL;
	struct str s = { text, len };
	enum json_tokener_error why;
	size_t at;
	json *j;

	if (len > JSON_PARSE_MAX)
		return err_set(err, ERR_TOO_LARGE, "JSON of %zu bytes is larger than %u", len,
			JSON_PARSE_MAX);
	while (s.n && is_space(s.p[s.n - 1]))
		s.n--;
	if (s.n == 0)
		return err_set(err, ERR_USAGE, "JSON ends too early, at byte 0");
	s = repair_nul(&a, utf8_repair(&a, s));
	t = json_tokener_new_ex(JSON_DEPTH_MAX);
	if (!t)
		die("out of memory");
	json_tokener_set_flags(t, JSON_TOKENER_STRICT); /* its UTF-8 is valid by now */
	j = json_tokener_parse_ex(t, s.p, (int)s.n);
	why = json_tokener_get_error(t);
	at = json_tokener_get_parse_end(t);
	if (why == json_tokener_continue) {
		/* A number or word at the top ends only with the text, which a NUL stands for. */
		j = json_tokener_parse_ex(t, "", 1);
		if (json_tokener_get_error(t) != json_tokener_continue)
			why = json_tokener_get_error(t);
	}
	if (why == json_tokener_success && at < s.n) {
		json_object_put(j);
		return err_set(err, ERR_USAGE, "more than one JSON value, at byte %zu", at);
	}
	if (why != json_tokener_success)
		return parse_error(err, why, MIN(at, s.n));
	*ret = j;
	return 0;
}

void json_free(json *j)
{
	json_object_put(j);
}

void json_free_ptr(json **j)
{
	json_object_put(*j);
}

enum json_type json_type(const json *j)
{
	switch (json_object_get_type(j)) {
	case json_type_boolean:
		return JSON_BOOL;
	case json_type_double:
		return JSON_REAL;
	case json_type_int:
		return JSON_INT;
	case json_type_object:
		return JSON_OBJECT;
	case json_type_array:
		return JSON_ARRAY;
	case json_type_string:
		return JSON_STRING;
	case json_type_null:
		break;
	}
	return JSON_NULL;
}

json *json_get(const json *object, const char *key)
{
	json *value = NULL;

	if (!json_object_is_type(object, json_type_object))
		return NULL;
	return json_object_object_get_ex(object, key, &value) ? value : NULL;
}

json *json_path(const json *object, const char *dotted)
{
	char key[256];
	const json *at = object;

	for (;;) {
		size_t n = strcspn(dotted, ".");

		if (n >= sizeof(key))
			return NULL;
		memcpy(key, dotted, n);
		key[n] = '\0';
		at = json_get(at, key);
		if (!dotted[n] || !at)
			return (json *)(uintptr_t)at;
		dotted += n + 1;
	}
}

struct str json_slice(const json *string)
{
	/* json-c's readers of strings lack a const that they keep. */
	json *j = (json *)(uintptr_t)string;

	if (!json_object_is_type(j, json_type_string))
		return (struct str){ "", 0 };
	return (struct str){ json_object_get_string(j), (size_t)json_object_get_string_len(j) };
}

const char *json_value_str(const json *string)
{
	return json_object_is_type(string, json_type_string) ? json_slice(string).p : NULL;
}

const char *json_str(const json *object, const char *key)
{
	return json_value_str(json_get(object, key));
}

int64_t json_value_int(const json *j, int64_t otherwise)
{
	double real;

	if (json_object_is_type(j, json_type_int))
		return json_object_get_int64(j);
	if (!json_object_is_type(j, json_type_double))
		return otherwise;
	/* 3.0 and 1e3 are whole numbers to their writers; below 2^63 the cast is defined. */
	real = json_object_get_double(j);
	return real == trunc(real) && fabs(real) < 9.2e18 ? (int64_t)real : otherwise;
}

int64_t json_int(const json *object, const char *key, int64_t otherwise)
{
	return json_value_int(json_get(object, key), otherwise);
}

double json_value_real(const json *j, double otherwise)
{
	if (json_object_is_type(j, json_type_int) || json_object_is_type(j, json_type_double))
		return json_object_get_double(j);
	return otherwise;
}

double json_real(const json *object, const char *key, double otherwise)
{
	return json_value_real(json_get(object, key), otherwise);
}

bool json_value_bool(const json *j, bool otherwise)
{
	return json_object_is_type(j, json_type_boolean) ? json_object_get_boolean(j) : otherwise;
}

bool json_bool(const json *object, const char *key, bool otherwise)
{
	return json_value_bool(json_get(object, key), otherwise);
}

size_t json_len(const json *array)
{
	return json_object_is_type(array, json_type_array) ? json_object_array_length(array) : 0;
}

json *json_at(const json *array, size_t i)
{
	return i < json_len(array) ? json_object_array_get_idx(array, i) : NULL;
}

struct json_iter json_iter(const json *object)
{
	struct json_iter it = { 0 };

	if (json_object_is_type(object, json_type_object))
		it.entry = lh_table_head(json_object_get_object(object));
	return it;
}

bool json_next(struct json_iter *it)
{
	struct lh_entry *e = it->entry;

	if (!e)
		return false;
	it->key = lh_entry_k(e);
	it->value = (json *)lh_entry_v(e);
	it->entry = lh_entry_next(e);
	return true;
}

/* Numbers keep the digits they came with, except those that JSON has no form for. */
static void write_number(struct jw *w, const char *key, const json *j)
{
	json *number = (json *)(uintptr_t)j;

	if (json_object_is_type(j, json_type_double) && !isfinite(json_object_get_double(j)))
		jw_null(w, key);
	else
		jw_raw(w, key,
			str_of(json_object_to_json_string_ext(number, JSON_C_TO_STRING_PLAIN)));
}

void jw_json(struct jw *w, const char *key, const json *value)
{
	switch (json_type(value)) {
	case JSON_NULL:
		jw_null(w, key);
		return;
	case JSON_BOOL:
		jw_bool(w, key, json_value_bool(value, false));
		return;
	case JSON_INT:
	case JSON_REAL:
		write_number(w, key, value);
		return;
	case JSON_STRING:
		jw_slice(w, key, json_slice(value));
		return;
	case JSON_ARRAY:
		jw_array(w, key);
		for (size_t i = 0; i < json_len(value); i++)
			jw_json(w, NULL, json_at(value, i));
		jw_end(w, ']');
		return;
	case JSON_OBJECT:
		jw_object(w, key);
		for (struct json_iter it = json_iter(value); json_next(&it);)
			jw_json(w, it.key, it.value);
		jw_end(w, '}');
		return;
	}
}

void json_print(const json *j, struct buf *out)
{
	struct jw w = { .out = out };

	jw_json(&w, NULL, j);
}
