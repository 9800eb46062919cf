/*
 * Checking of parameters: what a door was given becomes the normal form that operations read.
 * Values are taken in any reasonable shape; what cannot be meant is refused with the right form.
 */
#include "spec/spec.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/mem.h"

#define TEXT_LONGEST (64u << 10)
#define VALUES_MAX 10000
#define CHOICES_SHOWN 200

struct check {
	const struct op_spec *op;
	const struct param *param;
	struct jw *out;
	const char *key; /* NULL inside an array */
	struct arena arena;
	struct err *err;
};

/* The parameter as a person knows it. */
static const char *shown_name(struct check *c)
{
	return c->param->name;
}

static int refuse(struct check *c, const char *value, const char *wanted)
{
	return err_set(
		c->err, ERR_USAGE, "%s is '%.80s', but takes %s", shown_name(c), value, wanted);
}

/* A scalar as text; NULL for arrays and objects. */
static const char *scalar_text(struct check *c, const json *value)
{
	AUTO(buf_done) struct buf b = { 0 };

	if (json_type(value) == JSON_STRING)
		return json_value_str(value);
	if (json_type(value) == JSON_ARRAY || json_type(value) == JSON_OBJECT)
		return NULL;
	json_print(value, &b);
	return arena_str(&c->arena, buf_cstr(&b));
}

static int take_text(struct check *c, const char *text)
{
	size_t longest = c->param->max > 0 ? (size_t)c->param->max : TEXT_LONGEST;

	if (strlen(text) > longest)
		return err_set(c->err, ERR_TOO_LARGE, "%s is longer than %zu bytes", shown_name(c),
			longest);
	jw_str(c->out, c->key, text);
	return 0;
}

static int take_number(struct check *c, const char *text)
{
	const struct param *p = c->param;
	bool is_whole = p->type == PARAM_INT;
	char wanted[120];
	double value;

	snprintf(wanted, sizeof wanted, "%s from %.15g to %.15g",
		is_whole ? "a whole number" : "a number", p->min, p->max);
	if (!str_to_double(text, &value) || !isfinite(value) || (is_whole && value != floor(value)))
		return refuse(c, text, wanted);
	if (value < p->min || value > p->max)
		return refuse(c, text, wanted);
	if (is_whole)
		jw_int(c->out, c->key, (int64_t)value);
	else
		jw_real(c->out, c->key, value, 6);
	return 0;
}

static int take_bool(struct check *c, const char *text)
{
	static const char *const words[2][4] = { { "false", "no", "off", "0" },
		{ "true", "yes", "on", "1" } };

	for (int truth = 0; truth < 2; truth++)
		for (size_t i = 0; i < ARRAY_LEN(words[truth]); i++)
			if (str_ieq(text, words[truth][i])) {
				jw_bool(c->out, c->key, truth);
				return 0;
			}
	return refuse(c, text, "true or false");
}

/* "12", "#12", "e345", "s7". */
static int take_ref(struct check *c, const char *text)
{
	const char *p = text + (*text == '#');
	const char *digits = p + (*p == 'e' || *p == 's' || *p == 'E' || *p == 'S');
	int64_t id;

	if (!str_to_i64(digits, &id) || id <= 0 || *digits == '+')
		return refuse(c, text, "a memory (12), an event (e345) or a session (s7)");
	if (digits == p)
		jw_str(c->out, c->key, arena_printf(&c->arena, "%lld", (long long)id));
	else
		jw_str(c->out, c->key, arena_printf(&c->arena, "%c%lld", *p | 0x20, (long long)id));
	return 0;
}

static bool is_time(const char *text)
{
	int64_t at;

	return clock_parse_iso(text) || clock_parse_human(text, clock_now(), false, &at) ||
	       str_to_i64(text, &at);
}

static int take_time(struct check *c, const char *text)
{
	const char *dots = c->param->type == PARAM_RANGE ? strstr(text, "..") : NULL;
	bool is_good;

	if (dots) {
		const char *from = arena_dup(&c->arena, text, (size_t)(dots - text));
		const char *to = dots + 2;
		is_good = (!*from || is_time(from)) && (!*to || is_time(to)) && (*from || *to);
	} else {
		is_good = is_time(text);
	}
	if (!is_good)
		return refuse(c, text, "a time such as 2026-11-29, yesterday, 7d or 2h");
	jw_str(c->out, c->key, text);
	return 0;
}

static int take_choice(struct check *c, const char *text)
{
	struct str word;

	if (!op_choice_find(c->param->choices, text, &word))
		return refuse(c, text,
			arena_printf(&c->arena, "one of %.*s", CHOICES_SHOWN, c->param->choices));
	jw_slice(c->out, c->key, word);
	return 0;
}

static int (*const takers[])(struct check *c, const char *text) = {
	[PARAM_TEXT] = take_text,
	[PARAM_INT] = take_number,
	[PARAM_REAL] = take_number,
	[PARAM_BOOL] = take_bool,
	[PARAM_REF] = take_ref,
	[PARAM_TIME] = take_time,
	[PARAM_RANGE] = take_time,
	[PARAM_CHOICE] = take_choice,
	[PARAM_PATH] = take_text,
};

static int take_scalar(struct check *c, const json *value)
{
	const char *text = scalar_text(c, value);

	if (!text)
		return err_set(c->err, ERR_USAGE, "%s takes a single value", shown_name(c));
	return takers[c->param->type](c, text);
}

