#include "ops/param.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"

static const char *value_text(const struct op_call *call, const json *value)
{
	const char *text = json_value_str(value);
	if (text)
		return *text ? text : NULL;
	if (json_type(value) == JSON_INT)
		return arena_printf(call->arena, "%lld", (long long)json_value_int(value, 0));
	return NULL;
}

static const json *param_find(const struct op_call *call, const char *name, const char *other)
{
	const json *value = json_get(call->params, name);
	if (json_type(value) == JSON_NULL && other)
		value = json_get(call->params, other);
	return value;
}

const char *param_text(const struct op_call *call, const char *name, const char *other)
{
	const json *value = param_find(call, name, other);
	if (json_type(value) == JSON_ARRAY)
		value = json_at(value, 0);
	return value_text(call, value);
}

size_t param_list(const struct op_call *call, const char *name, const char *other, const char ***ret)
{
	const json *value = param_find(call, name, other);
	bool is_array = json_type(value) == JSON_ARRAY;
	size_t max = MIN(is_array ? json_len(value) : 1, (size_t)PARAM_LIST_MAX);
	size_t n = 0;
	const char **list = ARENA_ARRAY(call->arena, const char *, max + 1);
	for (size_t i = 0; i < max; i++) {
		const char *text = value_text(call, is_array ? json_at(value, i) : value);
		if (text)
			list[n++] = text;
	}
	*ret = list;
	return n;
}

const char *param_joined(const struct op_call *call, const char *name, const char *other)
{
	const char **words;
	size_t n = param_list(call, name, other, &words);
	AUTO(buf_done) struct buf b = { 0 };
	if (n <= 1)
		return n ? words[0] : NULL;
	for (size_t i = 0; i < n; i++)
		buf_printf(&b, "%s%s", i ? " " : "", words[i]);
	return arena_dup(call->arena, buf_cstr(&b), b.len);
}

size_t param_size(const struct op_call *call, const char *name, size_t otherwise)
{
	const json *value = json_get(call->params, name);
	int64_t n;
	if (json_type(value) == JSON_INT)
		n = json_value_int(value, 0);
	else if (!json_value_str(value) || !str_to_i64(json_value_str(value), &n))
		return otherwise;
	return n < 0 ? 0 : MIN((size_t)n, (size_t)LIMIT_MAX);
}

bool param_bool(const struct op_call *call, const char *name)
{
	const json *value = json_get(call->params, name);
	const char *text = json_value_str(value);
	if (text)
		return str_ieq(text, "true") || str_ieq(text, "yes") || !strcmp(text, "1");
	return json_type(value) == JSON_INT ? json_value_int(value, 0) != 0 : json_value_bool(value, false);
}

static int time_parse(const char *name, const char *text, bool is_end, int64_t *ret, struct err *err)
{
	static const int64_t first_millisecond = 100000000000; /* smaller numbers are years, days … */
	int64_t at;
	if (str_to_i64(text, &at) && at >= first_millisecond) {
		*ret = at;
		return 0;
	}
	if (clock_parse_human(text, clock_now(), is_end, ret))
		return 0;
	err_set(err, ERR_USAGE, "%s: '%s' is no time", name, text);
	return err_hint(err, "use an ISO date (2026-11-29), today, yesterday or a span such as 7d");
}

int param_time(const struct op_call *call, const char *name, bool is_end, int64_t *ret, struct err *err)
{
	const char *text = param_text(call, name, NULL);
	*ret = 0;
	return text ? time_parse(name, text, is_end, ret, err) : 0;
}

/* "A..B" to both ends; either may be empty. */
static int range_parse(struct arena *a, const char *name, const char *text, int64_t ends[2], struct err *err)
{
	const char *dots = strstr(text, "..");
	char *from = arena_dup(a, text, (size_t)(dots - text));
	if (*from && time_parse(name, from, false, &ends[0], err))
		return -1;
	return dots[2] ? time_parse(name, dots + 2, true, &ends[1], err) : 0;
}

int span_parse(struct arena *a, const char *after, const char *before, int64_t *io_after, int64_t *io_before, struct err *err)
{
	const char *texts[] = { after, before };
	for (int i = 0; i < 2; i++) {
		int64_t ends[2] = { 0, 0 };
		const char *name = i ? "before" : "after";
		if (!texts[i])
			continue;
		/* "before 2026-11-29" leaves that day out; in a range the last day belongs to it. */
		if (strstr(texts[i], "..") ? range_parse(a, name, texts[i], ends, err)
					   : time_parse(name, texts[i], false, &ends[i], err))
			return -1;
		if (ends[0])
			*io_after = MAX(*io_after, ends[0]);
		if (ends[1])
			*io_before = *io_before ? MIN(*io_before, ends[1]) : ends[1];
	}
	return 0;
}

int param_span(const struct op_call *call, int64_t *ret_after, int64_t *ret_before, struct err *err)
{
	*ret_after = *ret_before = 0;
	return span_parse(call->arena, param_text(call, "after", NULL), param_text(call, "before", NULL), ret_after,
		ret_before, err);
}

/* Tables that begin with "none" have no such thing to be asked for. */
static size_t first_name(const char *const *names)
{
	return strcmp(names[0], "none") == 0 ? 1 : 0;
}

int name_parse(const char *what, const char *value, const char *const *names, size_t n, struct err *err)
{
	int found = name_find(names, n, value);
	if (found >= (int)first_name(names))
		return found;
	struct buf list = { .max = ERR_HINT_MAX - 16 };
	for (size_t i = first_name(names); i < n; i++)
		if (names[i] && *names[i])
			buf_printf(&list, "%s%s", list.len ? ", " : "", names[i]);
	err_set(err, ERR_USAGE, "there is no %s '%s'", what, value);
	err_hint(err, "one of: %s", buf_cstr(&list));
	buf_done(&list);
	return -1;
}

int param_name(const struct op_call *call, const char *param, const char *const *names, size_t n, struct err *err, int *ret)
{
	const char *value = param_text(call, param, NULL);
	*ret = -1;
	if (!value)
		return 0;
	*ret = name_parse(param, value, names, n, err);
	return *ret < 0 ? -1 : 0;
}
