#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "ops/all.h"
#include "ops/param.h"
#include "store/author.h"

/* store copy: all rows of one store into another, empty one, of whatever kind. */

static const char *url_of(struct op_call *call, const char *given)
{
	static const char sqlite[] = "sqlite:";
	const char *path = given + strlen(sqlite);
	if (!str_starts(given, sqlite) || path[0] == '/')
		return given;
	return arena_printf(call->arena, "%s%s", sqlite, path_clean(call->arena, call->cwd ? call->cwd : "/", path));
}

int op_store(struct op_call *call, struct jw *out, struct err *err)
{
	const char *from = param_text(call, "from", NULL), *to = param_text(call, "to", NULL);
	struct copy_counts n;
	if (!from || !to) {
		err_set(err, ERR_USAGE, "store copy needs two stores: from which, and to which");
		return err_hint(err, "remanence store copy sqlite:PATH postgres://USER@HOST/DATABASE");
	}
	from = url_of(call, from);
	to = url_of(call, to);
	const struct copy_wish wish = { from, to, store_my_name(call->store), param_bool(call, "all") };
	if (store_copy(&wish, &n, err))
		return -1;
	jw_object(out, NULL);
	jw_str(out, "from", db_url_shown(call->arena, from));
	jw_str(out, "to", db_url_shown(call->arena, to));
	jw_int(out, "sessions", n.sessions);
	jw_int(out, "events", n.events);
	jw_int(out, "memories", n.memories);
	jw_int(out, "rows", n.rows);
	jw_end(out, '}');
	return 0;
}
