#include "base/mem.h"
#include "ops/all.h"
#include "ops/hits.h"
#include "ops/param.h"
#include "ops/write.h"
#include "store/author.h"

/* pin: always keep, rank high, give at every session start. */

struct pinning {
	struct op_call *call;
	const char **refs;
	size_t n;
	bool is_pinned;
};

static int pin_write(struct store *s, void *ctx, struct err *err)
{
	struct pinning *p = ctx;
	for (size_t i = 0; i < p->n; i++) {
		struct ref ref;
		struct memory m;
		if (ref_parse(p->refs[i], &ref, err))
			return -1;
		if (ref.kind != REF_MEMORY)
			return err_set(err, ERR_USAGE, "only memories can be pinned, '%s' is none", p->refs[i]);
		if (store_memory_get(s, p->call->arena, ref.id, &m, err))
			return -1;
		if (memory_must_be_mine(&m, "pin it", err))
			return -1;
		if (m.is_pinned == p->is_pinned)
			continue;
		m.is_pinned = p->is_pinned;
		if (store_memory_put(s, &m, err))
			return -1;
	}
	return 0;
}

int op_pin(struct op_call *call, struct jw *out, struct err *err)
{
	struct pinning p = { .call = call, .is_pinned = !param_bool(call, "off") };
	p.n = param_list(call, "refs", "ref", &p.refs);
	if (!p.n)
		return err_set(err, ERR_USAGE, "pin needs a reference");
	if (call_write(call, pin_write, &p, err))
		return -1;
	jw_object(out, NULL);
	jw_array(out, p.is_pinned ? "pinned" : "unpinned");
	for (size_t i = 0; i < p.n; i++) {
		struct ref ref;
		if (!ref_parse(p.refs[i], &ref, err))
			jw_str(out, NULL, ref_text(call->arena, ref.kind, ref.id));
	}
	jw_end(out, ']');
	jw_end(out, '}');
	return 0;
}
