#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "observe/confidence.h"
#include "ops/all.h"
#include "ops/branches.h"
#include "ops/find.h"
#include "ops/param.h"
#include "ops/suspects.h"
#include "store/query.h"
#include "store/stale.h"
#include "text/snippet.h"

/*
 * facts: durable sentences, by category, the surest first. With a query the ones that answer it.
 * Confidence is told as it is today: what has not been said for long is less sure. "As of" shows
 * what was held true then.
 */

#define FACTS_LIMIT 50
#define FACTS_LOOKED_MAX 5000 /* facts sifted in one call */

struct facts {
	struct op_call *call;
	struct lookup l;
	struct branches branches;
	int category, status; /* -1: any */
	double min_confidence;
	int64_t as_of, project;
	const char **files;
	size_t nfiles;
	const char *query;
	struct memory *list;
	size_t n, cap;
};

/* The order in which categories are shown: what holds for all work first. */
static const enum memory_type category_order[] = { FACT_PREFERENCE, FACT_CONVENTION, FACT_DECISION,
	FACT_TOOL_PATTERN, FACT_ERROR_FIX, FACT_ARCHITECTURE, FACT_DEAD_END, FACT_TODO };

static size_t category_rank(enum memory_type type)
{
	size_t i = 0;

	while (i < ARRAY_LEN(category_order) && category_order[i] != type)
		i++;
	return i;
}

static bool file_matches(const char *path, const char *wanted)
{
	size_t n = strlen(path), w = strlen(wanted);

	return strcmp(path, wanted) == 0 ||
	       (n > w && path[n - w - 1] == '/' && strcmp(path + n - w, wanted) == 0);
}

static bool is_about(struct facts *f, struct memory *m)
{
	struct err ignored;

	if (!f->nfiles)
		return true;
	if (!m->nfiles &&
		query_memory_files(f->call->store, f->call->arena, m, MEMORY_FILES_MAX, &ignored))
		return false;
	for (size_t i = 0; i < m->nfiles; i++)
		for (size_t k = 0; k < f->nfiles; k++)
			if (file_matches(m->files[i].path, call_file(f->call, f->files[k])))
				return true;
	return false;
}

static bool is_wanted(struct facts *f, struct memory *m, int64_t now)
{
	int64_t from = m->valid_from ? m->valid_from : m->at;

	if (m->kind != KIND_FACT || (f->category >= 0 && (int)m->type != f->category))
		return false;
	if (f->as_of) {
		if (from > f->as_of || (m->valid_to && m->valid_to <= f->as_of) ||
			m->status == MEMORY_REJECTED || m->status == MEMORY_PENDING)
			return false;
	} else if (f->status >= 0 ? (int)m->status != f->status
				  : m->status != MEMORY_ACTIVE && m->status != MEMORY_PENDING) {
		return false;
	}
	m->confidence = confidence_aged(m, now);
	return m->confidence + 1e-9 >= f->min_confidence && is_about(f, m);
}

static void take(struct facts *f, struct memory *list, size_t n)
{
	int64_t now = f->as_of ? f->as_of : clock_now();

	for (size_t i = 0; i < n; i++)
		if (list[i].id && is_wanted(f, &list[i], now))
			ARENA_PUSH(f->call->arena, f->list, f->n, f->cap, list[i]);
}

static int by_rank(const void *x, const void *y)
{
	const struct memory *a = x, *b = y;
	size_t ra = category_rank(a->type), rb = category_rank(b->type);

	if (a->is_pinned != b->is_pinned)
		return a->is_pinned ? -1 : 1;
	if ((a->status == MEMORY_ACTIVE) != (b->status == MEMORY_ACTIVE))
		return a->status == MEMORY_ACTIVE ? -1 : 1;
	if (ra != rb)
		return ra < rb ? -1 : 1;
	if (a->confidence != b->confidence)
		return a->confidence > b->confidence ? -1 : 1;
	if (a->at != b->at)
		return a->at > b->at ? -1 : 1;
	return (a->id < b->id) - (a->id > b->id);
}

static int list_all(struct facts *f, struct err *err)
{
	struct memory_query q = { .project = f->project,
		.kind = KIND_FACT,
		.type = f->category,
		.status = f->as_of ? -1 : f->status,
		.origin = -1,
		.max = FACTS_LOOKED_MAX };
	struct memory *list;
	size_t n;

	if (store_memory_list(f->call->store, f->call->arena, &q, &list, &n, err))
		return -1;
	take(f, list, n);
	if (f->n)
		qsort(f->list, f->n, sizeof(*f->list), by_rank);
	return 0;
}