/* One text that may hold several references: "12, e345 s7". */
static int take_refs_of_text(struct check *c, const char *text)
{
	struct str rest = str_of(text), part;

	while (str_split(&rest, ',', &part)) {
		struct str word;
		while (str_split(&part, ' ', &word))
			if (word.n && take_ref(c, arena_dup(&c->arena, word.p, word.n)) < 0)
				return -1;
	}
	return 0;
}

static int take_item(struct check *c, const json *value)
{
	if (c->param->type == PARAM_REF && json_value_str(value))
		return take_refs_of_text(c, json_value_str(value));
	return take_scalar(c, value);
}

static int take_list(struct check *c, const json *value)
{
	size_t n = json_type(value) == JSON_ARRAY ? json_len(value) : 1;

	if (n > VALUES_MAX)
		return err_set(c->err, ERR_TOO_LARGE, "%s has more than %d values", shown_name(c),
			VALUES_MAX);
	jw_array(c->out, c->key);
	c->key = NULL;
	for (size_t i = 0; i < n; i++)
		if (take_item(c, json_type(value) == JSON_ARRAY ? json_at(value, i) : value) < 0)
			return -1;
	jw_end(c->out, ']');
	return 0;
}

/* Words given one by one become one text. */
static int take_joined(struct check *c, const json *value)
{
	AUTO(buf_done) struct buf text = { 0 };

	for (size_t i = 0; i < json_len(value); i++) {
		const char *word = scalar_text(c, json_at(value, i));
		if (!word)
			return err_set(c->err, ERR_USAGE, "%s takes words", shown_name(c));
		buf_printf(&text, "%s%s", i ? " " : "", word);
	}
	return take_text(c, buf_cstr(&text));
}

static int take_value(struct check *c, const json *value)
{
	c->key = c->param->name;
	if (c->param->flags & PARAM_MANY)
		return take_list(c, value);
	if (json_type(value) == JSON_ARRAY && (c->param->flags & PARAM_JOINED))
		return take_joined(c, value);
	if (json_type(value) == JSON_ARRAY && json_len(value) == 1)
		return take_scalar(c, json_at(value, 0));
	return take_scalar(c, value);
}

static int refuse_unknown(const struct op_spec *op, const char *name, struct err *err)
{
	AUTO(buf_done) struct buf all = { .max = ERR_HINT_MAX / 2 };
	const char *near = op_param_nearest(op, name);

	err_set(err, ERR_USAGE, "%s has no parameter '%.60s'", op->name, name);
	if (near)
		return err_hint(err, "is '%s' meant?", near);
	for (const struct param *p = op->params; p->name; p++)
		buf_printf(&all, "%s%s", all.len ? ", " : "", p->name);
	return all.len ? err_hint(err, "it takes %s", buf_cstr(&all))
		       : err_hint(err, "it takes none");
}

/*
 * The given value of a parameter; an exact name comes before a forgiven one. NULL when it is absent
 * or null.
 */
static const json *given(const struct op_spec *op, const struct param *p, const json *params)
{
	const json *exact = json_get(params, p->name);

	if (json_type(exact) != JSON_NULL)
		return exact;
	for (struct json_iter it = json_iter(params); json_next(&it);)
		if (json_type(it.value) != JSON_NULL && op_param_find(op, it.key) == p)
			return it.value;
	return NULL;
}

static bool is_empty(const json *value)
{
	const char *text = json_value_str(value);

	return json_type(value) == JSON_NULL || (text && !*text) ||
	       (json_type(value) == JSON_ARRAY && !json_len(value));
}

static int check_param(struct check *c, const json *params)
{
	const json *value = given(c->op, c->param, params);

	/* Models send "" for what they leave out. */
	if (!is_empty(value))
		return take_value(c, value);
	if (c->param->flags & PARAM_REQUIRED) {
		err_set(c->err, ERR_USAGE, "%s needs %s: %s", c->op->name, shown_name(c),
			c->param->help);
		return err_hint(c->err, "see `remanence %s --help`", c->op->name);
	}
	c->key = c->param->name;
	return c->param->standard ? takers[c->param->type](c, c->param->standard) : 0;
}

int op_params_check(const struct op_spec *op, const json *params, struct buf *out, struct err *err)
{
	AUTO(buf_done) struct buf text = { .max = out->max };
	struct jw w = { .out = &text };
	struct check c = { .op = op, .out = &w, .err = err };
	int result = 0;

	if (params && json_type(params) != JSON_OBJECT && json_type(params) != JSON_NULL)
		return err_set(
			err, ERR_USAGE, "the parameters of %s are not a JSON object", op->name);
	for (struct json_iter it = json_iter(params); json_next(&it);)
		if (!op_param_find(op, it.key))
			return refuse_unknown(op, it.key, err);
	jw_object(&w, NULL);
	for (c.param = op->params; result == 0 && c.param->name; c.param++)
		result = check_param(&c, params);
	jw_end(&w, '}');
	arena_done(&c.arena);
	if (result == 0 && text.is_full)
		result = err_set(err, ERR_TOO_LARGE, "the parameters of %s are too long", op->name);
	if (result == 0)
		buf_add(out, text.data, text.len);
	return result;
}
