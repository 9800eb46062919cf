/*
 * A walk over the top members of an object; nested values are skipped by counting brackets. See
 * line_look.h.
 */

#include "agents/line_look.h"

#include <string.h>

struct look {
	const char *p, *end;
};

static void skip_space(struct look *l)
{
	while (l->p < l->end && (*l->p == ' ' || *l->p == '\t' || *l->p == '\r' || *l->p == '\n'))
		l->p++;
}

/* At an opening quote: the text up to the closing one. False when it is cut off. */
static bool take_string(struct look *l, struct str *ret)
{
	if (l->p >= l->end || *l->p != '"')
		return false;
	const char *from = ++l->p;
	while (l->p < l->end && *l->p != '"')
		l->p += *l->p == '\\' ? 2 : 1;
	if (l->p >= l->end)
		return false;
	*ret = (struct str){ from, (size_t)(l->p - from) };
	l->p++;
	return true;
}

static bool skip_value(struct look *l)
{
	struct str ignored;
	int depth = 0;
	while (l->p < l->end) {
		char c = *l->p;
		if (c == '"') {
			if (!take_string(l, &ignored))
				return false;
			continue;
		}
		if (c == '{' || c == '[')
			depth++;
		else if ((c == '}' || c == ']') && depth-- == 0)
			return true;
		else if (c == ',' && depth == 0)
			return true;
		l->p++;
	}
	return false;
}

static bool take_key(struct look *l, struct str *ret)
{
	skip_space(l);
	if (!take_string(l, ret))
		return false;
	skip_space(l);
	if (l->p >= l->end || *l->p != ':')
		return false;
	l->p++;
	skip_space(l);
	return true;
}

static bool take_member(struct look *l, const char *inner, struct str *ret)
{
	struct str key;
	if (!inner)
		return take_string(l, ret);
	if (l->p >= l->end || *l->p != '{')
		return false;
	l->p++;
	return take_key(l, &key) && str_is(key, inner) && take_string(l, ret);
}

bool line_look(const char *line, size_t len, const char *key, const char *inner, struct str *ret)
{
	struct look l = { line, line + (len < LINE_LOOK_MAX ? len : LINE_LOOK_MAX) };
	struct str name;
	skip_space(&l);
	if (l.p >= l.end || *l.p != '{')
		return false;
	l.p++;
	while (take_key(&l, &name)) {
		if (str_is(name, key))
			return take_member(&l, inner, ret);
		if (!skip_value(&l) || l.p >= l.end || *l.p != ',')
			return false;
		l.p++;
	}
	return false;
}
