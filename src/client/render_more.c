/*
 * "more: remanence facts --category todo --cursor X": the same question again, one page further. It is made from the checked
 * parameters, so that it says what was understood; what is as by default is left out.
 */
#include "client/render.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

static void word_add(struct buf *b, const char *word)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
				    "_-./:=@%+,";

	buf_char(b, ' ');
	if (*word && strspn(word, plain) == strlen(word)) {
		buf_str(b, word);
		return;
	}
	buf_char(b, '\'');
	for (; *word; word++) {
		if (*word == '\'')
			buf_str(b, "'\\'");
		buf_char(b, *word);
	}
	buf_char(b, '\'');
}

static bool is_standard(const struct param *p, const json *value)
{
	AUTO(buf_done) struct buf text = { 0 };

	if (json_type(value) == JSON_BOOL)
		return !json_value_bool(value, false);
	if (!p->standard || json_type(value) == JSON_ARRAY)
		return json_type(value) == JSON_NULL;
	if (json_value_str(value))
		return strcmp(json_value_str(value), p->standard) == 0;
	json_print(value, &text);
	return strcmp(buf_cstr(&text), p->standard) == 0;
}

static void value_add(struct buf *b, const struct param *p, const json *value)
{
	char option[OPTION_NAME_MAX];
	AUTO(buf_done) struct buf text = { 0 };

	if (json_type(value) == JSON_ARRAY) {
		for (size_t i = 0; i < json_len(value); i++)
			value_add(b, p, json_at(value, i));
		return;
	}
	if (!(p->flags & PARAM_POSITIONAL))
		buf_printf(b, " --%s", op_param_option(p, option));
	if (json_type(value) == JSON_BOOL)
		return;
	if (!json_value_str(value))
		json_print(value, &text);
	word_add(b, json_value_str(value) ? json_value_str(value) : buf_cstr(&text));
}

void render_more(struct client *c, const json *reply)
{
	const char *next = json_str(reply, "next_cursor");
	AUTO(buf_done) struct buf b = { 0 };

	if (!next || c->is_quiet)
		return;
	buf_printf(&b, "more: remanence %s", c->op->name);
	for (const struct param *p = c->op->params; p->name; p++) {
		const json *value = json_get(c->given, p->name);
		if (strcmp(p->name, "cursor") && strcmp(p->name, "offset") &&
			!is_standard(p, value))
			value_add(&b, p, value);
	}
	buf_printf(&b, " --cursor %s", next);
	term_put(&c->term, DIM, buf_cstr(&b));
	term_newline(&c->term);
}
