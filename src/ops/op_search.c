#include "ops/find.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "ops/all.h"
#include "ops/param.h"
#include "ops/searched.h"
#include "store/query.h"

/* search: level 1 of finding. Short hits, and what to call next. */

#define NEXT_GET_MAX 3

static void took_write(struct op_call *call, struct jw *out)
{
	jw_real(out, "took_ms", (double)(clock_mono_us() - call->started_us) / 1000.0, 3);
}

/* The query as an argument of a shell. */
static char *quoted(struct arena *a, const char *text)
{
	AUTO(buf_done) struct buf b = { 0 };
	buf_char(&b, '\'');
	for (const char *p = text; *p; p++) {
		if (*p == '\'')
			buf_str(&b, "'\\''");
		else
			buf_char(&b, *p);
	}
	buf_char(&b, '\'');
	return arena_dup(a, buf_cstr(&b), b.len);
}

static void next_write(struct op_call *call, struct jw *out, const struct find *f, const struct find_result *r)
{
	AUTO(buf_done) struct buf refs = { 0 };
	const char *query = quoted(call->arena, f->text ? f->text : "");
	jw_array(out, "next");
	for (size_t i = 0; i < r->n && i < NEXT_GET_MAX; i++)
		buf_printf(&refs, " %s", f->by_session && r->found[i].session ?
			ref_text(call->arena, REF_SESSION, r->found[i].session->id) : found_ref(call->arena, &r->found[i]));
	if (r->n && !f->by_session)
		jw_printf(out, NULL, "remanence get%s", buf_cstr(&refs));
	if (r->n)
		jw_printf(out, NULL, "remanence timeline %s",
			f->by_session && r->found[0].session ? ref_text(call->arena, REF_SESSION, r->found[0].session->id)
							     : found_ref(call->arena, &r->found[0]));
	if (r->total > f->offset + r->n)
		jw_printf(out, NULL, "remanence search %s --offset %zu", query, f->offset + r->n);
	if (!r->n && f->filter.project)
		jw_printf(out, NULL, "remanence search %s --project all", query);
	if (!r->n && f->filter.classes == 1u << DOC_MEMORY)
		jw_printf(out, NULL, "remanence search %s --scope all", query);
	jw_end(out, ']');
}

/* Branches are told apart for who asks about the project they stand in. */
static bool is_about_here(struct op_call *call, const struct find *f)
{
	return f->filter.project && call->cwd && !param_text(call, "project", NULL);
}

static int search_run(struct op_call *call, struct jw *out, struct err *err)
{
	struct lookup l = { .call = call };
	struct branches branches;
	struct find f;
	struct find_result r;
	if (find_from_params(call, &f, err) || find_run(&l, &f, &r, err))
		return -1;
	struct hit_style style = {
		.lookup = &l,
		.wanted = { r.r.terms, r.r.nterms },
		.is_session = f.by_session,
		.explains = param_bool(call, "explain"),
	};
	if (is_about_here(call, &f)) {
		branches_init(&branches, call, f.filter.project, call->cwd, NULL);
		style.branches = &branches;
	}
	jw_object(out, NULL);
	jw_str(out, "query", f.text ? f.text : "");
	jw_str(out, "mode", r.mode);
	if (f.mode >= FIND_SEMANTIC && *r.why)
		jw_printf(out, "note", "words were searched for instead of meanings; %s", r.why);
	else if (r.r.did_you_mean)
		jw_printf(out, "note", "nothing was found for what was written; did you mean '%s'?", r.r.did_you_mean);
	jw_int(out, "total", (int64_t)r.total);
	jw_bool(out, "total_exact", r.total_is_exact);
	jw_str(out, "match", match_names[r.r.match]);
	next_write(call, out, &f, &r);
	jw_array(out, "hits");
	for (size_t i = 0; i < r.n; i++)
		found_write(call, out, &r.found[i], &style);
	jw_end(out, ']');
	took_write(call, out);
	jw_end(out, '}');
	searched(call, param_text(call, "scope", NULL), f.namespace, f.text, r.n, r.n ? r.found[0].hit.score : 0);
	return 0;
}

/* In one transaction: each statement by itself would lock and look for changes again. */
int op_search(struct op_call *call, struct jw *out, struct err *err)
{
	bool has_begun = query_begin(call->store);
	int result = search_run(call, out, err);
	query_end(call->store, has_begun);
	return result;
}