/* The order of the index is kept: it is by how well a fact answers. */
static int search_all(struct facts *f, struct err *err)
{
	struct find q = { .text = f->query,
		.filter = { .project = (uint32_t)f->project,
			.classes = 1u << DOC_MEMORY,
			.memory_kinds = 1u << KIND_FACT,
			.statuses = f->status >= 0 ? 1u << f->status
						   : 1u << MEMORY_ACTIVE | 1u << MEMORY_PENDING },
		.as_of = f->as_of,
		.limit = FIND_SIFT_PAGE };
	struct find_result r;

	if (f->category >= 0)
		q.filter.types = 1u << f->category;
	if (find_run(&f->l, &q, &r, err))
		return -1;
	for (size_t i = 0; i < r.n; i++)
		if (r.found[i].memory) {
			struct memory m = *r.found[i].memory;

			take(f, &m, 1);
		}
	return 0;
}

/* ---- writing ---- */

/* How often and since when, out of the tally. */
static void tally_write(struct jw *w, const struct memory *m)
{
	AUTO(json_free_ptr) json *tally = NULL;
	struct err ignored;

	if (!m->tally || json_parse(m->tally, strlen(m->tally), &tally, &ignored))
		return;
	jw_int(w, "times", json_int(tally, "times", 1));
	jw_int(w, "sessions", json_int(tally, "sessions", 1));
	jw_int(w, "first_at", json_int(tally, "first", m->at));
	jw_str(w, "said_by", json_str(tally, "said_by"));
}

static void fact_write(struct facts *f, struct jw *w, struct memory *m)
{
	struct arena *a = f->call->arena;
	const char *reason = suspect_reason(&f->l, m);
	struct err ignored;

	if (!m->nfiles)
		(void)query_memory_files(f->call->store, a, m, HIT_FILES_MAX, &ignored);
	jw_object(w, NULL);
	jw_str(w, "ref", ref_text(a, REF_MEMORY, m->id));
	jw_str(w, "category", memory_type_names[m->type]);
	jw_str(w, "title", memory_title(a, m));
	jw_str(w, "text", m->title ? m->title : m->body);
	jw_str(w, "body", m->body && (!m->title || strcmp(m->body, m->title)) ? m->body : NULL);
	jw_str(w, "status", memory_status_names[m->status]);
	jw_bool(w, "pinned", m->is_pinned);
	jw_real(w, "confidence", m->confidence, 2);
	jw_str(w, "trust", trust_names[m->trust]);
	jw_int(w, "at", m->at);
	jw_int(w, "evidence", (int64_t)m->nevidence);
	tally_write(w, m);
	jw_str(w, "project", f->project ? NULL : lookup_project(&f->l, m->project));
	if (m->valid_to)
		jw_int(w, "valid_to", m->valid_to);
	if (m->superseded_by)
		jw_str(w, "superseded_by", ref_text(a, REF_MEMORY, m->superseded_by));
	if (memory_is_bound_to_branch(m) && !branch_is_default(m->branch)) {
		jw_str(w, "branch", m->branch);
		jw_bool(w, "other_branch", memory_is_elsewhere(&f->branches, m));
	}
	jw_bool(w, "revised", fact_is_revised(&f->branches, m));
	jw_bool(w, "suspect", reason != NULL);
	if (reason)
		jw_str(w, "suspect_reason", reason);
	jw_array(w, "files");
	for (size_t i = 0; i < m->nfiles && i < HIT_FILES_MAX; i++)
		jw_str(w, NULL, m->files[i].path);
	jw_end(w, ']');
	jw_end(w, '}');
}

static int read_params(struct facts *f, struct err *err)
{
	struct op_call *call = f->call;

	if (call_project(call, &f->project, err) ||
		param_name(call, "category", memory_type_names + FACT_PREFERENCE,
			MEMORY_TYPE_COUNT - FACT_PREFERENCE, err, &f->category) ||
		param_name(call, "status", memory_status_names, MEMORY_STATUS_COUNT, err,
			&f->status) ||
		param_time(call, "as_of", true, &f->as_of, err))
		return -1;
	if (f->category >= 0)
		f->category += FACT_PREFERENCE;
	f->query = param_joined(call, "query", "question");
	f->min_confidence = json_real(call->params, "min_confidence", 0);
	f->nfiles = param_list(call, "files", "file", &f->files);
	return 0;
}

int op_facts(struct op_call *call, struct jw *out, struct err *err)
{
	struct facts f = { .call = call, .l = { .call = call } };
	size_t from = param_size(call, "offset", 0), limit = param_size(call, "limit", FACTS_LIMIT);

	if (read_params(&f, err) || (f.query && *f.query ? search_all(&f, err) : list_all(&f, err)))
		return -1;
	/* An agent is given what is decided or sure; what waits is a person's to look at. */
	if (call->is_agent && f.status < 0) {
		size_t kept = 0;

		for (size_t i = 0; i < f.n; i++)
			if (f.list[i].status != MEMORY_PENDING)
				f.list[kept++] = f.list[i];
		f.n = kept;
	}
	branches_init(&f.branches, call, f.project, call->cwd, NULL);
	jw_object(out, NULL);
	jw_int(out, "total", (int64_t)f.n);
	jw_array(out, "facts");
	for (size_t i = from; i < f.n && i - from < limit; i++)
		fact_write(&f, out, &f.list[i]);
	jw_end(out, ']');
	jw_end(out, '}');
	return 0;
}
