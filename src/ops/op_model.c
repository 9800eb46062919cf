#include <string.h>

#include "base/mem.h"
#include "ops/all.h"
#include "ops/param.h"

/* model: the file of the builtin embedder: take it in, say how it stands, remove it. */

int op_model(struct op_call *call, struct jw *out, struct err *err)
{
	const struct services *v = call->services;
	const char *action = param_text(call, "action", NULL), *file = param_text(call, "file", NULL);
	if (!v || !v->model)
		return err_set(err, ERR_INTERNAL, "this door has no embedder");
	if (file && action && strcmp(action, "install"))
		return err_set(err, ERR_USAGE, "only `model install` takes a file");
	jw_object(out, NULL);
	if (v->model(v->daemon, action ? action : "status", file, out, err))
		return -1;
	jw_end(out, '}');
	return 0;
}
