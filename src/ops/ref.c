#include "ops/ops.h"

#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "conf/project.h"

/*
 * References, and which project a call speaks of. A reference is read as generously as agents write it ("#12", "m12", "E345",
 * "[12]"): the forms cannot be mistaken for one another.
 */

#define REF_TEXT_MAX 32
#define NEAR_NAMES_MAX 3

static const struct {
	char letter;
	enum ref_kind kind;
} ref_letters[] = { { 'm', REF_MEMORY }, { 'e', REF_EVENT }, { 's', REF_SESSION } };

static int ref_refuse(const char *text, struct err *err)
{
	err_set(err, ERR_USAGE, "'%.64s' is no reference", text ? text : "");
	return err_hint(err, "a memory is its number (12), an event e345, a session s7");
}

int ref_parse(const char *text, struct ref *ret, struct err *err)
{
	struct str s = str_trim(str_of(text));
	char digits[REF_TEXT_MAX];
	enum ref_kind kind = REF_MEMORY;
	while (s.n && strchr("#[(", s.p[0]))
		s.p++, s.n--;
	while (s.n && strchr("])", s.p[s.n - 1]))
		s.n--;
	for (size_t i = 0; s.n && i < ARRAY_LEN(ref_letters); i++) {
		if ((s.p[0] | 0x20) != ref_letters[i].letter)
			continue;
		kind = ref_letters[i].kind;
		s.p++, s.n--;
		break;
	}
	if (!s.n || s.n >= sizeof(digits))
		return ref_refuse(text, err);
	memcpy(digits, s.p, s.n);
	digits[s.n] = '\0';
	int64_t id;
	if (!str_to_i64(digits, &id) || id <= 0)
		return ref_refuse(text, err);
	*ret = (struct ref){ .kind = kind, .id = id };
	return 0;
}

/* Names close to one that is not there, for the hint. */
static int project_unknown(struct op_call *call, const char *name, struct err *err)
{
	struct project *all = NULL;
	size_t n = 0, found = 0;
	struct buf near = { .max = ERR_HINT_MAX / 2 };
	struct err ignored;
	if (store_project_list(call->store, call->arena, &(struct project_query){ .max = 1000 }, &all, &n, &ignored))
		n = 0;
	for (size_t i = 0; i < n && found < NEAR_NAMES_MAX; i++) {
		const char *other = all[i].name ? all[i].name : "";
		bool is_near = str_distance(name, other) <= 1 + strlen(name) / 4 ||
			       str_ifind(str_of(other), name) || (*other && str_ifind(str_of(name), other));
		if (is_near)
			buf_printf(&near, "%s%s", found++ ? ", " : "", other);
	}
	err_set(err, ERR_NOT_FOUND, "there is no project '%s'", name);
	if (found)
		err_hint(err, "near: %s; `remanence projects` lists all", buf_cstr(&near));
	else
		err_hint(err, "`remanence projects` lists all; `--project all` asks everywhere");
	buf_done(&near);
	return -1;
}

static int project_of_folder(struct op_call *call, const char *folder, int64_t *ret, struct err *err)
{
	struct project_identity p;
	project_identify(call->arena, folder, &p);
	const char *aliases[] = { p.common_dir, p.remote, p.path, p.root };
	*ret = 0;
	for (size_t i = 0; i < ARRAY_LEN(aliases) && !*ret; i++)
		if (aliases[i] && store_project_find(call->store, aliases[i], ret, err))
			return -1;
	return 0;
}

int call_project(struct op_call *call, int64_t *ret, struct err *err)
{
	const char *name = json_str(call->params, "project");
	const json *value = json_get(call->params, "project");
	*ret = 0;
	if (json_type(value) == JSON_INT)
		name = arena_printf(call->arena, "%lld", (long long)json_value_int(value, 0));
	if (!name || !*name)
		return call->cwd && *call->cwd ? project_of_folder(call, call->cwd, ret, err) : 0;
	if (str_ieq(name, "all"))
		return 0;
	if (store_project_find(call->store, name, ret, err))
		return -1;
	if (!*ret && (strchr(name, '/') || !strcmp(name, "."))) {
		const char *path = path_clean(call->arena, call->cwd ? call->cwd : "/", name);
		if (project_of_folder(call, path, ret, err))
			return -1;
	}
	return *ret ? 0 : project_unknown(call, name, err);
}

int call_project_named(struct op_call *call, int64_t *ret, struct err *err)
{
	*ret = 0;
	return json_type(json_get(call->params, "project")) == JSON_NULL ? 0 : call_project(call, ret, err);
}

const char *call_file(struct op_call *call, const char *path)
{
	struct project_identity p;
	if (!path || (path[0] != '/' && (!call->cwd || strchr(path, '*'))))
		return path;
	const char *whole = path_clean(call->arena, call->cwd ? call->cwd : "/", path);
	/* A bare "parser.c" is an ending, unless it lies where the caller stands. */
	if (path[0] != '/' && !file_exists(whole))
		return path;
	project_identify(call->arena, path_parent(call->arena, whole), &p);
	const char *roots[] = { p.worktree, p.root };
	for (size_t i = 0; i < ARRAY_LEN(roots); i++) {
		const char *below = roots[i] ? path_below(roots[i], whole) : NULL;
		if (below && *below)
			return below;
	}
	return whole;
}
